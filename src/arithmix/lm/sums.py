"""Sums in many wordings, written as plain text: what a block is trained on, and measured with.

A wording is a frame around an expression ("What is {e}?" around "{a} plus {b}") or a short story.
Some of each are held out, so that what is measured has been said in no training text.
"""

import random
from dataclasses import dataclass
from fractions import Fraction

from .numbers import Style
from .programs import compute
from .writing import write

EXPRESSIONS = {
    "+": [
        "{a} + {b}",
        "{a}+{b}",
        "{a} plus {b}",
        "the sum of {a} and {b}",
        "{a} added to {b}",
        "{b} more than {a}",
        "{a} and {b} together",
        "{a} combined with {b}",
        "{a} with {b} on top",
        "adding {b} to {a}",
        "{a} raised by {b}",
        "{a} and another {b}",
        "{a} increased by {b}",
        "the total of {a} and {b}",
    ],
    "-": [
        "{a} - {b}",
        "{a}-{b}",
        "{a} minus {b}",
        "the difference between {a} and {b}",
        "{b} less than {a}",
        "{b} subtracted from {a}",
        "{a} reduced by {b}",
        "{a} without {b}",
        "{a} lowered by {b}",
        "taking {b} from {a}",
        "{b} fewer than {a}",
        "{a} after losing {b}",
        "{a} with {b} removed",
        "{a} decreased by {b}",
        "{a} take away {b}",
    ],
    "*": [
        "{a} * {b}",
        "{a}*{b}",
        "{a} × {b}",
        "{a} x {b}",
        "{a} times {b}",
        "the product of {a} and {b}",
        "multiplying {a} by {b}",
        "{a} lots of {b}",
        "{a} sets of {b}",
        "{a} rows of {b}",
        "{b} taken {a} times",
        "{a} bags of {b}",
        "{a} multiplied by {b}",
        "{a} groups of {b}",
    ],
    "/": [
        "{a} / {b}",
        "{a}/{b}",
        "{a} ÷ {b}",
        "{a} divided by {b}",
        "the quotient of {a} and {b}",
        "{a} split into {b} equal parts",
        "dividing {a} by {b}",
        "{a} shared between {b}",
        "one part of {a} cut into {b}",
        "{a} divided among {b}",
        "the ratio of {a} to {b}",
        "{a} in groups of {b}",
        "{a} over {b}",
        "{a} shared equally among {b}",
    ],
}
FRAMES = [
    "{e} =",
    "{e} equals",
    "{e} is",
    "What is {e}?",
    "What is {e}?\nAnswer:",
    "Q: What is {e}?\nA:",
    "Question: How much is {e}?\nAnswer:",
    "Calculate {e}.\nResult:",
    "Compute {e}:",
    "The result of {e} is",
    "We know that {e} =",
    "If you work out {e}, you get",
    "Let x = {e}. Then x =",
    "Please compute {e}. Answer:",
    "Find {e}: it is",
    "Problem: {e}. Solution:",
    "She asked for {e}, and he said",
    "Tell me {e}.\n",
    "User: {e}?\nAssistant: The answer is",
    "Exercise: find {e}.\nSolution:",
    "Can you give me {e}? Sure, it is",
    "Evaluate {e}. It comes to",
]
STORIES = {
    "+": [
        "Tom has {a} apples and buys {b} more. Now he has",
        "There are {a} boys and {b} girls in the school. Together they are",
        "A shirt costs {a} dollars and a coat {b} dollars. Both cost",
        "She walked {a} km on Monday and {b} km on Tuesday, in all",
        "A farm has {a} cows and gets {b} new ones, so it has",
        "He saved {a} dollars in May and {b} dollars in June, a total of",
        "First {a} birds came, then {b} birds joined them. That makes",
        "The tank held {a} litres and {b} litres were poured in, which makes",
    ],
    "-": [
        "Tom had {a} apples and gave away {b}. Now he has",
        "Of {a} seats, {b} are taken. The number of free seats is",
        "The coat cost {a} dollars and is now {b} dollars cheaper. It costs",
        "A rope of {a} m is cut by {b} m. What is left measures",
        "She had {a} stamps and lost {b}. She still has",
        "There were {a} litres in the tank and {b} were used. Left are",
        "A book has {a} pages and he read {b} of them. He still has to read",
        "The village had {a} people and {b} moved away, which leaves",
    ],
    "*": [
        "There are {a} boxes with {b} pencils each. The number of pencils is",
        "One ticket costs {a} dollars. Someone who buys {b} tickets pays",
        "A garden is {a} m long and {b} m wide. Its area is",
        "She reads {a} pages a day for {b} days, in all",
        "A box holds {a} eggs. Then {b} boxes hold",
        "He earns {a} dollars an hour and works {b} hours, earning",
        "There are {a} classes of {b} pupils, so the number of pupils is",
        "Each of {a} rows has {b} chairs, which makes",
    ],
    "/": [
        "{a} sweets are shared equally among {b} children. Each gets",
        "A train goes {a} km in {b} hours. In one hour it goes",
        "{a} eggs are packed into boxes of {b}. The number of boxes is",
        "A rope of {a} m is cut into {b} equal pieces. Each piece measures",
        "{a} pupils form {b} equal teams. Each team has",
        "He pays {a} dollars in {b} equal rates of",
        "A field of {a} plants has {b} equal rows. One row has",
        "{b} tickets cost {a} dollars together. One ticket costs",
    ],
}
ASIDES = [
    "In {y} the house on {n} Hill Street was sold.",
    "See chapter {n}, page {m}.",
    "The meeting is on {n} May {y} at {n}:30.",
    "Version {n}.{n} came out in {y}.",
    "He is {n} years old and lives in room {m}.",
    "Bus {m} leaves in {n} minutes.",
    "There were {m} guests from {n} countries.",
    "The report of {y} lists {m} cases.",
    "They won {n} to {n} in {y}.",
    "Call {m} {m} before {n} o'clock.",
]
HELD_OUT = 2  # of each list of expressions and stories, the last ones
HELD_OUT_FRAMES = 5


