"""Modules that can't share one set of tensors, trained one by one."""

import dataclasses
import random

import numpy as np
import pytest
import torch
from torch import nn

from arithmix import DMU, Recipe
from arithmix.bench import reference
from arithmix.bench import streams as streams_module
from arithmix.bench.engine import train
from arithmix.bench.streams import Streams
from arithmix.measure.rulers import Ruler
from arithmix.tasks import Task
from arithmix.units._obstacle import check, obstacle
from arithmix.units._spec import Spec, parse

from . import ordinary

CPU = torch.device("cpu")
SHORT = Ruler("short", "every 20 steps", lambda task: 1e-3, grid=20)
X = 1 + torch.rand(32, 2, generator=torch.Generator().manual_seed(0))


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    monkeypatch.setattr(streams_module, "SAMPLES", 320)


def made(cls, seed):
    return Spec("tests.bench.ordinary:X", cls).build(2, "add", seed, dtype=torch.float32)


def outcome(module, *, alone, seed=0, operation="add", steps=60, ruler=SHORT, recipe=None):
    recipe = dataclasses.replace(recipe or Recipe(rate=1e-2), steps=steps)
    streams = Streams([seed], 2, recipe.batch, CPU)
    task = Task(operation, "pos")
    ((done,),) = train([module], [task], [seed], recipe, ruler, streams=streams, alone=alone)
    streams.close()
    return done


class Knotted(ordinary.Ordinary):
    """Refers to itself in every way that modules do."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.l = nn.Linear(in_features, out_features)
        self.l.above = [self]
        object.__setattr__(self.l, "parent", self)
        self.apply_ = self.helper
        self.ring = {"self": self}
        self.ring["ring"] = self.ring

    def helper(self, x):
        return self.l(x)

    def forward(self, x):
        return self.apply_(x)


class Rooted(ordinary.Ordinary):
    """NaN from the start."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(-torch.ones(in_features, out_features))

    def forward(self, x):
        return (x @ self.w).sqrt()


class Halved(Rooted):
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return x @ self.w


class Sparse(Rooted):
    def __init__(self, in_features, out_features):
        super().__init__(in_features, out_features)
        self.register_buffer("eye", torch.eye(in_features).to_sparse())

    def forward(self, x):
        return (self.eye @ x.T).T @ self.w


