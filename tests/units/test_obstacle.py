"""What keeps members of a user's own unit apart, and what can't be trained at all."""

import random
import re

import numpy as np
import pytest
import torch
from torch import nn

from arithmix import DMU
from arithmix.units._obstacle import check, obstacle
from arithmix.units._spec import Spec

from ..bench import ordinary

X = 1 + torch.rand(32, 2, generator=torch.Generator().manual_seed(0))


def made(cls, seed):
    return Spec("tests.bench.ordinary:X", cls).build(2, "add", seed, dtype=torch.float32)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Normed", r"changes norm\.running_mean"),
        ("Dropped", "draws random numbers"),
        ("Recurrent", "can't compute its forward pass for many"),
        ("Embedded", None),
        ("Closed", "differ in squash"),
        ("Attributed", None),
        ("Frozen", None),
        ("Tied", None),
        ("Complex", "w is of complex64"),
        ("Configured", None),
        ("Counting", "changes calls"),
        ("Lazy", None),
        ("Stacked", None),
    ],
)
def test_what_keeps_members_apart_is_found(name, why):
    cls = getattr(ordinary, name)
    found = obstacle(lambda place: made(cls, place), 3, X)
    if why is None:
        assert found is None
    else:
        assert found is not None and re.search(why, found)


class Hidden(ordinary.Ordinary):
    """Differs from member to member where only what it computes shows it."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.randn(in_features, out_features))
        self.secret = iter([float(torch.rand(()))] * 1_000_000)

    def forward(self, x):
        return x @ self.w * next(self.secret)


class Guessing(ordinary.Ordinary):
    """Its numbers come from Python's own generator, which torch knows nothing of."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        return x @ self.w * random.choice([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])


class Mixing(ordinary.Ordinary):
    """Normalises over the batch without any buffer: fine in a population."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.randn(in_features, out_features))

    def forward(self, x):
        return (x - x.mean(0)) @ self.w


def test_what_can_not_be_seen_is_found_by_what_is_computed():
    random.seed(1)
    assert obstacle(lambda place: made(Hidden, place), 2, X) is not None
    assert obstacle(lambda place: made(Guessing, place), 2, X) is not None
    assert obstacle(lambda place: made(Mixing, place), 2, X) is None


class Rarely(ordinary.Ordinary):
    """Throws a die at each call in training, and seldom does anything with it."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(in_features, out_features))

    def forward(self, x):
        if self.training and min(random.random(), np.random.rand()) < 1e-9:
            return x @ self.w * 2
        return x @ self.w


def test_numbers_from_python_and_numpy_keep_members_apart():
    assert (
        obstacle(lambda place: made(Rarely, place), 2, X) == "its forward pass draws random numbers"
    )


class Vague(DMU):
    def loss(self, x, y):
        return (self(x) - y).square()


class Wide(DMU):
    def sparsity(self):
        return torch.zeros(3)


@pytest.mark.parametrize(("cls", "what"), [(Vague, "loss"), (Wide, "sparsity")])
def test_a_unit_whose_methods_give_several_numbers_is_refused(cls, what):
    with pytest.raises(ValueError, match=f"its {what} must be one number; got"):
        check(cls(2, 1), X)


class Broken(nn.Module):
    def __init__(self, forward, parameter=True):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2, 1)) if parameter else None
        self.give = forward

    def forward(self, x):
        return self.give(self, x)


@pytest.mark.parametrize(
    ("forward", "said"),
    [
        (lambda m, x: (x @ m.w)[:, 0], r"must return \(32, 1\); got \(32,\)"),
        (lambda m, x: (x @ m.w).mean(), r"got \(\)"),
        (lambda m, x: x * m.w.sum(), r"got \(32, 2\)"),
        (lambda m, x: [x @ m.w], "must return a tensor; got list"),
        (lambda m, x: x.to(torch.cfloat) @ m.w.to(torch.cfloat), "real floating-point"),
        (lambda m, x: (x @ m.w).detach(), "does not depend on its parameters"),
    ],
)
def test_an_output_that_can_not_be_trained_is_refused(forward, said):
    with pytest.raises((ValueError, TypeError), match=said):
        check(Broken(forward), X)


def test_numbers_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="meta device"):
        check(nn.Linear(2, 1, device="meta"), X)


def test_a_module_without_parameters_is_refused():
    with pytest.raises(ValueError, match="no parameters that require a gradient"):
        check(Broken(lambda m, x: x.sum(-1, keepdim=True), parameter=False), X)
