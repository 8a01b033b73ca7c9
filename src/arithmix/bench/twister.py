"""numpy's legacy generator for many seeds at once, on any device: MT19937, number for number.

Matsumoto & Nishimura, Mersenne Twister, 1998. A state is 624 words. The next one follows in four
stretches, each of which needs only words that are already there, so a stretch is one vector
operation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

WORDS = 624
TWISTS = 16
"""Twists made in one go, and captured as one CUDA graph."""


@dataclass(frozen=True)
class State:
    """Where a generator stands: its words, and numbers made but not yet taken."""

    words: Tensor
    left: Tensor


class Twister:
    """Streams of uniform float64 in [0, 1), equal to `RandomState(stream).random_sample`.

    Args:
        streams: The seeds of the legacy generators.
        device: Where the numbers are made.
    """

    def __init__(self, streams: Sequence[int], device: torch.device) -> None:
        keys = [np.random.RandomState(stream).get_state(legacy=False) for stream in streams]
        words = np.stack([key["state"]["key"] for key in keys]).astype(np.int64)
        self._words = torch.from_numpy(words).to(device)
        self._left = torch.empty(len(streams), 0, dtype=torch.float64, device=device)
        self._made = torch.empty(len(streams), TWISTS, WORDS, dtype=torch.int64, device=device)
        compiled = device.type == "cuda" and find_spec("triton") is not None
        self._twisted = torch.compile(_twisted, dynamic=False) if compiled else _twisted
        self._graph: torch.cuda.CUDAGraph | None = None

    def state(self) -> State:
        """Where it stands now."""
        return State(self._words.clone(), self._left.clone())

    def restore(self, state: State) -> None:
        """Go back to where it stood."""
        self._words.copy_(state.words)
        self._left = state.left.clone()

    @torch.no_grad()
    def take(self, count: int) -> Tensor:
        """The next `count` numbers of every stream: `streams count`."""
        parts, there = [self._left], self._left.shape[1]
        while there < count:
            self._twist()
            parts.append(_uniform(self._made.flatten(1)))
            there += parts[-1].shape[1]
        numbers = torch.cat(parts, 1)
        self._left = numbers[:, count:].clone()
        return numbers[:, :count]

    def _twist(self) -> None:
        if self._words.device.type != "cuda":
            self._twist_on()
            return
        if self._graph is None:
            before = self._words.clone()
            self._twist_on()  # compiles and loads, which a capture can't
            self._words.copy_(before)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
                self._twist_on()
        self._graph.replay()

    def _twist_on(self) -> None:
        state = self._words
        for i in range(TWISTS):
            state = self._twisted(state)
            self._made[:, i] = state
        self._words.copy_(state)


def _twisted(s: Tensor) -> Tensor:
    """The state after `s`."""
    first = _mix(s[:, :227], s[:, 1:228], s[:, 397:])
    second = _mix(s[:, 227:454], s[:, 228:455], first)
    third = _mix(s[:, 454:623], s[:, 455:], second[:, :169])
    last = _mix(s[:, 623:], first[:, :1], second[:, 169:170])
    return torch.cat([first, second, third, last], 1)


def _mix(upper: Tensor, lower: Tensor, far: Tensor) -> Tensor:
    y = (upper & 0x80000000) | (lower & 0x7FFFFFFF)
    return far ^ (y >> 1) ^ ((y & 1) * 0x9908B0DF)


def _uniform(words: Tensor) -> Tensor:
    """Temper pairs of words into numbers of 53 bits."""
    y = words ^ (words >> 11)
    y = y ^ ((y << 7) & 0x9D2C5680)
    y = y ^ ((y << 15) & 0xEFC60000)
    y = y ^ (y >> 18)
    pairs = y.unflatten(1, (-1, 2))
    high, low = pairs[..., 0] >> 5, pairs[..., 1] >> 6
    return (high.double() * 67108864.0 + low.double()) / 9007199254740992.0
