r"""The likelihood of the numbers in a text, and what training minimises.

    P(y) = g_lm p_lm(y) + g_copy \sum_i pi_i [x_i = y] + g_1 \sum_s pi_s [s(x) = y]

The base's p_lm is that of the number's tokens after how it begins, and of no digit after them; so
the three compete on equal terms. A program without a value (x / 0, 1 / 3) leaves its mass to the
base. With this alone the gate closes at once where the base already knows its texts, and what is
behind it never learns; so each expert is also trained on its own: -ln(\sum pi [right] + e^-9).
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

FLOOR = -9.0
"""The logarithm of what an expert is given where it is wrong: it bounds its loss."""


def number_loss(
    gate: Float[Tensor, "batch 3"],
    lm: Float[Tensor, " batch"],
    copies: Float[Tensor, "batch numbers"],
    steps: Float[Tensor, "batch programs"],
    copy_right: Bool[Tensor, "batch numbers"],
    step_right: Bool[Tensor, "batch programs"],
    step_silent: Bool[Tensor, "batch programs"],
) -> tuple[Float[Tensor, " batch"], Float[Tensor, " batch"]]:
    """The negative log-likelihood of each number, and the experts' own losses, in nats.

    Args:
        gate: Log-probabilities of base, copy and one step.
        lm: The base's log-probability of the number.
        copies: Log-probabilities of the numbers before it.
        steps: Log-probabilities of the programs.
        copy_right: Which numbers are the number that stands there.
        step_right: Which programs have it as their value.
        step_silent: Which programs have no value.
    """
    copied, computed = total(copies, copy_right), total(steps, step_right)
    base = torch.logaddexp(gate[:, 0], gate[:, 2] + total(steps, step_silent))
    mixed = torch.stack([base + lm, gate[:, 1] + copied, gate[:, 2] + computed])
    floor = torch.full_like(copied, FLOOR)
    own = -torch.logaddexp(copied, floor) - torch.logaddexp(computed, floor)
    return -mixed.logsumexp(0), own


def total(
    logs: Float[Tensor, "batch programs"], which: Bool[Tensor, "batch programs"]
) -> Float[Tensor, " batch"]:
    """The logarithm of the mass on `which`; a very small number, and no gradient, for none."""
    # Finite, because the gradient of a log-sum-exp of nothing but -inf is NaN.
    return logs.masked_fill(~which, -1e4).logsumexp(-1).clamp_min(-1e4)
