r"""Run a plan: each step is a DMU whose inputs are the slots that are there.

    r_lin = \sum_i O_i v_i                    r_log = \sum_i O_i l_i
    s_lin = \tanh(r_lin / T)                  s_log = \cos(\pi \sum_i |O_i| [v_i < 0])
    l_lin = \ln \sqrt{r_lin^2 + T^2}
    s = G s_lin + (1 - G) s_log               m = G l_lin + (1 - G) r_log
    v = s e^m                                 l = m + \ln|s|

A slot is its value v, its sign and the logarithm l of its magnitude. The logarithm goes past what
the dtype can hold, so that a product of 1e60 may stand under another in float32.

Where this differs from the paper, and why:

- The linear path takes signed values, and the log sign is weighted by |O_i|, as in units/dmu.py.
- The paper keeps the sign s, a number between -1 and 1, beside the magnitude e^m. Here |s| goes
  into the magnitude, so that a plan is DMUs in series, and a sum that is smaller than T keeps its
  size when it becomes a factor.

A hard plan is computed by real sums, products, quotients and whole powers, in float64, and rounded
once. Division by zero gives the largest number there is, and 0 / 0 gives 0.
"""

import math
from collections.abc import Sequence
from functools import reduce

import torch
from jaxtyping import Float
from torch import Tensor

from ._math import (
    default_log_limit,
    finite_gradient,
    held,
    loaded,
    rounded,
    smooth_magnitude,
    working_dtype,
)
from .plan import Plan, Step

LOG_RANGE = 1e4
"""The largest |l| of a slot: a product of more than that can't come back."""


def execute(
    plan: Plan, values: Float[Tensor, "*batch inputs"], *, temperature: float = 1e-4
) -> Float[Tensor, "*results"]:
    """Compute the result of a plan, or of many: the batches of plans and values are broadcast.

    Args:
        plan: What to compute. `plan[:, None]` of P plans and B rows of values give P x B results.
        values: The inputs, in the order of `plan.names`.
        temperature: T, the width around zero in which the sign of a soft sum turns.

    >>> plan = Plan.from_expression("(a + b) / (c * d)")
    >>> execute(plan, torch.tensor([[1.0, 2.0, 3.0, 4.0]])).item()
    0.25
    """
    if values.shape[-1:] != (plan.inputs,):
        raise ValueError(
            f"the plan has {plan.inputs} inputs, {', '.join(plan.names)}, which are the last axis "
            f"of values; got values of shape {tuple(values.shape)}"
        )
    if not plan.hard:
        return _soft(plan, values, temperature)
    if values.requires_grad:  # the way back through loaded columns takes longer
        given = finite_gradient(values).unbind(-1)
    else:
        given = [loaded(column) for column in values.unbind(-1)]
    columns = [column.double() for column in given]
    columns += [values.new_full((), value, dtype=torch.float64) for value in plan.constants]
    if plan.program is None:
        result = _hard_batch(plan, columns)
    else:
        largest = math.log2(torch.finfo(values.dtype).max)
        sizes = [largest] * plan.inputs + [math.log2(1 + abs(c)) for c in plan.constants]
        for step in plan.program:
            column, size = _hard_step(columns, sizes, step)
            # The result is held when it is rounded.
            if len(columns) != plan.result:
                column, size = _held(column, size)
            columns.append(column)
            sizes.append(size)
        result = columns[plan.result]
    return rounded(result.expand(_batch(plan, values)), values.dtype)


def _batch(plan: Plan, values: Tensor) -> torch.Size:
    return torch.broadcast_shapes(plan.shape, values.shape[:-1])


