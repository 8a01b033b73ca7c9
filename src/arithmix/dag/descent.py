"""Plain gradient descent on soft plans: what the distribution over programs is held against."""

import time

import torch
from jaxtyping import Float
from torch import Tensor

from .execute import execute
from .plan import Plan
from .predict import decode, logits_of

STARTS = 64
BATCH = 64
RATE = 0.05


def descend(
    x: Float[Tensor, "rows inputs"],
    y: Float[Tensor, " rows"],
    depth: int,
    seconds: float,
    seed: int = 0,
) -> Plan:
    """Train 64 soft plans at once for a time, and return the hard plan that fits best.

    Adam on the squared error relative to the spread of y. Starts that run off to NaN stay out.
    """
    began = time.perf_counter()
    draw = torch.Generator().manual_seed(seed)
    inputs, scale = x.shape[1], y.std().clamp(min=1e-300)
    size = logits_of(inputs, depth, select=False)
    logits = torch.rand(STARTS, size, generator=draw, dtype=x.dtype) * 2 - 1
    logits[:, -depth:] *= 0.1
    logits = logits.to(x.device).requires_grad_()
    optimiser = torch.optim.Adam([logits], lr=RATE)
    while time.perf_counter() - began < seconds:
        rows = torch.randint(0, len(x), (BATCH,), generator=draw).to(x.device)
        values = execute(decode(logits, inputs, depth)[:, None], x[rows])
        loss = ((values - y[rows]) / scale).square().mean(1)
        optimiser.zero_grad()
        loss.nan_to_num(posinf=0.0).sum().backward()
        torch.nn.utils.clip_grad_value_([logits], 1.0)
        optimiser.step()
    hard = decode(logits.detach().nan_to_num(), inputs, depth).harden()
    error = (execute(hard[:, None], x) - y).square().mean(1)
    return hard[int(error.argmin())]
