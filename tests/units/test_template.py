"""What `Unit` does for all units: checks, hardness in the state, new draws."""

import copy
import pickle

import pytest
import torch
from torch.func import functional_call, stack_module_state

from arithmix import DMU, Unit
from arithmix.units.mul_mcfc import SIGNS, MulMCFC
from arithmix.units.nau import NAU
from arithmix.units.unified import Unified

from .making import generator, solved


class Own(Unit):
    """A user's unit from before the template: forward, loss and harden are its own."""

    name = "own"
    exact = frozenset({"add"})

    def __init__(self, *arguments, **more):
        self.hard = False
        super().__init__(*arguments, **more)

    def draw(self, generator):
        return {"w": torch.rand(self.out_features, self.in_features, generator=generator)}

    def forward(self, x):
        return x @ (self.w.round() if self.hard else self.w).T

    def harden(self):
        self.hard = True
        return self


def test_the_sentences():
    unit, x = DMU(3, 1), torch.ones(4, 3)
    with pytest.raises(ValueError) as caught:
        unit(torch.ones(4, 1))
    words = "the unit takes 3 inputs, so x must be of shape (..., 3); got (4, 1)"
    assert str(caught.value) == words
    with pytest.raises(ValueError) as caught:
        unit.loss(x, torch.ones(4))
    words = (
        "y must be of the shape of the output, (4, 1); got (4,); reshape it with y.reshape(4, 1)"
    )
    assert str(caught.value) == words
    with pytest.raises(ValueError, match=r"got \(2, 4\); turn it with y.mT$"):
        DMU(3, 2).loss(x, torch.ones(2, 4))
    with pytest.raises(ValueError, match=r"got \(4, 2\)$"):
        unit.loss(x, torch.ones(4, 2))
    with pytest.raises(ValueError) as caught:
        DMU(0, 1)
    words = "a unit needs at least one input and one output; got in_features=0 and out_features=1"
    assert str(caught.value) == words


def test_a_unit_of_ones_own_with_a_forward_goes_on_working():
    one, x = Own(2, 1, generator=generator()), torch.rand(5, 2, generator=generator(1))
    assert torch.equal(one(x), x @ one.w.T)
    assert torch.equal(one.loss(x, x[:, :1]), (one(x) - x[:, :1]).square().mean())
    assert torch.equal(one.harden()(x), x @ one.w.round().T)
    assert list(one.state_dict()) == ["w"]
    other = Own(2, 1)
    other.load_state_dict(one.state_dict())
    assert torch.equal(other.w, one.w)


def test_a_saved_unit_is_exact_where_the_soft_one_is_not():
    hard = solved(DMU, "mul").harden()
    x = torch.tensor([[3000.0, -4000.0]])
    other = DMU(2, 1)
    other.load_state_dict(hard.state_dict())
    assert other(x).item() == -12_000_000
    other.load_state_dict(solved(DMU, "mul").state_dict())
    assert not other.hardened and other(x).item() != -12_000_000


def test_hardness_is_a_tensor_of_its_own_in_the_state():
    state = solved(NAU, "add").harden().state_dict()
    # What a file format for plain tensors asks for.
    assert state["hardened"].dtype == torch.bool and state["hardened"].is_contiguous()
    assert len({value.data_ptr() for value in state.values()}) == len(state)
    unknown = NAU(2, 1).load_state_dict(state | {"more": torch.zeros(1)}, strict=False)
    assert unknown.unexpected_keys == ["more"]
    with pytest.raises(RuntimeError, match="Unexpected key"):
        torch.nn.Linear(2, 1).load_state_dict(state)
    soft = NAU(2, 1)
    soft.load_state_dict(state | {"hardened": torch.tensor(False)})
    assert not soft.hardened


def test_a_copy_of_a_hardened_unit_is_hardened():
    hard = solved(DMU, "mul").harden()
    assert copy.deepcopy(hard).hardened and pickle.loads(pickle.dumps(hard)).hardened


