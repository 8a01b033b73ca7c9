"""Rows made by hand, for the report's tests."""

import numpy as np

from arithmix.records.row import Asked, Curve, Row
from arithmix.tasks import OPERATIONS, RANGES


def row(unit, operation="add", range_="sym", seed=0, *, error=1e-12, stop="", inputs=2, **more):
    """A training whose test error falls to `error` at half its steps."""
    step = np.arange(0, 5001, 1000, dtype=np.int32)
    test = np.where(step < 2500, 1.0, error).astype(np.float32)
    sparsity = np.linspace(0.5, 1e-4, step.size).astype(np.float32)
    curve = more.pop("curve", Curve(step, test, test, sparsity))
    arguments = {"selector": "add"} | more.pop("arguments", {})
    recipe = {"rate": 0.01, "steps": 5000, "arguments": arguments}
    asked = Asked(unit, operation, range_, inputs, seed, stop, 1000, recipe)
    more = {"status": "trained", "parameters": {"gate": [[1.0, -1.0]]}} | more
    return Row(asked, more["status"], 5000, curve, more["parameters"])


def rows(unit, error=1e-12, seeds=3):
    """Trainings of a unit on every operation and range."""
    return [
        row(unit, operation, range_, seed, error=error)
        for operation in OPERATIONS
        for range_ in RANGES
        for seed in range(seeds)
    ]


def landscape(operation="sub", range_="sym"):
    """The arrays of a landscape: a bowl with its minimum at O[1] = 1, g = 1."""
    o1, g, step = np.linspace(-2, 2, 21), np.linspace(0, 1, 11), np.arange(5) * 100
    paths = [[np.ones(5), np.linspace(-1, end, 5), step / 400] for end in (1, 0)]
    return {
        "cell": np.array([operation, range_]),
        "o1": o1,
        "g": g,
        "loss": (o1 - 1) ** 2 + (g[:, None] - 1) ** 2,
        "pattern": np.array([1.0, 1.0]),
        "frozen_g": g,
        "frozen_loss": (g - 1) ** 2,
        "frozen_minima": np.array([1.0]),
        "frozen_convex_g": np.array(True),
        "frozen_convex_logit": np.array(False),
        "point": np.array([[1.0, 1.0, 1.0]]),
        "point_kind": np.array(["solution"]),
        "point_rest": np.array([True]),
        "point_loss": np.array([0.0]),
        "point_slope": np.array([0.0]),
        "point_eigenvalues": np.array([[1.0, 2.0, np.nan]]),
        "plane_point": np.array([[1.0, 1.0], [0.0, 0.5]]),
        "plane_kind": np.array(["solution", "saddle"]),
        "plane_loss": np.array([0.0, 1.25]),
        "path_step": step,
        "path": np.array(paths).transpose(0, 2, 1),
        "path_loss": np.ones((2, 5)),
        "path_point": np.array([0, 0]),
        "path_start": np.array(["add", "<b>sub</b>"]),
        "path_seed": np.array([0, 1]),
        "path_solved": np.array([True, False]),
        "path_distance": np.array([0.0, 0.01]),
        "place": np.array([[1.0, 1.0, 1.0]]),
        "place_point": np.array([0]),
        "test_end": np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]),
        "test_solved": np.array([True, False]),
        "test_distance": np.array([0.0, 1.0]),
        "chance": np.array(0.01),
    }
