"""A member by itself, in plain torch: for modules that can't share one set of tensors.

Whatever a module does is right here: buffers that its forward pass writes, random numbers, complex
weights, attributes of its own. It is trained with torch's own Adam; random numbers that it draws
from global generators depend on its seed and on the step alone.
"""

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from ..tasks import Task
from ..units._base import Unit
from ..units._lend import lent, seed_all
from ..units._obstacle import sparsity_of
from ..units._output import outputs
from ..units._population import State
from ..units._recipe import Recipe
from .step import Live, make_draw
from .streams import Streams


class Alone:
    """A population of one: everything that may change is in `parameters`, buffers included."""

    together = lanes = 1

    def __init__(self, module: nn.Module, seed: int) -> None:
        self.module = module
        self.seed = seed
        self.constants: State = {}
        self._names = [name for name, p in module.named_parameters() if p.requires_grad]

    @property
    def parameters(self) -> State:
        """All tensors of the module as they are now, with a leading axis of one member."""
        return {key: value.detach().clone()[None] for key, value in _tensors(self.module).items()}

    def trained(self, state: State, place: int) -> dict[str, np.ndarray]:
        """The trained parameters, for the record; complex numbers as pairs."""
        some = {key: state[key][place] for key in self._names}
        real = {k: torch.view_as_real(v) if v.is_complex() else v for k, v in some.items()}
        return {key: value.numpy(force=True).copy() for key, value in real.items()}

    def forward(self, state: State, x: Tensor) -> Tensor:
        """Outputs `1 batch out`, in evaluation mode, with the tensors of `state`."""
        # Buffers that evaluation writes are written to copies.
        own = {key: value[0].clone() for key, value in state.items()}
        self.module.eval()
        with lent():
            seed_all(_seed(self.seed, -1))
            return outputs(lambda x: functional_call(self.module, own, (x,)), x[0])[None]

    def sparsity(self, state: State) -> Tensor:
        """The distance from a discrete solution; NaN where the unit has no word on it."""
        if not isinstance(self.module, Unit):
            return torch.full((1,), float("nan"))
        before = self.parameters
        _load(self.module, state)
        try:
            return sparsity_of(self.module)[None]
        finally:
            _load(self.module, before)


class PlainRunner:
    """Makes updates of one member, one after another, as a training loop by hand would."""

    stretch = 100
    """Updates at a time: all tensors before each are kept that long."""

    def __init__(self, alone: Alone, recipe: Recipe, task: Task, streams: Streams) -> None:
        self._alone = alone
        self._recipe = recipe
        self._streams = streams
        self._draw = make_draw(recipe, [task])
        self._moved = [p for p in alone.module.parameters() if p.requires_grad]
        self._optimiser = torch.optim.Adam(self._moved, lr=recipe.rate)

    def run(self, live: Live, start: int, steps: int, record: bool) -> State:
        """Make `steps` updates; with `record`, return all tensors before each."""
        module = self._alone.module
        _load(module, live.parameters)  # a member that started again has new ones
        history: dict[str, list[Tensor]] = {key: [] for key in live.parameters}
        with lent():
            for step in range(start, start + steps):
                before = self._alone.parameters
                for key, past in history.items() if record else ():
                    past.append(before[key])
                if live.alive[0]:
                    seed_all(_seed(self._alone.seed, step))
                    if self._update(live, step):
                        live.age.add_(1)
                    else:
                        _load(module, before)
                        live.alive.fill_(False)
        for key, value in self._alone.parameters.items():
            live.parameters[key].copy_(value)
        return {key: torch.stack(past) for key, past in history.items()} if record else {}

    def _update(self, live: Live, step: int) -> bool:
        """One update; whether everything in it is finite."""
        recipe, module = self._recipe, self._alone.module.train()
        index, within = divmod(step, self._streams.steps)
        x, y = (t[0] for t in self._draw(live, self._streams.chunk(index)[within]))
        self._optimiser.zero_grad()
        with torch.enable_grad():
            if isinstance(module, Unit):
                now = torch.tensor(step, dtype=x.dtype, device=x.device)
                loss = module.loss(x, y) + module.penalty(now, live.validation[0])
            else:
                loss = (outputs(module, x) - y).square().mean()
            loss.backward()
        if recipe.clip_norm is not None:
            nn.utils.clip_grad_norm_(self._moved, recipe.clip_norm)
        if recipe.clip_value is not None:
            nn.utils.clip_grad_value_(self._moved, recipe.clip_value)
        self._optimiser.step()
        if isinstance(module, Unit):
            module.project()
        return bool(loss.isfinite()) and all(bool(p.isfinite().all()) for p in self._moved)


def _tensors(module: nn.Module) -> State:
    """Parameters and buffers; a sparse one stays where it is, since it can't be stacked."""
    both = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return {key: value for key, value in both.items() if value.layout is torch.strided}


@torch.no_grad()
def _load(module: nn.Module, state: State) -> None:
    for key, tensor in _tensors(module).items():
        tensor.copy_(state[key][0])


def _seed(seed: int, step: int) -> int:
    """A number for each seed and step; -1 stands for evaluation."""
    return (seed * 1_000_003 + step + 1) % 2**63
