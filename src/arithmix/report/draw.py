"""What the pictures share: colours for light and dark, names as text, axes, common shapes.

A figure is plotly's own data and layout as a dict. Plotly's classes would check each of thousands
of fields for every report; the tests do that instead.
"""

from base64 import b64encode
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from ..tasks import RANGES

Spec = dict[str, Any]
SIGNS = {"add": "+", "sub": "−", "mul": "×", "div": "÷"}
OWN = "#e8590c"
PALETTE = [
    *("#2f7fd6", "#2f9e57", "#a44fd0", "#0f98a3", "#8aa0d8", "#dd4a82", "#736bea"),
    *("#7a9e1f", "#96705f", "#64748b", "#e64ca6", "#c0504d", "#6fae95", "#c58fb8"),
    *("#5fc3b8", "#d19a5b", "#b02a8f", "#3f6f4a", "#c9a400", "#b5851a", "#a89b52"),
    *("#4759a8", "#8c2f39", "#9a86b8", "#1aa7e0"),
]
BLUE = PALETTE[0]
DASHES = ("solid", "dash", "dot")
LONGEST = 34


def plain(text: str) -> str:
    """Text for plotly, which reads a little HTML in its labels."""
    return escape(text, quote=False)


def label(name: str) -> str:
    """A unit's name on an axis: cut if very long, in two lines if long."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    for sign in ("[", ":", " "):
        head, found, tail = short.partition(sign)
        if found and len(short) > 12:
            return f"{plain(head)}<br>{plain((found + tail).strip())}"
    return plain(short)


def operation_name(operation: str) -> str:
    """An operation by its sign and its word."""
    return f"{SIGNS[operation]} {operation}"


def interval(ends: tuple[float, float]) -> str:
    """An interval as it is written, on one line."""
    return f"[{ends[0]:g},\u00a0{ends[1]:g})"


def span(range_: str) -> str:
    """A range with the interval it trains on."""
    return f"{range_}, trained on {interval(RANGES[range_].train)}"


def called(range_: str) -> str:
    """A range by the interval that it trains on, for those who don't know its name yet."""
    return f"{interval(RANGES[range_].train)}, called {range_},"


