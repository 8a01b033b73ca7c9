"""Sums of more than two operands: drawn, computed and written, in symbols and in words.

A tree is the text of a number, or an operation with two trees. What is written without brackets
is meant by the usual precedence, in words too: 2 plus 3 times 4 is 14.
"""

import ast
import random
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from .exact import OPERATIONS
from .numbers import Style
from .writing import write

Tree = str | tuple[str, "Tree", "Tree"]
RANK = {"+": 1, "-": 1, "*": 2, "/": 2}
SIGNS = {"+": "+", "-": "--−", "*": "**×x·", "/": "//÷"}
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
# A phrase says by itself where it ends; a chain goes on from what was said before.
PHRASES = {
    False: {
        "+": ["the sum of {l} and {r}", "the sum of {l} with {r}"],
        "-": ["the difference between {l} and {r}", "the difference of {l} and {r}"],
        "*": ["the product of {l} and {r}", "the product of {l} with {r}"],
        "/": ["the quotient of {l} and {r}", "the quotient of {l} by {r}"],
    },
    True: {
        "+": ["the total of {l} and {r}"],
        "-": ["the excess of {l} over {r}"],
        "*": ["the outcome when {l} is multiplied by {r}"],
        "/": ["the outcome when {l} is divided by {r}"],
    },
}
CHAINS = {
    False: {
        "+": ["{l} plus {r}", "{l} plus {r}", "{l} raised by {r}"],
        "-": ["{l} minus {r}", "{l} minus {r}", "{l} less {r}", "{l} reduced by {r}"],
        "*": ["{l} times {r}", "{l} times {r}", "{l} multiplied with {r}"],
        "/": ["{l} divided by {r}", "{l} divided by {r}"],
    },
    True: {
        "+": ["{l} increased by {r}"],
        "-": ["{l} decreased by {r}"],
        "*": ["{l} multiplied by {r}"],
        "/": ["{l} over {r}"],
    },
}
COMMANDS = {
    False: {
        "+": ["add {r} to {l}", "add {l} and {r}"],
        "-": ["subtract {r} from {l}", "take {r} away from {l}"],
        "*": ["multiply {l} by {r}", "multiply {l} with {r}"],
        "/": ["divide {l} by {r}", "split {l} into equal parts, as many as {r}"],
    },
    True: {
        "+": ["total {l} and {r}"],
        "-": ["deduct {r} from {l}"],
        "*": ["form the product of {l} and {r}"],
        "/": ["let {l} be divided by {r}"],
    },
}
STEPS = {
    False: {"+": "add {r}", "-": "subtract {r}", "*": "multiply by {r}", "/": "divide by {r}"},
    True: {
        "+": "put {r} onto it",
        "-": "lower it by {r}",
        "*": "make it {r} times as large",
        "/": "split it into {r} equal parts",
    },
}
STARTS = {False: ["start with", "take"], True: ["go from", "set out from"]}
LISTS = {
    False: {
        "+": ["the sum of {l}", "{l} in total", "{l} added up", "{l} taken together"],
        "*": ["the product of {l}", "{l} multiplied together"],
    },
    True: {"+": ["{l} all told", "the total of {l}"], "*": ["{l} all multiplied"]},
}


