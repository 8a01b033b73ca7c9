"""Sums in many wordings, written as plain text: what a block is trained on, and measured with.

A wording is a frame around an expression ("What is {e}?" around "{a} plus {b}") or a short story.
Some of each are held out, so that what is measured has been said in no training text.
"""

import ast
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from . import trees
from .exact import OPERATIONS
from .numbers import Style, find
from .operands import draw_pair, draw_whole, write_pair
from .programs import compute
from .wordings import fill, places, wordings
from .writing import write

# Numbers below zero, and a difference below zero, suit these words; bags and children are counted.
_FORMAL = re.compile(
    r"[-+−*×·⋅/÷–]|\bx\b|}x{|plus|minus|times {|sum |product|quotient|ivid|ultipl|ubtract"
)
_MEASURED = re.compile(r"dollar|\$|\b(km|m|cm|kg|g|ml|litres|hours|minutes|area)\b")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}


@dataclass(frozen=True)
class Sum:
    """A question, the beginning of its answer, and the number that comes next.

    Args:
        question: What is asked, or "" where the lead says it all, as "3 + 4 =" does.
        lead: What stands between the question and the number; it may begin with a new line.
        answer: The number.
        operation: One of + - * / for a sum of two numbers, else "tree" or "story2".
        formula: What is computed, as Python writes it: "(9 + 8) * 2".
    """

    question: str
    lead: str
    answer: str
    operation: str
    formula: str

    @property
    def prompt(self) -> str:
        """What stands before the answer."""
        apart = self.question and self.lead and not self.lead.startswith("\n")
        return self.question + (" " if apart else "") + self.lead

    @property
    def text(self) -> str:
        """The prompt and its answer."""
        close = self.prompt.endswith(("\n", "(", "[", "$", "€", "£"))
        return self.prompt + ("" if close else " ") + self.answer


def chat(one: Sum) -> tuple[str, str]:
    r"""What a user says, and how the reply begins, up to the number.

    >>> chat(Sum("What is 3 + 4?", "\nIt is", "7", "+", "3 + 4"))
    ('What is 3 + 4?', 'It is')
    """
    return (one.question, one.lead.strip()) if one.question else (one.lead.strip(), "")


def draw_sum(
    rng: random.Random,
    operation: str | None = None,
    digits: tuple[int, int] | None = None,
    held_out: bool = False,
    decimals: bool | None = None,
    negatives: bool | None = None,
    frame: Sequence[str] | None = None,
    expression: str | None = None,
) -> Sum:
    """A sum of two numbers.

    A quotient has finitely many digits: with `digits`, the dividend is a multiple of the divisor,
    so its digits are those of divisor and quotient together.

    Args:
        rng: What it is drawn from.
        operation: One of + - * /; any if left out.
        digits: How many the two whole numbers have; if left out, numbers of all kinds are drawn,
            none of more than five digits.
        held_out: Whether the wording is one of those held out, or of those to train on.
        decimals: Whether there are any; some have them if left out, and no `digits` are given.
        negatives: Likewise, whether a number is below zero.
        frame: A question with {e}, and a lead; drawn if left out.
        expression: One with {a} and {b}; drawn if left out.
    """
    operation = operation or rng.choice("+-*/")
    kind = "" if frame or expression or rng.random() < 0.85 else "command"
    said = wordings(f"{kind}s" if kind else "expressions", held_out, operation)
    e = expression or rng.choice(said)
    frame = frame or rng.choice(wordings(f"{kind}_frames" if kind else "frames", held_out))
    formal = bool(_FORMAL.search(e))
    mixed = digits is None and formal
    if negatives is None:
        negatives = mixed and rng.random() < 0.08
    if decimals is None:
        decimals = (mixed or (digits is None and operation in "+-")) and rng.random() < 0.15
    a, b = draw_pair(rng, operation, digits, decimals)
    if negatives:
        a, b = rng.choice([(-a, b), (-a, b), (a, -b), (-a, -b)])
    below = mixed and not negatives and rng.random() < 0.2
    if operation == "-" and 0 < a < b and not below:
        a, b = b, a
    money = mixed and min(a, b) > 0 and not below and rng.random() < 0.08
    money = money and not re.search("[>#(]", frame[1])
    x, y = write_pair(a, b, grouped=digits is None and rng.random() < 0.15)
    answer = compute(operation, x, y)
    assert answer  # it ends, by the choice of operands
    values = {"a": f"${x}" if money else x, "b": f"${y}" if money and operation in "+-" else y}
    others = suited = wordings("expressions", held_out, operation)
    if "{f} =" in frame[1]:
        suited = [other for other in others if not re.search("[a-wyz]{2}", other)]
    elif decimals or not a > b > 0:
        suited = [other for other in others if _FORMAL.search(other)]
    f = rng.choice(suited or others)
    said = {"e": fill(e, values), "f": fill(f, values)}
    told = _joined(rng, [fill(part, said) for part in frame], answer, "$" if money else "")
    formula = f"{x} {operation} {y}".replace(",", "")
    return Sum(*told, answer, operation, formula)


