"""A landscape as an interactive figure, by plotly; no torch."""

from pathlib import Path

import numpy as np
import plotly.graph_objects as go

from ..tasks import OPERATIONS
from .arrays import Landscape
from .shades import MARKS, STARTS, shades


def figure(landscape: Landscape) -> go.Figure:
    """The surface in shades, the stationary points of its plane, and the paths of trainings."""
    symbol = OPERATIONS[landscape.task.operation].symbol
    figure = go.Figure(
        go.Contour(
            x=landscape.o1,
            y=landscape.g,
            z=shades(landscape.loss),
            customdata=landscape.loss,
            colorscale="Viridis",
            ncontours=30,
            line_width=0.3,
            colorbar_title="log10 loss",
            hovertemplate="O[1] %{x:.3f}, g %{y:.3f}<br>loss %{customdata:.3g}<extra></extra>",
        )
    )
    for i, way in enumerate(landscape.path):
        ended = "at the solution" if landscape.path_solved[i] else "elsewhere"
        figure.add_scatter(
            x=way[:, 1],
            y=way[:, 2],
            customdata=np.column_stack([way[:, 0], landscape.path_step, landscape.path_loss[i]]),
            mode="lines+markers",
            marker={"size": [*[1] * (len(way) - 1), 11], "symbol": "triangle-down"},
            line_color=STARTS[i % len(STARTS)],
            name=f"{landscape.path_start[i]}, ends {ended}",
            hovertemplate="step %{customdata[1]}: O [%{customdata[0]:.3f}, %{x:.3f}], g %{y:.3f}"
            "<br>loss %{customdata[2]:.3g}",
        )
    for kind, mark in MARKS.items():
        here = (landscape.plane_kind == kind) & (np.abs(landscape.plane_point[:, 0]) <= 2)
        if here.any():
            figure.add_scatter(
                x=landscape.plane_point[here, 0],
                y=landscape.plane_point[here, 1],
                customdata=landscape.plane_loss[here],
                mode="markers",
                marker={
                    "symbol": mark.plotly,
                    "size": mark.size + 4,
                    "color": mark.colour,
                    "line": {"color": "black", "width": 1},
                },
                name=kind,
                hovertemplate="O[1] %{x:.3f}, g %{y:.3f}<br>loss %{customdata:.3g}",
            )
    figure.update_layout(
        title=f"a {symbol} b on {landscape.task.range}: the DMU's loss at O[0] = 1",
        xaxis={"title": "O[1]", "range": [-2, 2]},
        yaxis={"title": "g, the weight of the linear domain", "range": [-0.03, 1.03]},
        legend={"orientation": "h", "y": -0.15},
    )
    return figure


def draw(landscape: Landscape, path: Path) -> None:
    """Write a page that opens without a network."""
    figure(landscape).write_html(path, include_plotlyjs=True)
