import dataclasses

import numpy as np
import pytest
import torch

from arithmix.bench import streams as streams_module
from arithmix.bench.engine import train
from arithmix.bench.restart import Stalls
from arithmix.bench.streams import Streams
from arithmix.measure.rulers import Ruler
from arithmix.tasks import Task
from arithmix.units._recipe import Restart
from arithmix.units._spec import parse

RULE = Restart(every=10, after=50, above=1.0)


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    monkeypatch.setattr(streams_module, "SAMPLES", 320)


def restarts(errors, grid, rule=RULE):
    """The steps after which the original's rule starts a member again, noted one by one."""
    noted, found = [], []
    for step in range(len(errors) * grid):
        noted.append(errors[step // grid])
        if step % rule.every == 0 and step > 0 and len(noted) > rule.after:
            first, second = np.split(np.array(noted), [len(noted) // 2])
            if first.mean() <= second.mean() + second.std() and second.mean() > rule.above:
                found.append(step)
                noted = []
    return found


@pytest.mark.parametrize("seed", range(20))
def test_the_rule_is_the_originals(seed):
    rng = np.random.RandomState(seed)
    grid = 20
    errors = list(np.exp(rng.normal(rng.uniform(-1, 3), 0.5, 30)))
    if seed % 4 == 0:
        errors = sorted(errors, reverse=True)
    if seed % 7 == 0:
        errors[5] = float("nan")
    stalls, found, step = Stalls(RULE, 1), [], 0
    while step < len(errors) * grid:
        left = grid - step % grid
        count, again = stalls.first({0: errors[step // grid]}, step, left)
        step += count
        if again:
            found.append(step - 1)
    assert found == restarts(errors, grid)


# All that the second draws anew is a constant.
@pytest.mark.parametrize("name", ["inalu", "dmu[selector=random]"])
def test_a_stalled_member_draws_anew_and_its_neighbours_do_not_notice(name):
    spec, task = parse(name), Task("mul", "n20")
    rule = Restart(every=10, after=30, above=0.0)
    recipe = dataclasses.replace(spec.recipe("mul", 2), steps=80, restart=rule, rate=1e-9)
    ruler = Ruler("short", "", lambda task: 0.0, grid=20)
    asked = []

    def run(seeds, restart):
        members = [spec.build(2, "mul", seed, dtype=torch.float32) for seed in seeds]
        streams = Streams(sorted(seeds), 2, 128, torch.device("cpu"))

        def redraw(member):
            asked.append(seeds[member])
            return members[member].draw(torch.Generator().manual_seed(100 + seeds[member]))

        changed = dataclasses.replace(recipe, restart=restart)
        arguments = (members, [task] * len(seeds), seeds, changed, ruler)
        ((*done,),) = train(*arguments, streams=streams, redraw=redraw)
        streams.close()
        return {seeds[one.member]: one for one in done}

    without, together, alone = run([3, 4], None), run([3, 4], rule), run([3], rule)
    assert set(asked) == {3, 4}
    assert np.array_equal(alone[3].curve.test, together[3].curve.test)
    assert alone[3].curve.step.tolist() == [0, 20, 40, 60, 80]
    assert not np.allclose(without[3].curve.test[-1], together[3].curve.test[-1])
