"""Which outputs are finite, as the docstring of `Unit.harden` says it, for every unit."""

import itertools
import math

import pytest
import torch

from arithmix import DMU
from arithmix.units import units

from .contract import AWKWARD
from .making import generator, solved

ALL = units()
LARGEST = torch.finfo(torch.float32).max
# What IEEE 754 has no number for; magnitudes, since some units have no signs.
INDETERMINATE = {
    "add": [(math.inf, -math.inf), (-math.inf, math.inf)],
    "sub": [(math.inf, math.inf), (-math.inf, -math.inf)],
    "mul": [(math.inf, 0.0), (0.0, math.inf)],
    "div": [(math.inf, math.inf)],
}
HELD = {
    "add": (math.inf, 1.0),
    "sub": (math.inf, 1.0),
    "mul": (math.inf, 2.0),
    "div": (math.inf, 2.0),
}
every = pytest.mark.parametrize("unit", ALL.values(), ids=ALL.keys())


def forms(unit, inputs, outputs, dtype):
    """The unit as drawn and as solved, each in training, in evaluation and hardened."""

    def made(seed=0):
        return unit(inputs, outputs, generator=generator(seed), dtype=dtype)

    drawn = [made(seed) for seed in range(3)]
    if inputs > 1 and not ("mcfc" in unit.name and outputs > 1):  # these have no solution
        for operation in sorted(unit.exact):
            drawn.append(made())
            drawn[-1].load_state_dict(drawn[-1].solution(operation))
    for one in drawn:
        yield one.train()
        yield one.eval()
        yield one.harden()


@every
@pytest.mark.parametrize("inputs", [1, 2, 3])
@pytest.mark.parametrize("outputs", [1, 3])
def test_up_to_three_finite_inputs_of_float32_give_finite_outputs(unit, inputs, outputs):
    x = torch.tensor(list(itertools.product((*AWKWARD, LARGEST, -LARGEST), repeat=inputs)))
    for one in forms(unit, inputs, outputs, torch.float32):
        assert one(x).isfinite().all(), one


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("inputs", "decades"), [(2, 15), (10, 3), (40, 0.7)])
def test_numbers_whose_products_can_be_held_give_finite_outputs(unit, dtype, inputs, decades):
    size = 10 ** (decades * (2 * torch.rand(1000, inputs, generator=generator()) - 1).double())
    sign = torch.randint(0, 2, (1000, inputs), generator=generator(1)) * 2 - 1
    x = (size * sign).to(dtype)
    for one in forms(unit, inputs, 1, dtype):
        assert one(x).isfinite().all(), one


@every
def test_nan_gives_nan(unit):
    x = torch.tensor([[math.nan, 1.0], [1.0, math.nan], [math.nan, math.nan]])
    for operation in sorted(unit.exact):
        one = solved(unit, operation)
        assert one(x).isnan().all(), operation
        assert one.harden()(x).isnan().all(), operation


@every
def test_a_hardened_unit_has_no_number_for_what_has_none(unit):
    for operation in sorted(unit.exact):
        one = solved(unit, operation).harden()
        assert one(torch.tensor(INDETERMINATE[operation])).isnan().all(), operation
        assert one(torch.tensor(HELD[operation])).item() == LARGEST, operation
        if operation == "div":
            assert one(torch.tensor([1.0, math.inf])).item() == 0


@every
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_hardened_quotient_of_zeros_is_zero(unit, dtype):
    if "div" in unit.exact:
        one = solved(unit, "div", dtype=dtype).harden()
        x = torch.tensor([[0.0, 0.0], [0.0, -0.0], [-0.0, 0.0]], dtype=dtype)
        assert (one(x) == 0).all()
        assert one(torch.tensor([[1.0, 0.0], [1e-300, 0.0]], dtype=dtype)).isfinite().all()


def test_the_dmus_quotients_by_zero_are_those_of_its_notes():
    x = torch.tensor([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [1e-45, 0.0]])
    one = solved(DMU, "div")
    assert one(x)[0].item() == 1 and one(x).isfinite().all()
    assert one.harden()(x).flatten().tolist() == [0.0, LARGEST, -LARGEST, LARGEST]