def line_style(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """A colour and a dash for each unit; the DMU has a colour that no other has.

    Ask for all units of a page at once: then each looks the same in every figure.
    """
    others = sorted(name for name in names if name != "dmu")
    styles = {
        name: {
            "color": PALETTE[i % len(PALETTE)],
            "dash": DASHES[(i + i // len(PALETTE)) % len(DASHES)],
        }
        for i, name in enumerate(others)
    }
    return {"dmu": {"color": OWN, "dash": "solid"}, **styles}


def trace(kind: str, **fields: Any) -> Spec:
    """A trace of plotly's."""
    return {"type": kind, **fields}


def figure(traces: Sequence[Spec], **layout: Any) -> Spec:
    """A figure with the traces and small margins."""
    small = {"margin": {"l": 8, "r": 12, "t": 10, "b": 8}, "autosize": True}
    return {"data": list(traces), "layout": small | layout}


def level(at: float, along: str, dash: str = "dash") -> Spec:
    """A line across the figure at a value of the axis `along`, x or y."""
    other = "y" if along == "x" else "x"
    across = {f"{other}0": 0, f"{other}1": 1, f"{other}ref": "paper", f"{along}ref": along}
    line = {"dash": dash, "width": 1.4, "color": "#808080"}
    return {"type": "line", f"{along}0": at, f"{along}1": at, "line": line, **across}


def packed(value: object) -> Any:
    """Arrays as plotly reads them fastest, for `json.dumps`."""
    if isinstance(value, np.generic):
        return value.item()
    assert isinstance(value, np.ndarray), type(value)
    if value.dtype.kind not in "fiu":
        return value.tolist()
    kind = "f4" if value.dtype.kind == "f" else "i4"
    shape = {"shape": ", ".join(map(str, value.shape))} if value.ndim > 1 else {}
    return {"dtype": kind, "bdata": b64encode(value.astype(f"<{kind}").tobytes()).decode(), **shape}


def unit_axis(units: Sequence[str], **more: Any) -> Spec:
    """A vertical axis of units, the first on top."""
    return {
        "tickvals": list(range(len(units))),
        "ticktext": [label(unit) for unit in units],
        "range": [len(units) - 0.5, -0.5],
        "automargin": True,
        "showgrid": False,
        "zeroline": False,
        **more,
    }


def log_axis(title: str, values: np.ndarray) -> Spec:
    """A logarithmic axis with a few powers of ten, two at least, however many decades there are."""
    known = np.log10(values[np.isfinite(values) & (values > 0)])
    decades = np.ptp(known) if known.size else 1
    dtick = max(1, int(np.ceil(decades / 7)))
    axis: Spec = {"type": "log", "title": {"text": title}, "tickformat": ".0e", "dtick": dtick}
    if known.size and decades < 2:
        low, high = np.floor(known.min()), np.ceil(known.max())
        axis["range"] = [float(low) - 0.1, float(max(high, low + 1)) + 0.1]
    return axis


LEGEND = {"orientation": "h", "x": 0, "y": 1.01, "yanchor": "bottom"}


def heat(
    z: np.ndarray,
    text: Sequence[Sequence[str]],
    hover: Sequence[Sequence[str]],
    units: Sequence[str],
    **more: Any,
) -> Spec:
    """Units x ranges; darker, or in the dark brighter, is more."""
    made = trace(
        "heatmap",
        z=z,
        x=list(RANGES),
        text=text,
        customdata=hover,
        texttemplate="%{text}",
        hovertemplate="%{customdata}<extra></extra>",
        xgap=2,
        ygap=2,
        showscale=False,
        autocolorscale=True,
        **more,
    )
    x = {"side": "top", "showgrid": False, "zeroline": False, "fixedrange": True, "tickangle": 0}
    # Plotly gives a low figure no room for an axis on top.
    margin = {"l": 8, "r": 12, "t": 26, "b": 8}
    return figure([made], xaxis=x, yaxis=unit_axis(units, fixedrange=True), margin=margin)


def boxes(
    values: Mapping[str, np.ndarray], axis: Spec, what: str, styles: Mapping[str, Spec]
) -> Spec:
    """A box for each unit, every member a point behind it; units are told by their style."""
    traces = []
    for i, (unit, those) in enumerate(values.items()):
        colour = styles[unit]["color"]
        quarters = np.quantile(those, [0.25, 0.5, 0.75]) if those.size else np.zeros(3)
        said = ", ".join(f"{q:.3g}" for q in quarters)
        text = f"<b>{plain(unit)}</b><br>{those.size} solved<br>{what}: quartiles {said}"
        common = {
            "y0": i,
            "orientation": "h",
            "line": {"color": colour, "width": 1.4},
            "width": 0.6,
        }
        points = {"boxpoints": "all", "jitter": 0.7, "pointpos": 0, "fillcolor": "rgba(0,0,0,0)"}
        marker = {"color": colour, "size": 3, "opacity": 0.3}
        traces.append(
            trace(
                "box",
                x=those,
                name=plain(unit),
                marker=marker,
                hoverinfo="skip",
                **common,
                **points,
            )
        )
        # A box says each of its numbers in a label of its own; this point says them in one.
        traces.append(
            trace(
                "scatter",
                x=quarters[1:2] if those.size else [],
                y=[i],
                mode="markers",
                marker={"color": colour, "size": 9, "symbol": "diamond"},
                customdata=[text],
                hovertemplate="%{customdata}<extra></extra>",
            )
        )
    return figure(traces, xaxis=axis, yaxis=unit_axis(list(values)), showlegend=False)


def box_height(units: Collection[str]) -> int:
    """Room for a box plot of that many units."""
    return 92 + 34 * len(units)


def step_axis(steps: np.ndarray) -> Spec:
    """A logarithmic axis of training steps, with a little room at both ends."""
    ticks = [one * ten for ten in (1, 10, 100, 1000, 10_000, 100_000) for one in (1, 2, 5)]
    text = [f"{tick // 1000}k" if tick >= 1000 else f"{tick}" for tick in ticks]
    ends = np.log10([steps.min(), steps.max()]) if steps.size else np.array([3.0, 5.0])
    return {
        "type": "log",
        "title": {"text": "step"},
        "range": [ends[0] - 0.06, ends[1] + 0.06],
        "tickvals": ticks,
        "ticktext": text,
        "tickangle": 0,
    }


def heat_height(units: Sequence[str]) -> int:
    """Room for a heatmap of that many units."""
    return 44 + 34 * len(units)
