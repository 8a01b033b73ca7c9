"""The look of every figure, in the light and in the dark."""

from functools import cache

from .draw import Spec


@cache
def templates() -> dict[str, Spec]:
    """The look of every figure, in the light and in the dark."""
    light = _template("#1f2933", "#dfe3e8", "#aab2bd", "#ffffff", ["#f3f5f8", "#9cc3e8", "#1b5fa8"])
    dark = _template("#dfe5ec", "#2c343e", "#55606d", "#232a33", ["#20262e", "#23507c", "#3a8ee0"])
    return {"light": light, "dark": dark}


def _template(ink: str, grid: str, line: str, ground: str, scale: list[str]) -> Spec:
    axis = {
        "gridcolor": grid,
        "linecolor": line,
        "zerolinecolor": grid,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": "rgba(0,0,0,0)",
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 12}},
    }
    scale_ = [[i / (len(scale) - 1), colour] for i, colour in enumerate(scale)]
    return {
        "layout": {
            "font": {"family": "system-ui, sans-serif", "size": 12, "color": ink},
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "colorscale": {"sequential": scale_, "sequentialminus": scale_},
            "xaxis": axis,
            "yaxis": axis,
            "hoverlabel": {
                "bgcolor": ground,
                "bordercolor": line,
                "font": {"color": ink, "size": 12},
                "align": "left",
                "namelength": -1,
            },
            "legend": {"font": {"size": 11}},
        }
    }
