"""A value written as a number of a text is written."""

from ._scan import SPACED
from .exact import Exact, places, to_decimal
from .numbers import Number, Style


def write(value: Exact, like: Number | Style) -> str | None:
    """A number written as `like` is, with more decimals where it needs them.

    What can be written is what ends: None for 1/3, and for over 100 000 digits.

    >>> from decimal import Decimal
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
    if style.exponent:
        text = f"{size:e}".replace("e+", "e")
    else:
        text = f"{size:,.{max(style.decimals, places(size))}f}"
        text = text[1:] if style.bare and text.startswith("0.") else text
    marks = {",": style.separator, ".": style.point, "e": style.exponent}
    digits = {str(digit): chr(ord(style.zero) + digit) for digit in range(10)}
    text = text.translate(str.maketrans(marks | digits))
    # An ordinary space might be taken for one between two numbers.
    if style.separator == " " and not SPACED.match(text):
        text = text.replace(" ", "")
    return (style.minus if decimal < 0 else style.plus) + text


STYLES = (
    Style(),
    Style(separator=","),
    Style(decimals=2),
    Style(separator=",", decimals=2),
)


def forms(value: Exact) -> list[str | None]:
    """A value written plainly, as 1,234, as 3.50 and as 1,234.50; None where it does not end.

    >>> forms(1234)
    ['1234', '1,234', '1234.00', '1,234.00']
    """
    return [write(value, style) for style in STYLES]
