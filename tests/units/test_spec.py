import pytest

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
        ("dmu[rate=0]", "rate of dmu is a number above 0; 0 came"),
        ("dmu[rate=None]", "rate of dmu is a number above 0; None came"),
        ("dmu[steps=1.5]", "steps of dmu is a whole number above 0; 1.5 came"),
        ("dmu[dtype=float16]", "float16"),
        ("dmu[clip_norm=much]", "clip_norm of dmu is a number above 0; 'much' came"),
        ("dmu[draws=1]", "dmu has no argument 'draws'"),
    ],
)
def test_a_wrong_number_gets_a_sentence(text, words):
    with pytest.raises(ValueError, match=words):
        parse(text)
