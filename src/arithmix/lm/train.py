"""Train a reader on plain texts: nothing says where to compute, on which numbers, or what.

The base is frozen, so its states are computed once and kept; the epochs after that take seconds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from .kinds import DIGITS, STARTS, Alphabet, begun, numbers, opens
from .load import base
from .mixture import number_loss
from .programs import one_step
from .reader import Config, Reader


@dataclass(frozen=True)
class Example:
    """A number of a text, with the states that a reader sees before it, in half precision."""

    target: str
    lm: float
    """The base's log-probability of it."""
    query: Float[Tensor, " states"]
    keys: Float[Tensor, "numbers two states"]
    operands: tuple[str, ...]


@torch.no_grad()
def collect(
    texts: Sequence[str],
    model: Any,
    tokenizer: Any,
    layers: Sequence[int],
    most: int,
    batch: int = 16,
) -> Iterator[Example]:
    """The numbers of `texts` that have numbers before them, in no particular order of texts."""
    alphabet = Alphabet(tokenizer)
    ids: list[list[int]] = sorted((tokenizer.encode(text) for text in texts), key=len)
    for first in range(0, len(ids), batch):
        rows = ids[first : first + batch]
        longest = max(map(len, rows))
        # Padding comes after the text, where a causal model does not see it.
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
        out = model.model(padded.to(model.device), output_hidden_states=True)
        states = torch.cat([out.hidden_states[layer] for layer in layers], -1)
        for row, state, last in zip(rows, states, out.last_hidden_state, strict=True):
            yield from _of_text(alphabet.spell(row), state, last, model.lm_head, alphabet, most)


def _of_text(
    kinds: str, state: Tensor, last: Tensor, head: Any, alphabet: Alphabet, most: int
) -> Iterator[Example]:
    starts = begun(kinds)
    for number in numbers(kinds, len(kinds)):
        start, end = starts[number.end], number.end
        place = start - 1
        before = numbers(kinds[: max(start, 0)], most)
        way = "spaced" if kinds[start] in STARTS["spaced"] else "tight"
        if not before or way not in opens(kinds, starts, place):
            continue
        logs = head(last[place : end + 1]).float().log_softmax(-1)
        written = [alphabet.ids[kind] for kind in kinds[start : end + 1]]
        lm = sum(logs[i, token].item() for i, token in enumerate(written))
        lm -= logs[0, [alphabet.ids[kind] for kind in STARTS[way]]].logsumexp(0).item()
        lm += torch.log1p(-logs[-1, [alphabet.ids[d] for d in DIGITS]].exp().sum()).item()
        keys = torch.stack([torch.stack([state[n.end], state[n.end + 1]]) for n in before])
        operands = tuple(n.text for n in before)
        yield Example(number.text, lm, state[place].half().cpu(), keys.half().cpu(), operands)


def train(
    texts: Sequence[str],
    model: Any,
    tokenizer: Any,
    *,
    layers: Sequence[int] | None = None,
    epochs: int = 8,
    seed: int = 0,
    **settings: Any,
) -> Reader:
    """A reader of `model`, trained on the numbers of `texts`.

    Args:
        texts: Plain texts; those of `sums.py`, or one's own.
        model: A causal language model of transformers, whose weights stay as they are.
        tokenizer: Its tokenizer, which writes each digit as a token.
        layers: Which of its states are read: 0 is the embedding, 1 the first layer's; that at two
            thirds of the depth if left out.
        epochs: How often each number is seen.
        seed: Of the reader's parameters and of the order of the numbers.
        settings: Others of `Config`.

    Raises:
        ValueError: No text has a number after another.
    """
    if layers is None:
        layers = (round(2 / 3 * model.config.num_hidden_layers),)
    config = Config(
        width=model.config.hidden_size,
        layers=tuple(layers),
        base=tuple(base(model)),
        **settings,
    )
    examples = list(collect(texts, model, tokenizer, layers, config.memory))
    if not examples:
        raise ValueError(
            f"a block learns from numbers after numbers; got {len(texts)} texts without"
        )
    reader = Reader(config, torch.Generator().manual_seed(seed))
    fit(reader, examples, epochs, seed)
    return reader.eval()


def fit(reader: Reader, examples: Sequence[Example], epochs: int, seed: int) -> None:
    """Train a reader in place, by AdamW with a rate that rises first and then falls to 0."""
    size = 64
    batches = -(-len(examples) // size)
    data = stack(examples, reader.config.constants)
    optimizer = torch.optim.AdamW(reader.parameters(), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * batches)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for index in torch.randperm(len(examples), generator=generator).split(size):
            mixed, own = losses(reader, data, index)
            optimizer.zero_grad()
            (mixed + own).mean().backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            schedule.step()


def stack(examples: Sequence[Example], constants: tuple[str, ...]) -> dict[str, Tensor]:
    """Examples as tensors; those with fewer numbers than others have missing ones first."""
    most = max(len(example.operands) for example in examples)
    rows = [("",) * (most - len(e.operands)) + e.operands for e in examples]
    values = [one_step((*row, *constants)) for row in rows]
    keys = [nn.functional.pad(e.keys, (0, 0, 0, 0, most - len(e.keys), 0)) for e in examples]
    targets = [example.target for example in examples]
    return {
        "query": torch.stack([example.query for example in examples]),
        "keys": torch.stack(keys),
        "missing": torch.tensor([[not text for text in row] for row in rows]),
        "lm": torch.tensor([example.lm for example in examples]),
        "copy_right": torch.tensor(_equal(rows, targets)),
        "step_right": torch.tensor(_equal(values, targets)),
        "step_silent": torch.tensor([[value is None for value in row] for row in values]),
    }


def _equal(rows: Sequence[Sequence[str | None]], targets: list[str]) -> list[list[bool]]:
    return [[x == y for x in row] for row, y in zip(rows, targets, strict=True)]


def losses(reader: Reader, data: dict[str, Tensor], index: Tensor) -> tuple[Tensor, Tensor]:
    """The loss of each number at `index`, and the experts' own, as `number_loss` has them."""
    batch = {key: value[index] for key, value in data.items()}
    query = reader.ask(batch.pop("query"))
    copies, steps = reader.programs(query, batch.pop("keys"), batch.pop("missing"))
    return number_loss(reader.gate(query), copies=copies, steps=steps, **batch)
