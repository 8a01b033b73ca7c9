"""The programs that a reader thinks of at a place, with their exact values.

One step: every program. Two and three steps: a beam of the likeliest beginnings; what it leaves
out goes to the base.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .exact import Exact, compute
from .programs import OPERATIONS
from .reader import Reader
from .reading import Operand
from .slots import Steps

NEGLIGIBLE = 1e-3
"""A program with less probability is left to the base."""
BEAM = 16
MOST = 10_000
"""Programs of one step, or ends of longer ones, that are looked at."""
RANKS = {"+": 1, "-": 1, "*": 2, "/": 2}


@dataclass(frozen=True)
class Expression:
    """A formula with its value and the numbers in it."""

    text: str
    value: Exact
    operands: tuple[Operand, ...]
    rank: int = 3


@dataclass(frozen=True)
class Program:
    """A formula, and how probable a reader takes it to be."""

    expression: Expression
    probability: float


def combine(op: str, left: Expression, right: Expression) -> Expression | None:
    """`left op right`; None where it has no value or no end."""
    value = compute(op, left.value, right.value)
    if value is None:
        return None
    rank = RANKS[op]
    a = f"({left.text})" if left.rank < rank else left.text
    tight = right.rank < rank or (right.rank == rank and op in "-/")
    b = f"({right.text})" if tight else right.text
    return Expression(f"{a} {op} {b}", value, left.operands + right.operands, rank)


@torch.no_grad()
def think(
    reader: Reader,
    q: Tensor,
    gate: Tensor,
    slots: Steps,
    operands: Sequence[Operand],
) -> list[Program]:
    """The programs at one place that are not negligible.

    Args:
        reader: Whose they are.
        q: Its query there, of the shape (1, width).
        gate: The log-probabilities of its experts.
        slots: Keys of the numbers before and of the constants.
        operands: These numbers and constants.
    """
    leaves = [Expression(operand.text, operand.value, (operand,)) for operand in operands]
    weights = gate.exp().tolist()
    made: list[tuple[Expression | None, float]] = []
    if weights[1] > NEGLIGIBLE:
        masses = (gate[1] + reader.copies(q, slots)[0]).exp().tolist()
        made += [(leaf, mass) for leaf, mass in zip(leaves, masses, strict=False)]
    if weights[2] > NEGLIGIBLE:
        logs = gate[2] + reader.first(q, slots, 1)[1][0]
        made += [
            (combine(OPERATIONS[op], leaves[a], leaves[b]), mass) for op, a, b, mass in _kept(logs)
        ]
    if len(weights) > 3 and weights[3] > NEGLIGIBLE:
        made += _twos(reader, q, gate[3], slots, leaves)
    if len(weights) > 4 and weights[4] > NEGLIGIBLE:
        made += _threes(reader, q, gate[4], slots, leaves)
    return [Program(e, mass) for e, mass in made if e is not None and mass > NEGLIGIBLE]


def _kept(logs: Tensor, most: int | None = None) -> list[tuple]:
    """The indices of entries that are not negligible, with their masses; the largest first."""
    flat = logs.flatten().exp()
    masses, at = flat.topk(min(most or MOST, int((flat > NEGLIGIBLE).sum())))
    places = torch.stack(torch.unravel_index(at, logs.shape), 1).tolist()
    return [(*place, mass) for place, mass in zip(places, masses.tolist(), strict=True)]


def _twos(
    reader: Reader, q: Tensor, gate: Tensor, slots: Steps, leaves: list[Expression]
) -> list[tuple[Expression | None, float]]:
    asked, first = reader.first(q, slots, 2)
    begun = _kept(gate + first[0], BEAM)
    if not begun:
        return []
    op, a, b = torch.tensor([row[:3] for row in begun], device=q.device).T
    rows = len(begun)
    state = reader.after_first(
        asked.expand(rows, -1),
        slots.keys.expand(rows, -1, -1),
        slots.there.expand(rows, -1),
        op,
        a,
        b,
    )
    start = torch.tensor([row[3] for row in begun], device=q.device).log()
    made: list[tuple[Expression | None, float]] = []
    for row, op2, side, slot, mass in _kept(start[:, None, None, None] + reader.last_of_two(state)):
        o, i, j, _ = begun[row]
        made.append(
            (_then(combine(OPERATIONS[o], leaves[i], leaves[j]), op2, side, leaves[slot]), mass)
        )
    return made


def _then(
    result: Expression | None, op: int, side: int, other: Expression | None
) -> Expression | None:
    if result is None or other is None:
        return None
    pair = (result, other) if side == 0 else (other, result)
    return combine(OPERATIONS[op], *pair)


def _threes(
    reader: Reader, q: Tensor, gate: Tensor, slots: Steps, leaves: list[Expression]
) -> list[tuple[Expression | None, float]]:
    asked, here, first = reader.first_of_three(q, slots)
    count = int((~slots.constant).sum())
    leaves = leaves[count - here.keys.shape[1] : count]
    begun = _kept(gate + first[0], BEAM)
    if not begun:
        return []
    op, a, b = torch.tensor([row[:3] for row in begun], device=q.device).T
    rows = len(begun)
    state = reader.after_first(
        asked.expand(rows, -1),
        here.keys.expand(rows, -1, -1),
        here.there.expand(rows, -1),
        op,
        a,
        b,
    )
    start = torch.tensor([row[3] for row in begun], device=q.device).log()[:, None, None, None]
    goes, apart = reader.second_of_three(state)
    made: list[tuple[Expression | None, float]] = []
    firsts = [combine(OPERATIONS[o], leaves[i], leaves[j]) for o, i, j, _ in begun]
    chains = _kept(start + goes, 2 * BEAM)
    if chains:
        row, op2, side, slot = torch.tensor([c[:4] for c in chains], device=q.device).T
        logs = reader.after_chain(state.take(row), op2, side, slot)
        logs = (
            logs + torch.tensor([c[4] for c in chains], device=q.device).log()[:, None, None, None]
        )
        for c, op3, side3, slot3, mass in _kept(logs):
            r, o, s, x, _ = chains[c]
            made.append((_then(_then(firsts[r], o, s, leaves[x]), op3, side3, leaves[slot3]), mass))
    pairs = _kept(start + apart, 2 * BEAM)
    if pairs:
        row, op2, left, right = torch.tensor([c[:4] for c in pairs], device=q.device).T
        logs = reader.after_pair(state.take(row), op2, left, right)
        logs = (
            logs + torch.tensor([c[4] for c in pairs], device=q.device).log()[:, None, None, None]
        )
        for c, op3, side3, _, mass in _kept(logs):
            r, o, i, j, _ = pairs[c]
            other = combine(OPERATIONS[o], leaves[i], leaves[j])
            made.append((_then(firsts[r], op3, side3, other), mass))
    return made
