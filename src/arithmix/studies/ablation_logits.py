"""One logit or two."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "is one logit enough?"


def study() -> Study:
    """The gate as two logits, as in the paper's run, and as one, as in its abstract."""
    return ablation("logits", ABLATION, ["dmu", "dmu[gate=single]"])
