"""Formulas written from the steps of a plan, and simplified."""

import ast
import operator
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._read import parse

if TYPE_CHECKING:
    import sympy

SUM, PRODUCT, POWER, ATOM = range(4)
NUMERIC = "-0123456789"
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
Written = tuple[str, int]
"""A formula and how tightly it binds."""


def written_number(value: float) -> Written:
    """A number as Python reads it back, to the last bit."""
    text = str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)
    return text, ATOM if value >= 0 else SUM


def inside(term: Written, level: int) -> str:
    """A formula as an operand of something that binds as tightly as `level`."""
    return term[0] if term[1] >= level else f"({term[0]})"


def written_sum(weights: Sequence[float], terms: Sequence[Written]) -> Written:
    """A sum of weighted terms; positive ones first.

    >>> written_sum([-1, 2], [("a", ATOM), ("b + c", SUM)])
    ('2 * (b + c) - a', 0)
    """
    text = ""
    used = sorted((w < 0, i) for i, w in enumerate(weights) if w)
    if len(used) == 1 and weights[used[0][1]] == 1:
        return terms[used[0][1]]
    for negative, i in used:
        size = abs(weights[i])
        term = inside(terms[i], PRODUCT if text or negative or size != 1 else SUM)
        if size != 1:
            term = f"{written_number(size)[0]} * {term}"
        sign = (" - " if negative else " + ") if text else ("-" if negative else "")
        text += sign + term
    return (text or "0"), SUM if text else ATOM


def written_product(powers: Sequence[float], terms: Sequence[Written]) -> Written:
    """A product of powers over another.

    >>> written_product([1, -2, -1], [("a + b", SUM), ("c", ATOM), ("d", ATOM)])
    ('(a + b) / (c**2 * d)', 1)
    """
    parts: dict[bool, list[Written]] = {True: [], False: []}
    for power, term in zip(powers, terms, strict=True):
        if power:
            raised = f"{inside(term, ATOM)}**{written_number(abs(power))[0]}", POWER
            parts[power > 0].append(term if abs(power) == 1 else raised)
    # Numbers stand first, and a minus before all.
    above, below = (
        sorted(part, key=lambda term: term[0][0] not in NUMERIC) for part in parts.values()
    )
    if not below and len(above) == 1:
        return above[0]
    minus = len(above) > 1 and above[0][0] == "-1"
    top = " * ".join(inside(term, PRODUCT) for term in above[minus:]) or "1"
    text, level = ("-" if minus else "") + top, SUM if minus else PRODUCT
    if not below:
        return text, level if above else ATOM
    under = " * ".join(inside(term, PRODUCT) for term in below)
    return f"{text} / {f'({under})' if len(below) > 1 else inside(below[0], POWER)}", level


def to_sympy(text: str) -> "sympy.Expr":
    """A formula as sympy has it."""
    import sympy

    def build(node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() | float() as value):
                return sympy.Integer(value) if value == int(value) else sympy.Float(value)
            case ast.Name(id=name):
                return sympy.Symbol(name, real=True)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -build(operand)
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATORS:
                return OPERATORS[type(sign)](build(left), build(right))
        raise ValueError(f"sympy is not asked about {ast.unparse(node)!r}")

    return build(parse(text))


def simplified(text: str) -> str:
    """The shortest of a formula and what sympy makes of it.

    >>> simplified("a * b / b + c - c")
    'a'
    """
    import sympy

    expression = to_sympy(text)
    tried = [str(sympy.simplify(expression)), str(sympy.factor(expression))]
    spaced = [re.sub(r"(?<![*])([*/])(?![*])", r" \1 ", form) for form in tried]
    return min([text, *spaced], key=len)
