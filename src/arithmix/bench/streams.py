"""The data of the original benchmark, number for number.

Each seed has one numpy legacy stream of uniform numbers. Every operation, range and unit sees the
same numbers, only rescaled, so one draw serves a whole population. Inputs and targets are made in
float64 and rounded once.
"""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..tasks import OPERATIONS, RANGES, Task
from .twister import Twister

SAMPLES = 10_000
FIXED_SEEDS = {"validation": 43953907, "test": 8689336}
CHUNK_BYTES = {"cpu": 64 * 2**20, "cuda": 512 * 2**20}
KEPT_BYTES = {"cpu": 256 * 2**20, "cuda": 4 * 2**30}


@dataclass(frozen=True)
class Origin:
    """What the original derives from a run's seed: where the operands stand, and its stream."""

    offset: int
    stream: int


@cache
def origin(seed: int, inputs: int) -> Origin:
    """The operands are inputs `offset` and `offset + 1`; batches come from stream `stream`."""
    parent = np.random.RandomState(seed)
    offset = int(parent.randint(0, inputs - 1))
    return Origin(offset, int(parent.randint(0, 2**32 - 1)))


def fixed_set(task: Task, split: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The validation or test set of a task: float64 inputs `samples in` and targets `samples 1`."""
    rng = np.random.RandomState(FIXED_SEEDS[split])
    range_ = RANGES[task.range]
    shape = (SAMPLES, task.inputs)
    if split == "validation":
        x = rng.uniform(*range_.train, size=shape)
    elif len(range_.test) == 1:
        x = rng.uniform(*range_.test[0], size=shape)
    else:
        first, second = (rng.uniform(*interval, size=shape) for interval in range_.test)
        x = np.where(rng.randint(0, 2, size=shape) == 1, first, second)
    offset = origin(seed, task.inputs).offset
    a, b = x[:, offset], x[:, offset + 1]
    return x, OPERATIONS[task.operation].apply(a, b)[:, None]


class Streams:
    """Uniform numbers `steps seeds in batch`, made a chunk ahead and kept while they fit.

    On a CPU numpy draws them, in a thread of its own; on a GPU they are drawn there.

    Args:
        seeds: The seeds of the population, in the order of the second axis.
        inputs: Numbers per sample.
        batch: Samples per step.
        device: Where the numbers are wanted.
    """

    def __init__(self, seeds: Sequence[int], inputs: int, batch: int, device: torch.device) -> None:
        self.seeds = list(seeds)
        self.made_for = (self.seeds, inputs, batch)
        self.device = device
        self.steps = _chunk_steps(8 * len(seeds) * batch * inputs, device)
        shape = (len(seeds), self.steps, batch, inputs)
        numbers = [origin(seed, inputs).stream for seed in seeds]
        self._source = (_Twisted if device.type == "cuda" else _Drawn)(numbers, shape, device)
        self._kept: dict[int, Tensor] = {}

    def chunk(self, index: int) -> Tensor:
        """Steps `index * self.steps` and on."""
        if index not in self._kept:
            self._kept[index] = self._source.make(index)
            while len(self._kept) > max(
                2, KEPT_BYTES[self.device.type] // self._kept[index].nbytes
            ):
                # The first chunks will serve the next unit; the last of the others has been used.
                self._source.recycle(self._kept.pop(max(set(self._kept) - {index})))
        if index + 1 not in self._kept:
            self._source.foresee(index + 1)
        return self._kept[index]

    def close(self) -> None:
        """Stop working ahead."""
        self._source.close()


class _Drawn:
    """Chunks drawn by numpy, the next one in a thread while the present one is in use."""

    def __init__(self, streams: list[int], shape: tuple[int, ...], device: torch.device) -> None:
        self._generators = [_generator(stream) for stream in streams]
        self._states = [[g.bit_generator.state for g in self._generators]]
        self._raw = np.empty(shape)
        self._ahead: dict[int, Future[Tensor]] = {}
        self._used: list[Tensor] = []
        self._worker = ThreadPoolExecutor(1)

    def make(self, index: int) -> Tensor:
        self.foresee(index)
        return self._ahead.pop(index).result()

    def foresee(self, index: int) -> None:
        if index not in self._ahead:
            self._ahead[index] = self._worker.submit(self._draw, index)

    def recycle(self, chunk: Tensor) -> None:
        self._used.append(chunk)

    def close(self) -> None:
        self._worker.shutdown(cancel_futures=True)

    def _draw(self, index: int) -> Tensor:
        for known in range(len(self._states) - 1, index):
            self._fill(known)
        self._fill(index)
        # Fresh memory costs more than the numbers do, so a chunk no longer kept is written over; by
        # numpy, since torch's threads for this thread would spin beside those that train.
        numbers = self._raw.transpose(1, 0, 3, 2)
        chunk = self._used.pop() if self._used else torch.empty(numbers.shape, dtype=torch.float64)
        np.copyto(chunk.numpy(), numbers)
        return chunk

    def _fill(self, index: int) -> None:
        states = zip(self._generators, self._states[index], self._raw, strict=True)
        for generator, state, place in states:
            generator.bit_generator.state = state
            generator.random(out=place)
        if len(self._states) == index + 1:
            self._states.append([g.bit_generator.state for g in self._generators])


class _Twisted:
    """Chunks drawn on the device; they queue there behind the steps that need them."""

    def __init__(self, streams: list[int], shape: tuple[int, ...], device: torch.device) -> None:
        self._shape = shape
        self._twister = Twister(streams, device)
        self._states = [self._twister.state()]

    def make(self, index: int) -> Tensor:
        for known in range(len(self._states) - 1, index):
            self._fill(known)
        return self._fill(index).permute(1, 0, 3, 2).contiguous()

    def foresee(self, index: int) -> None:
        """Nothing: drawing here costs the host no time."""

    def recycle(self, chunk: Tensor) -> None:
        """Nothing: the device's allocator does that."""

    def close(self) -> None:
        """Nothing is under way."""

    def _fill(self, index: int) -> Tensor:
        self._twister.restore(self._states[index])
        numbers = self._twister.take(self._shape[1] * self._shape[2] * self._shape[3])
        if len(self._states) == index + 1:
            self._states.append(self._twister.state())
        return numbers.reshape(self._shape)


def _generator(stream: int) -> np.random.Generator:
    """The legacy stream behind the modern interface, which fills arrays in place."""
    legacy: Any = np.random.RandomState(stream).get_state(legacy=False)
    bits = np.random.MT19937()
    bits.state = legacy
    return np.random.Generator(bits)


def _chunk_steps(bytes_per_step: int, device: torch.device) -> int:
    """Steps in a chunk: a divisor of 1000, so that rows fall on chunk boundaries."""
    fitting = max(1, CHUNK_BYTES[device.type] // bytes_per_step)
    return max(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= fitting)
