"""Every unit of the package keeps the contract."""

import pytest
import torch

from arithmix.units import units

from .contract import PROPERTIES, generator, pairs

ALL = units()


@pytest.mark.parametrize("unit", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
def test_a_unit_keeps_the_contract(unit, check):
    check(unit)


@pytest.mark.compiled
@pytest.mark.parametrize("unit", ALL.values(), ids=ALL.keys())
def test_a_unit_compiles_whole(unit):
    torch.compiler.reset()
    one = unit(2, 1, generator=generator()).eval()
    x = pairs(unit, 2).float()
    compiled = torch.compile(one, fullgraph=True)(x)
    assert torch.allclose(compiled, one(x), rtol=1e-5)