def test_hardened_members_make_a_hardened_population():
    members = [solved(DMU, operation).harden() for operation in ("add", "mul", "div")]
    states = [member.state_dict() for member in members]
    together = DMU(2, 1, population=(3,))
    together.load_state_dict({key: torch.stack([s[key] for s in states]) for key in states[0]})
    assert together.hardened
    x = torch.tensor([[3.0, -4.0]]).expand(3, 1, 2)
    assert together(x).flatten().tolist() == [-1.0, -12.0, -0.75]


def test_the_mode_of_unified_is_not_its_hardness():
    unit = solved(Unified, "mul").train().harden()
    assert unit.mode == "soft" and unit.hardened
    assert unit(torch.tensor([3.0, 4.0])).item() == 12
    unit.reset_parameters()
    assert not unit.hardened and unit(torch.tensor([3.0, 4.0])).item() != 12


def test_the_checks_know_nothing_of_a_population():
    members = [DMU(2, 1, learn_selector=True, generator=generator(i)) for i in range(4)]
    parameters, buffers = stack_module_state(members)
    x = torch.rand(4, 8, 2, generator=generator())

    class Loss(torch.nn.Module):
        def __init__(self, unit):
            super().__init__()
            self.unit = unit

        def forward(self, x, y):
            return self.unit.loss(x, y)

    stacked = {f"unit.{key}": value for key, value in (parameters | buffers).items()}
    loss = functional_call(Loss(members[0]), stacked, (x, x.sum(-1, keepdim=True)))
    own = [m.loss(x[i], x[i].sum(-1, keepdim=True)) for i, m in enumerate(members)]
    assert torch.allclose(loss, torch.stack(own), rtol=1e-6)


@pytest.mark.compiled
@pytest.mark.parametrize("settings", [{}, {"mix": "loss"}])
def test_the_checks_compile_whole(settings):
    torch.compiler.reset()
    unit, x = DMU(2, 1, **settings), torch.rand(16, 2, generator=generator()) + 0.5
    y = x.sum(-1, keepdim=True)
    compiled = torch.compile(unit.loss, fullgraph=True)(x, y)
    assert torch.allclose(compiled, unit.loss(x, y), rtol=1e-5)
    unit.harden()
    assert torch.equal(torch.compile(unit, fullgraph=True)(x), unit(x))


def test_a_frozen_random_selector_is_the_members_own():
    unit = DMU(2, 1, selector="random", population=(3,), generator=generator(1))
    assert dict(unit.named_buffers()).keys() == {"selector"}
    source = generator(1)
    expected = torch.stack([unit.draw(source)["selector"] for _ in range(3)])
    assert torch.equal(unit.selector, expected) and len(expected.unique()) == 6
    first, held = unit.selector.clone(), unit.selector
    unit.reset_parameters(generator(2))
    assert unit.selector is held and not torch.equal(held, first)
    unit.reset_parameters(generator(1))
    assert torch.equal(held, first)


def test_a_selector_that_is_given_is_copied():
    given = torch.tensor([[1.0, -1.0]])
    unit = DMU(2, 1, selector=given)
    unit.draw(generator())["selector"].zero_()
    unit.reset_parameters()
    assert given.tolist() == unit.selector.tolist() == [[1.0, -1.0]]


def test_a_reset_draws_as_the_constructor_does():
    for dtype in (torch.float32, torch.float64):
        made = NAU(3, 2, population=(2, 2), generator=generator(1), dtype=dtype)
        reset = NAU(3, 2, population=(2, 2), generator=generator(9), dtype=dtype)
        reset.reset_parameters(generator(1))
        assert torch.equal(made.w, reset.w)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_unit_knows_whether_it_has_signs(sign):
    unit = MulMCFC(2, 1, sign=sign)
    assert unit.signed == (sign != "none")
    unit.load_state_dict(unit.solution("mul"))
    assert (unit.harden()(torch.tensor([3.0, -4.0])).item() < 0) == unit.signed
    assert not MulMCFC.signed
