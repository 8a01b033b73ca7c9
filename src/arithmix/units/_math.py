"""What at least two units share: functions, never a parent class."""

import functools
import math
from decimal import Decimal

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from ..dag._math import finite_gradient as finite_gradient
from ..dag._math import rounded
from ..dag._math import working_dtype as working_dtype

FAR = 1e4
"""A logit at which a sigmoid is 0 or 1 and a tanh -1 or 1, to the last bit of any dtype."""


def weighted_sum(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Sum the inputs with weights `w`; a population's x is `*pop batch in`.

    One output is a product and a sum, which the compiler fuses and whose rounding does not depend
    on the size of the population; several outputs are a matrix product.
    """
    if w.shape[-2] > 1:
        with torch.autocast(x.device.type, enabled=False):  # bf16 has three digits
            return x @ w.mT
    # w is `*pop 1 in`: its output axis stands where x has its batch axis.
    return (x * (w.squeeze(-2) if w.dim() == 2 else w)).sum(-1, keepdim=True)


def per_output(p: Shaped[Tensor, "*pop out"]) -> Shaped[Tensor, "*broadcast out"]:
    """Give a population's per-output values a batch axis; a single unit's broadcast as they are."""
    return p if p.dim() == 1 else p.unsqueeze(-2)


def exact_sum(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """The weighted sum in float64, rounded once."""
    result = torch.promote_types(x.dtype, w.dtype)
    return rounded(weighted_sum(finite_gradient(x).double(), w.double()), result)


def exact_product(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Inputs with weight 1 multiplied, those with -1 divided by, in float64, rounded once.

    A divisor of zero counts as float64's smallest normal number: x / 0 is finite, in float32 the
    largest number there is, and 0 / 0 is 0.
    """
    result = torch.promote_types(x.dtype, w.dtype)
    factors = finite_gradient(x).double().unsqueeze(-2)
    w = w if w.dim() == 2 else w.unsqueeze(-3)
    above = torch.where(w > 0, factors, 1.0).prod(-1)
    below = torch.where(w < 0, factors, 1.0).prod(-1)
    below = torch.where(below == 0, torch.finfo(torch.float64).tiny, below)
    return rounded(above / below, result)


def bounded(y: Tensor) -> Tensor:
    """Hold what overflowed at the largest number of its dtype; NaN stays NaN."""
    largest = torch.finfo(y.dtype).max
    return y.clamp(-largest, largest)


def bounded_product(factors: Float[Tensor, "*batch in"]) -> Float[Tensor, "*batch"]:
    """Multiply over the last axis, from the first factor on; an overflow is held, not inf."""
    first, *rest = factors.unbind(-1)
    for factor in rest:
        first = bounded(first * factor)
    return first


def selection(operation: str, w: Float[Tensor, "*pop out in"]) -> Float[Tensor, "*pop out in"]:
    """Weights like `w` of a sum or product of all inputs, or of the first less or over the rest."""
    chosen = torch.ones_like(w)
    if operation in ("sub", "div"):
        chosen[..., 1:] = -1.0
    return chosen


def nac_weight(
    w_hat: Float[Tensor, "*pop out in"], m_hat: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*pop out in"]:
    """The weights of a NAC, which saturate at -1, 0 and 1."""
    return torch.tanh(w_hat) * torch.sigmoid(m_hat)


def nac_state(w: Tensor) -> dict[str, Tensor]:
    """The parameters of a NAC whose weights are `w`, of -1, 0 and 1, to the last bit."""
    return {"w_hat": FAR * w, "m_hat": FAR * (2 * w.abs() - 1)}


def draw_nac(
    inputs: int, outputs: int, generator: torch.Generator | None
) -> dict[str, Float[Tensor, "out in"]]:
    """Uniform w_hat and m_hat, in this order."""
    r = nac_bound(inputs, outputs)
    w_hat = torch.empty(outputs, inputs).uniform_(-r, r, generator=generator)
    m_hat = torch.empty(outputs, inputs).uniform_(-r, r, generator=generator)
    return {"w_hat": w_hat, "m_hat": m_hat}


@functools.cache
def nac_bound(inputs: int, outputs: int) -> float:
    """The r for which w_hat and m_hat, uniform in [-r, r], give weights of Glorot's variance.

    It is 2 / fan; the fan is taken as 5 at least, since no r gives a variance of 0.5 or more.
    """
    fan = max(inputs + outputs, 5)

    def variance(r: float) -> float:
        return (1 - math.tanh(r) / r) * (r - math.tanh(r / 2)) / (2 * r)

    low, high = 0.0, 10.0
    while high - low > 1e-12:
        r = (low + high) / 2
        low, high = (r, high) if fan * variance(r) < 2 else (low, r)
    return high


def over_batch(w: Float[Tensor, "*pop out in"]) -> Float[Tensor, "*broadcast out in"]:
    """Give a population's weights a batch axis; a single unit's broadcast as they are."""
    return w if w.dim() == 2 else w.unsqueeze(-3)


def bounded_exp(z: Tensor) -> Tensor:
    """e^z, at most the largest number of the dtype less a factor 1e6, left free for gradients."""
    return z.clamp(max=math.log(torch.finfo(z.dtype).max) - math.log(1e6)).exp()


def ramp(step: Float[Tensor, ""], start: int, end: int) -> Float[Tensor, ""]:
    """0 until `start`, 1 from `end` on, and a line between."""
    return ((step - start) / (end - start)).clamp(0, 1)


def discreteness(w: Tensor) -> Tensor:
    """Distance of each weight from the nearest of -1, 0 and 1."""
    return torch.minimum(w.abs(), (1 - w.abs()).abs())


def sparsity_error(w: Float[Tensor, "*pop rows columns"]) -> Float[Tensor, "*pop"]:
    """The largest distance of a weight from -1, 0 and 1, as the original benchmark reports it."""
    return discreteness(w).amax((-2, -1))


def mcfc(
    x: Float[Tensor, "*batch in"],
    r: Float[Tensor, "*pop in out"],
    w: Float[Tensor, "*pop out 1"],
    c: Float[Tensor, "*pop out"],
) -> Float[Tensor, "*batch out"]:
    """Divide each input among the outputs by the softmax of `r`, and let a part of it out."""
    mass = bounded(weighted_sum(x, r.softmax(-1).mT))
    return per_output(torch.sigmoid(w.squeeze(-1) + c)) * mass


def draw_mcfc(inputs: int, outputs: int, generator: torch.Generator | None) -> dict[str, Tensor]:
    """Orthogonal w and r, in this order; a square r is the identity.

    The original makes a linear map, with draws of its own, and then draws w and r three times over.
    Here too, so that a seed gives the same parameters.
    """
    w, r = torch.empty(outputs, 1), torch.eye(inputs)
    w.uniform_(generator=generator)
    torch.empty(outputs).uniform_(generator=generator)
    for _ in range(3):
        w = torch.nn.init.orthogonal_(w, generator=generator)
        if inputs != outputs:
            r = torch.nn.init.orthogonal_(torch.empty(inputs, outputs), generator=generator)
    return {"r": r, "w": w, "c": torch.zeros(outputs)}


def mcfc_reward(
    r: Float[Tensor, "*pop in out"],
    w: Float[Tensor, "*pop out 1"],
    c: Float[Tensor, "*pop out"],
) -> Float[Tensor, "*pop"]:
    """The mean squares of the three: their negative pushes the parameters away from 0."""
    return r.square().mean((-2, -1)) + w.square().mean((-2, -1)) + c.square().mean(-1)


def npu_parts(
    x: Float[Tensor, "*batch in"], g: Float[Tensor, "*pop in"]
) -> tuple[Float[Tensor, "*batch in"], Float[Tensor, "*batch in"]]:
    """Log magnitudes and angles of a neural power unit's inputs, as far as `g` lets them in."""
    g = per_output(g.clamp(0, 1))
    r = g * (x.abs() + 2.0**-23) + (1 - g)
    k = g * ((-x.sign()).clamp(min=0) * math.pi)
    return r.log(), k


def real_npu(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop in out"], g: Float[Tensor, "*pop in"]
) -> Float[Tensor, "*batch out"]:
    """Multiply the powers of the inputs' magnitudes; the cosine gives the sign."""
    result, dtype = torch.promote_types(x.dtype, g.dtype), working_dtype(x, w, g)
    x, w, g = (finite_gradient(t).to(dtype) for t in (x, w, g))
    log_r, k = npu_parts(x, g)
    magnitude = bounded_exp(weighted_sum(log_r, w.mT))
    return (magnitude * torch.cos(weighted_sum(k, w.mT))).to(result)


def tenfold(start: float, end: float) -> tuple[float, ...]:
    """From `start` on, each ten times the one before while that is below `end`.

    >>> tenfold(1e-9, 1e-7)
    (1e-09, 1e-08, 1e-07)
    """
    found = [Decimal(str(start))]
    while 0 < found[-1] < Decimal(str(end)):
        found.append(10 * found[-1])
    return tuple(map(float, found))


def weighed(
    size: Float[Tensor, "*pop"], step: Float[Tensor, ""], betas: tuple[float, ...]
) -> Float[Tensor, "*pop"]:
    """Weigh `size` by the first of `betas`, and by the next every 10,000 steps."""
    result = betas[0] * size
    for i, beta in enumerate(betas[1:]):
        result = torch.where(step >= 10_000 * (i + 1), beta * size, result)
    return result
