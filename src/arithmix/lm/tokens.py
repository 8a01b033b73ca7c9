"""Numbers in a stream of tokens: which tokens they are, and which tokens write a value."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .numbers import Number, find

ANCHORS = ("=", "\n", "(")
"""Texts that tokenizers keep apart from digits."""


class Tokenizer(Protocol):
    """What is asked of a tokenizer; it adds no tokens of its own, such as one for the start."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens."""
        ...

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where in the text each of its tokens starts and ends, in characters."""
        ...


class HuggingFace:
    """A fast tokenizer of Hugging Face's as it is asked for here."""

    def __init__(self, tokenizer: Any):
        self.tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self.tokenizer.encode(text, add_special_tokens=False)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, to the letter."""
        return self.tokenizer.decode(list(ids), clean_up_tokenization_spaces=False)

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where each token starts and ends."""
        asked = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        return asked["offset_mapping"]


@dataclass(frozen=True)
class Place:
    """The tokens of a number: `token_start` to `token_end` touch it, those `inside` are its own."""

    token_start: int
    token_end: int
    inside: range


def locate(numbers: Sequence[Number], offsets: Sequence[tuple[int, int]]) -> list[Place]:
    """The tokens of each number of a text, from the offsets of the text's tokens.

    Tokens without characters, as one for the start of a text, are in no number.

    >>> locate(find("is 12."), [(0, 0), (0, 2), (2, 4), (4, 5), (5, 6)])  # "", "is", " 1", "2", "."
    [Place(token_start=2, token_end=4, inside=range(3, 4))]
    """
    tokens = [token for token, (start, end) in enumerate(offsets) if start < end]
    starts = [offsets[token][0] for token in tokens]
    ends = [offsets[token][1] for token in tokens]

    def span(first: int, last: int) -> range:
        return range(tokens[first], tokens[last - 1] + 1) if first < last else range(0)

    places = []
    for number in numbers:
        touched = span(bisect_right(ends, number.start), bisect_left(starts, number.end))
        inside = span(bisect_left(starts, number.start), bisect_right(ends, number.end))
        places.append(Place(touched.start, touched.stop, inside))
    return places


def continuation(tokenizer: Tokenizer, ids: Sequence[int], text: str) -> list[int] | None:
    """The tokens that go on from `ids` to write a number, as `write` gives it.

    Spaces may come before the number, which make it a new one even after another. What the tokens
    so far hold of it, a space or its first digits, is not written again. Together they decode to
    exactly the text meant, and the number is read there with its value; None where that cannot be
    had. The last line of the tokens so far is enough.
    """
    prefix = tokenizer.decode(ids)
    rest = remaining(prefix, text)
    if rest is None:
        return None
    for more in _candidates(tokenizer, list(ids), prefix, rest):
        if tokenizer.decode([*ids, *more]) == prefix + rest:
            return more
    return None


def remaining(prefix: str, text: str) -> str | None:
    """What is left to write of a number after a prefix; None where it cannot stand there.

    >>> remaining("so it is", " 125"), remaining("so it is ", " 125"), remaining("is 12", " 125")
    (' 125', '125', '5')
    >>> remaining("7-", "-5"), remaining("is 3", "125"), remaining("GPT-", "5")
    ('-5', None, None)
    """
    numbers = find(text)
    spaces = len(text) - len(text.lstrip())
    if [(n.start, n.end, n.role) for n in numbers] != [(spaces, len(text), "value")]:
        raise ValueError(f"a text that is one number is written; got {text!r}")
    sizes = range(min(len(prefix), len(text)), 0, -1)
    held = next((size for size in sizes if prefix.endswith(text[:size])), 0)
    # A minus at the end of the prefix may be the number's sign or subtract it: both are tried.
    for size in (held, 0):
        last = find(prefix + text[size:])[-1:]
        start, end = len(prefix) - size + spaces, len(prefix) - size + len(text)
        meant = (start, end, numbers[0].value, "value")
        if [(n.start, n.end, n.value, n.role) for n in last] == [meant]:
            return text[size:]
    return None


def _candidates(
    tokenizer: Tokenizer, ids: list[int], prefix: str, rest: str
) -> Iterator[list[int]]:
    """The tokens of the rest as the tokenizer writes them here; then as it does elsewhere."""
    whole = tokenizer.encode(prefix + rest)
    if whole[: len(ids)] == ids:
        yield whole[len(ids) :]
    # Its own tokens would merge the prefix with the rest, but the prefix stands.
    for anchor in ANCHORS:
        head, whole = tokenizer.encode(anchor), tokenizer.encode(anchor + rest)
        if whole[: len(head)] == head:
            yield whole[len(head) :]
