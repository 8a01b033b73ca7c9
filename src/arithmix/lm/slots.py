"""What the steps of a program are chosen among: numbers, constants and results, each with a key."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from .programs import OPERATIONS, WINDOW

NEVER = -1e4
"""The logarithm of what is impossible. Finite, so that sums over nothing have gradients."""


class Steps(NamedTuple):
    """What a step is chosen among: keys of numbers and constants, and who is there."""

    keys: Float[Tensor, "batch slots rank"]
    there: Bool[Tensor, "batch slots"]
    constant: Bool[Tensor, " slots"]


class State(NamedTuple):
    """A program of which some steps are known: what the next is chosen with."""

    q: Float[Tensor, "rows width"]
    keys: Float[Tensor, "rows slots rank"]
    there: Bool[Tensor, "rows slots"]
    result: Float[Tensor, "rows rank"]

    def take(self, rows: Int[Tensor, " chosen"]) -> "State":
        """Some of the rows."""
        return State(*(part[rows] for part in self))


def normal(logits: Tensor) -> Tensor:
    """Scores as log-probabilities over all of a row."""
    return logits.flatten(1).log_softmax(-1).view_as(logits)


def windowed(slots: Steps) -> Steps:
    """The last numbers alone, without constants: what a program of three steps may use."""
    count = int((~slots.constant).sum())
    kept = slice(max(0, count - WINDOW), count)
    return Steps(slots.keys[:, kept], slots.there[:, kept], slots.constant[kept])


def possible(slots: Steps) -> Bool[Tensor, "batch op left right"]:
    """Which steps there are: + and * have operands in the text's order, two constants none."""
    count = slots.keys.shape[1]
    order = torch.arange(count, device=slots.keys.device)
    either = order[:, None] != order
    ordered = order[:, None] <= order
    by_op = torch.stack([ordered if op in "+*" else either for op in OPERATIONS])
    both = slots.there[:, None, :, None] & slots.there[:, None, None, :]
    return by_op & both & ~(slots.constant[:, None] & slots.constant)
