"""Train a reader on plain texts: nothing says where to compute, on which numbers, or what."""

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import nn

from .mixture import number_loss, score, stack
from .reader import Reader
from .samples import Sample

TOKENS = 3000
"""Tokens in a batch, about."""


@dataclass
class Progress:
    """How far a training is: what is needed to go on with it."""

    epoch: int
    best: float
    held_out: float
    loss: float


def batches(samples: Sequence[Sample], generator: torch.Generator | None) -> list[list[Sample]]:
    """Texts of about the same length together, in batches of about the same size."""
    some = [sample for sample in samples if sample.targets]
    if generator is not None:
        # Lengths are disturbed, so that each epoch has other neighbours.
        noise = torch.rand(len(some), generator=generator).tolist()
        order = sorted(range(len(some)), key=lambda i: len(some[i].ids) * (0.8 + 0.4 * noise[i]))
    else:
        order = sorted(range(len(some)), key=lambda i: len(some[i].ids))
    made: list[list[Sample]] = [[]]
    longest = 0
    for i in order:
        longest = max(longest, len(some[i].ids))
        if made[-1] and longest * (len(made[-1]) + 1) > TOKENS:
            made.append([])
            longest = len(some[i].ids)
        made[-1].append(some[i])
    if generator is not None:
        made = [made[i] for i in torch.randperm(len(made), generator=generator)]
    return made


def fit(
    reader: Reader,
    samples: Sequence[Sample],
    held_out: Sequence[Sample],
    *,
    epochs: int,
    rate: float = 2e-3,
    seed: int = 0,
    say: Callable[[Progress], None] = lambda progress: None,
) -> None:
    """Train a reader in place; it ends as it was after its best epoch on held-out texts."""
    generator = torch.Generator().manual_seed(seed)
    config = reader.config
    count = len(batches(samples, torch.Generator().manual_seed(seed)))
    optimizer = torch.optim.AdamW(
        reader.parameters(), lr=rate, weight_decay=0.05, betas=(0.9, 0.98)
    )
    total = epochs * count
    warm = min(200, total // 10 + 1)
    step = 0
    best, kept = math.inf, copy.deepcopy(reader.state_dict())
    for epoch in range(epochs):
        reader.train()
        sum_, n = 0.0, 0
        for batch in batches(samples, generator):
            progress = step / total
            factor = (
                min(1.0, (step + 1) / warm) * 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
            )
            for group in optimizer.param_groups:
                group["lr"] = rate * factor
            data = stack(batch, config.memory, len(config.constants))
            mixed, own = number_loss(score(reader, data), data.lm)
            loss = (mixed + own).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            sum_, n, step = sum_ + mixed.sum().item(), n + len(mixed), step + 1
        now = evaluate(reader, held_out)
        if now < best:
            best, kept = now, copy.deepcopy(reader.state_dict())
        say(Progress(epoch, best, now, sum_ / max(n, 1)))
    reader.load_state_dict(kept)
    reader.eval()


@torch.no_grad()
def evaluate(reader: Reader, samples: Sequence[Sample]) -> float:
    """The mean negative log-likelihood of the numbers of texts."""
    reader.eval()
    sum_, n = 0.0, 0
    for batch in batches(samples, None):
        data = stack(batch, reader.config.memory, len(reader.config.constants))
        mixed, _ = number_loss(score(reader, data), data.lm)
        sum_, n = sum_ + mixed.sum().item(), n + len(mixed)
    return sum_ / max(n, 1)