class Parametrized(ordinary.Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        linear = nn.Linear(in_features, out_features)
        self.l = nn.utils.parametrizations.weight_norm(linear)

    def forward(self, x):
        return self.l(x)


@pytest.mark.parametrize("cls", [Knotted, Rooted, Halved, Sparse, Parametrized])
def test_odd_modules_are_compared_and_never_a_traceback(cls):
    check(made(cls, 0), X)
    found = obstacle(lambda place: made(cls, place), 2, X)
    done = outcome(made(cls, 1), alone=found is not None, seed=1, steps=20)
    assert done.status == ("diverged" if cls is Rooted else "trained")


@pytest.mark.parametrize("name", ["Stacked", "Frozen", "Tied", "Attributed", "Configured"])
def test_alone_is_as_in_a_population(name):
    cls = getattr(ordinary, name)
    apart = outcome(made(cls, 3), alone=True, seed=3)
    together = outcome(made(cls, 3), alone=False, seed=3)
    assert apart.curve.step.tolist() == together.curve.step.tolist() == [0, 20, 40, 60]
    assert np.allclose(apart.curve.test, together.curve.test, rtol=1e-3)
    assert apart.parameters.keys() == together.parameters.keys()
    for key, value in apart.parameters.items():
        assert np.allclose(value, together.parameters[key], rtol=1e-3, atol=1e-4), key


def test_a_unit_alone_is_as_in_a_population_and_stops_at_the_same_step():
    ruler = Ruler("patient", "20 in a row", lambda task: 0.5, grid=50, patience=20)
    recipe = DMU.recipe("add")
    arguments = {**recipe.arguments, "learn_selector": True, "selector": "half"}
    pair = [
        outcome(DMU(2, 1, **arguments), alone=alone, steps=400, ruler=ruler, recipe=recipe)
        for alone in (True, False)
    ]
    assert pair[0].status == pair[1].status == "stopped"
    assert pair[0].steps == pair[1].steps
    for key, value in pair[0].parameters.items():
        assert np.allclose(value, pair[1].parameters[key], rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("name", ["Normed", "Recurrent", "Complex"])
def test_alone_is_the_plain_twin(name):
    cls = getattr(ordinary, name)
    done = outcome(made(cls, 5), alone=True, seed=5, steps=30)
    twin = made(cls, 5).train()
    reference.train(twin, Task("add", "pos"), 5, Recipe(rate=1e-2), 30)
    for key, parameter in twin.named_parameters():
        value = parameter.detach()
        value = torch.view_as_real(value) if value.is_complex() else value
        assert np.allclose(done.parameters[key], value.numpy(), rtol=1e-5, atol=1e-6), key


def test_what_is_frozen_stays_and_is_not_recorded():
    module = made(ordinary.Frozen, 0)
    for alone in (True, False):
        done = outcome(module, alone=alone)
        assert set(done.parameters) == {"scale", "w"}
        assert done.parameters["scale"] != 0.5
    assert module.frozen.item() == 1.0


def test_random_numbers_of_a_module_depend_on_its_seed_alone():
    first = outcome(made(ordinary.Dropped, 2), alone=True, seed=2)
    torch.manual_seed(99)
    before = torch.random.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    again = outcome(made(ordinary.Dropped, 2), alone=True, seed=2)
    assert torch.equal(torch.random.get_rng_state(), before[0])
    assert np.array_equal(np.random.get_state()[1], before[1])
    assert random.getstate() == before[2]
    for key, value in first.parameters.items():
        assert np.array_equal(value, again.parameters[key])
    assert np.array_equal(first.curve.test, again.curve.test)
    other = outcome(made(ordinary.Dropped, 4), alone=True, seed=4)
    assert not np.array_equal(first.parameters["out.bias"], other.parameters["out.bias"])


class Exploding(ordinary.Ordinary):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(in_features, out_features))
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        if self.training:
            self.calls += 1
        return x @ self.w * torch.where(self.calls > 25, float("nan"), 1.0)


def test_a_member_alone_that_turns_nan_is_frozen_where_it_last_was():
    done = outcome(made(Exploding, 0), alone=True)
    assert (done.status, done.steps) == ("diverged", 25)
    assert np.isfinite(done.parameters["w"]).all()
    assert done.curve.step.tolist() == [0, 20]


class Short(ordinary.Ordinary):
    """Right for a batch, wrong for the many samples of an examination."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.w = nn.Parameter(torch.ones(in_features, out_features))

    def forward(self, x):
        return (x @ self.w)[: 1 if len(x) > 200 else None]


def test_a_wrong_output_is_refused_in_training_too():
    module = made(Short, 0)
    for alone in (True, False):
        with pytest.raises(ValueError, match=r"must return \(320, 1\); got \(1, 1\)"):
            outcome(module, alone=alone)


def test_a_module_is_built_from_its_seed_and_leaves_the_generators_alone():
    state = torch.random.get_rng_state()
    one, same, other = (made(ordinary.Stacked, seed).out.weight for seed in (1, 1, 2))
    assert torch.equal(one, same) and not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_float64_reaches_complex_weights_and_leaves_whole_numbers():
    spec = Spec("tests.bench.ordinary:X", ordinary.Complex)
    assert spec.build(2, "add", 0, dtype=torch.float64).w.dtype == torch.complex128
    normed = Spec("tests.bench.ordinary:X", ordinary.Normed)
    assert normed.build(2, "add", 0, dtype=torch.float64).norm.num_batches_tracked.dtype.is_signed


def test_units_of_the_package_are_never_apart():
    assert parse("dmu").own is False and parse("tests.bench.ordinary:Stacked").own is True
