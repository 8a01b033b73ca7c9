r"""Discrete structures over n inputs: what each computes, and what each loses on a batch.

A structure is an operation on an ordered pair of inputs, or a coefficient times an atom:

    f(x_i, x_j) = \sum_k c_k x_i^{a_k} x_j^{b_k}     c x_i,  c / x_i,  c,  c \sum x,  c \prod x

A pair's loss is E f^2 - 2 E f y + E y^2, and both means are entries of Gram matrices of powers of
the batch, so n^2 of them cost a few matrix products. The structures are numbered: operation by
operation, each an n x n table, then coefficient by coefficient, each a row of atoms.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from ._math import per_output

NEAR_ZERO = 1e-60
"""A divisor is held away from zero by this much: its square, and that of a quotient, are finite."""
HUGE = 1e150
SUBSETS_UP_TO = 8
"""Inputs up to which every subset of three or more is an atom; beyond it only the whole."""
REFINED = 8
"""The best structures by their moments, whose losses are computed again from their residuals."""


def divisor(x: Tensor) -> Tensor:
    """`x` as something to divide by."""
    return torch.where(x.abs() < NEAR_ZERO, NEAR_ZERO, x)


@dataclass(frozen=True)
class Pair:
    """An operation on two inputs.

    Terms are (c, a, b) for c x_i^a x_j^b. Without them, as a minimum has none, losses come from the
    batch itself, n^2 numbers a sample.
    """

    name: str
    symbol: str
    apply: Callable[[Tensor, Tensor], Tensor]
    which: Callable[[Tensor, Tensor], Tensor]
    """Which places (i, j) of its table count: one of two that compute the same."""
    terms: tuple[tuple[int, int, int], ...] = ()


PAIRS: dict[str, Pair] = {
    pair.name: pair
    for pair in (
        Pair("add", "+", operator.add, operator.lt, ((1, 1, 0), (1, 0, 1))),
        Pair("sub", "-", operator.sub, operator.ne, ((1, 1, 0), (-1, 0, 1))),
        Pair("mul", "*", operator.mul, operator.le, ((1, 1, 1),)),
        Pair("div", "/", lambda a, b: a / divisor(b), operator.ne, ((1, 1, -1),)),
    )
}


class Powers:
    """Powers of a batch's inputs and their means, each computed once.

    Args:
        x: Inputs, in float64.
    """

    def __init__(self, x: Float[Tensor, "*pop batch in"]) -> None:
        self._powers = {1: x}
        self._means: dict[tuple[int, int], Tensor] = {}

    def power(self, p: int) -> Float[Tensor, "*pop 1 batch in"]:
        """x^p, with an axis for outputs."""
        if p not in self._powers:
            x = self._powers[1]
            self._powers[p] = divisor(x).pow(p) if p < 0 else x.pow(p)
        return self._powers[p].unsqueeze(-3)

    def mean(self, a: int, b: int) -> Float[Tensor, "*pop 1 rows columns"]:
        """E x_i^a x_j^b; a power of 0 leaves one row or column."""
        if (a, b) not in self._means:
            self._means[a, b] = self._gram(self.power(a) if a else None, b)
        return self._means[a, b]

    def target_mean(
        self, a: int, b: int, y: Float[Tensor, "*pop out batch 1"]
    ) -> Float[Tensor, "*pop out rows columns"]:
        """E x_i^a x_j^b y."""
        return self._gram(self.power(a) * y, b) if a else self._gram(y, b)

    def _gram(self, left: Tensor | None, b: int) -> Tensor:
        if left is None:
            return self.power(b).mean(-2, keepdim=True)
        if not b:
            return left.mean(-2).unsqueeze(-1)
        return left.mT @ self.power(b) / left.shape[-2]


def pair_losses(
    pair: Pair, powers: Powers, y: Float[Tensor, "*pop out batch 1"]
) -> Float[Tensor, "*pop out in in"]:
    """The mean squared error of `pair` on every ordered pair of inputs."""
    x = powers.power(1)
    if not pair.terms:
        wrong = pair.apply(x.unsqueeze(-1), x.unsqueeze(-2)) - y.unsqueeze(-1)
        return wrong.square().mean(-3)
    loss = y.square().mean(-2, keepdim=True)
    for c, a, b in pair.terms:
        loss = loss - 2 * c * powers.target_mean(a, b, y)
        for d, e, f in pair.terms:
            loss = loss + c * d * powers.mean(a + e, b + f)
    return loss.expand(*loss.shape[:-2], x.shape[-1], x.shape[-1])


def pair_expectation(
    pair: Pair, powers: Powers, p: Float[Tensor, "*pop out in in"]
) -> Float[Tensor, "*pop out batch"]:
    """The sum over all ordered pairs of `p` times what `pair` computes of them."""
    x = powers.power(1)
    if not pair.terms:
        return (pair.apply(x.unsqueeze(-1), x.unsqueeze(-2)) * p.unsqueeze(-3)).sum((-2, -1))
    total = torch.zeros_like(x[..., 0])
    for c, a, b in pair.terms:
        left = powers.power(a) @ p if a else p.sum(-2, keepdim=True)
        total = total + c * (left * powers.power(b) if b else left).sum(-1)
    return total


class Structures:
    """The structures over a number of inputs."""

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.subsets = 0 if inputs < 3 else 2**inputs if inputs <= SUBSETS_UP_TO else 1
        self.atoms = 2 * inputs + 1 + 2 * self.subsets
        self.pairs = len(PAIRS) * inputs**2
        self.count = self.pairs + COEFFICIENTS * self.atoms

    def find(self, operation: str, i: int = 0, j: int = 1) -> int:
        """The number of an operation on two inputs."""
        return (list(PAIRS).index(operation) * self.inputs + i) * self.inputs + j

    def valid(self, device: torch.device) -> Bool[Tensor, " structures"]:
        """Which numbers count; the others would be a second name of something."""
        index = torch.arange(self.inputs, device=device)
        tables = [pair.which(index[:, None], index).flatten() for pair in PAIRS.values()]
        one = torch.arange(self.atoms, device=device) == 2 * self.inputs
        atoms = torch.ones_like(one)
        if self.subsets:
            large = self._masks(device).sum(-1) > 2
            atoms = torch.cat([atoms[: 2 * self.inputs + 1], large, large])
        c = coefficients(device)[:, None]
        return torch.cat([*tables, (atoms & ((c != 0) | one)).flatten()])

    def losses(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop out structures"]:
        """The mean squared error of every structure; infinite where it does not count.

        Differences of moments are exact to some 1e-16 of the largest moment. Where that is not
        enough it is the best structures that matter, so theirs are computed from residuals.
        """
        powers, rows = Powers(x), y.mT.unsqueeze(-1)
        parts = [pair_losses(pair, powers, rows).flatten(-2) for pair in PAIRS.values()]
        atoms, c = self._atoms(x), coefficients(x.device)[:, None]
        squares = atoms.square().mean(-2, keepdim=True).unsqueeze(-2)  # *pop 1 1 atoms
        cross = (y.mT @ atoms / y.shape[-2]).unsqueeze(-2)  # *pop out 1 atoms
        rest = y.square().mean(-2)[..., None, None]
        parts.append((c * c * squares - 2 * c * cross + rest).flatten(-2))
        loss = torch.cat(parts, -1)
        infinite = torch.full_like(loss, torch.inf)
        loss = torch.where(self.valid(x.device) & ~loss.isnan(), loss, infinite)
        best = loss.detach().topk(min(REFINED, self.count), largest=False, sorted=False).indices
        out = self.evaluate(x, best.flatten(-2)).unflatten(-1, best.shape[-2:])
        return loss.scatter(-1, best, (out - y.unsqueeze(-1)).square().mean(-3))

    def evaluate(
        self, x: Float[Tensor, "*batch in"], index: Int[Tensor, "*pop chosen"]
    ) -> Float[Tensor, "*batch chosen"]:
        """What the structures of these numbers compute."""
        index, n = per_output(index), self.inputs
        code, place = index // n**2, index % n**2
        a, b = _take(x, place // n), _take(x, place % n)
        single = (index - self.pairs).clamp(min=0)
        c = coefficients(x.device)[single // self.atoms]
        y = c * _take(self._atoms(x), single % self.atoms)
        for number, pair in enumerate(PAIRS.values()):
            y = torch.where(code == number, pair.apply(a, b), y)
        return y

    def expectation(
        self, x: Float[Tensor, "*pop batch in"], p: Float[Tensor, "*pop out structures"]
    ) -> Float[Tensor, "*pop batch out"]:
        """The mean of what all structures compute, weighted by `p`."""
        powers, n = Powers(x), self.inputs
        tables = p[..., : self.pairs].unflatten(-1, (len(PAIRS), n, n)).unbind(-3)
        weights = p[..., self.pairs :].unflatten(-1, (COEFFICIENTS, self.atoms))
        y = self._atoms(x) @ (coefficients(x.device)[:, None] * weights).sum(-2).mT
        for pair, table in zip(PAIRS.values(), tables, strict=True):
            y = y + pair_expectation(pair, powers, table).mT
        return y

    def text(self, index: int) -> str:
        """A structure as a formula."""
        n = self.inputs
        if index < self.pairs:
            code, place = divmod(index, n**2)
            symbol = list(PAIRS.values())[code].symbol
            return f"x{place // n} {symbol} x{place % n}"
        row, atom = divmod(index - self.pairs, self.atoms)
        c = coefficients(torch.device("cpu"))[row].item()
        if n <= atom <= 2 * n:
            return _scaled_text(c, "", f"x{atom - n}" if atom < 2 * n else "")
        return _scaled_text(c, f"x{atom}" if atom < n else self._subset_text(atom - 2 * n - 1), "")

    def _subset_text(self, number: int) -> str:
        product, number = divmod(number, self.subsets)
        mask = self._masks(torch.device("cpu"))[number].tolist()
        return f"({(' * ' if product else ' + ').join(f'x{i}' for i, m in enumerate(mask) if m)})"

    def _masks(self, device: torch.device) -> Bool[Tensor, "subsets in"]:
        bits = torch.arange(self.inputs, device=device)
        if self.subsets == 1:
            return bits[None] >= 0
        return (torch.arange(self.subsets, device=device)[:, None] >> bits) % 2 == 1

    def _atoms(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch atoms"]:
        parts = [x, 1 / divisor(x), torch.ones_like(x[..., :1])]
        if self.subsets:
            masks, each = self._masks(x.device), x.unsqueeze(-2)
            parts.append(torch.where(masks, each, 0.0).sum(-1))
            parts.append(torch.where(masks, each, 1.0).prod(-1).clamp(-HUGE, HUGE))
        return torch.cat(parts, -1)


COEFFICIENTS = 39


def coefficients(device: torch.device) -> Float[Tensor, " coefficients"]:
    """-10, ..., 10, and the inverses of these but for 0 and 1."""
    whole = torch.arange(-10, 11, device=device, dtype=torch.float64)
    parts = 1 / torch.arange(2, 11, device=device, dtype=torch.float64)
    return torch.cat([whole, parts, -parts])


def _take(x: Tensor, index: Tensor) -> Tensor:
    """The entries of the last axis at `index`, which has no batch axis of its own."""
    return x.gather(-1, index.expand(*x.shape[:-1], index.shape[-1]))


def _scaled_text(c: float, above: str, below: str) -> str:
    """C times `above` over `below`, each a name or nothing."""
    p, q = (round(c), 1) if c == 0 or abs(c) >= 1 else (round(c / abs(c)), round(1 / abs(c)))
    top = {1: above, -1: f"-{above}"}.get(p, f"{p} * {above}") if above else str(p)
    bottom = [str(q)] * (q > 1) + [below] * bool(below)
    if len(bottom) == 2:
        return f"{top} / ({' * '.join(bottom)})"
    return " / ".join([top, *bottom])
