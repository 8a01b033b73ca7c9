"""The data of the original benchmark, number for number.

Each seed has one numpy legacy stream of uniform numbers. Every operation, range and unit sees the same
numbers, only rescaled, so one draw serves a whole population. Inputs and targets are made in float64
and rounded once.
"""

from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from os import cpu_count

import numpy as np
import torch
from torch import Tensor

from ..tasks import OPERATIONS, RANGES, Task

SAMPLES = 10_000
FIXED_SEEDS = {"validation": 43953907, "test": 8689336}
CHUNK_BYTES = 64 * 2**20
KEPT_BYTES = {"cpu": 256 * 2**20, "cuda": 4 * 2**30}


@dataclass(frozen=True)
class Origin:
    """What the original derives from a run's seed: where the operands stand, and its stream."""

    offset: int
    stream: int


@lru_cache(maxsize=None)
def origin(seed: int, inputs: int) -> Origin:
    """The operands are inputs `offset` and `offset + 1`; batches come from RandomState(`stream`)."""
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
        self.steps = _chunk_steps(8 * len(seeds) * batch * inputs)
        self._generators = [_generator(origin(seed, inputs).stream) for seed in seeds]
        self._states = [[g.bit_generator.state for g in self._generators]]
        self._kept: OrderedDict[int, Tensor] = OrderedDict()
        self._ahead: dict[int, Future[Tensor]] = {}
        self._used: list[Tensor] = []
        cuda = device.type == "cuda"
        shape = (len(seeds), self.steps, batch, inputs)
        self._raw = torch.empty(shape, dtype=torch.float64, pin_memory=cuda)
        self._worker = ThreadPoolExecutor(1)
        self._fillers = ThreadPoolExecutor(max(1, min(8, (cpu_count() or 2) // 2)))

    def chunk(self, index: int) -> Tensor:
        """Steps `index * self.steps` and on; the next chunk is begun meanwhile."""
        future = self._ahead.pop(index, None)
        if index not in self._kept:
            self._keep(index, future.result() if future else self._begin(index).result())
        following = index + 1
        if following not in self._kept and following not in self._ahead:
            self._ahead[following] = self._begin(following)
        return self._kept[index]

    def close(self) -> None:
        """Stop working ahead."""
        self._worker.shutdown(cancel_futures=True)
        self._fillers.shutdown(cancel_futures=True)

    def _begin(self, index: int) -> Future[Tensor]:
        return self._worker.submit(self._make, index)

    def _keep(self, index: int, chunk: Tensor) -> None:
        self._kept[index] = chunk
        size = chunk.nbytes
        while len(self._kept) > max(2, KEPT_BYTES[self.device.type] // size):
            # The first chunks serve the next unit; the last but one has just been used.
            self._used.append(self._kept.pop(sorted(self._kept)[-2]))

    def _make(self, index: int) -> Tensor:
        while len(self._states) <= index:
            self._fill(len(self._states) - 1)
        return self._fill(index)

    def _fill(self, index: int) -> Tensor:
        def fill(seed: int) -> None:
            generator = self._generators[seed]
            generator.bit_generator.state = self._states[index][seed]
            generator.random(out=self._raw[seed].numpy())

        list(self._fillers.map(fill, range(len(self._generators))))
        if len(self._states) == index + 1:
            self._states.append([g.bit_generator.state for g in self._generators])
        if self.device.type == "cuda":
            return self._raw.to(self.device).permute(1, 0, 3, 2).contiguous()
        # Fresh memory costs more than the numbers do, so a chunk no longer kept is written over; by
        # numpy, since torch's threads for this thread would spin beside those that train.
        numbers = self._raw.numpy().transpose(1, 0, 3, 2)
        chunk = self._used.pop() if self._used else torch.empty(numbers.shape, dtype=torch.float64)
        np.copyto(chunk.numpy(), numbers)
        return chunk


def _generator(stream: int) -> np.random.Generator:
    """The legacy stream behind the modern interface, which fills arrays in place."""
    legacy = np.random.RandomState(stream)
    bits = np.random.MT19937()
    bits.state = legacy.get_state(legacy=False)
    return np.random.Generator(bits)


def _chunk_steps(bytes_per_step: int) -> int:
    """Steps in a chunk: a divisor of 1000, so that rows fall on chunk boundaries."""
    fitting = max(1, CHUNK_BYTES // bytes_per_step)
    return max(n for n in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if n <= fitting)
