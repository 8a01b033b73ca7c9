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
from .slots import State, Steps

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


def _so_far(choices: list[tuple], device: torch.device) -> Tensor:
    """The log-probabilities of choices, to be added to those of what follows each."""
    return torch.tensor([choice[-1] for choice in choices], device=device).log()[
        :, None, None, None
    ]


def _after_first(reader: Reader, q: Tensor, slots: Steps, begun: list[tuple]) -> State:
    """What a second step is chosen with, a row for each first step."""
    op, left, right = torch.tensor([row[:3] for row in begun], device=q.device).T
    rows = len(begun)
    keys, there = slots.keys.expand(rows, -1, -1), slots.there.expand(rows, -1)
    return reader.after_first(q.expand(rows, -1), keys, there, op, left, right)


def _first_values(begun: list[tuple], leaves: list[Expression]) -> list[Expression | None]:
    return [combine(OPERATIONS[op], leaves[a], leaves[b]) for op, a, b, _ in begun]


def _then(
    result: Expression | None, op: int, side: int, other: Expression | None
) -> Expression | None:
    if result is None or other is None:
        return None
    pair = (result, other) if side == 0 else (other, result)
    return combine(OPERATIONS[op], *pair)


def _twos(
    reader: Reader, q: Tensor, gate: Tensor, slots: Steps, leaves: list[Expression]
) -> list[tuple[Expression | None, float]]:
    asked, first = reader.first(q, slots, 2)
    begun = _kept(gate + first[0], BEAM)
    if not begun:
        return []
    logs = reader.last_of_two(_after_first(reader, asked, slots, begun))
    values = _first_values(begun, leaves)
    return [
        (_then(values[row], op, side, leaves[slot]), mass)
        for row, op, side, slot, mass in _kept(_so_far(begun, q.device) + logs)
    ]


def _threes(
    reader: Reader, q: Tensor, gate: Tensor, slots: Steps, leaves: list[Expression]
) -> list[tuple[Expression | None, float]]:
    asked, here, first = reader.first_of_three(q, slots)
    count = int((~slots.constant).sum())
    leaves = leaves[count - here.keys.shape[1] : count]
    begun = _kept(gate + first[0], BEAM)
    if not begun:
        return []
    state = _after_first(reader, asked, here, begun)
    values = _first_values(begun, leaves)
    goes, apart = reader.second_of_three(state)
    start = _so_far(begun, q.device)
    made: list[tuple[Expression | None, float]] = []
    if chains := _kept(start + goes, 2 * BEAM):
        row, op, side, slot = torch.tensor([c[:4] for c in chains], device=q.device).T
        logs = reader.after_chain(state.take(row), op, side, slot)
        for c, op3, side3, slot3, mass in _kept(_so_far(chains, q.device) + logs):
            r, op2, side2, slot2, _ = chains[c]
            second = _then(values[r], op2, side2, leaves[slot2])
            made.append((_then(second, op3, side3, leaves[slot3]), mass))
    if pairs := _kept(start + apart, 2 * BEAM):
        row, op, left, right = torch.tensor([c[:4] for c in pairs], device=q.device).T
        logs = reader.after_pair(state.take(row), op, left, right)
        for c, op3, side3, _, mass in _kept(_so_far(pairs, q.device) + logs):
            r, op2, a, b, _ = pairs[c]
            other = combine(OPERATIONS[op2], leaves[a], leaves[b])
            made.append((_then(values[r], op3, side3, other), mass))
    return made
