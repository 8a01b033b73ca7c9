"""Short stories that ask for a number, of one step and of two."""

import random
import re

from . import trees
from .operands import compute, draw_pair, draw_whole, write_pair
from .told import Sum, joined, other_lead, working
from .wordings import fill, places, wordings

_MEASURED = re.compile(r"dollar|\$|\b(km|m|cm|kg|g|ml|litres|hours|minutes|area)\b")


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
    lead = other_lead(rng, question, lead, held_out, operation, values)
    formula = f"{x} {operation} {y}".replace(",", "")
    return Sum(*joined(rng, [question, lead], answer), answer, operation, formula)


def draw_story2(rng: random.Random, held_out: bool = False) -> Sum:
    """A short story that takes two steps, of three numbers or four."""
    story = rng.choice(wordings("stories2", held_out))
    letters = sorted(set(places(story["text"])))
    while True:
        values = {letter: draw_whole(rng, rng.choice([1, 1, 2, 2, 3])) for letter in letters}
        written = {letter: str(value) for letter, value in values.items()}
        tree = trees.parse(story["value"], written)
        found = [trees.value(part) for part in trees.inner(tree)]
        if min(found) > 0 and min(values.values()) > 1 and all(v.denominator == 1 for v in found):
            break
    question, lead = fill(story["text"], written), story["lead"]
    lead = working(rng, tree, held_out) or other_lead(rng, question, lead, held_out)
    answer = str(found[-1])
    told = joined(rng, [question, lead], answer)
    return Sum(*told, answer, "story2", trees.symbols(tree))