def _soft(plan: Plan, values: Tensor, temperature: float) -> Tensor:
    given = [values, plan.O, plan.G] + ([] if plan.S is None else [plan.S])
    result = reduce(torch.promote_types, (t.dtype for t in given))
    dtype = working_dtype(*given)
    x, o, g = (finite_gradient(t).to(dtype) for t in given[:3])
    limit = default_log_limit(dtype)
    tiny, largest = torch.finfo(dtype).tiny, math.exp(limit)

    # Columns and not one tensor: the compiler makes a single kernel of all that follows.
    columns = [loaded(column) for column in x.unbind(-1)]
    columns += [x.new_full((), value) for value in plan.constants]
    v = [column.clamp(-largest, largest) for column in columns]
    l = [column.abs().clamp(min=tiny).log() for column in columns]
    negative = [(column < 0).to(dtype) for column in columns]
    for n in range(plan.depth):
        weights = o[..., n, : len(v)].unbind(-1)
        gate = g[..., n]
        r_lin = _weighted(weights, v).clamp(-largest, largest)
        r_log = _weighted(weights, l).clamp(-LOG_RANGE, LOG_RANGE)
        turns = _weighted([w.abs() for w in weights], negative)
        s_lin, s_log = _tanh(r_lin / temperature), torch.cos(math.pi * turns)
        l_lin = smooth_magnitude(r_lin, temperature).log()
        s = gate * s_lin + (1 - gate) * s_log
        m = finite_gradient(gate * l_lin + (1 - gate) * r_log)
        v.append(s * m.clamp(max=limit).exp())
        l.append((m + s.abs().clamp(min=tiny).log()).clamp(-LOG_RANGE, LOG_RANGE))
        negative.append((s < 0).to(dtype))
    if plan.S is None:
        return v[-1].expand(_batch(plan, values)).to(result)
    return _weighted(finite_gradient(plan.S).to(dtype).unbind(-1), v).to(result)


def _weighted(weights: Sequence[Tensor], columns: Sequence[Tensor]) -> Tensor:
    return reduce(torch.add, (w * c for w, c in zip(weights, columns, strict=True)))


def _tanh(z: Tensor) -> Tensor:
    """The same as torch.tanh, in a fifth of its time where it is compiled for a CPU."""
    t = torch.expm1(2 * z.clamp(-20, 20))
    return t / (t + 2)


def _hard_step(columns: list[Tensor], sizes: list[float], step: Step) -> tuple[Tensor, float]:
    """The result of a step, and a bound on the binary logarithm of its magnitude.

    What can't overflow need not be held, and after float32 little can.
    """
    linear, entries = step
    first = [(columns[i], entry) for i, entry in entries if entry > 0]
    then = [(columns[i], entry) for i, entry in entries if entry < 0]
    if not entries:
        empty = torch.zeros_like(columns[0]) if linear else torch.ones_like(columns[0])
        return empty, 0.0
    if linear:
        (total, weight), *rest = first + then
        total = total if weight == 1 else total * weight
        for column, entry in rest:
            total = torch.add(total, column, alpha=entry)
        size = max(sizes[i] for i, _ in entries) + math.log2(sum(abs(e) for _, e in entries))
        return total, size
    above, below = (
        reduce(torch.mul, [c if abs(p) == 1 else c ** abs(p) for c, p in part]) if part else None
        for part in (first, then)
    )
    if below is None and above is not None:
        return above, sum(p * max(sizes[i], 0.0) for i, p in entries)
    assert below is not None  # there are entries
    return _quotient(1.0 if above is None else above, below), math.inf


def _hard_batch(plan: Plan, columns: list[Tensor]) -> Tensor:
    for n in range(plan.depth):
        weights = plan.O[..., n, : len(columns)].detach().double().unbind(-1)
        total = _weighted(weights, columns)
        above = below = torch.ones((), dtype=torch.float64, device=total.device)
        for column, weight in zip(columns, weights, strict=True):
            factor = column if plan.powers == 1 else column ** weight.abs()
            above = above * torch.where(weight > 0, factor, 1.0)
            below = below * torch.where(weight < 0, factor, 1.0)
        linear = plan.G[..., n].detach() == 1
        result = torch.where(linear, total, _quotient(above, below))
        columns.append(_held(result, math.inf)[0])
    if plan.S is None:
        return columns[-1]
    chosen = zip(plan.S.detach().unbind(-1), columns, strict=True)
    return reduce(torch.add, (torch.where(s == 1, column, 0.0) for s, column in chosen))


def _quotient(above: Tensor | float, below: Tensor) -> Tensor:
    return above / torch.where(below == 0, torch.finfo(below.dtype).tiny, below)


def _held(y: Tensor, size: float) -> tuple[Tensor, float]:
    """Hold what overflowed at the largest number, if it could."""
    largest = torch.finfo(y.dtype).max
    if size < math.log2(largest):
        return y, size
    return held(y, largest), math.log2(largest)
