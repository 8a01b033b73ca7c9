"""Exact arithmetic on int, Decimal and Fraction, of any length and never through a float.

Python refuses to turn more than 4300 digits into an int or back in one go, and takes quadratic
time where it does not. Here a long number is turned half by half, under that limit, whatever it is.
"""

import math
import operator
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction

Exact = int | Decimal | Fraction
MOST_DIGITS = 100_000
LIMIT = 10**MOST_DIGITS
PIECE = 500
"""Digits turned in one go: Python's limit can be set as low as 640."""

UNROUNDED = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact, InvalidOperation])
OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "−": operator.sub,
    "*": operator.mul,
    "×": operator.mul,
    "/": operator.truediv,
    "÷": operator.truediv,
}


def compute(operation: str, a: Exact, b: Exact) -> Exact | None:
    """`a` + - * / `b`: an int where it is whole, else a Decimal where it ends, else a Fraction.

    None where there is no result (a division by zero), or a number has over 100 000 digits.

    >>> compute("-", 10**30, 1)
    999999999999999999999999999999
    >>> compute("+", Decimal("0.1"), Decimal("0.2"))
    Decimal('0.3')
    >>> compute("/", 6, 3), compute("/", 6, 4), compute("/", 1, 3), compute("/", 1, 0)
    (2, Decimal('1.5'), Fraction(1, 3), None)
    """
    if operation not in OPERATIONS:
        raise ValueError(f"an operation is one of {' '.join(OPERATIONS)}; got {operation!r}")
    for operand in (a, b):
        check(operand)
    if is_long(a) or is_long(b) or (operation in "/÷" and not b):
        return None
    result = OPERATIONS[operation](Fraction(a), Fraction(b))
    if is_long(result):
        return None
    if result.denominator == 1:
        return result.numerator
    decimal = to_decimal(result)
    return result if decimal is None else decimal


def check(value: Exact) -> None:
    """Raise ValueError for what is not an exact number."""
    if not isinstance(value, Exact) or (isinstance(value, Decimal) and not value.is_finite()):
        raise ValueError(f"an exact number is a finite int, Decimal or Fraction; got {value!r}")


def is_long(value: Exact) -> bool:
    """Whether a number has over 100 000 digits before or after its point, or below its bar."""
    if isinstance(value, Decimal):
        return max(value.adjusted(), places(value)) >= MOST_DIGITS
    return max(abs(value.numerator), value.denominator) >= LIMIT


def places(value: Decimal) -> int:
    """How many decimals a number has as it stands; negative for zeros before the point."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return -exponent


def to_decimal(value: Exact) -> Decimal | None:
    """A number as a Decimal without spare zeros; None where it does not end or is too long.

    >>> to_decimal(Fraction(3, 8)), to_decimal(Fraction(1, 3)), to_decimal(Decimal("2.50"))
    (Decimal('0.375'), None, Decimal('2.5'))
    """
    check(value)
    if is_long(value):
        return None
    if isinstance(value, Decimal):
        return UNROUNDED.normalize(value)
    # A fraction ends if its denominator is a product of twos and fives.
    denominator = value.denominator
    twos = (denominator & -denominator).bit_length() - 1
    rest = denominator >> twos
    fives = round(math.log(rest, 5))
    if 5**fives != rest:
        return None
    shift = max(twos, fives)
    whole = value.numerator * 2 ** (shift - twos) * 5 ** (shift - fives)
    decimal = UNROUNDED.normalize(UNROUNDED.scaleb(_whole_decimal(whole), -shift))
    return None if is_long(decimal) else decimal


def to_int(digits: str) -> int:
    """The int that a text of digits says, of any length.

    >>> to_int("7" * 10_000) % 1000
    777
    """
    if len(digits) <= PIECE:
        return int(digits)
    low = len(digits) // 2
    return to_int(digits[:-low]) * 10**low + to_int(digits[-low:])


def _whole_decimal(value: int) -> Decimal:
    """The Decimal of an int: as `Decimal(value)`, whose time is quadratic."""
    bits = value.bit_length()
    if bits <= 20_000:
        return Decimal(value)
    low = bits // 2
    power = UNROUNDED.power(Decimal(2), low)
    high = _whole_decimal(value >> low)
    return UNROUNDED.fma(high, power, _whole_decimal(value & ((1 << low) - 1)))
