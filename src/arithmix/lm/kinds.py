"""Numbers in a sequence of tokens, for tokenizers that give each digit a token of its own.

Every token gets one character, its kind, and a text becomes a string of kinds of the same length:
a digit is itself, " " a space alone, "m" a minus after a space, "-" a minus alone, "." and ","
themselves; "n" ends in a minus after something else, as "(-" does; "w" ends in a letter or a
digit; "x" is anything else. So a number half written is a string too: "m12" has been begun by the
tokens " -", "1", "2".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .programs import LONGEST

DIGITS = "0123456789"
WRITTEN = DIGITS + " m-.,"
"""The kinds of which numbers are written; each is one token."""
STARTS = {"spaced": " m", "tight": DIGITS + "-"}
"""How a number begins, after a space and without one: which of the two is the model's choice."""

# A minus right after a number or a word is no sign: 10 -5, 3-4, COVID-19.
_SIGN = r"(?P<sign>(?<![0-9])m|(?<![0-9w])-|n)?"
_WHOLE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])|[0-9]+)"
_NUMBER = re.compile(rf"{_SIGN}(?P<body>{_WHOLE}(?:\.[0-9]+)?)")


@dataclass(frozen=True)
class Number:
    """A number in a text: what stands there, and the places of its first and last digit."""

    text: str
    start: int
    end: int


class Alphabet:
    """The kinds of a tokenizer's tokens, and the token of each kind that numbers are written in.

    Args:
        tokenizer: One of transformers' tokenizers.

    Raises:
        ValueError: It does not give each digit a token of its own.
    """

    def __init__(self, tokenizer: Any) -> None:
        texts = tokenizer.batch_decode([[i] for i in range(len(tokenizer))])
        self.kinds = "".join(map(_kind, texts))
        # What a tokenizer writes for a number in a text, which need not be all it could write.
        sample = [
            *tokenizer.encode(f"x: {DIGITS}", add_special_tokens=False)[-11:],
            tokenizer.encode("x: -5", add_special_tokens=False)[-2],
            tokenizer.encode("x\n-5", add_special_tokens=False)[-2],
            *tokenizer.encode("x:1.5,5", add_special_tokens=False)[-4::2],
        ]
        found = "".join(self.kinds[i] for i in sample)
        if found != f" {DIGITS}m-.,":
            raise ValueError(
                "the tokenizer must write each digit, and a sign or a space before it, as a token "
                f"of its own; got {[texts[i] for i in sample]} for a space, ten digits and signs"
            )
        self.ids = {kind: int(i) for kind, i in zip(found, sample, strict=True)}

    def spell(self, ids: Iterable[int]) -> str:
        """The kinds of a sequence of tokens; padding, which is below 0, is of the kind "x"."""
        return "".join(self.kinds[i] if 0 <= i < len(self.kinds) else "x" for i in ids)


def _kind(text: str) -> str:
    if len(text) == 1 and text in DIGITS + " -.,":
        return text
    if text == " -":
        return "m"
    if text.endswith("-") and not text[:-1].strip()[-1:].isalnum():
        return "n"
    return "w" if text[-1:].isalnum() else "x"


def begun(kinds: str) -> list[int]:
    """For each token, where the number began that it is part of, or could become part of; else -1.

    It looks at no later token, so what it says of a text's beginning stays true as the text grows.

    >>> begun("w 12x")
    [-1, 1, 1, 1, -1]
    """
    starts = []
    start, before = -1, "x"
    for place, kind in enumerate(kinds):
        if kind in DIGITS:
            start = place if start < 0 else start
        elif kind in ".,":
            start = start if before in DIGITS else -1
        elif kind in " m":
            start = -1 if before in DIGITS else place
        elif kind == "-":
            start = -1 if before in DIGITS + "w" else place
        else:
            start = -1
        starts.append(start)
        before = kind
    return starts


def opens(kinds: str, starts: list[int], place: int) -> list[str]:
    """How a number may begin after the token at `place`, given `begun(kinds)`; [] for not at all.

    >>> opens("w12.", begun("w12."), 3), opens("w12", begun("w12"), 2)
    (['spaced'], [])
    """
    kind = kinds[place]
    if kind in DIGITS + "n" or (kind in " m-" and starts[place] >= 0):
        return []
    # After "12." a digit goes on with the 12.
    return ["spaced"] if starts[place] >= 0 else ["spaced", "tight"]


def numbers(kinds: str, most: int) -> list[Number]:
    """The last `most` numbers in a string of kinds, in their order.

    >>> numbers("w m1,234.5x", most=9)
    [Number(text='-1,234.5', start=3, end=9)]
    """
    found = [
        Number(("-" if match["sign"] else "") + match["body"], match.start("body"), match.end() - 1)
        for match in _NUMBER.finditer(kinds)
        if len(match["body"]) <= LONGEST
    ]
    return found[-most:]


def spelled(text: str, begin: str) -> str:
    """The kinds in which a number's text is written after a space (`begin` is "spaced") or not.

    >>> spelled("-12", "spaced"), spelled("12", "spaced"), spelled("-12", "tight")
    ('m12', ' 12', '-12')
    """
    if begin == "tight":
        return text
    return "m" + text[1:] if text.startswith("-") else " " + text
