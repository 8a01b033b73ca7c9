"""Formulas as text."""

from collections.abc import Iterable, Sequence
from typing import Any

from torch import Tensor


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


def mixture_text(gate: float, total: str, product: str) -> str:
    """A mix of a sum and a product by a gate; past 0.99 it counts as decided."""
    if gate > 0.99:
        return total
    if gate < 0.01:
        return product
    return f"mix({gate:.3g}: {total}, {1 - gate:.3g}: {product})"


def joined(formulas: Iterable[str]) -> str:
    """One formula as it is, several as a tuple."""
    listed = list(formulas)
    return listed[0] if len(listed) == 1 else f"({', '.join(listed)})"


def rounded(weights: Tensor) -> list[Any]:
    """Weights to read: three decimals, in nested lists."""
    return weights.detach().double().round(decimals=3).tolist()


def require_single(population: tuple[int, ...]) -> None:
    """Raise ValueError for a population, which has no one formula."""
    if population:
        raise ValueError(f"a formula is read from one unit; this is a population of {population}")


def gated_text(gate: Sequence[float], weights: Sequence[float], sigmoid: str) -> str:
    """A NALU's mix of a sum and a product of magnitudes, by a gate that looks at the inputs.

    A gate whose weights are large and of one sign is decided: this is the formula for positive
    inputs.

    >>> gated_text([1e4, 1e4], [1, -1], "sigmoid")
    'x0 - x1'
    >>> gated_text([-5, -4], [1, 1], "sigmoid")
    'mix(sigmoid(-5 * x0 - 4 * x1): x0 + x1, abs(x0) * abs(x1))'
    """
    total = sum_text(weights)
    product = product_text(weights, [f"abs(x{i})" for i in range(len(weights))])
    if min(gate) > 1000:
        return total
    if max(gate) < -1000:
        return product
    return f"mix({sigmoid}({sum_text(gate)}): {total}, {product})"


def selection_factors(weights: Sequence[float], form: str = "{w:.4g} * x{i}") -> list[str]:
    """What each input is in a product that selects it with a weight between 0 and 1.

    >>> selection_factors([1, 0.7])
    ['x0', '(0.7 * x1 + 0.3)']
    """
    return [
        f"x{i}" if w == 1 else f"({form.format(w=w, i=i)} + {1 - w:.4g})"
        for i, w in enumerate(weights)
    ]


def power_text(re: Sequence[float], im: Sequence[float], gates: Sequence[float]) -> str:
    """A neural power unit: the real part of a product of complex powers, where these are not whole.

    >>> power_text([1, -1], [0, 0], [1, 1])
    'x0 / x1'
    >>> power_text([0.5, -1], [0.25, 0], [1, 0.75])
    'real(x0**(0.5+0.25j) * (0.75 * abs(x1) + 0.25)**(-1+0j))'
    """
    names = selection_factors(gates, "{w:.4g} * abs(x{i})")
    used = [i for i, gate in enumerate(gates) if gate and (re[i] or im[i])]
    if any(im[i] for i in used):
        return f"real({' * '.join(f'{names[i]}**({re[i]:.4g}{im[i]:+.4g}j)' for i in used)})"
    text = product_text([w if i in used else 0.0 for i, w in enumerate(re)], names)
    return text if all(abs(re[i]) == 1 for i in used) else f"real({text})"
