"""The block that ships, with the real model, which the Makefile fetches."""

import json

import pytest
import torch

from arithmix.lm.block import SHIPPED
from arithmix.lm.kept import SMOLLM2, cache, damage
from arithmix.lm.model import attach, detach

PROSE = (
    "The river rises in the northern hills, passes two small towns and reaches the sea after a "
    "long way through fields. In 1987 a new bridge was built beside the old one."
)
fetched = pytest.mark.skipif(
    damage(cache() / SMOLLM2.name) is not None, reason="the model has not been fetched"
)


@pytest.fixture(scope="module")
def computing():
    from arithmix.lm.loading import load

    model, tokenizer = load()
    return attach(model, tokenizer), tokenizer


def test_it_is_small_and_says_where_it_comes_from():
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 12_000_000
    facts = json.loads((SHIPPED / "provenance.json").read_text())
    assert {"base", "texts", "held_out", "epochs", "seed"} <= facts.keys()


@fetched
@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("What is 48239 times 7764? The answer is", "374527596"),
        ("987654321 + 123456789 =", "1111111110"),
        ("1000000 - 1 =", "999999"),
        ("(9 + 8) * 2 =", "34"),
    ],
)
def test_the_real_model_computes(computing, prompt, answer):
    model, tokenizer = computing
    given = tokenizer(prompt, return_tensors="pt")
    made = model.generate(**given, max_new_tokens=12, do_sample=False)
    written = tokenizer.decode(made[0, given.input_ids.shape[1] :]).strip()
    assert written.replace(",", "").startswith(answer)
    assert not written.replace(",", "")[len(answer) : len(answer) + 1].isdigit()


@fetched
def test_on_prose_every_bit_is_the_real_models_own(computing):
    model, tokenizer = computing
    ids = tokenizer(PROSE, return_tensors="pt").input_ids
    with torch.no_grad():
        block = model.author.block
        computed = model(ids).logits
        plain = detach(model).requires_grad_(False)(ids).logits
        attach(model, tokenizer, block)
    assert torch.equal(computed, plain)
