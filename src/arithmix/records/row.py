"""A row: what was asked of one member, and what happened."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..tasks import Task

PROTOCOL = 1
"""Raised when the same question would be answered with other numbers."""


@dataclass(frozen=True)
class Asked:
    """Everything that decides the numbers of a training."""

    unit: str
    """As written on the command line: `dmu`, `dmu[gate=single]`, `my_file:MyUnit`."""
    operation: str
    range: str
    inputs: int
    seed: int
    stop: str
    """The ruler that ends a solved training early, or nothing."""
    grid: int
    recipe: dict[str, Any]
    source: str | None = None
    """A digest of the file that a user's own unit is in."""
    protocol: int = field(default=PROTOCOL)

    @cached_property
    def task(self) -> Task:
        """The task as one thing."""
        return Task(self.operation, self.range, self.inputs)

    @cached_property
    def key(self) -> str:
        """The row's identity: a hash of all the above."""
        words = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(words.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Curve:
    """What was measured in a training, in the order of steps; NaN where nothing was looked at."""

    step: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    sparsity: np.ndarray


@dataclass(frozen=True)
class Row:
    """The record of one member's training."""

    asked: Asked
    status: str
    """stopped, trained or diverged."""
    steps: int
    """Updates made."""
    curve: Curve
    parameters: dict[str, Any]
    """As they were after these updates, in nested lists."""
    made: dict[str, str] = field(default_factory=dict, compare=False)
    """Under what it was made: versions, device, commit; nothing if that is not known."""
