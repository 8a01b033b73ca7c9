"""Tasks: an operation on a range of numbers, with a number of inputs.

Nine ranges, each an interval to train on and another to test on, after Mistry et al., A Primer for
Neural Arithmetic Logic Modules (JMLR 2022).
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .names import choose

Interval = tuple[float, float]


@dataclass(frozen=True)
class Operation:
    """What to compute from two operands; works on floats, arrays and tensors alike."""

    name: str
    symbol: str
    apply: Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Range:
    """Where inputs come from: one interval in training, one or two (mirrored) in the test."""

    name: str
    train: Interval
    test: tuple[Interval, ...]

    @property
    def magnitudes(self) -> Interval:
        """The interval of |x| on the test set; mirrored intervals share it."""
        low, high = self.test[-1]
        return (low, high) if low > 0 else (-high, -low)


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("add", "+", operator.add),
        Operation("sub", "-", operator.sub),
        Operation("mul", "*", operator.mul),
        Operation("div", "/", operator.truediv),
    )
}

RANGES: dict[str, Range] = {
    range_.name: range_
    for range_ in (
        Range("sym", (-2.0, 2.0), ((-6.0, -2.0), (2.0, 6.0))),
        Range("neg", (-2.0, -1.0), ((-6.0, -2.0),)),
        Range("pos", (1.0, 2.0), ((2.0, 6.0),)),
        # Not the mirror of p11: the original benchmark tests it down to -6.1.
        Range("n10", (-1.2, -1.1), ((-6.1, -1.2),)),
        Range("p01", (0.1, 0.2), ((0.2, 2.0),)),
        Range("n01", (-0.2, -0.1), ((-2.0, -0.2),)),
        Range("p11", (1.1, 1.2), ((1.2, 6.0),)),
        Range("n20", (-20.0, -10.0), ((-40.0, -20.0),)),
        Range("p20", (10.0, 20.0), ((20.0, 40.0),)),
    )
}


@dataclass(frozen=True)
class Task:
    """Learn `operation` of two of `inputs` numbers drawn from `range`."""

    operation: str
    range: str
    inputs: int = 2

    def __post_init__(self) -> None:
        choose(self.operation, OPERATIONS, "operation")
        choose(self.range, RANGES, "range")
        if self.inputs < 2:
            raise ValueError(f"a task needs at least 2 inputs; got {self.inputs}")