def draw_story(rng: random.Random, held_out: bool = False) -> Sum:
    """A short story that asks for one sum of two numbers."""
    operation = rng.choice("+-*/")
    story = rng.choice(wordings("stories", held_out, operation))
    measured = bool(_MEASURED.search(story[0]))
    a, b = draw_pair(rng, operation, None, measured and rng.random() < 0.2, counted=True)
    a, b = (b, a) if operation == "-" and a < b else (a, b)
    x, y = write_pair(a, b, rng.random() < 0.15)
    answer = compute(operation, x, y)
    assert answer
    values = {"a": x, "b": y, "n": str(rng.randint(2, 31))}
    question, lead = (fill(part, values) for part in story)
    lead = _other_lead(rng, question, lead, held_out, operation, values)
    formula = f"{x} {operation} {y}".replace(",", "")
    return Sum(*_joined(rng, [question, lead], answer), answer, operation, formula)


def draw_story2(rng: random.Random, held_out: bool = False) -> Sum:
    """A short story that takes two steps, of three numbers or four."""
    story = rng.choice(wordings("stories2", held_out))
    letters = sorted(set(places(story["text"])))
    parsed = ast.parse(story["value"], mode="eval").body
    while True:
        values = {letter: draw_whole(rng, rng.choice([1, 1, 2, 2, 3])) for letter in letters}
        result = _value(parsed, values)
        if result is not None and min(values.values()) > 1:
            break
    written = {letter: str(value) for letter, value in values.items()}
    formula = re.sub("[a-d]", lambda match: written[match[0]], story["value"])
    question, lead = fill(story["text"], written), story["lead"]
    if not lead.endswith("$"):
        lead = _other_lead(rng, question, lead, held_out)
    return Sum(*_joined(rng, [question, lead], str(result)), str(result), "story2", formula)


def _value(node: ast.expr, values: dict[str, Fraction]) -> Fraction | None:
    """What a formula comes to; None where a number on the way is not whole or not above 0."""
    if isinstance(node, ast.Name):
        return values[node.id]
    assert isinstance(node, ast.BinOp)
    left, right = _value(node.left, values), _value(node.right, values)
    if left is None or right is None:
        return None
    result = OPERATIONS[_OPERATORS[type(node.op)]](left, right)
    return result if result > 0 and result.denominator == 1 else None


def draw_tree(
    rng: random.Random,
    operands: int | None = None,
    held_out: bool = False,
    digits: int | None = None,
) -> Sum:
    """A sum of three or four numbers, or of so many; of so many digits, but for dividends."""
    while True:
        tree = trees.draw(rng, operands or rng.choice([3, 3, 4]), digits)
        value = trees.value(tree)
        answer = write(value, Style())
        if answer and (digits or (len(answer) < 13 and max(map(len, trees.numbers(tree))) < 6)):
            break
    way = rng.random()
    kind = "command_frames" if way < 0.15 else "frames"
    if way < 0.15:
        e = trees.command(tree, rng, held_out)
    elif way < 0.6:
        e = trees.symbols(tree, rng)
        # Tight signs can make a date or a phone number of it.
        if [number.role for number in find(e)] != ["value"] * len(trees.numbers(tree)):
            e = trees.symbols(tree, rng, " ")
    else:
        e = trees.listed(tree, rng, held_out) or trees.words(tree, rng, held_out)
    f = trees.symbols(tree, rng, " ") if rng.random() < 0.7 else trees.words(tree, rng, held_out)
    frame = rng.choice(wordings(kind, held_out))
    told = _joined(rng, [fill(part, {"e": e, "f": f}) for part in frame], answer)
    return Sum(*told, answer, "tree", trees.symbols(tree))


