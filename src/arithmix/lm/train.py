"""Train a reader on plain texts: nothing says where to compute, on which numbers, or what.

The base is frozen, so its states are computed once and kept; the epochs after that do without it.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ..files import whole
from .mixture import Batch, number_loss, score, stack
from .reader import Reader
from .samples import Sample

TOKENS = 3000
"""Tokens in a batch, about."""
WARM = 200
"""Steps in which the rate rises."""


@dataclass(frozen=True)
class Epoch:
    """An epoch of training: the nats a number of its texts, and of the held-out ones."""

    number: int
    trained: float
    held_out: float
    best: float


def fit(
    reader: Reader,
    samples: Sequence[Sample],
    held_out: Sequence[Sample],
    *,
    epochs: int,
    rate: float = 2e-3,
    patience: int = 3,
    seed: int = 0,
    keep: Path | None = None,
    trained: Callable[[int, int], None] = lambda done, of: None,
    say: Callable[[Epoch], None] = lambda epoch: None,
) -> None:
    """Train a reader in place; it ends as it was after its best epoch on held-out texts.

    Args:
        reader: The reader, on the device to train on.
        samples: Texts to train on.
        held_out: Texts to stop by, once `patience` epochs have brought nothing.
        epochs: How often each text is seen, at most.
        rate: The highest rate of AdamW; it rises first and then falls to zero.
        patience: How many epochs without a gain are too many.
        seed: Of the order of texts and of what is left out.
        keep: A file for all that is needed to go on after an interruption.
        trained: Is told how many batches of an epoch are done, of how many.
        say: Is told of each epoch.
    """
    device = next(reader.parameters()).device
    samples, held_out = ([s for s in part if s.targets] for part in (samples, held_out))
    order = torch.Generator().manual_seed(seed)
    reader.noise = torch.Generator(device).manual_seed(seed)
    optimizer = torch.optim.AdamW(
        reader.parameters(), lr=rate, weight_decay=0.05, betas=(0.9, 0.98)
    )
    total = epochs * len(batches(samples, torch.Generator().manual_seed(seed)))
    state = _State(reader, optimizer, order)
    state.load(keep)
    while state.epoch < epochs and state.epoch - state.best_epoch <= patience:
        reader.train()
        nats, count = 0.0, 0
        ordered = batches(samples, order)
        for done, batch in enumerate(ordered, 1):
            for group in optimizer.param_groups:
                group["lr"] = rate * _schedule(state.step, total)
            data = _stack(batch, reader, device)
            mixed, own = number_loss(score(reader, data), data.lm)
            optimizer.zero_grad()
            (mixed + own).mean().backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            nats, count, state.step = nats + mixed.sum().item(), count + len(mixed), state.step + 1
            trained(done, len(ordered))
        now = evaluate(reader, held_out)
        state.epoch += 1
        if now < state.best:
            state.best, state.best_epoch = now, state.epoch
            state.kept = {k: v.clone() for k, v in reader.state_dict().items()}
        state.save(keep)
        say(Epoch(state.epoch, nats / max(count, 1), now, state.best))
    reader.load_state_dict(state.kept)
    reader.noise = None
    reader.eval()


def _schedule(step: int, total: int) -> float:
    rise = min(1.0, (step + 1) / min(WARM, total // 10 + 1))
    return rise * 0.5 * (1 + math.cos(math.pi * min(1.0, step / total)))


@torch.no_grad()
def evaluate(reader: Reader, samples: Sequence[Sample]) -> float:
    """The nats a number of texts."""
    reader.eval()
    device = next(reader.parameters()).device
    nats, count = 0.0, 0
    for batch in batches(samples, None):
        data = _stack(batch, reader, device)
        mixed, _ = number_loss(score(reader, data), data.lm)
        nats, count = nats + mixed.sum().item(), count + len(mixed)
    return nats / max(count, 1)


def _stack(samples: Sequence[Sample], reader: Reader, device: torch.device) -> Batch:
    return stack(samples, reader.config.memory, len(reader.config.constants), device)


def batches(
    samples: Sequence[Sample], generator: torch.Generator | None, tokens: int = TOKENS
) -> list[list[Sample]]:
    """Texts of about the same length together, in batches of about the same size.

    With a generator in an order of their own, and with other neighbours each time.
    """
    noise = torch.zeros(len(samples))
    if generator is not None:
        noise = torch.rand(len(samples), generator=generator)
    lengths = [len(sample.ids) for sample in samples]
    disturbed = [length * (1 + 0.4 * x) for length, x in zip(lengths, noise.tolist(), strict=True)]
    made: list[list[Sample]] = []
    longest = 0
    for i in sorted(range(len(samples)), key=disturbed.__getitem__):
        longest = max(longest, lengths[i])
        if not made or longest * (len(made[-1]) + 1) > tokens:
            made.append([])
            longest = lengths[i]
        made[-1].append(samples[i])
    if generator is None:
        return made
    return [made[i] for i in torch.randperm(len(made), generator=generator).tolist()]


class _State:
    """Where a training is, to be kept and taken up again."""

    def __init__(self, reader: Reader, optimizer: torch.optim.Optimizer, order: torch.Generator):
        self.reader, self.optimizer, self.order = reader, optimizer, order
        self.epoch, self.step, self.best, self.best_epoch = 0, 0, math.inf, 0
        self.kept = {k: v.clone() for k, v in reader.state_dict().items()}

    def save(self, path: Path | None) -> None:
        """Write all of it, whole or not at all."""
        if path is None:
            return
        from safetensors.torch import save_file

        assert self.reader.noise is not None
        tensors: dict[str, Tensor] = {
            "order": self.order.get_state(),
            "noise": self.reader.noise.get_state(),
        }
        for name, parameter in self.reader.named_parameters():
            moments = self.optimizer.state[parameter]
            tensors |= {f"now.{name}": parameter.detach(), f"best.{name}": self.kept[name]}
            tensors |= {f"{key}.{name}": moments[key] for key in ("exp_avg", "exp_avg_sq", "step")}
        facts = {key: getattr(self, key) for key in ("epoch", "step", "best", "best_epoch")}
        with whole(path) as part:
            save_file(tensors, part, metadata={"facts": json.dumps(facts)})

    def load(self, path: Path | None) -> None:
        """Go on from a file, if there is one."""
        if path is None or not path.is_file():
            return
        from safetensors import safe_open

        assert self.reader.noise is not None
        with safe_open(path, "pt") as file:
            tensors: dict[str, Any] = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 - no mapping
            vars(self).update(json.loads(file.metadata()["facts"]))
        self.order.set_state(tensors["order"])
        self.reader.noise.set_state(tensors["noise"])
        with torch.no_grad():
            for name, parameter in self.reader.named_parameters():
                parameter.copy_(tensors[f"now.{name}"])
                self.kept[name] = tensors[f"best.{name}"].to(parameter.device)
                self.optimizer.state[parameter] = {
                    key: tensors[f"{key}.{name}"].to(parameter.device if key != "step" else "cpu")
                    for key in ("exp_avg", "exp_avg_sq", "step")
                }
