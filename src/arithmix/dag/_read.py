"""Formulas read into the steps of a plan.

Text goes through Python's own parser and a list of what is allowed; nothing of it is ever run.
"""

import ast
import re
import sys
from dataclasses import dataclass, field
from fractions import Fraction

LARGEST_POWER = 1000
Slot = tuple[str, str | float | int]
"""("input", name), ("constant", number) or ("step", place)."""
Entries = dict[Slot, int]


@dataclass(frozen=True)
class Product:
    """A fraction times whole powers of slots."""

    factor: Fraction
    powers: Entries = field(default_factory=dict)


@dataclass(frozen=True)
class Sum:
    """Whole multiples of slots, two of them or more."""

    weights: Entries


Term = Product | Sum


@dataclass
class Steps:
    """The steps of a formula as it is read; an equal step is made once.

    Each is (linear, entries): the sum of whole multiples of slots, or the product of whole powers.
    """

    made: list[tuple[bool, Entries]] = field(default_factory=list)

    def read(self, node: ast.expr) -> Term:
        """Turn a parsed formula into a term; what it needs is made on the way."""
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as value):
                return number(value)
            case ast.Name(id=name):
                return Product(Fraction(1), {("input", name): 1})
            case ast.UnaryOp(op=ast.UAdd(), operand=inside):
                return self.read(inside)
            case ast.UnaryOp(op=ast.USub(), operand=inside):
                return scaled(self.read(inside), -1)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                factor = -1 if isinstance(sign, ast.Sub) else 1
                return self.add(self.read(left), scaled(self.read(right), factor))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.multiply(self.read(left), self.read(right))
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                above, below = self.read(left), self.read(right)
                if isinstance(below, Product) and len(below.powers) > 1:
                    above = self.product(above)
                    below = Product(Fraction(1), {self.slot(below): 1})  # as it is bracketed
                return self.multiply(above, self.power(below, -1, node))
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                exponent = self.read(right)
                if isinstance(exponent, Sum) or exponent.powers or exponent.factor % 1:
                    raise ValueError(
                        f"a plan holds whole powers alone; {ast.unparse(node)!r} has another"
                    )
                return self.power(self.read(left), int(exponent.factor), node)
        raise ValueError(
            f"a plan holds + - * / and whole powers of names and numbers; "
            f"{ast.unparse(node)!r} is none of these"
        )

    def add(self, left: Term, right: Term) -> Term:
        """Sum two terms into one step's worth."""
        numbers = [term for term in (left, right) if isinstance(term, Product) and not term.powers]
        if len(numbers) == 2:
            return _product(numbers[0].factor + numbers[1].factor, {})
        weights: Entries = {}
        for term in (left, right):
            for slot, weight in self.weights(term).items():
                weights[slot] = weights.get(slot, 0) + weight
        weights = {slot: weight for slot, weight in weights.items() if weight}
        if len(weights) > 1:
            return Sum(weights)
        for slot, weight in weights.items():
            return _product(Fraction(weight), {slot: 1})
        return number(0)

    def multiply(self, left: Term, right: Term) -> Term:
        """Multiply two terms; a whole number goes into the weights of a sum."""
        for one, other in ((left, right), (right, left)):
            if not isinstance(other, Sum) or isinstance(one, Sum) or one.powers:
                continue
            if one.factor.denominator == 1:
                return scaled(other, int(one.factor))
        a, b = self.product(left), self.product(right)
        powers = dict(a.powers)
        for slot, power in b.powers.items():
            powers[slot] = powers.get(slot, 0) + power
        return _product(a.factor * b.factor, {slot: p for slot, p in powers.items() if p})

    def power(self, term: Term, exponent: int, node: ast.expr) -> Term:
        """Raise a term to a whole power."""
        if abs(exponent) > LARGEST_POWER:
            raise ValueError(f"a power is {LARGEST_POWER} at most; got {ast.unparse(node)!r}")
        base = self.product(term)
        if base.factor == 0 and exponent < 0:
            raise ValueError(f"{ast.unparse(node)!r} divides by zero")
        if exponent == 0:
            return number(1)
        powers = {slot: p * exponent for slot, p in base.powers.items()}
        return _product(base.factor**exponent, powers)

    def weights(self, term: Term) -> Entries:
        """A term as weights of a linear step."""
        if isinstance(term, Sum):
            return term.weights
        if not term.factor:
            return {}
        if not term.powers:
            size = abs(term.factor)
            return {("constant", float(size)): 1 if term.factor > 0 else -1}
        if term.factor.denominator > 1:
            return {self.slot(term): 1}
        return {self.slot(Product(Fraction(1), term.powers)): int(term.factor)}

    def product(self, term: Term) -> Product:
        """A term as powers of a log step."""
        if isinstance(term, Product):
            return term
        return Product(Fraction(1), {self.slot(term): 1})

    def slot(self, term: Term) -> Slot:
        """Where the value of a term is; a step is made for it where there is none."""
        if isinstance(term, Sum):
            return self._step(True, term.weights)
        factor, powers = term.factor, dict(term.powers)
        if not powers:
            return ("constant", float(factor))
        if factor == 1 and list(powers.values()) == [1]:
            return next(iter(powers))
        if factor.denominator == 1 and factor != 1 and list(powers.values()) == [1]:
            return self._step(True, {slot: int(factor) for slot in powers})
        for whole, power in ((factor.numerator, 1), (factor.denominator, -1)):
            constant: Slot = ("constant", float(whole))
            if whole != 1:
                powers[constant] = powers.get(constant, 0) + power
        return self._step(False, {slot: power for slot, power in powers.items() if power})

    def finish(self, term: Term) -> list[tuple[bool, Entries]]:
        """The steps that `term` needs, the last of which is its value."""
        last = self.slot(term)
        if last[0] != "step":
            return [(True, {last: 1})]
        needed = {last}
        for place in reversed(range(len(self.made))):
            if ("step", place) in needed:
                needed |= {slot for slot in self.made[place][1] if slot[0] == "step"}
        kept = [place for place in range(len(self.made)) if ("step", place) in needed]
        move: dict[Slot, Slot] = {("step", old): ("step", new) for new, old in enumerate(kept)}
        return [
            (linear, {move.get(slot, slot): entry for slot, entry in entries.items()})
            for linear, entries in (self.made[place] for place in kept)
        ]

    def _step(self, linear: bool, entries: Entries) -> Slot:
        if (linear, entries) not in self.made:
            self.made.append((linear, entries))
        return ("step", self.made.index((linear, entries)))


