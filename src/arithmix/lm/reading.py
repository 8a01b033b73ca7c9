"""A text of tokens as the reader sees it: its numbers, and where another may begin.

Nothing here looks at later tokens than it is asked about, so what is said of a text's beginning
stays true as the text grows.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate

from .exact import Exact, places
from .numbers import Style, find

CORE = re.compile(r"[.,]?\d++(?:[.,]\d++)*+")
"""A number without its sign, read backwards, which takes no time where it is none."""
LONGEST = 2000
"""Digits of the longest number that is read or written; nobody reads a longer one."""
LIMIT = 10**LONGEST
SIGHT = (300, 3000)
"""Characters before a place among which numbers are looked for; more where the first have few."""


PLAIN = Style()


@dataclass(frozen=True)
class Operand:
    """A number of a text that programs may use.

    Args:
        text: As it stands there, without currency and percent sign; a constant's own text.
        value: Exactly.
        start: Its first character; -1 for a constant.
        end: One past its last.
        last: Its last token.
        style: How it is written.
    """

    text: str
    value: int | Decimal
    start: int = -1
    end: int = -1
    last: int = -1
    style: Style = PLAIN


class Reading:
    """The texts of tokens, joined, with each token's place in it."""

    def __init__(self, pieces: Sequence[str]):
        self.pieces = pieces
        self.text = "".join(pieces)
        self.ends = list(accumulate(map(len, pieces)))

    def begins(self, token: int) -> int:
        """The first character of a token."""
        return self.ends[token - 1] if token else 0

    def begun(self, place: int) -> int:
        """The token that began the number a token is part of, or could become part of; else -1.

        A space and a sign begin a number, as far as can be told from them.
        """
        start = pending(self.text, self.ends[place])
        if start < 0:
            return -1
        token = bisect_right(self.ends, start)
        # Where a token holds more than the number's beginning, nothing is said.
        return token if self.begins(token) == start else -1

    def opens(self, place: int) -> tuple[str, ...]:
        """How a number may begin after a token: "spaced", "tight", both or neither."""
        end = self.ends[place]
        last = self.text[end - 1 : end]
        if not last or last.isdigit() or not self.pieces[place]:
            return ()
        if self.begun(place) >= 0:
            # After "12." a digit goes on with the 12; a space or a sign has begun a number.
            return ("spaced",) if last in ".," else ()
        if last == " ":
            return ()
        joined = last if last != "-" else self.text[end - 2 : end - 1]
        return ("spaced",) if joined.isalnum() or joined == "_" else ("spaced", "tight")

    def way(self, token: int) -> str:
        """How the number began that begins with a token."""
        return "spaced" if self.pieces[token][:1] == " " else "tight"

    def number_after(self, place: int) -> tuple[int, int] | None:
        """The characters of the number that stands after a token, if one does."""
        end = place + 1
        while end < len(self.pieces) and self.begun(end) == place + 1:
            end += 1
        if end == place + 1 or self.way(place + 1) not in self.opens(place):
            return None
        start, stop = self.ends[place], self.ends[end - 1]
        text = self.text[start:stop]
        start += len(text) - len(text.lstrip())
        # What ends a sentence, or stands in a list, is not part of the number.
        stop -= len(text) - len(text.rstrip("., "))
        return (start, stop) if self.text[start:stop].strip("-") else None

    def operands(self, place: int, most: int) -> list[Operand]:
        """The last `most` numbers up to a token, that one included, in their order."""
        found: list[Operand] = []
        for sight in SIGHT:
            start = max(0, self.ends[place] - sight)
            if start:
                # Not in the middle of a number: from the next word on.
                while start < self.ends[place] and not self.text[start - 1].isspace():
                    start += 1
            found = self._operands(place, start)
            if not start or len(found) >= most:
                break
        return found[-most:]

    def _operands(self, place: int, start: int) -> list[Operand]:
        window = self.text[start : self.ends[place]]
        found = []
        for number in find(window):
            # One that begins near the window's edge might go on beyond it.
            cut = start and number.start < 32
            if number.role != "value" or cut or is_long(number.value):
                continue
            last = bisect_left(self.ends, start + number.end)
            if last < place:  # the reader needs the token after it
                text = window[number.start : number.end]
                span = (start + number.start, start + number.end)
                found.append(Operand(text, number.value, *span, last, number.style))
        return found


def is_long(value: Exact) -> bool:
    """Whether a number has more than `LONGEST` digits, or ends nowhere.

    >>> is_long(10**1999), is_long(10**2000), is_long(Decimal("1e-2001")), is_long(Fraction(1, 3))
    (False, True, True, True)
    """
    if isinstance(value, Decimal):
        return max(value.adjusted() + 1, places(value)) > LONGEST
    return isinstance(value, Fraction) or abs(value) >= LIMIT


def pending(text: str, end: int) -> int:
    """The character with which a number began that `text[:end]` leaves unfinished, or -1.

    >>> pending("is 12", 5), pending("is -", 4), pending("is", 2), pending("3 - 4", 5)
    (2, 2, -1, 3)
    """
    size = 32
    while True:
        tail = text[max(0, end - size) : end]
        match = CORE.match(tail[::-1])
        at = len(tail) - (match.end() if match else 0)
        if at > 3 or size >= end:
            break
        if size > 2 * LONGEST:  # nobody reads it
            return -1
        size *= 8
    before, second, third = (tail[at - i : at - i + 1] if at >= i else "" for i in (1, 2, 3))
    if before == "-" and second == " ":
        at -= 1 if third.isdigit() else 2
    elif (before == "-" and not second.isalnum()) or (before == " " and not second.isdigit()):
        at -= 1
    return -1 if at == len(tail) else end - len(tail) + at
