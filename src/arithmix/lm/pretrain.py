"""A small language model from scratch, with a block from its first step or without one.

Both arms see the same tokens in the same order from the same first weights, and both minimise the
negative log-likelihood of the whole text. With a block the numbers' share of it is the mixture of
`mixture.py`, whose gradients reach the model's layers too.
"""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .block import Config
from .mixture import Batch, number_loss, score, stack
from .reader import Reader
from .reading import Reading
from .samples import Sample, targets
from .scratch import make_model
from .train import batches
from .vocabulary import Vocabulary

TOKENS = 4096
"""Tokens in a batch, about."""
CONSTANTS = ("1", "2", "100")


@dataclass(frozen=True)
class Point:
    """Where a training is: nats on held-out texts.

    Args:
        step: After how many batches.
        words: Nats a token that is not part of a number.
        numbers: Nats a number that has numbers before it.
        alone: The same by the language model's own layers, without programs.
        programs: The gate's weight on programs; 0 without a block.
    """

    step: int
    words: float
    numbers: float
    alone: float
    programs: float


@dataclass(frozen=True)
class Trained:
    """A language model, its tokenizer, its block if it has one, and its curve."""

    model: Any
    tokenizer: Any
    block: Reader | None
    curve: list[Point]


def pretrain(
    texts: Sequence[str],
    held_out: Sequence[str],
    tokenizer: Any,
    *,
    block: bool,
    steps: int,
    seed: int = 0,
    width: int = 384,
    depth: int = 8,
    rate: float = 1e-3,
    every: int = 200,
    device: str = "cpu",
    say: Callable[[Point], None] = lambda point: None,
) -> Trained:
    """Train one arm for so many batches.

    Args:
        texts: What is trained on, again and again if need be.
        held_out: What the curve is measured on.
        tokenizer: One that writes digits, as from `make_tokenizer`.
        block: Whether the model has one from the first step.
        steps: How many batches.
        seed: Of first weights and of the order of texts; the same for both arms.
        width: Of the model's layers, a multiple of 64.
        depth: How many there are.
        rate: The highest rate of AdamW; it rises first and then falls to zero.
        every: Steps between the points of the curve.
        device: cpu or cuda.
        say: Is told of each point.
    """
    vocabulary = Vocabulary(tokenizer)
    model = make_model(tokenizer, width, depth, seed).to(device)
    layers = (1, depth // 2, depth)
    config = Config(width, layers, constants=CONSTANTS, dropout=0.1)
    reader = Reader(config, torch.Generator().manual_seed(seed)).to(device) if block else None
    seen = _samples(texts, vocabulary, config)
    tests = _samples(held_out, vocabulary, config)
    parameters = [*model.parameters(), *(reader.parameters() if reader else ())]
    optimizer = torch.optim.AdamW(parameters, lr=rate, weight_decay=0.1, betas=(0.9, 0.95))
    if reader:
        reader.noise = torch.Generator(device).manual_seed(seed)
    curve: list[Point] = []
    step = 0
    order = torch.Generator().manual_seed(seed)
    while step < steps:
        for batch in batches(seen, order, TOKENS):
            model.train()
            for group in optimizer.param_groups:
                rise = min(1.0, (step + 1) / max(1, steps // 20))
                group["lr"] = rate * rise * 0.5 * (1 + math.cos(math.pi * step / steps))
            if reader:
                reader.train()
            loss = _loss(model, reader, vocabulary, batch, config, device)
            optimizer.zero_grad()
            loss.total.backward()
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            step += 1
            if step % every == 0 or step == steps:
                curve.append(_measure(step, model, reader, vocabulary, tests, config, device))
                say(curve[-1])
            if step == steps:
                break
    model.eval()
    if reader:
        reader.noise = None
        reader.eval()
    return Trained(model, tokenizer, reader, curve)


def split(texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Texts to train on, and one in twenty to measure with, chosen by their own hashes."""
    parts: tuple[list[str], list[str]] = ([], [])
    for text in texts:
        parts[hashlib.sha256(text.encode()).digest()[0] % 20 == 0].append(text)
    return parts


@dataclass(frozen=True)
class _Loss:
    total: Tensor
    words: tuple[float, int]
    numbers: tuple[float, int]
    alone: float
    programs: float


def _loss(
    model: Any,
    reader: Reader | None,
    vocabulary: Vocabulary,
    samples: list[Sample],
    config: Config,
    device: str,
) -> _Loss:
    """The negative log-likelihood of texts, and what words and numbers have of it."""
    data = stack(samples, config.memory, len(config.constants), device)
    ids = torch.zeros(data.digit.shape, dtype=torch.long)
    for i, sample in enumerate(samples):
        ids[i, : len(sample.ids)] = torch.tensor(sample.ids)
    ids = ids.to(device)
    with torch.autocast(ids.device.type, torch.bfloat16):
        out = model(ids, output_hidden_states=True)
    logs = out.logits[:, :-1].float().log_softmax(-1)
    nll = -logs.gather(-1, ids[:, 1:, None])[..., 0] * data.there[:, 1:]
    before = nn.functional.pad(nll.cumsum(1), (2, 0))  # nats of the tokens before each
    spans = [(i, t) for i, sample in enumerate(samples) for t in sample.targets]
    total, count = nll.sum(), int(data.there[:, 1:].sum())
    if not spans:
        return _Loss(total / max(count, 1), (total.item(), count), (0.0, 0), 0.0, 0.0)
    text = data.text
    first = torch.tensor([t.tokens[0] for _, t in spans], device=device)
    end = torch.tensor([t.tokens[1] for _, t in spans], device=device)
    written = logs[..., vocabulary.written]
    spaced = torch.zeros(len(vocabulary.written), dtype=torch.bool, device=device)
    spaced[vocabulary.starts["spaced"]] = True
    tight = torch.zeros_like(spaced)
    tight[vocabulary.starts["tight"]] = True
    is_spaced = spaced[[vocabulary.index[samples[i].ids[t.tokens[0]]] for i, t in spans]]
    starts = torch.where(is_spaced[:, None], spaced, tight)
    begins = written[text, first - 1].masked_fill(~starts, -1e4).logsumexp(-1)
    own = before[text, end] - before[text, first]
    # Where a text ends with its number nothing is said of a further digit.
    inside = end - 1 < logs.shape[1]
    digits = torch.tensor(vocabulary.digit, device=device)
    after = written[text, (end - 1).clamp(max=logs.shape[1] - 1)]
    more = after.masked_fill(~digits, -1e4).exp().sum(-1).clamp(max=1 - 1e-6)
    finished = torch.log1p(-more) * inside
    lm = (-own - begins + finished).clamp(max=0.0)
    words = (total - own.sum()).item()
    mixed, extra, programs = -lm, lm * 0, 0.0
    if reader:
        states = torch.cat([out.hidden_states[layer] for layer in config.layers], -1)
        scores = score(reader, _with(data, states, lm))
        mixed, extra = number_loss(scores, lm)
        programs = -scores.gate[:, 0].detach().expm1().sum().item()
    numbers = mixed - begins + finished
    whole = total - own.sum() + numbers.sum()
    return _Loss(
        (whole + extra.sum()) / max(count, 1),
        (words, count - int((end - first).sum())),
        (numbers.sum().item(), len(spans)),
        own.sum().item(),
        programs,
    )


def _with(data: Batch, states: Tensor, lm: Tensor) -> Batch:
    return Batch(**{**vars(data), "states": states, "lm": lm})


@torch.no_grad()
def _measure(
    step: int,
    model: Any,
    reader: Reader | None,
    vocabulary: Vocabulary,
    samples: list[Sample],
    config: Config,
    device: str,
) -> Point:
    model.eval()
    if reader:
        reader.eval()
    parts = [
        _loss(model, reader, vocabulary, batch, config, device)
        for batch in batches(samples, None, TOKENS)
    ]
    words, tokens = (sum(part.words[i] for part in parts) for i in (0, 1))
    numbers, count = (sum(part.numbers[i] for part in parts) for i in (0, 1))
    alone, programs = sum(p.alone for p in parts), sum(p.programs for p in parts)
    count = max(count, 1)
    return Point(step, words / max(tokens, 1), numbers / count, alone / count, programs / count)


def _samples(texts: Sequence[str], vocabulary: Vocabulary, config: Config) -> list[Sample]:
    constants = np.array([float(text) for text in config.constants])
    made = []
    for text in texts:
        ids = (*vocabulary.encode(text), vocabulary.tokenizer.eos_token_id)
        reading = Reading(vocabulary.text(ids))
        found = [target for _, target in targets(reading, config.memory, constants)]
        digit = vocabulary.goes_on(torch.tensor([ids]))[0]
        made.append(Sample(ids, digit, torch.zeros(len(ids), 0).half(), found))
    return made
