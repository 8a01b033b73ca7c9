"""The wordings of sums, from wordings.json: those to train on, and those held out.

An expression or a story has {a} and {b} for the operands of `a op b`, {n} for a number that is not
needed. A frame has {e} for an expression and {f} for the same said otherwise; it is a question and
a lead, what stands between the question and the answer.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

_PLACE = re.compile(r"\{([a-fnmyk])\}")


def wordings(kind: str, held_out: bool = False, operation: str | None = None) -> list[Any]:
    """The wordings of a kind, as "frames"; those of "expressions", "stories" by operation.

    >>> "{a} plus {b}" in wordings("expressions", operation="+")
    True
    """
    lists = _all()[kind]
    return (lists[operation] if operation else lists)["held_out" if held_out else "train"]


@cache
def _all() -> dict[str, Any]:
    return json.loads((files("arithmix.lm") / "wordings.json").read_text(encoding="utf-8"))


def fill(text: str, values: Mapping[str, str]) -> str:
    """A wording with values in its places; what begins a sentence gets a capital letter.

    >>> fill("{e}? It is {a}.", {"e": "the sum", "a": "5"})
    'The sum? It is 5.'
    """

    def value(match: re.Match[str]) -> str:
        made = values.get(match[1], match[0])
        before = text[: match.start()].rstrip(" ")
        starts = not before or before[-1] in ".?!\n"
        return made[:1].upper() + made[1:] if starts and match[1] in "ef" else made

    return _PLACE.sub(value, text)


def places(text: str) -> list[str]:
    """The letters of the places in a wording, in order.

    >>> places("{b} more than {a}")
    ['b', 'a']
    """
    return _PLACE.findall(text)
