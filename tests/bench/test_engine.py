import copy
import dataclasses

import numpy as np
import pytest
import torch

from arithmix import DMU, Recipe
from arithmix.bench import reference
from arithmix.bench import streams as streams_module
from arithmix.bench.engine import train
from arithmix.bench.exam import Exam
from arithmix.bench.streams import Streams
from arithmix.measure.rulers import RULERS, Ruler
from arithmix.measure.verdict import FirstRun
from arithmix.tasks import OPERATIONS, RANGES, Task
from arithmix.units import units
from arithmix.units._population import Population
from arithmix.units._spec import parse

CPU = torch.device("cpu")
GRID = [(Task(o, r), s) for o in OPERATIONS for r in RANGES for s in (0, 1)]
SHORT = Ruler("short", "every 20 steps", lambda task: 1e-3, grid=20)


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """What these tests show does not hang on ten thousand samples."""
    monkeypatch.setattr(streams_module, "SAMPLES", 320)


def members(pairs, unit="dmu", steps=60, dtype="float32"):
    spec = parse(unit)
    recipe = dataclasses.replace(
        spec.recipe(pairs[0][0].operation, pairs[0][0].inputs), steps=steps, dtype=dtype
    )
    built = [spec.build(t.inputs, t.operation, s, dtype=getattr(torch, dtype)) for t, s in pairs]
    return built, [t for t, _ in pairs], [s for _, s in pairs], recipe


def outcomes(pairs, ruler=SHORT, compiled=False, change=None, **more):
    built, tasks, seeds, recipe = members(pairs, **more)
    if change:
        change(built)
    streams = Streams(sorted(set(seeds)), tasks[0].inputs, recipe.batch, CPU)
    done = {}
    arguments = (built, tasks, seeds, recipe, ruler)
    for some in train(*arguments, streams=streams, compiled=compiled):
        done.update({pairs[outcome.member]: outcome for outcome in some})
    streams.close()
    assert done.keys() == set(pairs)
    return done


def same(one, other):
    assert one.status == other.status and one.steps == other.steps
    for name in ("step", "validation", "test", "sparsity"):
        mine, theirs = getattr(one.curve, name), getattr(other.curve, name)
        assert np.array_equal(mine, theirs, equal_nan=True), name
    for key in one.parameters:
        assert np.array_equal(one.parameters[key], other.parameters[key]), key


PUBLISHED = [(name, op) for name, unit in units().items() for op in sorted(unit.exact)]


@pytest.mark.parametrize(("unit", "operation"), PUBLISHED)
@pytest.mark.parametrize("range_", ["sym", "p01"])
def test_the_engine_is_its_plain_twin(unit, operation, range_):
    task, steps = Task(operation, range_), 40
    done = outcomes([(task, 3)], unit=unit, steps=steps, dtype="float64")[task, 3]
    (twin,), _, _, recipe = members([(task, 3)], unit=unit, steps=steps, dtype="float64")
    reference.train(twin.train(), task, 3, recipe, steps)
    for key, parameter in twin.named_parameters():
        assert np.allclose(done.parameters[key], parameter.detach().numpy(), rtol=1e-9, atol=1e-9)


def test_a_member_does_not_depend_on_its_neighbours():
    together = outcomes(GRID)
    shuffled = [GRID[i] for i in np.random.RandomState(0).permutation(len(GRID))]
    other_order = outcomes(shuffled)
    for pair in GRID:
        same(together[pair], other_order[pair])
    for pair in GRID[::17]:
        same(together[pair], outcomes([pair])[pair])


@pytest.mark.compiled
def test_a_member_does_not_depend_on_its_neighbours_when_compiled():
    together = outcomes(GRID, compiled=True)
    same(together[GRID[40]], outcomes(GRID[35:45], compiled=True)[GRID[40]])
    eager = outcomes(GRID)
    for pair in GRID:
        # Fused arithmetic rounds differently; over these steps that stays within a few ulps.
        ours, theirs = together[pair].parameters["gate"], eager[pair].parameters["gate"]
        assert np.allclose(ours, theirs, rtol=1e-4, atol=1e-5)