@dataclass(frozen=True)
class Sum:
    """A prompt, and the answer that continues it."""

    prompt: str
    answer: str
    operation: str

    @property
    def text(self) -> str:
        """The prompt and its answer."""
        return f"{self.prompt}{'' if self.prompt.endswith(chr(10)) else ' '}{self.answer}"


def wordings(operation: str, held_out: bool) -> list[str]:
    """Every prompt for an operation, with {a} and {b} for its operands."""

    def part(texts: list[str], last: int) -> list[str]:
        return texts[-last:] if held_out else texts[:-last]

    expressions = part(EXPRESSIONS[operation], HELD_OUT)
    frames = part(FRAMES, HELD_OUT_FRAMES)
    told = [frame.format(e=e) for frame in frames for e in expressions]
    stories = part(STORIES[operation], HELD_OUT)
    return told + stories * (len(told) // (3 * len(stories)))  # a quarter are stories


def draw_sum(
    rng: random.Random,
    operation: str | None = None,
    digits: tuple[int, int] | None = None,
    held_out: bool = False,
    prompt: str | None = None,
) -> Sum:
    """One sum; of whole numbers of so many digits where `digits` says so, of all kinds otherwise.

    It is worded as `prompt`, with {a} and {b} in it, or as one of the `wordings`.
    A quotient has finitely many digits: with `digits`, the dividend is a multiple of the divisor,
    so its digits are those of divisor and quotient together.
    """
    operation = operation or rng.choice("+-*/")
    prompt = prompt or rng.choice(wordings(operation, held_out))
    first, second = digits or (rng.randint(1, 5), rng.randint(1, 5))
    a, b = _whole(rng, first), _whole(rng, second)
    places = (0, 0) if digits or rng.random() < 0.85 else (rng.randint(0, 2), rng.randint(0, 2))
    a, b = a / 10 ** places[0], b / 10 ** places[1]
    if operation == "/":
        a = a * b
    if not digits and rng.random() < 0.08:
        a = -a
    if operation == "-" and 0 <= a < b and (digits or rng.random() < 0.7):
        a, b = b, a
    grouped = not digits and rng.random() < 0.15
    style = Style(separator="," if grouped else "")
    x, y = write(a, style), write(b, style)
    assert x and y  # they end, by the choice of operands, as does the answer
    answer = compute(operation, x, y)
    assert answer
    return Sum(prompt.format(a=x, b=y), answer, operation)


def draw_aside(rng: random.Random) -> str:
    """A sentence with numbers that nothing computes."""
    text = rng.choice(ASIDES)
    while "{" in text:
        text = text.replace("{n}", str(rng.randint(1, 31)), 1)
        text = text.replace("{m}", str(rng.randint(32, 999)), 1)
        text = text.replace("{y}", str(rng.randint(1850, 2030)), 1)
    return text


def draw_text(rng: random.Random) -> str:
    """A training text: a sum, often after sentences or sums that have nothing to do with it."""
    before = []
    while rng.random() < 0.4:
        before.append(draw_aside(rng) if rng.random() < 0.6 else draw_sum(rng).text + ".")
    end = draw_aside(rng) if rng.random() < 0.15 else draw_sum(rng).text + rng.choice([".", "\n"])
    return rng.choice([" ", "\n"]).join([*before, end])


def _whole(rng: random.Random, digits: int) -> Fraction:
    return Fraction(rng.randint(10 ** (digits - 1), 10**digits - 1))
