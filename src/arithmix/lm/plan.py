"""What is written next where a number may begin, or has begun: base and programs, mixed.

A program writes its value's digits one by one and then says "no further digit". While a number is
half written, base and programs are weighed by how well each has foretold what stands already, so
that the product over a number's tokens is the mixture of `mixture.py`.
"""

from collections import defaultdict
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .kinds import DIGITS, STARTS, WRITTEN, Number, numbers, spelled
from .programs import OPERATIONS, one_step
from .reader import Reader

NEGLIGIBLE = 1e-6
"""A program with less probability is left to the base."""


@dataclass(frozen=True)
class Row:
    """A text so far, as a reader sees it.

    Args:
        kinds: Its tokens' kinds.
        states: The base's states.
        logs: The base's log-probabilities of the tokens in `WRITTEN`, after each token.
    """

    kinds: str
    states: Float[Tensor, "seq states"]
    logs: Float[Tensor, "seq written"]


@dataclass(frozen=True)
class Program:
    """A copy of a number, or an operation on two; constants have the places -1."""

    value: str
    formula: str
    operands: tuple[Number, ...]
    probability: float


@dataclass(frozen=True)
class Plan:
    """What may be written at a place: the base's weight, and the programs with theirs."""

    base: float
    programs: list[Program]

    def values(self) -> dict[str, float]:
        """The programs' values, where equal ones have their weights together."""
        merged: dict[str, float] = defaultdict(float)
        for program in self.programs:
            merged[program.value] += program.probability
        return merged


@torch.no_grad()
def make_plan(reader: Reader, row: Row, place: int) -> Plan | None:
    """The plan for a number after the token at `place`; None where the base is left alone."""
    config = reader.config
    query = reader.ask(row.states[place])
    gate = reader.gate(query)
    if -gate[0].expm1() < config.threshold:
        return None
    before = numbers(row.kinds[: place + 1], config.memory)
    if not before:
        return None
    # After a number's last digit there is always a token: that at `place`, if no other.
    ends = torch.tensor([[number.end, number.end + 1] for number in before])
    states = row.states[ends.to(row.states.device)]
    missing = torch.zeros(1, len(before), dtype=torch.bool, device=states.device)
    copies, steps = reader.programs(query[None], states[None], missing)
    copy_mass = (gate[1] + copies[0]).exp().tolist()
    step_mass = (gate[2] + steps[0]).exp().tolist()

    found = [
        Program(number.text, number.text, (number,), mass)
        for number, mass in zip(before, copy_mass, strict=True)
        if mass > NEGLIGIBLE
    ]
    operands = [*before, *(Number(text, -1, -1) for text in config.constants)]
    values = one_step(tuple(operand.text for operand in operands))
    for index, (value, mass) in enumerate(zip(values, step_mass, strict=True)):
        if mass > NEGLIGIBLE and value is not None:
            op, pair = divmod(index, len(operands) ** 2)
            left, right = (operands[i] for i in divmod(pair, len(operands)))
            formula = f"{left.text} {OPERATIONS[op]} {right.text}"
            found.append(Program(value, formula, (left, right), mass))
    return Plan(max(0.0, 1 - sum(program.probability for program in found)), found)


def begin(plan: Plan, logits: Float[Tensor, " vocab"], ids: list[int], ways: list[str]) -> Tensor:
    """Logits after a token where a number may begin in `ways`, of "spaced" and "tight".

    How likely a number is, and whether a space comes first, is the base's to say; which number it
    is, the plan's. Tokens that begin no number keep their logits.
    """
    level, base = _probabilities(logits, ids)
    mixed = dict(base)
    for way in ways:
        mass = sum(base[kind] for kind in STARTS[way])
        for kind in STARTS[way]:
            mixed[kind] = plan.base * base[kind]
        for value, weight in plan.values().items():
            mixed[spelled(value, way)[0]] += mass * weight
    return _write(logits.clone(), level, ids, mixed)


def go_on(
    plan: Plan,
    written: str,
    logs: Float[Tensor, "tokens written"],
    logits: Float[Tensor, " vocab"],
    ids: list[int],
) -> Tensor:
    """Logits inside a number that stands there as far as `written`.

    Args:
        plan: The plan where it began.
        written: The kinds of its tokens so far, at least one.
        logs: The base's log-probabilities before each of them.
        logits: The base's logits after the last.
        ids: The token of each kind in `WRITTEN`.
    """
    way = next(way for way, kinds in STARTS.items() if written[0] in kinds)
    before: list[dict[str, float]] = [
        dict(zip(WRITTEN, row, strict=True)) for row in logs.double().exp().tolist()
    ]
    weight = plan.base / sum(before[0][kind] for kind in STARTS[way])
    for kind, foretold in zip(written, before, strict=True):
        weight *= foretold[kind]

    going: dict[str, float] = defaultdict(float)
    done = 0.0
    for value, mass in plan.values().items():
        form = spelled(value, way)
        if form == written:
            done += mass
        elif form.startswith(written):
            going[form[len(written)]] += mass
        elif form == written[:-1] and written[-1] in ".,":
            # It said "no digit", and a point came, which may be the end of a sentence.
            done += mass * before[-1][written[-1]] / _no_digit(before[-1])
    total = weight + done + sum(going.values())
    if total == weight:
        return logits
    level, base = _probabilities(logits, ids)
    others = (weight + done / _no_digit(base)) / total
    mixed = {
        kind: base[kind] * (weight / total if kind in DIGITS else others) + going[kind] / total
        for kind in WRITTEN
    }
    moved = logits + torch.tensor(others).clamp_min(1e-30).log().to(logits)
    return _write(moved, level, ids, mixed)


def _no_digit(base: dict[str, float]) -> float:
    return max(1 - sum(base[digit] for digit in DIGITS), 1e-9)


def _probabilities(logits: Tensor, ids: list[int]) -> tuple[float, dict[str, float]]:
    """The logarithm of the sum of all tokens, and the probabilities of those in `WRITTEN`."""
    level = logits.double().logsumexp(-1)
    chosen = (logits[ids].double() - level).exp().tolist()
    return level.item(), dict(zip(WRITTEN, chosen, strict=True))


def _write(logits: Tensor, level: float, ids: list[int], mixed: dict[str, float]) -> Tensor:
    chosen = torch.tensor([mixed[kind] for kind in WRITTEN], dtype=torch.float64)
    logits[ids] = (chosen.clamp_min(1e-30).log() + level).to(logits)
    return logits
