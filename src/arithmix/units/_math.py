"""What at least two units share: functions, never a parent class."""

import torch
from jaxtyping import Float
from torch import Tensor


class _FiniteGradient(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def setup_context(ctx, inputs, output) -> None:
        pass

    @staticmethod
    def backward(ctx, *gradients: Tensor) -> Tensor:
        return torch.nan_to_num(gradients[0])


def finite_gradient(x: Tensor) -> Tensor:
    """Return `x`; a gradient past the dtype's range comes back as its largest number, not inf or NaN.

    The derivative of a / b in b is -a / b^2, which no float32 can hold for b = 1e-30.
    """
    return _FiniteGradient.apply(x)  # pyrefly: ignore[bad-return]


def working_dtype(*tensors: Tensor) -> torch.dtype:
    """The dtype to compute in: that of the tensors together, but never less than float32."""
    dtype = torch.float32
    for tensor in tensors:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return dtype


def weighted_sum(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Sum the inputs with weights `w`; a population's x is `*pop batch in`.

    One output is a product and a sum, which the compiler fuses and whose rounding does not depend on
    the size of the population; several outputs are a matrix product.
    """
    if w.shape[-2] > 1:
        with torch.autocast(x.device.type, enabled=False):  # bf16 has three digits
            return x @ w.mT
    # w is `*pop 1 in`: its output axis stands where x has its batch axis.
    return (x * (w.squeeze(-2) if w.dim() == 2 else w)).sum(-1, keepdim=True)


def per_output(p: Float[Tensor, "*pop out"]) -> Float[Tensor, "*pop #batch out"]:
    """Give a population's per-output values a batch axis; a single unit's broadcast as they are."""
    return p if p.dim() == 1 else p.unsqueeze(-2)


def exact_sum(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """The weighted sum in float64, rounded once."""
    result = torch.promote_types(x.dtype, w.dtype)
    return _rounded(weighted_sum(finite_gradient(x).double(), w.double()), result)


def exact_product(
    x: Float[Tensor, "*batch in"], w: Float[Tensor, "*pop out in"]
) -> Float[Tensor, "*batch out"]:
    """Inputs with weight 1 multiplied, those with -1 divided by, in float64, rounded once.

    Division by zero gives the largest number there is, and 0 / 0 gives 0.
    """
    result = torch.promote_types(x.dtype, w.dtype)
    factors = finite_gradient(x).double().unsqueeze(-2)
    w = w if w.dim() == 2 else w.unsqueeze(-3)
    above = torch.where(w > 0, factors, 1.0).prod(-1)
    below = torch.where(w < 0, factors, 1.0).prod(-1)
    below = torch.where(below == 0, torch.finfo(torch.float64).tiny, below)
    return _rounded(above / below, result)


def _rounded(y: Tensor, dtype: torch.dtype) -> Tensor:
    """Round to `dtype`; what it can't hold becomes the largest number it can."""
    largest = torch.finfo(dtype).max
    return y.clamp(-largest, largest).to(dtype)
