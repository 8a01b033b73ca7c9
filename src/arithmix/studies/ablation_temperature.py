"""How sharp the gate is."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "does the gate need its temperature of 0.1?"


def study() -> Study:
    """Five temperatures; the paper's is 0.1."""
    return ablation(
        "temperature",
        ABLATION,
        [
            "dmu[gate_temperature=1]",
            "dmu[gate_temperature=0.3]",
            "dmu",
            "dmu[gate_temperature=0.03]",
            "dmu[gate_temperature=0.01]",
        ],
    )
