r"""DMU, the domain mixed unit: one gate mixes a linear-space and a log-space computation.

    r_lin = \sum_i O_i x_i                    r_log = \sum_i O_i \ln|x_i|
    s_lin = \tanh(r_lin / T)                  s_log = \cos(\pi \sum_i |O_i| [x_i < 0])
    l_lin = \ln \sqrt{r_lin^2 + T^2}          l_log = clamp(r_log, -L, L)
    (g_lin, g_log) = softmax(G / T_G)
    y = (g_lin s_lin + g_log s_log) \exp clamp(g_lin l_lin + g_log l_log, -L, L)

With O = [1, 1] the unit is x0 + x1 at g_lin = 1 and x0 * x1 at g_log = 1; with O = [1, -1] it is
x0 - x1 and x0 / x1.

Curry, The Domain Mixed Unit: A New Neural Arithmetic Layer, 2025.

Where this differs from the paper's text, and why:

- The linear path takes the signed inputs, as the paper's code does. On magnitudes, as the text has
  it, no gate could give -1 + -2.
- The log sign is weighted by |O_i|, as in the code, so that an unselected input has no say in it.
- A zero counts as positive; the text leaves sign(0) open.
- T = 1e-4 and T_G = 0.1 are the code's; the text gives no value for T. Its smooth absolute value
  has 1e-8 = T^2.
- L: the code has ln(1e6) - 1, which caps |y| at 3.7e5. That belongs to the recipe here; the layer's
  default is the dtype's own range, less a factor 1e6 left free for gradients.
- Magnitudes are floored at the dtype's smallest normal number, the code's at 1e-11.
- The gate is two logits, as in the run the paper reports; its abstract speaks of a single
  parameter, which is `gate="single"`.
- The gradient norm is clipped at 0.01, which the paper does not mention and its numbers need.

Soft, 0 / 0 is 1: both logarithms are that of the floor and cancel. The exact form defines it as 0,
and its x / 0 is, in float32, the largest number. `Unit.harden` says which outputs are finite.

`mix="loss"` is not the paper's: its output is the one above, but what it minimises is
g_lin ln L_lin + g_log ln L_log, with the scale-free loss of each domain alone; see docs/theory.md.
"""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from ..dag._math import default_log_limit, smooth_magnitude
from ..names import choose
from ._base import Recipe, Unit, check_sizes
from ._math import (
    exact_product,
    exact_sum,
    finite_gradient,
    per_output,
    weighted_sum,
    working_dtype,
)
from ._text import joined, mixture_text, product_text, require_single, sum_text

PATTERNS = {"add": (1.0, 1.0), "sub": (1.0, -1.0), "half": (0.5, 0.5), "first": (1.0, 0.0)}
"""What a selector starts from: its first entry, and all the others."""
PAPER_LOG_LIMIT = math.log(1e6) - 1
MIXES = ("log", "linear", "loss")
LOSS_FLOOR = 1e-12
"""A loss this far below the target's mean square counts as none, and has a logarithm."""


def dmu(
    x: Float[Tensor, "*batch in"],
    selector: Float[Tensor, "*pop out in"],
    gate: Float[Tensor, "*pop out 2"],
    *,
    temperature: float = 1e-4,
    log_limit: float | None = None,
    mix: str = "log",
) -> Float[Tensor, "*batch out"]:
    """Mix the linear and the log domain with the weights `gate` = (g_lin, g_log).

    The paper mixes signs and log magnitudes; `mix="linear"` mixes the two results themselves.
    """
    result, dtype = torch.promote_types(x.dtype, gate.dtype), working_dtype(x, selector, gate)
    x, o, g = (finite_gradient(t).to(dtype) for t in (x, selector, gate))
    limit = default_log_limit(dtype) if log_limit is None else log_limit
    g_lin, g_log = per_output(g[..., 0]), per_output(g[..., 1])

    largest = torch.finfo(dtype).max
    r_lin = weighted_sum(x, o).clamp(-largest, largest)
    r_log = weighted_sum(x.abs().clamp(min=torch.finfo(dtype).tiny).log(), o)
    s_log = torch.cos(math.pi * weighted_sum((x < 0).to(dtype), o.abs()))
    l_log = r_log.clamp(-limit, limit)
    if mix == "linear":
        return (g_lin * r_lin + g_log * s_log * l_log.exp()).to(result)
    s_lin = torch.tanh(r_lin / temperature)
    l_lin = smooth_magnitude(r_lin, temperature).log()
    magnitude = (g_lin * l_lin + g_log * l_log).clamp(-limit, limit).exp()
    return ((g_lin * s_lin + g_log * s_log) * magnitude).to(result)


