"""A value written as a number of a text is written."""

from decimal import Decimal

from ._scan import IS_SPACED
from .exact import Exact, places, to_decimal
from .numbers import Number, Style


def write(value: Exact, like: Number | Style) -> str | None:
    """A number written as `like` is, with more decimals where it needs them.

    What can be written is what ends: None for 1/3, and for over 100 000 digits.

    >>> from .numbers import find
    >>> [price] = find("$1,003.50")
    >>> write(5, price), write(Decimal("-1234567.125"), price)
    ('5.00', '-1,234,567.125')
    """
    style = like.style if isinstance(like, Number) else like
    decimal = to_decimal(value)
    if decimal is None:
        return None
    size = decimal.copy_abs()
    text = f"{size:e}".replace("e+", "e") if style.exponent else _plain(size, style)
    marks = {",": style.separator, ".": style.point, "e": style.exponent}
    digits = {str(digit): chr(ord(style.zero) + digit) for digit in range(10)}
    sign = style.minus if decimal < 0 else style.plus
    return sign + text.translate(str.maketrans(marks | digits))


def _plain(size: Decimal, style: Style) -> str:
    """A size in ASCII digits, with commas where the style has separators."""
    text = f"{size:,.{max(style.decimals, places(size))}f}"
    whole, point, part = text.partition(".")
    # An ordinary space might be taken for one between two numbers.
    if not style.separator or (
        style.separator == " " and not IS_SPACED.fullmatch(whole.replace(",", " "))
    ):
        whole = whole.replace(",", "")
    return ("" if style.bare and whole == "0" and part else whole) + point + part
