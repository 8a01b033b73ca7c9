"""The gradient clip that the paper does not mention."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "does the training need its gradient clip?"


def study() -> Study:
    """The recipe's norm of 0.01, a hundred times that, and none."""
    return ablation("clipping", ABLATION, ["dmu", "dmu[clip_norm=1]", "dmu[clip_norm=None]"])
