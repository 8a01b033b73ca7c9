r"""A distribution over programs, trained by gradient on the expected loss.

    E = \sum_k p_k l_k        p = softmax(\theta)        \theta <- \theta - r dE / dp

E is linear in p and has no saddle. The step is the natural gradient of a softmax: after a total
rate of R, p_k is its start times e^{-R l_k}. With l_k the log of the mean squared error over n rows
and R = n / 2 that is the posterior of normal noise whose size is not known.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

STEPS = 8


def train(
    logits: Float[Tensor, " programs"], losses: Float[Tensor, " programs"], rate: float
) -> Float[Tensor, " programs"]:
    """The logits after descending the expected loss with a total rate."""
    for _ in range(STEPS):
        p = logits.softmax(0).requires_grad_()
        expected = (p * losses).sum()
        (slope,) = torch.autograd.grad(expected, p)
        logits = logits - rate / STEPS * slope
    return logits


def log_likelihood_loss(
    values: Float[Tensor, "programs rows"], y: Float[Tensor, " rows"]
) -> Float[Tensor, " programs"]:
    """Twice the negative log likelihood per row, at the best size of normal noise.

    The noise has one size for all rows or is in proportion to the value, whichever fits better.
    Below 1e-12 it is rounding.
    """
    scale = y.square().mean().sqrt().clamp(min=1e-300)
    error = (values - y) / scale
    even = (error.square().mean(1) + 1e-24).log()
    size = (values / scale).abs().clamp(min=1e-9)
    part = ((error / size).square().mean(1) + 1e-24).log() + 2 * size.log().mean(1)
    # What is exact is exact under both; it should not gain by being near zero.
    part = torch.where(even < math.log(1e-23), even, part)
    return torch.nan_to_num(torch.minimum(even, part), nan=math.inf).clamp(max=100.0)
