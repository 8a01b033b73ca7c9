"""A landscape as numpy arrays, and the file it is kept in; no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..tasks import Task

REACH = 0.05
"""Two places nearer than this are the same for a training, which is shaken about as far."""


@dataclass(frozen=True)
class Landscape:
    """The arrays of one cell; the package's docstring says what each is."""

    cell: np.ndarray
    o1: np.ndarray
    g: np.ndarray
    loss: np.ndarray
    pattern: np.ndarray
    frozen_g: np.ndarray
    frozen_loss: np.ndarray
    frozen_minima: np.ndarray
    frozen_convex_g: np.ndarray
    frozen_convex_logit: np.ndarray
    point: np.ndarray
    point_kind: np.ndarray
    point_rest: np.ndarray
    point_loss: np.ndarray
    point_slope: np.ndarray
    point_eigenvalues: np.ndarray
    place: np.ndarray
    place_point: np.ndarray
    plane_point: np.ndarray
    plane_kind: np.ndarray
    plane_loss: np.ndarray
    path_step: np.ndarray
    path: np.ndarray
    path_loss: np.ndarray
    path_start: np.ndarray
    path_seed: np.ndarray
    path_solved: np.ndarray
    path_point: np.ndarray
    path_distance: np.ndarray
    test_end: np.ndarray
    test_solved: np.ndarray
    test_distance: np.ndarray
    chance: np.ndarray

    @property
    def task(self) -> Task:
        """Whose landscape it is."""
        return Task(str(self.cell[0]), str(self.cell[1]))

    @property
    def name(self) -> str:
        """What it is kept under in the records."""
        return f"landscape/{self.cell[0]}/{self.cell[1]}"

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """All arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray]) -> "Landscape":
        """The landscape of these arrays, as `Store.kept` gives them."""
        return cls(**{field.name: arrays[field.name] for field in fields(cls)})

    def save(self, path: Path) -> None:
        """Write it to an .npz file of its own."""
        named: dict[str, Any] = self.arrays  # numpy 1.26 has no option allow_pickle here
        np.savez_compressed(path, **named)

    @classmethod
    def load(cls, path: Path) -> "Landscape":
        """Read what `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            return cls.of(file)
