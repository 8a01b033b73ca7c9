"""Programs over the numbers before a place: copies, and `left op right`, computed exactly.

A number is kept as the text that stands for it, as "-1,234.5", and no digit of it is ever lost.
"""

from decimal import Decimal
from functools import lru_cache

from . import exact
from .numbers import Style
from .writing import write

OPERATIONS = "+-*/"
LONGEST = 2000
"""Characters of the longest number that is read or written; nobody reads a longer one."""


@lru_cache(maxsize=100_000)
def compute(operation: str, left: str, right: str) -> str | None:
    """The value of `left operation right` as text; None for x / 0 and for digits that never end.

    >>> compute("*", "0.5", "1,000"), compute("/", "1", "3")
    ('500', None)
    """
    x, y = (Decimal(text.replace(",", "")) for text in (left, right))
    value = exact.compute(operation, x, y)
    # Thousands are kept apart where an operand's are.
    style = Style(separator="," if "," in left + right else "")
    text = None if value is None else write(value, style)
    return text if text and len(text) <= LONGEST else None


@lru_cache(maxsize=256)
def one_step(operands: tuple[str, ...]) -> list[str | None]:
    """The values of all one-step programs, in the order of operation, left and right.

    An operand "" is a place that is not taken: what is computed with it has no value.
    """
    return [
        compute(op, x, y) if x and y else None
        for op in OPERATIONS
        for x in operands
        for y in operands
    ]
