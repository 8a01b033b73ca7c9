"""How updates are carried out: compiled where a compiler is there, in a CUDA graph on a GPU."""

import math
import os
import shutil
from importlib.util import find_spec

import torch
from torch import Tensor

from ..units._population import State
from ..units._recipe import Recipe
from .fresh import compiled_anew
from .step import Live, Update, schedule
from .streams import Streams

UNROLLED = 10


def compiler(device: torch.device) -> str | None:
    """The name of the compiler that `torch.compile` would use, or None."""
    host = os.environ.get("CXX") or next(filter(shutil.which, ("g++", "clang++", "c++")), None)
    if device.type == "cuda":
        return (
            "triton" if find_spec("triton") and shutil.which(os.environ.get("CC", "gcc")) else None
        )
    return host if host and shutil.which(host) else None


class Runner:
    """Runs many updates of a population without a word to the host in between.

    Args:
        update: One update, from `make_update`.
        recipe: What the step sizes come from.
        streams: Where the numbers come from.
        compiled: Whether to compile the update.
        any_size: Whether what is compiled should serve populations of other sizes too.
    """

    stretch: int | None = None
    """The most updates that are made at a time."""

    def __init__(
        self,
        update: Update,
        recipe: Recipe,
        streams: Streams,
        compiled: bool,
        any_size: bool = True,
    ) -> None:
        self._recipe = recipe
        self._streams = streams
        self._cuda = streams.device.type == "cuda"
        self._any_size = any_size and compiled
        self._update = update
        if compiled:
            self._update = compiled_anew(update)
        self._graph: _Graph | None = None

    @torch.no_grad()
    def run(self, live: Live, start: int, steps: int, record: bool) -> State:
        """Make `steps` updates in place; with `record`, return the parameters before each."""
        history = {}
        if record:
            history = {
                key: torch.empty(steps, *value.shape, dtype=value.dtype, device=value.device)
                for key, value in live.parameters.items()
            }
        done = 0
        while done < steps:
            index, within = divmod(start + done, self._streams.steps)
            count = min(self._streams.steps - within, steps - done)
            numbers = self._streams.chunk(index)[within : within + count]
            table = schedule(self._recipe, start + done, count).to(self._streams.device)
            part = {key: value[done : done + count] for key, value in history.items()}
            self._run(live, numbers, table, part)
            done += count
        return history

    def _run(self, live: Live, numbers: Tensor, table: Tensor, history: State) -> None:
        if self._any_size:
            live.map(_any_size)
            for past in history.values():
                torch._dynamo.maybe_mark_dynamic(past, 1)
        if self._cuda:
            if self._graph is None or not self._graph.fits(live, numbers):
                self._graph = _Graph(self._update, live, numbers, table, history)
            self._graph.run(numbers, table, history)
            return
        i = torch.zeros(1, dtype=torch.int64)
        for _ in range(len(numbers)):
            self._update(live, numbers, table, i, history)


class _Graph:
    """Some updates captured as one CUDA graph, with places of its own for what changes."""

    def __init__(
        self, update: Update, live: Live, numbers: Tensor, table: Tensor, history: State
    ) -> None:
        self._live = live
        self._numbers, self._table = numbers.clone(), table.clone()
        self._history = {key: past.clone() for key, past in history.items()}
        self._i = torch.zeros(1, dtype=torch.int64, device=numbers.device)
        unrolled = math.gcd(len(numbers), UNROLLED)
        self._replays = len(numbers) // unrolled

        before = live.map(torch.clone)
        for past in self._history.values():
            torch._dynamo.maybe_mark_dynamic(past, 1)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(2):
                self._i.zero_()
                update(live, self._numbers, self._table, self._i, self._history)
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            for _ in range(unrolled):
                update(live, self._numbers, self._table, self._i, self._history)
        _restore(live, before)

    def fits(self, live: Live, numbers: Tensor) -> bool:
        return live is self._live and numbers.shape == self._numbers.shape

    def run(self, numbers: Tensor, table: Tensor, history: State) -> None:
        self._numbers.copy_(numbers)
        self._table.copy_(table)
        self._i.zero_()
        for _ in range(self._replays):
            self._graph.replay()
        for key, past in history.items():
            past.copy_(self._history[key])


def _any_size(tensor: Tensor) -> Tensor:
    # Not `mark_dynamic`, which refuses a module whose code torch compiles for one size only.
    torch._dynamo.maybe_mark_dynamic(tensor, 0)
    return tensor


def _restore(live: Live, before: Live) -> None:
    """Undo the updates that warming up made."""
    for name in ("parameters", "first", "second"):
        for key, tensor in getattr(live, name).items():
            tensor.copy_(getattr(before, name)[key])
    live.alive.copy_(before.alive)
    live.age.copy_(before.age)
