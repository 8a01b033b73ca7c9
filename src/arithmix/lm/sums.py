"""Sums in many wordings, written as plain text: what a block is trained on, and measured with.

A wording is a frame around an expression ("What is {e}?" around "{a} plus {b}") or a short story.
Some of each are held out, so that what is measured has been said in no training text.
"""

import random
import re
from collections.abc import Sequence
from fractions import Fraction

from . import trees
from .numbers import Style, find
from .operands import compute, draw_pair, write_pair
from .stories import draw_story, draw_story2
from .told import Sum as Sum
from .told import chat as chat
from .told import joined, working
from .wordings import fill, wordings
from .writing import write

# Numbers below zero, and a difference below zero, suit these words; bags and children are counted.
_FORMAL = re.compile(
    r"}\)? ?[-−–+*×x·⋅/÷] ?\(?{|plus|minus {|times {"
    r"|sum |product|quotient|ivi(ded by|ding|sion)|ultipl|ubtract"
)
# These follow "find" or "tell me", and do not follow "what is".
_CLAUSE = re.compile("what|how|by how")
_ASKS = re.compile(r"(ell me|ind|ork out|alculate:?|ompute|etermine|know|valuate|tate) {e}")


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
    frame, e = _worded(rng, operation, held_out, frame, expression)
    mixed = digits is None and bool(_FORMAL.search(e))
    if negatives is None:
        negatives = mixed and rng.random() < 0.18
    if decimals is None:
        decimals = (mixed or (digits is None and operation in "+-")) and rng.random() < 0.2
    a, b = draw_pair(rng, operation, digits, decimals)
    if negatives:
        a, b = rng.choice([(-a, b), (-a, b), (a, -b), (-a, -b)])
    below = mixed and not negatives and rng.random() < 0.2
    if operation == "-" and 0 < a < b and not below:
        a, b = b, a
    x, y = write_pair(a, b, grouped=digits is None and rng.random() < 0.15)
    answer = compute(operation, x, y)
    assert answer  # it ends, by the choice of operands
    f = _restated(rng, operation, held_out, frame[1], formal=decimals or not a > b > 0)
    money = mixed and min(a, b) > 0 and not below and rng.random() < 0.15
    money = money and not re.search('[>#("]', frame[1])
    values = {"a": f"${x}" if money else x, "b": f"${y}" if money and operation in "+-" else y}
    # The x of "7 x -5" could be a letter from which 5 is subtracted.
    if b < 0 and (re.search("x ?{b}", e + f) or rng.random() < 0.3):
        values["b"] = f"({y})"
    said = {"e": fill(e, values), "f": fill(f, values)}
    told = joined(rng, [fill(part, said) for part in frame], answer, "$" if money else "")
    formula = f"{x} {operation} {y}".replace(",", "")
    return Sum(*told, answer, operation, formula)


def _worded(
    rng: random.Random,
    operation: str,
    held_out: bool,
    frame: Sequence[str] | None,
    expression: str | None,
) -> tuple[Sequence[str], str]:
    """A frame and an expression that fits in it, where they are not given."""
    if not frame and not expression and rng.random() < 0.15:
        frames = wordings("command_frames", held_out)
        return rng.choice(frames), rng.choice(wordings("commands", held_out, operation))
    some = wordings("expressions", held_out, operation)
    e = expression or rng.choice([one for one in some if not (frame and _CLAUSE.match(one))])
    frames = wordings("frames", held_out)
    if _CLAUSE.match(e):
        frames = [one for one in frames if _ASKS.search(one[0]) and "{e}" not in one[1]]
    return frame or rng.choice(frames), e


def _restated(rng: random.Random, operation: str, held_out: bool, lead: str, formal: bool) -> str:
    """An expression that says the same once more, in a lead."""
    some = wordings("expressions", held_out, operation)
    some = suited = [one for one in some if not _CLAUSE.match(one)]
    if "{f} =" in lead:
        suited = [one for one in some if not re.search("[a-wyz]{2}", one)]
    elif formal:
        suited = [one for one in some if _FORMAL.search(one)]
    return rng.choice(suited or some)


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
    question, lead = (fill(part, {"e": e, "f": f}) for part in frame)
    lead = (question and working(rng, tree, held_out)) or lead
    told = joined(rng, [question, lead], answer)
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
    if counted and counted[1] not in one.lead and rng.random() < 0.5:
        return f"{one.text} {counted[1]}."
    return one.text + rng.choice([".", ".", ".", "", "!", " in the end.", ", of course."])
