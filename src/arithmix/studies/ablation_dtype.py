"""The precision of the training."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "does float64 change anything?"


def study() -> Study:
    """The recipe's float32, and float64."""
    return ablation("dtype", ABLATION, ["dmu", "dmu[dtype=float64]"])
