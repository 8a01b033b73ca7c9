"""Which words stand near numbers that were added, subtracted, multiplied or divided. No torch."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

from .trace import Computed, Formula, Trace

NEAR = 6
"""Words before a number, and after each of its operands, that are near it."""
WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True)
class Near:
    """The words near the numbers that were computed by one operation.

    Args:
        numbers: How many numbers.
        words: Near how many of them each word stands.
    """

    numbers: int
    words: Mapping[str, int]


def count_words(traces: Iterable[Trace]) -> dict[str, Near]:
    """The words near numbers that one step computed, by its sign."""
    numbers: dict[str, int] = {}
    words: dict[str, dict[str, int]] = {}
    for trace in traces:
        for number in trace:
            if sign := operation(number.program):
                numbers[sign] = numbers.get(sign, 0) + 1
                counts = words.setdefault(sign, {})
                for word in _near(trace.text, number):
                    counts[word] = counts.get(word, 0) + 1
    return {sign: Near(numbers[sign], words[sign]) for sign in "+-*/" if sign in numbers}


def operation(program: Formula) -> str | None:
    """The sign of a program of one step; None for a copy and for more steps.

    >>> from .reading import Operand
    >>> operation(Formula("9 - 4", "5", (Operand("9", 9, 0, 1), Operand("4", 4, 5, 6)), 1.0))
    '-'
    """
    if len(program.operands) != 2:
        return None
    left, right = (operand.text for operand in program.operands)
    return next((sign for sign in "+-*/" if program.text == f"{left} {sign} {right}"), None)


def telling(
    near: Mapping[str, Near], sign: str, most: int = 12, least: int = 5
) -> list[tuple[str, int, float]]:
    """The words that speak most for an operation: each with its count and its log-odds.

    The odds of the word near this operation's numbers are put beside those near the others', with
    half a number added to every count; words near fewer than `least` of its numbers are left out.
    """
    own, others = near[sign], [one for other, one in near.items() if other != sign]
    total = sum(one.numbers for one in others)

    def odds(count: int, numbers: int) -> float:
        return log((count + 0.5) / (numbers - count + 0.5))

    found = []
    for word, count in own.words.items():
        elsewhere = sum(one.words.get(word, 0) for one in others)
        if count >= least:
            found.append((word, count, odds(count, own.numbers) - odds(elsewhere, total)))
    found.sort(key=lambda entry: (-entry[2], -entry[1], entry[0]))
    return found[:most]


def _near(text: str, number: Computed) -> set[str]:
    """The words just before a number, and those between its operands and it, each once."""
    before = WORD.findall(text[: number.start].lower())[-NEAR:]
    after = [
        word
        for operand in number.program.operands
        if operand.start >= 0
        for word in WORD.findall(text[operand.end : number.start].lower())[:NEAR]
    ]
    return {*before, *after}
