"""A sum as it is told: a question, the beginning of its answer, and the number."""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from . import trees
from .wordings import fill, wordings


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


def other_lead(
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


def working(rng: random.Random, tree: trees.Tree, held_out: bool) -> str | None:
    """Sometimes, a lead that does one operation after the other."""
    if held_out or rng.random() < 0.75:
        return None
    lines = trees.steps(tree, rng)
    if not lines:
        return None
    begin = rng.choice(["", "", "First, ", "We have ", "Step by step: "])
    return begin + rng.choice([". ", ", ", "\n", ", then ", " and "]).join(lines).rpartition(" ")[0]


def joined(rng: random.Random, told: Sequence[str], answer: str, mark: str = "") -> tuple[str, str]:
    """A question and a lead that begins in a new line where it should, or might."""
    # "It's -5" reads as a difference.
    question, lead = (re.sub("'s (?=-)", " is ", part) for part in told)
    if answer.startswith("-"):
        lead = re.sub("'s$", " is", lead)
    if mark:
        lead += mark if not lead or lead.endswith("\n") else f" {mark}"
    if question and (question[-1] not in '.?:!"' or rng.random() < 0.45):
        lead = "\n" + lead
    return question, lead
