"""Formulas as text."""

from collections.abc import Iterable, Sequence


def sum_text(weights: Sequence[float], names: Sequence[str] | None = None) -> str:
    """A weighted sum.

    >>> sum_text([1, -1, 0, 0.5])
    'x0 - x1 + 0.5 * x3'
    """
    text = ""
    for i, w in enumerate(weights):
        if w:
            name = names[i] if names else f"x{i}"
            sign = ("-" if w < 0 else "") if not text else (" - " if w < 0 else " + ")
            text += sign + (name if abs(w) == 1 else f"{abs(w):.4g} * {name}")
    return text or "0"


def product_text(weights: Sequence[float], names: Sequence[str] | None = None) -> str:
    """A product of powers.

    >>> product_text([1, -1, 0, 0.5])
    'x0 * x3**0.5 / x1'
    """

    def power(i: int, w: float) -> str:
        name = names[i] if names else f"x{i}"
        return name if abs(w) == 1 else f"{name}**{abs(w):.4g}"

    above = " * ".join(power(i, w) for i, w in enumerate(weights) if w > 0) or "1"
    below = [power(i, w) for i, w in enumerate(weights) if w < 0]
    return " / ".join([above, *below])


def joined(formulas: Iterable[str]) -> str:
    """One formula as it is, several as a tuple."""
    listed = list(formulas)
    return listed[0] if len(listed) == 1 else f"({', '.join(listed)})"
