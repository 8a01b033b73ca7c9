"""Compiling many functions that are made from the same lines."""

import pytest
import torch

from arithmix.bench.engine import train
from arithmix.bench.fresh import compiled_anew
from arithmix.bench.streams import Streams
from arithmix.measure.rulers import Ruler
from arithmix.tasks import Task
from arithmix.units._spec import parse

pytestmark = pytest.mark.compiled


@pytest.fixture
def count():
    """A compiler that compiles nothing and counts how often it is asked."""
    asked = []

    def backend(module, inputs):
        asked.append(module)
        return module.forward

    torch.compiler.reset()
    yield asked, backend
    torch.compiler.reset()


def test_training_leaves_what_the_caller_has_compiled(count):
    asked, backend = count
    function = torch.compile(lambda x: x.sin() + 1, backend=backend)
    function(torch.ones(3))
    assert len(asked) == 1
    spec = parse("nau")
    units = [spec.build(2, "add", seed, dtype=torch.float32) for seed in (0, 1)]
    streams = Streams([0, 1], 2, 128, torch.device("cpu"))
    ruler = Ruler("short", "every 5 steps", lambda task: 1e-3, grid=5)
    recipe = parse("nau[steps=5]").recipe("add", 2)
    arguments = (units, [Task("add", "sym")] * 2, [0, 1], recipe, ruler)
    assert len(list(train(*arguments, streams=streams, compiled=True))) == 1
    streams.close()
    function(torch.ones(3))
    assert len(asked) == 1


def test_more_functions_from_the_same_lines_than_torch_would_compile(count):
    asked, backend = count
    limit = torch._dynamo.config.recompile_limit

    def make(power):
        return compiled_anew(lambda x: x**power, backend=backend)

    for power in range(2, limit + 6):
        assert make(power)(torch.tensor(2.0)) == 2.0**power
    assert len(asked) == limit + 4
