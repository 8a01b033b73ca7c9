import pytest
import torch

from arithmix import Recipe
from arithmix.units._spec import parse


def test_brackets_hold_the_constructors_arguments_and_the_recipes_numbers():
    spec = parse("dmu[rate=0.001,gate=single,clip_norm=None]")
    assert spec.arguments == {"gate": "single"}
    assert spec.label == "dmu[clip_norm=None,gate=single,rate=0.001]"
    recipe = spec.recipe("add", 2)
    assert (recipe.rate, recipe.clip_norm, recipe.batch) == (0.001, None, 128)
    assert parse(spec.label) == spec


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dmu[rate=0]", r"dmu\[...\]: rate must be a finite number above 0; got 0"),
        ("dmu[rate=1e999]", "rate must be a finite number above 0; got inf"),
        ("dmu[rate=None]", "rate must be a finite number above 0; got None"),
        ("dmu[rate=True]", "rate must be a finite number above 0; got True"),
        ("dmu[steps=1.5]", "steps must be a whole number from 1 to 1,000,000,000; got 1.5"),
        ("dmu[batch=0]", "batch must be a whole number from 1 to 1,000,000; got 0"),
        ("dmu[dtype=float16]", "no dtype is called 'float16'"),
        ("dmu[clip_norm=much]", "clip_norm must be a finite number above 0; got 'much'"),
        ("dmu[draws=1]", "dmu has no argument 'draws'"),
    ],
)
def test_a_wrong_number_gets_a_sentence(text, words):
    with pytest.raises(ValueError, match=words):
        parse(text)


@pytest.mark.parametrize(
    "wrong",
    [
        {"batch": 0},
        {"rate": -1},
        {"rate": float("inf")},
        {"rate": float("nan")},
        {"steps": 0},
        {"steps": 10.0},
        {"dtype": "float99"},
        {"clip_value": 0},
        {"target_limit": -1.0},
        {"restart": True},
        {"draws": 0},
        {"batch": 10**12},
        {"arguments": None},
        {"arguments": {"x": object()}},
    ],
    ids=str,
)
def test_a_recipe_is_checked_wherever_it_is_made(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Recipe(**wrong)


def test_a_frozen_random_selector_is_the_seeds_own():
    spec = parse("dmu[selector=random]")
    one, same, other = (
        spec.build(2, "add", seed, dtype=torch.float32).selector for seed in (1, 1, 2)
    )
    assert torch.equal(one, same) and not torch.equal(one, other)
