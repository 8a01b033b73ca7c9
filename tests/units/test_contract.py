"""Every unit of the package keeps the contract."""

import pytest
import torch
from torch.func import functional_call

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
    # An output that is a small difference of large parts is as wrong as these are.
    assert torch.allclose(compiled, one(x), rtol=1e-5, atol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("unit", ALL.values(), ids=ALL.keys())
def test_a_populations_training_compiles_whole(unit):
    torch.compiler.reset()
    members = unit(2, 1, population=(4,), generator=generator()).train()
    state = {key: value.detach() for key, value in members.state_dict().items()}
    x = pairs(unit, 0.5, 4 * 32).float().reshape(4, 32, 2)
    y = x.sum(-1, keepdim=True)
    step, validation = torch.tensor(30_000.0), torch.full((4,), 0.5)

    def objective(state):
        loss = functional_call(members, state, (x,)).sub(y).square().mean((-2, -1))
        return loss.sum()

    def gradients(state):
        return torch.func.grad(objective)(state)

    def penalty(step, validation):
        return members.penalty(step, validation)

    compiled, eager = torch.compile(gradients, fullgraph=True)(state), gradients(state)
    for key, value in eager.items():
        scale = value.abs().max().item() + 1e-6
        assert torch.allclose(compiled[key], value, rtol=1e-3, atol=1e-4 * scale), key
    with torch.no_grad():
        said = torch.compile(penalty, fullgraph=True)(step, validation)
        assert torch.allclose(said, penalty(step, validation), rtol=1e-5)
