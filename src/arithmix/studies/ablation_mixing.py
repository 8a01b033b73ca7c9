"""Where the two domains are mixed."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "does it matter that magnitudes are mixed as logarithms?"


def study() -> Study:
    """Logarithms mixed, as the paper has it, and the two results themselves."""
    return ablation("mixing", ABLATION, ["dmu", "dmu[mix=linear]"])
