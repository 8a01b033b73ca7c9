"""The DMU's loss as a function of its parameters (O0, O1, g), in float64 and without chance.

The mean over the training square is a quadrature whose panels follow the line O0 a + O1 b = 0. On
it the linear domain's logarithm is nearly singular and its sign turns within T = 1e-4; a fixed set
of samples would put a ripple on the surface wherever the line crosses one of them, and each ripple
would pass for stationary points.

A quotient on a range over zero has a mean square that few samples in a million make up, whose
gradient is clipped in training. Its surface leaves out inputs that a batch has one of on average.
"""

import math
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from ..tasks import OPERATIONS, RANGES, Task
from ..units.dmu import DMU

NODES = 6
Nodes = Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]
CHUNK = 2**16
"""Nodes evaluated at a time: as many as stay in a core's cache."""
STEP = 1e-7
"""Between the gradients whose difference is the curvature."""


class Surface:
    """The loss of one task, as training sees it on average.

    Args:
        task: An operation of two inputs on a range.
        nodes: Quadrature nodes along each side of a panel.
    """

    def __init__(self, task: Task, nodes: int = NODES) -> None:
        self.task = task
        recipe = DMU.recipe(task.operation)
        arguments: dict[str, Any] = dict(recipe.arguments)
        unit = DMU(2, **arguments)
        assert unit.log_limit is not None  # the recipe's
        self._t, self._limit = unit.temperature, unit.log_limit
        least = RANGES[task.range].train[1] / recipe.batch if task.operation == "div" else 0.0
        self._sides, self._signs = _squares(*RANGES[task.range].train, least)
        self._rule = _rule(nodes)

    @cached_property
    def scale(self) -> float:
        """The mean square of the targets, which is the loss of a unit that says 0."""
        return float(self.values(np.array([[0.0, 0.0, 1.0]]))[0])

    @property
    def signed(self) -> bool:
        """Whether some inputs are negative: the loss then has kinks at O0 = 0 and O1 = 0."""
        return RANGES[self.task.range].train[0] < 0

    def loss(self, point: Float[Tensor, "points 3"]) -> Float[Tensor, " points"]:
        """The mean squared error at (O0, O1, g); differentiable."""
        losses = torch.zeros_like(point[:, 0])
        row, square = torch.cartesian_prod(
            torch.arange(len(point)), torch.arange(len(self._signs))
        ).unbind(-1)
        turn = self._signs[square]
        begins, ends = _crossing(point.detach()[row, :2] * turn, *self._sides)
        for nodes, which in ((self._whole, begins == ends), (self._split, begins != ends)):
            (some,) = torch.nonzero(which, as_tuple=True)
            if some.numel():
                part = self._part(point[row[some]], turn[some], nodes)
                losses = losses.index_add(0, row[some], part)
        return losses / len(self._signs)

    def values(self, point: np.ndarray) -> np.ndarray:
        """The loss at points `... 3`."""
        flat = torch.from_numpy(np.ascontiguousarray(point.reshape(-1, 3), dtype=np.float64))
        if not len(flat):
            return np.zeros(point.shape[:-1])
        with torch.no_grad():
            return (
                torch.cat([self.loss(p) for p in self._chunks(flat)])
                .numpy()
                .reshape(point.shape[:-1])
            )

    def derivatives(self, point: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The loss, its gradient and its Hessian at points `n 3`.

        The Hessian is by differences of gradients: to some six digits what two passes back would
        give, in less time.
        """
        shifts = STEP * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        places = torch.from_numpy((shifts[:, None] + point).reshape(-1, 3))
        losses, gradients = [torch.zeros(0)], [torch.zeros(0, 3)]
        for some in self._chunks(places) if len(places) else ():
            some.requires_grad_(True)
            loss = self.loss(some)
            losses.append(loss.detach())
            gradients += torch.autograd.grad(loss.sum(), some)
        gradient = torch.cat(gradients).numpy().reshape(4, -1, 3)
        hessian = (gradient[1:] - gradient[0]).swapaxes(0, 1) / STEP
        loss = torch.cat(losses).numpy()[: len(point)]
        return loss, gradient[0], (hessian + hessian.swapaxes(1, 2)) / 2

    def _chunks(self, point: Tensor) -> tuple[Tensor, ...]:
        nodes = 4 * len(self._rule[0]) ** 2 * len(self._signs)
        return point.split(max(1, CHUNK // nodes))

    def _part(self, point: Tensor, turn: Tensor, nodes: Nodes) -> Tensor:
        """The mean squared error over a square of magnitudes with the signs `turn`.

        It is that of `units.dmu.dmu`, with each input in a tensor of its own, and with what is the
        same all over the square, as the sign of the log domain, computed once for it.
        """
        o, g = point[:, :2], point[:, 2:]
        u, v, weight = nodes(o * turn)
        o0, o1 = o.split(1, 1)
        # Of one square the nodes are the same for all, and so are their logarithms.
        turn0, turn1 = (turn[:1] if len(self._signs) == 1 else turn).split(1, 1)
        a, b = turn0 * u, turn1 * v
        r_lin = o0 * a + o1 * b
        r_log = o0 * _log(u) + o1 * _log(v)
        s_log = torch.cos(math.pi * (o.abs() * (turn < 0)).sum(1, keepdim=True))
        s = g * torch.tanh(r_lin / self._t) + (1 - g) * s_log
        l_lin = (r_lin.square() + self._t**2).log() / 2
        m = g * l_lin + (1 - g) * r_log.clamp(-self._limit, self._limit)
        y = s * m.clamp(-self._limit, self._limit).exp()
        wrong = y - OPERATIONS[self.task.operation].apply(a, b)
        return (weight * wrong.square()).sum(-1)

    def _whole(self, o: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Nodes and weights in a square that the line does not cross, the same for all points."""
        low, high = self._sides
        t, w = self._rule
        along = low + (high - low) * t
        u, v = along.repeat_interleave(len(t)), along.repeat(len(t))
        return u[None], v[None], (w[:, None] * w).flatten()[None]

    def _split(self, o: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Nodes (u, v) in the square of magnitudes and their weights, `points nodes` each.

        With r = o0 u + o1 v there are up to three strips of v: the line r = 0 passes below the
        square, through it, or above it; where it passes through, u is split at it: four panels.
        """
        low, high = self._sides
        t, w = self._rule
        ratio = -o[:, 1] / _away_from_zero(o[:, 0])  # r = 0 at u = ratio * v
        enters, leaves = _crossing(o, low, high)
        ends = torch.full_like(ratio, low), torch.full_like(ratio, high)
        begin = torch.stack([ends[0], enters, enters, leaves], -1)[..., None]
        length = torch.stack([enters, leaves, leaves, ends[1]], -1)[..., None] - begin
        v = begin + length * t  # points panels n
        split = (ratio[:, None, None] * v).clamp(low, high)
        panel = torch.arange(4)[:, None]
        first = torch.where(panel == 2, split, low)
        width = torch.where(panel == 1, split, high) - first
        u = first[..., None] + width[..., None] * t  # points panels n n
        weight = (length * w * width)[..., None] * w / (high - low) ** 2
        return u.flatten(1), v[..., None].expand_as(u).flatten(1), weight.flatten(1)


def _squares(low: float, high: float, least: float) -> tuple[tuple[float, float], Tensor]:
    """The side of a square of magnitudes, and the signs of its inputs; over zero there are four."""
    if low < 0 < high:
        one = torch.tensor([1.0, -1.0], dtype=torch.float64)
        return (least, high), torch.cartesian_prod(one, one)
    sign = 1.0 if high > 0 else -1.0
    side = min(abs(low), abs(high)), max(abs(low), abs(high))
    return side, torch.tensor([[sign, sign]], dtype=torch.float64)


@cache
def _rule(nodes: int) -> tuple[Tensor, Tensor]:
    """Nodes and weights on [0, 1], crowded like cubes at both ends, where cusps are."""
    node, weight = np.polynomial.legendre.leggauss(nodes)
    t, weight = (node + 1) / 2, weight / 2
    place, stretch = t**3 * (10 - 15 * t + 6 * t**2), 30 * t**2 * (1 - t) ** 2
    return torch.from_numpy(place), torch.from_numpy(weight * stretch)


def _crossing(o: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Between which v the line o0 u + o1 v = 0 is in the square; equal where it is nowhere."""
    inverse = -o[:, 0] / _away_from_zero(o[:, 1])
    return (low * inverse).clamp(low, high), (high * inverse).clamp(low, high)


def _log(size: Tensor) -> Tensor:
    return size.clamp(min=torch.finfo(size.dtype).tiny).log()


def _away_from_zero(x: Tensor) -> Tensor:
    return torch.where(x.abs() < 1e-9, torch.copysign(torch.full_like(x, 1e-9), x), x)
