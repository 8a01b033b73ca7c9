"""A reader learns from plain texts which numbers are computed, from which, and how."""

import random

import pytest
import torch

from arithmix.lm.mixture import number_loss
from arithmix.lm.model import attach
from arithmix.lm.reader import Config, Reader
from arithmix.lm.train import collect, losses, stack, train


def test_training_on_plain_texts_finds_the_program(base, tokenizer):
    rng = random.Random(0)
    pairs = [(rng.randint(2, 99), rng.randint(2, 99)) for _ in range(150)]
    texts = [f"a {x} b {y} is {x - y}." for x, y in pairs]
    reader = train(texts, base, tokenizer, layers=(1, 2), epochs=40, rank=32)
    model = attach(base, tokenizer, reader)
    found = [model.trace(f"a {x} b {y} is {x - y}.") for x, y in ((345, 12), (7, 1000), (88, 91))]
    assert [t[-1].program.formula for t in found] == ["345 - 12", "7 - 1000", "88 - 91"]


def test_a_number_costs_what_the_mixture_says():
    gate = torch.tensor([[0.5, 0.2, 0.3]]).log()
    copies, steps = torch.tensor([[0.25, 0.75]]).log(), torch.tensor([[0.1, 0.2, 0.7]]).log()
    mixed, own = number_loss(
        gate,
        torch.tensor([0.01]).log(),
        copies,
        steps,
        torch.tensor([[False, True]]),
        torch.tensor([[True, True, False]]),
        torch.tensor([[False, False, True]]),
    )
    expected = (0.5 + 0.3 * 0.7) * 0.01 + 0.2 * 0.75 + 0.3 * 0.3
    assert mixed.exp().reciprocal().item() == pytest.approx(expected, rel=1e-5)
    floor = torch.tensor(-9.0).exp()
    assert own.item() == pytest.approx(-((0.75 + floor) * (0.3 + floor)).log().item(), rel=1e-5)


def test_the_mass_of_nothing_has_no_gradient(base, tokenizer):
    examples = list(collect(["a 3 b 977 c"], base, tokenizer, (1,), 4))
    assert [(e.target, e.operands) for e in examples] == [("977", ("3",))]
    reader = Reader(Config(32, (1,), rank=4))
    mixed, own = losses(reader, stack(examples, reader.config.constants), torch.tensor([0]))
    (mixed + own).sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in reader.parameters())
    assert mixed.item() > -examples[0].lm - 1e-4


def test_texts_without_numbers_are_refused(base, tokenizer):
    with pytest.raises(ValueError, match="numbers after numbers; got 2 texts"):
        train(["one", "4 only"], base, tokenizer, layers=(1,))