def draw_problem(rng: random.Random, held_out: bool = False) -> Sum:
    """A sum, a story or a tree."""
    draw = rng.choice([draw_sum] * 5 + [draw_story] * 3 + [draw_tree] * 2 + [draw_story2])
    return draw(rng, held_out=held_out)


def draw_aside(rng: random.Random, held_out: bool = False) -> str:
    """A sentence or a snippet with numbers that nothing computes."""
    text = rng.choice(wordings("asides", held_out))
    draws = {
        "n": lambda: str(rng.randint(1, 31)),
        "m": lambda: str(rng.randint(32, 999)),
        "y": lambda: str(rng.randint(1850, 2030)),
        "k": lambda: str(rng.randint(1000, 99999)),
        "d": lambda: write(Fraction(rng.randint(1, 9999), 10 ** rng.randint(1, 2)), Style()) or "",
    }
    return re.sub(r"\{([nmykd])\}", lambda match: draws[match[1]](), text)


def draw_text(rng: random.Random, held_out: bool = False) -> str:
    """A training text: a sum or several, often among sentences that have nothing to do with it.

    It has no blank line in it.
    """
    if rng.random() < 0.1:
        return _row(rng, held_out)
    pieces = []
    while rng.random() < 0.4:
        aside = rng.random() < 0.6
        pieces.append(draw_aside(rng, held_out) if aside else _finished(rng, held_out))
    pieces.append(draw_aside(rng, held_out) if rng.random() < 0.12 else _finished(rng, held_out))
    while rng.random() < 0.15:
        pieces.append(draw_aside(rng, held_out))
    text = pieces[0]
    for piece in pieces[1:]:
        lines = "\n" in text + piece or text[-1] not in ".?!"
        text += ("\n" if lines else rng.choice([" ", "\n"])) + piece
    return text + rng.choice(["", "\n"])


def _row(rng: random.Random, held_out: bool) -> str:
    """Several sums in one frame, in lines of their own."""
    frame = rng.choice(wordings("frames", held_out))
    count = rng.randint(2, 4)
    return "\n".join(draw_sum(rng, held_out=held_out, frame=frame).text for _ in range(count))


def _finished(rng: random.Random, held_out: bool) -> str:
    """A sum with its answer and what comes after."""
    one = draw_problem(rng, held_out)
    counted = re.search(r"[Hh]ow many (?!more|times)(\w+)", one.question)
    if one.prompt.count('"') % 2:
        return one.text + '."'
    if counted and rng.random() < 0.5:
        return f"{one.text} {counted[1]}."
    return one.text + rng.choice([".", ".", ".", "", "!", " in the end.", ", of course."])


def _other_lead(
    rng: random.Random,
    question: str,
    lead: str,
    held_out: bool,
    operation: str | None = None,
    values: dict[str, str] | None = None,
) -> str:
    """The lead of a story, or one that any question could have."""
    if not question.endswith("?") or lead.endswith("$") or rng.random() < 0.6:
        return lead
    if operation and values and not held_out and rng.random() < 0.4:
        return fill(f"{lead} {{a}} {operation} {{b}} =", values)
    return rng.choice(wordings("leads", held_out))


def _joined(
    rng: random.Random, told: Sequence[str], answer: str, mark: str = ""
) -> tuple[str, str]:
    """A question and a lead that begins in a new line where it should, or might."""
    question, lead = told
    if answer.startswith("-"):
        lead = re.sub("'s$", " is", lead)  # "it's -5" reads as a difference
    if mark:
        lead += mark if not lead or lead.endswith("\n") else f" {mark}"
    if question and (question[-1] not in '.?:!"' or rng.random() < 0.45):
        lead = "\n" + lead
    return question, lead
