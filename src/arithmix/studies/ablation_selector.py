"""A selector that is learned."""

from ..study import Study
from ._ablation import ablation
from ._ablation import tables as tables

ABLATION = "can the selector be learned with the gate, and from where?"


def study() -> Study:
    """The frozen selector, and one that learns from five starts."""
    return ablation(
        "selector",
        ABLATION,
        [
            "dmu",
            *(
                f"dmu[learn_selector=True,selector={start}]"
                for start in ("add", "sub", "half", "first", "random")
            ),
        ],
    )
