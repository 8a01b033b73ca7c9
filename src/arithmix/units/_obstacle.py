"""Why members of a user's own unit can't be trained side by side, if they can't."""

import copy
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.func import grad

from ._alike import difference
from ._base import Unit
from ._lend import states
from ._output import outputs
from ._population import Population, State, has_sparsity

CLOSE = 1e-3
"""How far, relative to the largest, a number may move when members are computed together."""


def check(module: nn.Module, x: Tensor) -> None:
    """Raise what keeps a module from being trained at all. The module is used up by this.

    Raises:
        ValueError: It has nothing to train, or gives no gradient.
    """
    trained = [p for p in module.parameters() if p.requires_grad]
    if not trained:
        raise ValueError("it has no parameters that require a gradient, so nothing can be trained")
    if any(tensor.is_meta for tensor in (*module.parameters(), *module.buffers())):
        raise ValueError("it has tensors on torch's meta device, which hold no numbers")
    y = outputs(module.train(), x)
    if not y.requires_grad:
        raise ValueError("its output does not depend on its parameters, so nothing is learned")
    loss = y.square().mean()
    if isinstance(module, Unit):
        loss = module.loss(x, torch.zeros_like(y)) + module.penalty(x.new_zeros(()), x.new_ones(()))
        module.project()
        for name, value in {"loss": loss, "sparsity": sparsity_of(module)}.items():
            if value.shape != ():
                raise ValueError(f"its {name} must be one number; got {tuple(value.shape)}")
    loss.backward()
    outputs(module.eval(), x)


def obstacle(make: Callable[[int], nn.Module], count: int, x: Tensor) -> str | None:
    """Say why `count` members, made anew by `make`, can't share one set of tensors; None if so.

    Members are compared with each other, a member with itself after a forward pass, and what they
    compute together with what each computes alone: whatever the reason, a difference is found.
    """
    members = [make(place) for place in range(count)]
    first = members[0]
    for member in members[1:]:
        if (name := difference(first, member)) is not None:
            return f"its members differ in {name}"
    for name, parameter in first.named_parameters():
        if not parameter.is_floating_point():
            return f"its parameter {name} is of {str(parameter.dtype).removeprefix('torch.')}"
    used = make(0)
    before = states()
    for mode in (True, False):
        outputs(used.train(mode), x)
    if states() != before:
        return "its forward pass draws random numbers"
    if (name := difference(first, used, tensors=True)) is not None:
        return f"its forward pass changes {name}"
    pair = [members[0], members[-1]]
    try:
        together = _together(pair, x)
    except Exception:  # whatever torch says of what it can't lift, in its own words
        return "torch can't compute its forward pass for many members at once"
    for place, member in enumerate(pair):
        if not _close(_alone(member, x), {key: value[place] for key, value in together.items()}):
            return "it computes something else for many members at once than for each alone"
    return None


def sparsity_of(unit: Unit) -> Tensor:
    """A unit's distance from a discrete solution; NaN where it has no word on it."""
    return unit.sparsity().detach() if has_sparsity(unit) else torch.tensor(float("nan"))


def _together(members: Sequence[nn.Module], x: Tensor) -> State:
    """Outputs in both modes and gradients of members, through their population."""
    population = Population([copy.deepcopy(member) for member in members])
    xs = x.expand(len(members), *x.shape)

    def loss(parameters: State) -> Tensor:
        state = parameters | population.constants
        return population.loss(state, xs, torch.zeros_like(xs[..., :1])).sum()

    state = population.parameters | population.constants
    return {"": population.forward(state, xs)} | grad(loss)(population.parameters)


def _alone(member: nn.Module, x: Tensor) -> State:
    """The same of one member, in plain torch."""
    member.zero_grad()
    y = outputs(member.train(), x)
    target = torch.zeros_like(y)
    loss = member.loss(x, target) if isinstance(member, Unit) else (y - target).square().mean()
    loss.backward()
    gradients = {
        key: p.grad if p.grad is not None else torch.zeros_like(p)
        for key, p in member.named_parameters()
        if p.requires_grad
    }
    with torch.no_grad():
        return {"": outputs(member.eval(), x)} | gradients


def _close(one: State, other: State) -> bool:
    for key, value in one.items():
        mine, theirs = value.double(), other[key].double()
        scale = mine[mine.isfinite()].abs().max().item() if mine.isfinite().any() else 0.0
        if not torch.allclose(theirs, mine, rtol=0, atol=CLOSE * scale, equal_nan=True):
            return False
    return True
