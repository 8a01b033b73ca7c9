"""What a panel is made of. Text is text: `page` escapes every word of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..lm.trace import Trace
from ..table import Table


@dataclass(frozen=True)
class Strong:
    """Words that stand out."""

    text: str


@dataclass(frozen=True)
class Command:
    """Something to type."""

    text: str


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    pieces: tuple[str | Strong | Command, ...]


@dataclass(frozen=True)
class Chart:
    """A picture, as plotly's data and layout, with a title above it."""

    figure: dict[str, Any]
    height: int
    title: str = ""


@dataclass(frozen=True)
class Grid:
    """A table; `tones` mark cells by row and column as good, high, part, low, bad or faint."""

    table: Table
    tones: Mapping[tuple[int, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """A number that must not be missed."""

    title: str
    number: str
    tone: str
    lines: Sequence[str]


@dataclass(frozen=True)
class Cards:
    """Cards side by side."""

    cards: Sequence[Card]


@dataclass(frozen=True)
class Side:
    """Parts side by side where there is room, below each other where not."""

    parts: Sequence["Part"]


@dataclass(frozen=True)
class Tabs:
    """Parts of which one set is seen at a time."""

    parts: Mapping[str, Sequence["Part"]]


@dataclass(frozen=True)
class Fold:
    """Parts behind a line that opens."""

    title: str
    parts: Sequence["Part"]


@dataclass(frozen=True)
class Traced:
    """A text whose computed numbers are marked."""

    trace: Trace


Part = Words | Chart | Grid | Cards | Side | Tabs | Fold | Traced


def words(*pieces: str | Strong | Command) -> Words:
    """A paragraph of these pieces."""
    return Words(pieces)


def tabs(parts: Mapping[str, Sequence[Part]]) -> list[Part]:
    """Tabs of what is there; nothing if nothing is."""
    there = {name: those for name, those in parts.items() if those}
    return [Tabs(there)] if there else []


def tone(percent: float) -> str:
    """How a success rate is marked."""
    grades = {"good": percent == 100, "high": percent >= 90, "part": percent >= 50}
    grades |= {"low": percent > 0, "bad": True}
    return next(name for name, reached in grades.items() if reached)
