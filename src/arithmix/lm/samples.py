"""Training texts as a reader needs them: the base's states, and the numbers to foretell.

The base is frozen, so this is done once; the epochs after it do without the base.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from .numbers import Number, find
from .programs import Found, as_float, search
from .reading import LONGEST, Reading
from .vocabulary import Vocabulary
from .writing import forms

BATCH = 4096
"""Tokens that the base reads in one go."""


@dataclass(frozen=True)
class Target:
    """A number of a text.

    Args:
        place: The token before it.
        lm: The base's log-probability of it, given how it begins, and of no digit after it.
        last: The last tokens of the numbers before it.
        found: The programs that have its value.
        styles: Which ways of writing that value give this text.
        sign: Whether an equals sign stands before it.
        tokens: Its first token and one past its last.
    """

    place: int
    lm: float
    last: tuple[int, ...]
    found: Found
    styles: tuple[bool, ...]
    sign: bool
    tokens: tuple[int, int]


@dataclass(frozen=True)
class Sample:
    """A text: its tokens, which go on with a number, the base's states in half precision."""

    ids: tuple[int, ...]
    digit: Tensor
    states: Float[Tensor, "seq states"]
    targets: list[Target]


def targets(
    reading: Reading, memory: int, constants: np.ndarray
) -> Iterator[tuple[Number, Target]]:
    """The numbers of a text that have numbers before them; the base's word on them is missing."""
    for number in find(reading.text):
        last = int(np.searchsorted(reading.ends, number.end))
        start = reading.begun(last)
        if start < 1 or reading.ends[last] != number.end or number.end - number.start > LONGEST:
            continue
        place = start - 1
        written = reading.text[reading.begins(start) : number.end]
        text = reading.text[number.start : number.end]
        if written.strip() != text or reading.way(start) not in reading.opens(place):
            continue
        operands = reading.operands(place, memory)
        if not operands:
            continue
        styles = tuple(form == text for form in forms(number.value))
        found = NOTHING
        if number.role == "value" and any(styles):
            values = np.array([as_float(operand.value) for operand in operands])
            found = search(values, constants, as_float(number.value))
        before = reading.text[: reading.begins(start)].rstrip(" $")
        yield (
            number,
            Target(
                place,
                0.0,
                tuple(operand.last for operand in operands),
                found,
                styles,
                before.endswith("="),
                (start, last + 1),
            ),
        )


NOTHING = Found(
    np.zeros(0, np.int64),
    np.zeros((0, 3), np.int64),
    np.zeros((0, 6), np.int64),
    np.zeros((0, 10), np.int64),
)


@torch.no_grad()
def collect(
    texts: Sequence[str],
    model: Any,
    vocabulary: Vocabulary,
    layers: Sequence[int],
    memory: int,
    constants: Sequence[str],
) -> Iterator[Sample]:
    """The texts as samples, short ones first; empty ones are none."""
    numbers = np.array([float(text) for text in constants])
    encoded = sorted(filter(None, map(vocabulary.encode, texts)), key=len)
    batch: list[list[int]] = []
    for i, ids in enumerate(encoded):
        batch.append(ids)
        full = (len(batch) + 1) * len(encoded[min(i + 1, len(encoded) - 1)]) > BATCH
        if full or i == len(encoded) - 1:
            yield from _read(batch, model, vocabulary, layers, memory, numbers)
            batch = []


def _read(
    batch: list[list[int]],
    model: Any,
    vocabulary: Vocabulary,
    layers: Sequence[int],
    memory: int,
    constants: np.ndarray,
) -> Iterator[Sample]:
    longest = max(map(len, batch))
    # Padding comes after the text, where a causal model does not see it.
    padded = torch.tensor([ids + [0] * (longest - len(ids)) for ids in batch])
    out = model.base_model(padded.to(model.device), output_hidden_states=True)
    for row, ids in enumerate(batch):
        states = torch.cat([out.hidden_states[layer][row, : len(ids)] for layer in layers], -1)
        pieces = vocabulary.text(ids)
        reading = Reading(pieces)
        found = [target for _, target in targets(reading, memory, constants)]
        # Other digits than those that numbers are written with are passed over.
        found = [t for t in found if vocabulary.index.keys() >= set(ids[slice(*t.tokens)])]
        if found:
            last = out.last_hidden_state[row]
            lm = _base_logs(found, ids, last, model, vocabulary, reading)
            found = [Target(t.place, x, *_rest(t)) for t, x in zip(found, lm, strict=True)]
        digit = vocabulary.goes_on(torch.tensor([ids]))[0]
        yield Sample(tuple(ids), digit, states.half().cpu(), found)


def _rest(target: Target) -> tuple:
    return target.last, target.found, target.styles, target.sign, target.tokens


def _base_logs(
    found: list[Target],
    ids: list[int],
    last: Tensor,
    model: Any,
    vocabulary: Vocabulary,
    reading: Reading,
) -> list[float]:
    """The base's log-probability of each number, as `Target.lm` has it."""
    needed = sorted({i for t in found for i in range(t.place, t.tokens[1])})
    logits = model.get_output_embeddings()(last[needed]).float()
    logs = (logits - logits.logsumexp(-1, keepdim=True))[:, vocabulary.written].cpu()
    row = {token: i for i, token in enumerate(needed)}
    digit = torch.tensor(vocabulary.digit)
    result = []
    for target in found:
        start, end = target.tokens
        total = sum(logs[row[i - 1], vocabulary.index[ids[i]]].item() for i in range(start, end))
        begins = logs[row[start - 1], vocabulary.starts[reading.way(start)]].logsumexp(0).item()
        more = logs[row[end - 1], digit].exp().sum().clamp(max=1 - 1e-6)
        result.append(min(total - begins, 0.0) + torch.log1p(-more).item())
    return result