def test_a_member_that_turns_nan_is_frozen_and_its_neighbours_do_not_notice():
    def poison(built):
        with torch.no_grad():
            built[5].selector.fill_(float("nan"))

    fine, poisoned = outcomes(GRID), outcomes(GRID, change=poison)
    assert poisoned[GRID[5]].status == "diverged"
    assert poisoned[GRID[5]].steps == 0
    for pair in GRID[:5] + GRID[6:]:
        same(fine[pair], poisoned[pair])


def test_rows_are_errors_on_the_fixed_sets():
    pairs = [(Task("mul", "p20"), 4)]
    built, tasks, seeds, _ = members(pairs)
    done = outcomes(pairs, steps=40)[pairs[0]]
    assert done.curve.step.tolist() == [0, 20, 40]
    exam = Exam(Population(built), tasks, seeds, torch.float32, CPU)
    state = dict(built[0].named_parameters()) | dict(built[0].named_buffers())
    stacked = {key: value.detach()[None] for key, value in state.items()}
    for split in ("validation", "test"):
        error = exam.errors(stacked, [0], split).item()
        assert getattr(done.curve, split)[0] == pytest.approx(error)


def test_a_solved_member_stops_at_the_hundredth_step_in_a_row():
    pairs = [(Task("div", "sym"), 0), (Task("mul", "p20"), 1), (Task("add", "p20"), 2)]
    ruler = RULERS["dmu"]
    done = outcomes(pairs, ruler=ruler, steps=1000)
    every = Ruler("every", "", ruler.threshold, grid=1)
    for pair, outcome in done.items():
        assert outcome.status == "stopped"
        stop = int(outcome.curve.step[-1])
        under = outcomes([pair], ruler=every, steps=stop)[pair].curve.test < ruler.threshold(
            pair[0]
        )
        runs = np.convolve(under, np.ones(100), "valid") == 100
        assert np.flatnonzero(runs).tolist() == [stop - 99]


@pytest.mark.parametrize("seed", range(30))
def test_the_first_run_is_found_whatever_the_hits(seed):
    rng = np.random.RandomState(seed)
    hits = rng.random_sample(400) < rng.choice([0.5, 0.9, 0.97, 0.999])
    length = int(rng.choice([1, 5, 20, 100]))
    runs = np.convolve(hits, np.ones(length), "valid")
    expected = np.flatnonzero(runs == length)
    search = FirstRun(length)
    for end in (37, 38, 150, 400):  # as stretches of steps come in
        while (step := search.next(end)) is not None:
            assert step < end
            search.tell(bool(hits[step]))
    assert search.found == (expected[0] + length - 1 if expected.size else None)


class Plain(torch.nn.Module):
    """A module that knows nothing of populations."""

    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = torch.nn.Linear(in_features, out_features, bias=False)

    def forward(self, x):
        return self.linear(x)


def test_any_module_is_lifted_into_a_population():
    task = Task("add", "pos")
    recipe = Recipe(steps=50)
    torch.manual_seed(0)
    built = [Plain(2, 1) for _ in range(3)]
    twins = copy.deepcopy(built)
    streams = Streams([0, 1, 2], 2, 128, CPU)
    ((*done,),) = train(built, [task] * 3, [0, 1, 2], recipe, SHORT, streams=streams)
    streams.close()
    for seed, twin in enumerate(twins):
        reference.train(twin, task, seed, recipe, 50)
        weight = twin.linear.weight.detach().numpy()
        assert np.allclose(done[seed].parameters["linear.weight"], weight, rtol=1e-5)


def test_members_of_one_population_share_their_settings():
    with pytest.raises(ValueError, match="share their class and settings"):
        Population([DMU(2, 1), DMU(2, 1, gate_temperature=1.0)])
