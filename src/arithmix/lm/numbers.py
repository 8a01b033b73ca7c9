"""Numbers in a text, exactly: found with their place, their value and how they are written.

>>> [(number.value, number.role) for number in find("$1,250.50 for 3 tickets to Room B12")]
[(Decimal('1250.50'), 'value'), (3, 'value'), (12, 'name')]
"""

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from ._scan import AFTER, BEFORE, PERCENTS, RUN, SCAN, TAIL
from .exact import to_int


@dataclass(frozen=True)
class Style:
    """How a number is written.

    Args:
        separator: between thousands, as "," in 1,234.
        decimals: how many are written at least, 2 in 3.50.
        point: before the decimals.
        bare: no zero before the point, as in .5.
        minus: before a negative number, "-$" in -$5.
        plus: before another, "$" in -$5.
        exponent: the e of 6.7e-11, or nothing.
        zero: the digit zero of its script.
    """

    separator: str = ""
    decimals: int = 0
    point: str = "."
    bare: bool = False
    minus: str = "-"
    plus: str = ""
    exponent: str = ""
    zero: str = "0"


@dataclass(frozen=True)
class Number:
    """A number in a text: `text[start:end]`, from its sign to its last digit.

    Args:
        start: its first character.
        end: one past its last.
        value: what it says, exactly; 12 for 12%.
        role: "value" for an operand; else what the digits are part of: a "link", "list" (its
            marker), "date", "time", "phone", "name" (of a thing, version, address or file),
            "ordinal", or "other", such as the 1 of 1½.
        style: how it is written.
        currency: the sign of a currency next to it, or nothing.
        percent: whether a percent sign follows it.
        open: whether more text could make it another number: it touches the end.
    """

    start: int
    end: int
    value: int | Decimal
    role: str = "value"
    style: Style = Style()
    currency: str = ""
    percent: bool = False
    open: bool = False


def find(text: str) -> list[Number]:
    """Every number of a text, in order; each digit of the text is in one of them.

    >>> [(number.start, number.end, number.value) for number in find("-5 + 0.5 = −4.5")]
    [(0, 2, -5), (5, 8, Decimal('0.5')), (11, 15, Decimal('-4.5'))]
    """
    match = TAIL.match(text[::-1])
    touching = len(text) - (match.end() if match else 0)
    numbers: list[Number] = []
    for match in SCAN.finditer(text):
        if match.lastgroup == "value":
            numbers.append(_value(match, touching))
        elif match.lastgroup:
            numbers += [
                Number(
                    *run.span(),
                    to_int(run[0]),
                    match.lastgroup,
                    Style(zero=_zero(run[0])),
                    open=run.end() > touching,
                )
                for run in RUN.finditer(text, *match.span())
            ]
    return numbers


def _value(match: re.Match[str], touching: int) -> Number:
    start, end = match.span()
    whole, decimals = match["whole"] or "", match["decimals"] or match["tail"] or ""
    separator = "" if whole[-4:-3].isdecimal() else whole[-4:-3]
    digits = whole.replace(separator, "") if separator else whole
    value: int | Decimal
    if decimals or match["e"]:
        value = Decimal(f"{digits}.{decimals}e{match['exponent'] or 0}")
    else:
        value = to_int(digits)
    minus, inner = match["minus"], match["inner"] or ""
    if minus:
        value = -value if isinstance(value, int) else value.copy_negate()  # - would round it
    style = Style(
        separator=separator,
        decimals=0 if match["e"] else len(decimals),
        point=match["point"] or match["bare"] or ".",
        bare=not whole,
        minus=(minus or "-") + inner,
        plus=inner,
        exponent=match["e"] or "",
        zero=_zero(whole or decimals),
    )
    before = BEFORE.search(match.string, max(0, start - 2), start)
    after = AFTER.match(match.string, end)
    behind = (after[1] or after[2]) if after else ""
    percent = behind != "" and behind in PERCENTS
    ahead = inner.strip() or ((before[1] or before[2]) if before else "")
    currency = ahead or ("" if percent else behind)
    return Number(start, end, value, "value", style, currency, percent, end > touching)


def _zero(digits: str) -> str:
    """The zero of the script of the first of some digits."""
    return chr(ord(digits[0]) - unicodedata.decimal(digits[0]))
