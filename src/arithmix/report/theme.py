"""The look of every figure, in the light and in the dark."""

from functools import cache

from .draw import Spec


@cache
def templates() -> dict[str, Spec]:
    """The look of every figure, in the light and in the dark."""
    # The scales pass quickly from light to dark: on a tone between them no ink is easy to read.
    blues = ["#f3f5f8", "#a9cdee", "#3b7fc4", "#1b5fa8"]
    light = _template("#1f2933", "#dfe3e8", "#aab2bd", "#ffffff", blues)
    blues = ["#20262e", "#1f4266", "#265f9a", "#2b78c6"]
    dark = _template("#dfe5ec", "#2c343e", "#55606d", "#232a33", blues)
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
    scale_ = [list(pair) for pair in zip((0, 0.75, 0.8, 1), scale, strict=True)]
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
