"""What the block that ships is trained on, besides texts of others: sums, talk and documentation.

Sums alone teach most for their length; longer texts, and documentation, teach where not to compute.
"""

import random
import re
from functools import cache

from .sums import Sum, chat, draw_story, draw_story2, draw_sum, draw_text, draw_tree

LONGEST = 700
"""Characters of the longest paragraph of documentation."""


def draw_sample(rng: random.Random, held_out: bool = False) -> dict[str, str]:
    """A text as {"text": …}, or a question and its answer as {"user": …, "assistant": …}."""
    kind = rng.random()
    if kind < 0.38:
        return {"text": draw_text(rng, held_out=held_out).strip()}
    if kind < 0.82:
        return {"text": (_draw(rng, held_out).text + rng.choice([".", "\n", " "])).strip()}
    if kind < 0.92:
        one = _draw(rng, held_out)
        user, reply = chat(one)
        space = "" if not reply or reply.endswith(("$", "\n", "(")) else " "
        return {"user": user, "assistant": f"{reply}{space}{one.answer}."}
    return {"text": rng.choice(documentation())}


def _draw(rng: random.Random, held_out: bool) -> Sum:
    draws = {draw_sum: 45, draw_tree: 30, draw_story: 12, draw_story2: 13}
    return rng.choices(list(draws), list(draws.values()))[0](rng, held_out=held_out)


@cache
def documentation() -> list[str]:
    """The paragraphs of Python's own documentation that have two numbers at least."""
    from pydoc_data.topics import topics

    paragraphs = [part for text in topics.values() for part in re.split(r"\n\s*\n", text)]
    return [
        re.sub(r"\n +", "\n", part.strip())
        for part in paragraphs
        if len(re.findall(r"\d+", part)) >= 2 and len(part) < LONGEST
    ]
