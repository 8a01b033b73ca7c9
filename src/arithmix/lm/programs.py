"""Programs over the numbers before a place: copies, and `left op right`, computed exactly.

A number is kept as the text that stands for it ("-1,234.5") and is a fraction only while something
is computed, so no digit is ever lost.
"""

from fractions import Fraction
from functools import lru_cache

OPERATIONS = "+-*/"
LONGEST = 2000
"""Digits of the longest value that is written; beyond them nobody reads a number."""


def read(text: str) -> Fraction:
    """The value of a number's text.

    >>> read("-1,234.5")
    Fraction(-2469, 2)
    """
    return Fraction(text.replace(",", ""))


def write(value: Fraction, grouped: bool = False) -> str | None:
    """A value as text, with "," between thousands if `grouped`; None if its digits never end.

    >>> write(Fraction(-2469, 2), grouped=True)
    '-1,234.5'
    """
    rest, power = value.denominator, {2: 0, 5: 0}
    for prime in power:
        while rest % prime == 0:
            rest, power[prime] = rest // prime, power[prime] + 1
    places = max(power.values())
    scaled = abs(value.numerator) * 10**places // value.denominator
    if rest != 1 or scaled >= 10**LONGEST:
        return None
    whole, decimals = divmod(scaled, 10**places)
    sign = "-" if value < 0 else ""
    text = f"{sign}{whole:,}" if grouped else f"{sign}{whole}"
    return f"{text}.{decimals:0{places}d}" if places else text


@lru_cache(maxsize=100_000)
def compute(operation: str, left: str, right: str) -> str | None:
    """The value of `left operation right` as text; None for x / 0 and for digits that never end.

    >>> compute("*", "0.5", "1,000")
    '500'
    """
    x, y = read(left), read(right)
    # Written as its operands are, as far as they say how.
    grouped = "," in left + right
    if operation == "/" and not y:
        return None
    match operation:
        case "+":
            return write(x + y, grouped)
        case "-":
            return write(x - y, grouped)
        case "*":
            return write(x * y, grouped)
        case _:
            return write(x / y, grouped)


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
