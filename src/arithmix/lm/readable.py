"""A trace in the text as people read it.

A sign such as ÷ may take several tokens, which have no text one by one; together they do.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .reading import Reading
from .trace import Formula, Trace


def readable(trace: Trace, ids: Sequence[int], pieces: Sequence[str], tokenizer: Any) -> Trace:
    """A trace of tokens with all their signs whole, and every place where it is then.

    Args:
        trace: What was computed in the text of `pieces`.
        ids: The tokens.
        pieces: The text of each by itself.
        tokenizer: What joins them.
    """
    whole = decode(tokenizer, ids)
    if whole == trace.text:
        return trace
    reading = Reading(pieces)

    def move(place: int) -> int:
        token = bisect_right(reading.ends, place)
        return len(decode(tokenizer, ids[:token])) + place - reading.begins(token)

    numbers = [
        replace(
            number,
            start=move(number.start),
            end=move(number.end - 1) + 1,
            program=_moved(number.program, move),
            runner_up=_moved(number.runner_up, move) if number.runner_up else None,
        )
        for number in trace
    ]
    return Trace(whole, tuple(numbers))


def decode(tokenizer: Any, ids: Sequence[int]) -> str:
    """The text of tokens, their marks included, with no space added or left out."""
    return tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _moved(program: Formula, move: Callable[[int], int]) -> Formula:
    operands = tuple(
        replace(one, start=move(one.start), end=move(one.end - 1) + 1) if one.start >= 0 else one
        for one in program.operands
    )
    return replace(program, operands=operands)
