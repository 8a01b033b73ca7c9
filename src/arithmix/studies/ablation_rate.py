"""The learning rate."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "does the learning rate matter?"


def study() -> Study:
    """Rates around the recipe's 0.01."""
    return ablation(
        "rate",
        ABLATION,
        ["dmu[rate=0.1]", "dmu[rate=0.03]", "dmu", "dmu[rate=0.003]", "dmu[rate=0.001]"],
    )
