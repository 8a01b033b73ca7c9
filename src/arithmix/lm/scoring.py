"""The numbers of texts, and what a language model gives them, all texts of a batch at once."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from .numbers import find
from .reading import Reading
from .texts import Text
from .vocabulary import Vocabulary


class Place(NamedTuple):
    """A number of a text.

    Args:
        start: Its first character.
        end: One past its last.
        first: Its first token.
        last: One past its last.
        after_equals: Whether it stands after an equals sign.
    """

    start: int
    end: int
    first: int
    last: int
    after_equals: bool


class Scored(NamedTuple):
    """Minus a number's log-probability, and whether each of its tokens was the likeliest."""

    nats: float
    right: bool


@dataclass(frozen=True)
class Row:
    """A text as tokens, with the numbers that count.

    Args:
        ids: The tokens.
        text: Their text, which the characters are counted in.
        begin: The first character that counts.
        numbers: Those from there on that have another before them.
    """

    ids: list[int]
    text: str
    begin: int
    numbers: tuple[Place, ...]


def make_row(text: Text, tokenizer: Any, vocabulary: Vocabulary, limit: int) -> Row:
    """A text's first `limit` tokens, and its numbers."""
    ids = tokenizer(text.whole).input_ids[:limit]
    reading = Reading(vocabulary.text(ids))
    begin = 0
    if text.solution:
        given = tokenizer(text.prompt).input_ids
        # As far as they agree: some tokenizers join what the parts meet with, or add an end.
        pairs = enumerate(zip(ids, given, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(ids), len(given)))
        begin = reading.begins(same) if same < len(ids) else len(reading.text)
    numbers, before = [], False
    for number in find(reading.text):
        if number.role != "value":
            continue
        first = bisect_right(reading.ends, number.start)
        if before and number.start >= begin and first:
            head = reading.text[: number.start].rstrip(" $")
            last = bisect_left(reading.ends, number.end) + 1
            numbers.append(Place(number.start, number.end, first, last, head.endswith("=")))
        before = True
    return Row(ids, reading.text, begin, tuple(numbers))


@torch.no_grad()
def score(
    model: Any, rows: Sequence[Row], batch: int, tell: Callable[[int], None]
) -> list[list[Scored]]:
    """What a model gives each number of each text, given all tokens before."""
    found: list[list[Scored]] = [[] for _ in rows]
    # Texts of like lengths together, so that little is padded.
    order = sorted((i for i, row in enumerate(rows) if row.numbers), key=lambda i: len(rows[i].ids))
    for at in range(0, len(order), batch):
        chosen = order[at : at + batch]
        length = len(rows[chosen[-1]].ids)
        ids = torch.zeros(len(chosen), length, dtype=torch.long, device=model.device)
        mask = torch.zeros_like(ids)
        for j, i in enumerate(chosen):
            ids[j, : len(rows[i].ids)] = torch.tensor(rows[i].ids)
            mask[j, : len(rows[i].ids)] = 1
        logits = model(input_ids=ids, attention_mask=mask, use_cache=False).logits
        for j, i in enumerate(chosen):
            for place in rows[i].numbers:
                logs = logits[j, place.first - 1 : place.last - 1].float().log_softmax(-1)
                wanted = ids[j, place.first : place.last]
                nats = -logs.gather(-1, wanted[:, None]).sum().item()
                found[i].append(Scored(nats, bool((logs.argmax(-1) == wanted).all())))
        del logits
        tell(min(at + batch, len(order)))
    return found
