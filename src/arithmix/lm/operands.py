"""The numbers of a sum, drawn and written."""

import random
from decimal import Decimal
from fractions import Fraction

from . import exact
from .numbers import Style
from .writing import write


def draw_whole(rng: random.Random, digits: int) -> Fraction:
    """A whole number of so many digits."""
    return Fraction(rng.randint(10 ** (digits - 1), 10**digits - 1))


def draw_pair(
    rng: random.Random,
    operation: str,
    digits: tuple[int, int] | None = None,
    decimals: bool = False,
    counted: bool = False,
) -> tuple[Fraction, Fraction]:
    """Two operands above 0, of at most five digits where `digits` are not given.

    A quotient of theirs ends; of things that are `counted`, it is whole, and both are 2 at least.
    """
    sizes = [1, 2, 2, 2, 3, 3, 4, 5] if counted else [1, 2, 3, 4, 5]
    first, second = digits or (rng.choice(sizes), rng.choice(sizes))
    if not digits and operation == "/":
        # The dividend has no more digits than both of these have together.
        second = rng.randint(1, 2 if counted else 3)
        first = rng.randint(1, 5 - second)
    a, b = draw_whole(rng, first), draw_whole(rng, second)
    if counted:
        a, b = max(a, Fraction(2)), max(b, Fraction(2))
    if decimals:
        a, b = a + (a % 10 == 0), b + (b % 10 == 0)  # else a last digit of 0 is no decimal
        places = rng.choice([(1, 0), (0, 1), (1, 1), (2, 2), (2, 0), (0, 2)])
        a, b = a / 10 ** places[0], b / 10 ** places[1]
    if operation == "/" and not (digits or decimals or counted) and rng.random() < 0.1:
        return a, Fraction(rng.choice([2, 4, 5, 8, 10, 20, 25]))
    return (a * b, b) if operation == "/" else (a, b)


def write_pair(a: Fraction, b: Fraction, grouped: bool) -> tuple[str, str]:
    """Two operands as text, with commas between thousands or without."""
    style = Style(separator="," if grouped else "")
    x, y = write(a, style), write(b, style)
    assert x and y  # they end
    return x, y


def compute(operation: str, left: str, right: str) -> str | None:
    """The value of `left operation right` as text; None for x / 0 and for digits that never end.

    >>> compute("*", "0.5", "1,000"), compute("/", "1", "3")
    ('500', None)
    """
    x, y = (Decimal(text.replace(",", "")) for text in (left, right))
    value = exact.compute(operation, x, y)
    # Thousands are kept apart where an operand's are.
    return None if value is None else write(value, Style("," if "," in left + right else ""))