def draw(rng: random.Random, operands: int, digits: int | None = None) -> Tree:
    """A tree of so many operands; its quotients end, and most are whole."""
    if operands == 1:
        number = _number(rng, digits)
        return str(Decimal(number).scaleb(-1) if not digits and rng.random() < 0.06 else number)
    if rng.random() < 0.2:  # a chain of one operation
        tree: Tree = draw(rng, 1, digits)
        operation = rng.choice("++*")
        for _ in range(operands - 1):
            tree = (operation, tree, draw(rng, 1, digits))
        return tree
    split = rng.choice([operands - 1, operands - 1, 1, operands // 2])
    left, right = draw(rng, split, digits), draw(rng, operands - split, digits)
    operation = rng.choice("+-*/")
    if operation == "/":
        return _quotient(rng, left, right, digits)
    return (operation, left, right)


def _number(rng: random.Random, digits: int | None) -> int:
    size = digits or rng.choice([1, 1, 1, 2, 2, 2, 3, 4])
    return rng.randint(10 ** (size - 1), 10**size - 1)


def _quotient(rng: random.Random, left: Tree, right: Tree, digits: int | None) -> Tree:
    above, below = value(left), value(right)
    whole = below > 0 and below.denominator == 1
    if isinstance(left, str) and whole and (digits or below < 1000):
        factor = _number(rng, digits) if digits else rng.randint(1, min(99, 99999 // int(below)))
        return ("/", str(int(below) * factor), right)
    if isinstance(right, str) and above.denominator == 1 and above:
        ends = [n for n in range(2, 40) if above % n == 0] or [2, 4, 5]
        return ("/", left, str(rng.choice(ends)))
    if below and (above / below).denominator == 1:
        return ("/", left, right)
    return (rng.choice("+-*"), left, right)


def value(tree: Tree) -> Fraction:
    """What a tree comes to.

    >>> value(("*", ("+", "9", "8"), "2"))
    Fraction(34, 1)
    """
    if isinstance(tree, str):
        return Fraction(Decimal(tree))
    operation, left, right = tree
    return OPERATIONS[operation](value(left), value(right))


def parse(formula: str, values: Mapping[str, str]) -> Tree:
    """The tree of a formula with letters, as Python reads it.

    >>> parse("a + b * c", {"a": "1", "b": "2", "c": "3"})
    ('+', '1', ('*', '2', '3'))
    """

    def part(node: ast.expr) -> Tree:
        if isinstance(node, ast.Name):
            return values[node.id]
        assert isinstance(node, ast.BinOp)
        return (_OPERATORS[type(node.op)], part(node.left), part(node.right))

    return part(ast.parse(formula, mode="eval").body)


def inner(tree: Tree) -> Iterator[tuple[str, Tree, Tree]]:
    """The operations of a tree, in an order in which they can be done."""
    if not isinstance(tree, str):
        yield from inner(tree[1])
        yield from inner(tree[2])
        yield tree


def steps(tree: Tree, rng: random.Random) -> list[str] | None:
    """The operations of a tree one by one: "9 + 8 = 17", "17 * 2 = 34".

    None where a number on the way is not above 0, or does not end.
    """
    signs = {op: rng.choice(some) for op, some in SIGNS.items()}
    lines = []
    for node in inner(tree):
        results = [write(value(part), Style()) for part in (node[1], node[2], node)]
        if not all(text and not text.startswith(("-", "0")) for text in results):
            return None
        lines.append(f"{results[0]} {signs[node[0]]} {results[1]} = {results[2]}")
    return lines


def numbers(tree: Tree) -> list[str]:
    """The operands of a tree, from left to right."""
    return [tree] if isinstance(tree, str) else numbers(tree[1]) + numbers(tree[2])


def symbols(tree: Tree, rng: random.Random | None = None, gap: str | None = None) -> str:
    """A tree in symbols, as Python reads it; with `rng`, in any of the usual signs and spacings.

    >>> symbols(("-", "2", ("-", ("*", "3", "4"), "1")))
    '2 - (3 * 4 - 1)'
    """
    signs = {op: rng.choice(some) if rng else op for op, some in SIGNS.items()}
    spare = rng is not None and rng.random() < 0.1
    if gap is None:
        gap = rng.choice([" ", " ", ""]) if rng else " "

    def part(tree: Tree, rank: int) -> str:
        if isinstance(tree, str):
            return tree
        operation, left, right = tree
        own = RANK[operation]
        text = part(left, own) + gap + signs[operation] + gap + part(right, own + 1)
        return f"({text})" if own < rank or (spare and rank) else text

    return part(tree, 0)


def words(tree: Tree, rng: random.Random, held_out: bool = False) -> str:
    """A tree in words, or partly: what stands in brackets stays in symbols."""

    def part(tree: Tree, rank: int, closed: bool) -> str:
        if isinstance(tree, str):
            return tree
        if rank and rng.random() < 0.2:
            return f"({symbols(tree, rng, ' ')})"
        operation, left, right = tree
        own = RANK[operation]
        if closed or own < rank or rng.random() < 0.4:
            pattern = rng.choice(PHRASES[held_out][operation])
            return pattern.format(l=part(left, 9, True), r=part(right, 9, True))
        before = part(left, own, False)
        comma = "," if before.startswith("the ") else ""
        after = part(right, own + 1, False)
        return rng.choice(CHAINS[held_out][operation]).format(l=before + comma, r=after)

    return part(tree, 0, False)


def command(tree: Tree, rng: random.Random, held_out: bool = False) -> str:
    """A tree as something to do: "Subtract 4 from the product of 3 and 7"."""
    assert not isinstance(tree, str)
    orders, rest = [], tree
    while not isinstance(rest, str) and isinstance(rest[2], str):
        orders.insert(0, STEPS[held_out][rest[0]].format(r=rest[2]))
        rest = rest[1]
    if isinstance(rest, str) and rng.random() < 0.6:
        begin = rng.choice(STARTS[held_out])
        text = ", ".join([f"{begin} {rest}", *orders[:-1]]) + rng.choice([", then ", " and "])
        return _capital(text + orders[-1])
    operation, left, right = tree
    pattern = rng.choice(COMMANDS[held_out][operation])
    parts = [
        part if isinstance(part, str) else _phrase(part, rng, held_out) for part in (left, right)
    ]
    return _capital(pattern.format(l=parts[0], r=parts[1]))


def _phrase(tree: Tree, rng: random.Random, held_out: bool) -> str:
    if isinstance(tree, str):
        return tree
    left, right = (_phrase(part, rng, held_out) for part in tree[1:])
    return rng.choice(PHRASES[held_out][tree[0]]).format(l=left, r=right)


def listed(tree: Tree, rng: random.Random, held_out: bool = False) -> str | None:
    """A sum or a product of many numbers as a list: "the sum of 4, 7 and 12"; None for others."""
    operation, rest = tree[0], tree
    while not isinstance(rest, str):
        if rest[0] != operation or not isinstance(rest[2], str):
            return None
        rest = rest[1]
    if operation not in LISTS[held_out]:
        return None
    *most, last = numbers(tree)
    text = ", ".join(most) + rng.choice([" and ", ", and "]) + last
    return rng.choice(LISTS[held_out][operation]).format(l=text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