class DMU(Unit):
    """Domain mixed unit.

    Args:
        in_features: Numbers in.
        out_features: Numbers out.
        selector: "add" for [1, 1, ...], "sub" for [1, -1, ...], "half" for [0.5, 0.5, ...], "first"
            for [1, 0, ...], "random" for draws from U(-1, 1), or a matrix `out in`.
        learn_selector: Train the selector, from that start, instead of freezing it.
        gate: "dual" for two logits, "single" for one.
        temperature: T, the width around zero in which the linear sign turns.
        gate_temperature: T_G, which sharpens the gate.
        log_limit: L, the largest |ln y|; None follows the dtype.
        mix: "log" to mix log magnitudes, as in the paper, "linear" to mix results, "loss" for the
            output of "log", trained on a mix of what each domain alone would lose.
        population: Leading shape of the parameters.
        generator: Where a random selector is drawn from; the gate starts undecided.
        device: Where the parameters live.
        dtype: Their dtype.

    >>> unit = DMU(2, 1, selector="add")
    >>> _ = unit.load_state_dict(unit.solution("mul"))
    >>> unit.harden()(torch.tensor([[3.0, -4.0]])).item()
    -12.0
    >>> unit.expression()
    'x0 * x1'
    """

    name: ClassVar[str] = "dmu"
    exact: ClassVar[frozenset[str]] = frozenset({"add", "sub", "mul", "div"})

    gate: Float[Tensor, "*pop out logits"]
    selector: Float[Tensor, "*pop out in"]

    def __init__(
        self,
        in_features: int,
        out_features: int = 1,
        *,
        selector: str | Tensor = "add",
        learn_selector: bool = False,
        gate: str = "dual",
        temperature: float = 1e-4,
        gate_temperature: float = 0.1,
        log_limit: float | None = None,
        mix: str = "log",
        population: tuple[int, ...] = (),
        generator: torch.Generator | None = None,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        self.logits = {"dual": 2, "single": 1}[choose(gate, ("dual", "single"), "gate")]
        for key, value in (("temperature", temperature), ("gate_temperature", gate_temperature)):
            if not value > 0:
                raise ValueError(f"{key} must be positive; got {value}")
        self.temperature = temperature
        self.gate_temperature = gate_temperature
        self.log_limit = log_limit
        self.mix = choose(mix, MIXES, "mix")
        self.learn_selector = learn_selector
        self._selector = selector
        if learn_selector and isinstance(selector, str) and selector == "random":
            # Spent so that a seed goes on giving the numbers it gave when this was the pattern.
            check_sizes(in_features, out_features)
            _start(selector, in_features, out_features, generator)
        super().__init__(
            in_features,
            out_features,
            population=population,
            generator=generator,
            device=device,
            dtype=dtype,
        )

    @property
    def constants(self) -> frozenset[str]:
        """The selector, where it is not learned."""
        return frozenset() if self.learn_selector else frozenset({"selector"})

    @classmethod
    def recipe(cls, operation: str, inputs: int = 2) -> Recipe:
        """The run behind the paper's table; see the module's notes on the clip and on L."""
        return Recipe(
            rate=1e-2,
            clip_norm=0.01,
            target_limit=1e5,
            arguments={
                "selector": "add" if operation in ("add", "mul") else "sub",
                "gate_temperature": 0.1,
                "log_limit": PAPER_LOG_LIMIT,
            },
        )

    def draw(self, generator: torch.Generator | None) -> dict[str, Tensor]:
        """An undecided gate, and the selector, which takes from the generator if it is random."""
        return {
            "gate": torch.zeros(self.out_features, self.logits),
            "selector": _start(self._selector, self.in_features, self.out_features, generator),
        }

    def solution(self, operation: str) -> dict[str, Tensor]:
        """The gate at 1 and 0 to the last bit, and the operation's selector."""
        choose(operation, sorted(self.exact), "operation")
        name = "add" if operation in ("add", "mul") else "sub"
        pattern = _start(name, self.in_features, self.out_features)
        return {
            "gate": self._logits(torch.tensor(operation in ("add", "sub"))),
            "selector": pattern.expand_as(self.selector).to(self.selector),
        }

    def weights(self) -> Float[Tensor, "*pop out 2"]:
        """(g_lin, g_log), the gate as the forward pass uses it."""
        logits = self.gate / self.gate_temperature
        if self.logits == 2:
            return logits.softmax(-1)
        return torch.cat([torch.sigmoid(logits), torch.sigmoid(-logits)], -1)

    def soft(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Mix the two domains."""
        return self._mixed(x, self.weights())

    def hard(self, x: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch out"]:
        """Sum or multiply exactly."""
        linear = per_output(self._linear())
        return torch.where(linear, exact_sum(x, self.selector), exact_product(x, self.selector))

    def objective(
        self, x: Float[Tensor, "*pop batch in"], y: Float[Tensor, "*pop batch out"]
    ) -> Float[Tensor, "*pop"]:
        """The loss of the output, or with `mix="loss"` the mean of the two domains' log losses."""
        if self.mix != "loss":
            return super().objective(x, y)
        g = self.weights()
        scale = y.square().mean(-2).clamp(min=torch.finfo(y.dtype).tiny)
        total = torch.zeros_like(scale)
        for domain in range(2):
            alone = torch.zeros_like(g)
            alone[..., domain] = 1.0
            wrong = (self._mixed(x, alone) - y).square().mean(-2)
            total = total + g[..., domain] * (wrong / scale + LOSS_FLOOR).log()
        return total.mean(-1)

    def sparsity(self) -> Float[Tensor, "*pop"]:
        """How far the gate in use, and a learned selector, are from discrete."""
        error = self.weights().amin(-1).amax(-1)
        if self.learn_selector:
            size = self.selector.abs()
            error = torch.maximum(error, torch.minimum(size, (1 - size).abs()).amax((-2, -1)))
        return error

    def round_(self) -> None:
        """Round the gate and the selector."""
        self.gate.copy_(self._logits(self._linear()))
        self.selector.copy_(self.selector.round().clamp(-1, 1))

    def expression(self) -> str:
        """Read the formula, as `x0 * x1`; an undecided gate reads as a mix of two."""
        require_single(self.population)
        rows = zip(self.weights().tolist(), self.selector.detach().tolist(), strict=True)
        return joined(mixture_text(g[0], sum_text(o), product_text(o)) for g, o in rows)

    def _mixed(self, x: Tensor, gate: Tensor) -> Tensor:
        return dmu(
            x,
            self.selector,
            gate,
            temperature=self.temperature,
            log_limit=self.log_limit,
            mix=self.mix,
        )

    def _linear(self) -> Tensor:
        """Which outputs compute in the linear domain."""
        logits = self.gate.detach()
        return logits[..., 0] >= (logits[..., 1] if self.logits == 2 else 0.0)

    def _logits(self, linear: Tensor) -> Tensor:
        """Logits at which the gate is one-hot to the last bit."""
        sign = torch.tensor([1.0, -1.0][: self.logits], device=self.gate.device)
        far = 1000 * self.gate_temperature * sign
        chosen = torch.where(linear.to(self.gate.device).unsqueeze(-1), far, -far)
        return chosen.expand_as(self.gate).to(self.gate)


def _start(
    selector: str | Tensor,
    in_features: int,
    out_features: int,
    generator: torch.Generator | None = None,
) -> Tensor:
    """A selector by the name of its pattern, or the matrix it is given as."""
    if isinstance(selector, str):
        if choose(selector, (*PATTERNS, "random"), "selector pattern") == "random":
            return torch.empty(out_features, in_features).uniform_(-1, 1, generator=generator)
        first, rest = PATTERNS[selector]
        row = torch.full((in_features,), rest)
        row[0] = first
        return row.repeat(out_features, 1)
    matrix = torch.as_tensor(selector, dtype=torch.float32, device="cpu").detach().clone()
    if matrix.shape != (out_features, in_features):
        raise ValueError(
            f"a selector is a matrix out_features x in_features = {out_features} x {in_features}; "
            f"got one of shape {tuple(matrix.shape)}"
        )
    return matrix