def number(value: float) -> Product:
    """A constant: a whole number is a factor, another has a slot of its own."""
    if not abs(value) <= sys.float_info.max:
        raise ValueError(f"a constant of a plan must be in float64's range; got {value}")
    if value == int(value):
        return _product(Fraction(int(value)), {})
    return Product(Fraction(1), {("constant", float(value)): 1})


def scaled(term: Term, factor: int) -> Term:
    """A term times a whole number."""
    if isinstance(term, Product):
        return _product(term.factor * factor, term.powers)
    return Sum({s: w * factor for s, w in term.weights.items()}) if factor else number(0)


def _product(factor: Fraction, powers: Entries) -> Product:
    """A product; a factor that no float64 holds exactly becomes a constant of its own."""
    if max(abs(factor.numerator), factor.denominator) <= 2**53:
        return Product(factor, powers if factor else {})
    try:
        value = float(factor)
    except OverflowError:
        raise ValueError("a constant of the formula is out of float64's range") from None
    slot: Slot = ("constant", value)
    return Product(Fraction(1), powers | {slot: powers.get(slot, 0) + 1})


def parse(text: str) -> ast.expr:
    """The tree of a formula, or a sentence on what is wrong with it."""
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{text!r} is not a formula: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise ValueError("the formula is nested too deeply to be read") from None


def read_steps(text: str) -> list[tuple[bool, Entries]]:
    """The steps of a formula."""
    steps = Steps()
    try:
        return steps.finish(steps.read(parse(text)))
    except RecursionError:
        raise ValueError("the formula is nested too deeply to be read") from None


def natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts x2 before x10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]
