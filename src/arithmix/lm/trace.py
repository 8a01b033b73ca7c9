"""What a model computed in a text, to be read: each number, its formula and its operands."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .reading import Operand
from .writing import forms

if TYPE_CHECKING:  # they need torch, and a trace is also read where there is none
    from .candidates import Program
    from .logits import Outlook


@dataclass(frozen=True)
class Formula:
    """A program: a copy of a number, or steps of + - * / on numbers.

    Args:
        text: As "(9 + 8) * 2".
        value: What it computes, written plainly.
        operands: The numbers in it, with their places in the text; a constant's start is -1.
        probability: Of this program, before the number was written.
    """

    text: str
    value: str
    operands: tuple[Operand, ...]
    probability: float

    @property
    def is_copy(self) -> bool:
        """Whether it is one number, taken over from the text."""
        return len(self.operands) == 1


@dataclass(frozen=True)
class Computed:
    """A number of a text that programs foretold.

    Args:
        text: The number as it is written.
        start: Its first character in the text.
        end: One past its last.
        program: The likeliest program with this value.
        probability: Of all programs with this value, before the number was written.
        runner_up: The likeliest program with another value, if any.
    """

    text: str
    start: int
    end: int
    program: Formula
    probability: float
    runner_up: Formula | None


@dataclass(frozen=True)
class Foretold:
    """A number of a text at which programs outweighed the base, right or wrong.

    Args:
        start: Its first character in the text.
        end: One past its last.
        text: What stands there.
        value_text: The value that programs gave the most probability, written plainly.
        probability: Of that value.
        base: What was left to the base.
        right: Whether this value is what stands there.
    """

    start: int
    end: int
    text: str
    value_text: str
    probability: float
    base: float
    right: bool


@dataclass(frozen=True)
class Trace:
    """A text and the numbers in it that were computed, in their order."""

    text: str
    numbers: tuple[Computed, ...]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: int) -> Computed:
        return self.numbers[index]

    def __iter__(self) -> Iterator[Computed]:
        return iter(self.numbers)


def computed(text: str, seen: "Outlook", start: int, end: int) -> Computed | None:
    """A number that stands in a text, if programs have foretold it rather than the base."""
    written = text[start:end]
    right = [p for p in seen.programs if written in forms(p.expression.value)]
    mass = sum(p.probability for p in right)
    if not right or mass <= seen.base:
        return None
    value = right[0].expression.value
    other = next((p for p in seen.programs if p.expression.value != value), None)
    runner_up = _formula(other) if other else None
    return Computed(written, start, end, _formula(right[0]), mass, runner_up)


def foretold(text: str, seen: "Outlook", start: int, end: int) -> Foretold | None:
    """What programs foretold of a number, if they outweighed the base."""
    value, mass = max(seen.values.items(), key=lambda pair: pair[1])
    if mass <= seen.base:
        return None
    written = forms(value)
    assert written[0] is not None
    there = text[start:end]
    return Foretold(start, end, there, written[0], mass, seen.base, there in written)


def _formula(program: "Program") -> Formula:
    expression = program.expression
    value = forms(expression.value)[0]
    assert value is not None
    return Formula(expression.text, value, expression.operands, program.probability)
