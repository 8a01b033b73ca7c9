"""What a model computed in a text, to be read: each number, its formula and its operands."""

from collections.abc import Iterator
from dataclasses import dataclass

from .reading import Operand


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
