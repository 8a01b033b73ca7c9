"""The page: panels as one HTML file that holds all it needs, plotly included."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import count

from ..lm.show import as_html
from .data import Data
from .draw import packed
from .panels import panels
from .parts import Card, Cards, Chart, Command, Fold, Grid, Part, Side, Strong, Tabs, Traced, Words
from .theme import templates

TALL = 40
"""Rows above which a table scrolls in a box of its own."""


def page(data: Data) -> str:
    """Write every panel."""
    from plotly.offline import get_plotlyjs

    html = _Html()
    sections = [html.section(name, panel, data) for name, panel in panels().items()]
    links = [f'<a href="#{name}">{escape(panel.TITLE)}</a>' for name, panel in panels().items()]
    here = files(__name__.rpartition(".")[0])
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,"><title>Arithmix report</title>',
            f"<style>{here.joinpath('page.css').read_text()}</style></head><body>",
            "<header><h1>Arithmix <span>which unit learns which operation</span></h1></header>",
            f"<nav>{''.join(links)}</nav>",
            f"<main>{''.join(sections)}</main>",
            f'<script type="application/json" id="templates">{_json(templates())}</script>',
            f"<script>{get_plotlyjs()}</script>",
            f"<script>{here.joinpath('page.js').read_text()}</script></body></html>\n",
        ]
    )


class _Html:
    """Parts as HTML; it counts what needs a name of its own."""

    def __init__(self) -> None:
        self._names: Iterator[int] = count()

    def section(self, name: str, panel, data: Data) -> str:
        """One panel, with its command; what to run if it has nothing to show."""
        parts = panel.parts(data)
        about = f'<p class="about">{escape(panel.ABOUT)}</p>' if parts and panel.ABOUT else ""
        if not parts:
            missing = ("Nothing is recorded for this yet. To make it, run ", Command(panel.COMMAND))
            body = f'<div class="missing">{self.part(Words(missing))}</div>'
        else:
            command = f"<code>{escape(panel.COMMAND)}</code>"
            body = f'{self.parts(parts)}<p class="again">Reproduce with {command}</p>'
        return f'<section id="{name}"><h2>{escape(panel.TITLE)}</h2>{about}{body}</section>'

    def parts(self, parts: Iterable[Part]) -> str:
        return "".join(map(self.part, parts))

    def part(self, part: Part) -> str:
        match part:
            case Words(pieces):
                return f"<p>{''.join(map(_piece, pieces))}</p>"
            case Chart():
                return self._chart(part)
            case Grid():
                return _grid(part)
            case Cards(cards):
                return f'<div class="cards">{"".join(map(_card, cards))}</div>'
            case Side(parts):
                inside = "".join(f"<div>{self.part(one)}</div>" for one in parts)
                return f'<div class="side">{inside}</div>'
            case Tabs(parts):
                return self._tabs(part)
            case Traced(trace):
                return as_html(trace)
            case Fold(title, parts):
                head = f"<summary>{escape(title)}</summary>"
                return f"<details>{head}{self.parts(parts)}</details>"

    def _chart(self, chart: Chart) -> str:
        name = f"figure-{next(self._names)}"
        title = f'<h3 class="of">{escape(chart.title)}</h3>' if chart.title else ""
        figure = _json(chart.figure)
        return (
            f'<figure>{title}<div class="chart" role="img" aria-label="{escape(chart.title)}" '
            f'data-figure="{name}" style="height:{chart.height}px"></div>'
            f'<script type="application/json" id="{name}">{figure}</script></figure>'
        )

    def _tabs(self, tabs: Tabs) -> str:
        name = f"tabs-{next(self._names)}"
        buttons, boxes = [], []
        for i, (title, parts) in enumerate(tabs.parts.items()):
            buttons.append(
                f'<button role="tab" id="{name}-{i}" aria-controls="{name}-{i}-box" '
                f'aria-selected="{"true" if i == 0 else "false"}">{escape(title)}</button>'
            )
            boxes.append(
                f'<div role="tabpanel" id="{name}-{i}-box" aria-labelledby="{name}-{i}"'
                f"{'' if i == 0 else ' hidden'}>{self.parts(parts)}</div>"
            )
        bar = f'<div role="tablist">{"".join(buttons)}</div>'
        return f'<div class="tabs">{bar}{"".join(boxes)}</div>'


def _piece(piece: str | Strong | Command) -> str:
    match piece:
        case Strong(text):
            return f"<strong>{escape(text)}</strong>"
        case Command(text):
            return f"<code>{escape(text)}</code>"
        case _:
            return escape(piece)


def _breakable(text: str) -> str:
    """Text whose long names break where their parts meet."""
    return re.sub(r"(?<=\w)(?=\[)|(?<=[:,])(?=\w)", "<wbr>", escape(text))


def _card(card: Card) -> str:
    lines = "".join(f"<p>{_breakable(line)}</p>" for line in card.lines)
    return (
        f'<div class="card {card.tone}"><h3>{escape(card.title)}</h3>'
        f'<p class="number">{escape(card.number)}</p>{lines}</div>'
    )


def _grid(grid: Grid) -> str:
    table, tones = grid.table, grid.tones

    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    kinds = [_kind(column) if j else "" for j, column in enumerate(columns)]

    def cell(i: int, j: int, text: str) -> str:
        names = " ".join(filter(None, [kinds[j], tones.get((i, j))]))
        tone = f' class="{names}"' if names else ""
        kind = "td" if j else "th"
        head, found, tail = text.partition(" [") if j else (text, "", "")
        tail = escape(tail).replace(", ", ",&nbsp;")
        interval = f" <small>[{tail}</small>" if found else ""
        words = escape(head) if j else _breakable(head)
        return f"<{kind}{tone}>{words}{interval}</{kind}>"

    head = "".join(
        f'<th class="{kind}">{escape(name)}</th>'
        for name, kind in zip(table.header, kinds, strict=True)
    )
    rows = "".join(
        f"<tr>{''.join(cell(i, j, text) for j, text in enumerate(row))}</tr>"
        for i, row in enumerate(table.rows)
    )
    title = f'<h3 class="of">{escape(table.title)}</h3>' if table.title else ""
    tall = len(table.rows) > TALL
    notes = [table.note, f"{len(table.rows)} rows; the table scrolls" if tall else ""]
    note = "".join(f'<p class="note">{escape(text)}</p>' for text in notes if text)
    return (
        f'{title}<div class="frame{" tall" if tall else ""}"><div class="scroll" tabindex="0">'
        f"<table><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div></div>{note}"
    )


def _kind(column: Sequence[str]) -> str:
    """How a column stands: numbers to the right, words to the left, long words in lines."""
    filled = [text for text in column if text]
    longest = max(map(len, filled), default=0)
    if longest <= 24 and all(text[0].isdigit() or text[0] in "-–∞" for text in filled):
        return ""
    return "long" if longest > 40 else "word"


def _json(value: object) -> str:
    """JSON that can't end the script it stands in."""
    words = json.dumps(value, default=packed, allow_nan=False, separators=(",", ":"))
    return words.replace("<", "\\u003c")
