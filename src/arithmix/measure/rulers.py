"""Rulers: thresholds, and which part of a training they are held against.

`primer` is the rule of Mistry et al. (JMLR 2022): weights off by 1e-5, judged at the row of best
validation error. `dmu` is the rule of the Domain Mixed Unit paper: a gate off by 1e-4, judged at
every step until 100 in a row pass. The paper prints 1e-5 for its perturbation; its thresholds are
those of 1e-4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..tasks import OPERATIONS, RANGES, Task

PRIMER_EPSILON = 1e-5
DMU_EPSILON = 1e-4
DMU_TEMPERATURE = 1e-4
NODES = 100


@dataclass(frozen=True)
class Ruler:
    """A rule that turns error curves into a verdict."""

    name: str
    about: str
    threshold: Callable[[Task], float]
    """The mean squared error on the test set that a solved member stays below."""
    grid: int = 1000
    """Steps between rows."""
    patience: int | None = None
    """This many consecutive steps below the threshold solve the task and end the training; with
    None the whole training is judged, at its row of best validation error."""


def primer_threshold(task: Task) -> float:
    """The error of the exact unit with every weight off by 1e-5, in closed form.

    With |x| uniform on [l, h], m1 = E|x| and m2 = E x^2. An idle factor is 1 - eps|x|.
    """
    low, high = RANGES[task.range].magnitudes
    m1, m2 = (low + high) / 2, (low * low + low * high + high * high) / 3
    eps, n = PRIMER_EPSILON, task.inputs
    if task.operation in ("add", "sub"):
        return eps**2 * (n * m2 + n * (n - 1) * m1**2)
    factor = (1 - eps) ** 2 if task.operation == "mul" else (1 - eps) / (1 + eps)
    idle, idle_squared = (1 - eps * m1) ** (n - 2), (1 - 2 * eps * m1 + eps**2 * m2) ** (n - 2)
    # E (factor * idle - 1)^2, written so that its two small parts do not cancel.
    relative = (factor * idle - 1) ** 2 + factor**2 * (idle_squared - idle**2)
    scale = m2**2 if task.operation == "mul" else m2 / (low * high)
    return relative * scale


@cache
def dmu_threshold(task: Task) -> float:
    """The error of the exact DMU with its gate off by 1e-4, by quadrature.

    The paper drew 100 000 samples. On sym it drew both operands from the same side, unlike the test
    set, and so does this.
    """
    if task.inputs != 2:
        raise ValueError(f"the dmu ruler is for 2 inputs; got a task of {task.inputs}")
    a, b, weight = _pairs()
    errors = []
    for low, high in RANGES[task.range].test:
        x, y = low + (high - low) * a, low + (high - low) * b
        errors.append(weight @ _perturbed(task.operation, x, y) ** 2)
    return float(np.mean(errors))


@cache
def _pairs() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes and weights for a mean over two uniform numbers, dense at the diagonal.

    The error of a difference has a logarithm that is infinite at a = b, so each of the triangles
    a < b and a > b is integrated by itself, in cube roots of the side and of the distance.
    """
    node, weight = np.polynomial.legendre.leggauss(NODES)
    root, weight = (node + 1) / 2, weight / 2
    side, distance = np.meshgrid(root**3, root**3)
    jacobian = side * np.outer(3 * root**2 * weight, 3 * root**2 * weight)
    one, other = side.ravel(), (side * (1 - distance)).ravel()
    weights = np.concatenate([jacobian.ravel()] * 2)
    return np.concatenate([one, other]), np.concatenate([other, one]), weights


def _perturbed(operation: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What the DMU with a gate off by 1e-4 gets wrong."""
    linear = a + b if operation in ("add", "mul") else a - b
    product = a * b if operation in ("add", "mul") else a / b
    g = 1 - DMU_EPSILON if operation in ("add", "sub") else DMU_EPSILON
    sign = g * np.tanh(linear / DMU_TEMPERATURE) + (1 - g) * np.sign(product)
    magnitude = np.hypot(linear, DMU_TEMPERATURE) ** g * np.abs(product) ** (1 - g)
    return sign * magnitude - OPERATIONS[operation].apply(a, b)


PRIMER = Ruler("primer", "weights off by 1e-5, row of best validation error", primer_threshold)
DMU = Ruler("dmu", "gate off by 1e-4, 100 steps in a row", dmu_threshold, patience=100)
LOOSE = Ruler("loose", "the thresholds of dmu, the rows of primer", dmu_threshold)
FLAT = Ruler("flat", "an error under 1e-5 on every task, the rows of primer", lambda task: 1e-5)
RULERS: dict[str, Ruler] = {ruler.name: ruler for ruler in (PRIMER, DMU, LOOSE, FLAT)}
