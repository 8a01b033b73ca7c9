"""The page: every panel, whatever the rows; names are text."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go
import pytest

from arithmix.records.provenance import Provenance
from arithmix.records.row import Curve
from arithmix.records.store import Store
from arithmix.report import panels as folder
from arithmix.report.data import Data, Source, gather
from arithmix.report.page import page
from arithmix.report.panels import panels
from arithmix.report.theme import templates
from arithmix.tasks import Task

from .made import landscape, row, rows

NASTY = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "%{x}&amp;<b>b</b>"]


class Read(HTMLParser):
    """The text of a page by section, and its scripts."""

    def __init__(self, html):
        super().__init__()
        self.sections, self.scripts, self.tags, self._at, self._script = {}, [], [], None, None
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "section":
            self._at = dict(attrs)["id"]
            self.sections[self._at] = ""
        if tag == "script":
            self._script = dict(attrs).get("type", "")

    def handle_endtag(self, tag):
        if tag == "script":
            self._script = None

    def handle_data(self, data):
        if self._script is not None:
            self.scripts.append((self._script, data))
        elif self._at:
            self.sections[self._at] += data

    @property
    def figures(self):
        found = [json.loads(text) for kind, text in self.scripts if kind == "application/json"]
        return [one for one in found if "data" in one]


@pytest.fixture(scope="module")
def shipped():
    return page(gather(None))


@pytest.fixture(scope="module")
def full():
    """Some of everything: units that succeed and fail, the paper's rule, landscapes."""
    solved = [one for one in rows("dmu") if one.asked.task != Task("mul", "n01")]
    some = [*solved, *rows("other", error=0.5), *(row(name) for name in NASTY)]
    some += [row("dmu", "mul", "n01", seed, error=0.3) for seed in range(3)]
    some += [row("wide", inputs=10)]
    kept = {"landscape/sub/sym": landscape(), "landscape/add/p20": landscape("add", "p20")}
    sources = [Source("x.db", "3", {"torch": "<i>2</i>"})]
    return page(Data(some, sources, kept))


def test_a_page_has_every_panel_with_its_command(shipped):
    read = Read(shipped)
    assert list(read.sections) == list(panels())
    for name, panel in panels().items():
        assert panel.TITLE in read.sections[name]
        assert panel.COMMAND in read.sections[name]


def test_the_shipped_results_fit(shipped):
    assert len(shipped.encode()) < 8e6
    assert "Nothing is recorded" not in Read(shipped).sections["success"]


def test_an_empty_database_says_what_to_run():
    read = Read(page(Data([])))
    assert list(read.sections) == list(panels())
    for name, panel in panels().items():
        if name != "thresholds":  # needs no rows
            assert "Nothing is recorded" in read.sections[name], name
        assert panel.COMMAND in read.sections[name]


def test_nothing_is_fetched(full):
    for tag, attributes in Read(full).tags:
        for key in ("src", "href"):
            assert attributes.get(key, "#")[:1] == "#" or attributes[key] == "data:,", (
                tag,
                attributes,
            )


def test_figures_are_what_plotly_allows(full, shipped):
    figures = Read(full).figures + Read(shipped).figures[:40]
    assert len(figures) > 60
    for figure in figures:
        go.Figure(figure)
    for template in templates().values():
        go.layout.Template(template)


def test_names_stay_text(full):
    read = Read(full)
    assert sum(tag == "script" for tag, _ in read.tags) == len(read.scripts)
    assert not any(tag in ("img", "i", "b") for tag, _ in read.tags)
    for name in NASTY:
        assert name in read.sections["fair"]
    for figure in read.figures:
        # What plotly would read as markup is our own; names are in entities.
        assert not re.search(r"<(?!/?b>|br>|extra>|/extra>)", json.dumps(figure))
        assert "<b>b" not in json.dumps(figure) and "<b>sub" not in json.dumps(figure)


def test_the_summary_says_what_is_solved(full):
    said = Read(full).sections["summary"]
    assert "solves +, − and ÷ in every training" in said  # noqa: RUF001
    assert "× in 24 of 27 (0 of 3 on n01" in said  # noqa: RUF001
    assert "27/27" in said and "100% [88, 100]" in said
    assert "other comes nearest" in said


def test_odd_rows_do_not_break_the_page():
    nothing = np.array([np.nan], dtype=np.float32)
    start = Curve(np.array([0], dtype=np.int32), nothing, nothing, nothing)
    step = np.arange(0, 3000, 1000, dtype=np.int32)
    wild = np.array([1.0, np.inf, np.nan], dtype=np.float32)
    some = [
        row("dmu", curve=start, status="diverged", parameters={}),
        row("dmu", "mul", curve=Curve(step, wild, wild, wild), parameters={"gate": [float("nan")]}),
        row("mine:Unit", "sub", error=0.0, parameters={"w": [[1.0, float("inf")]]}),
        row("dmu", "div", "p20", stop="dmu", error=9.0),
    ]
    assert len(Read(page(Data(some))).sections) == len(panels())


def test_the_later_answer_counts(tmp_path):
    first, second = row("dmu", error=1.0), row("dmu", error=1e-12)
    second = replace(second, asked=replace(second.asked, recipe={"rate": 0.1}))
    with Store(tmp_path / "x.db") as store:
        store.add([first], Provenance({"torch": "1"}))
        store.add([second], Provenance({"torch": "2"}))
    data = gather(tmp_path / "x.db", own=True)
    assert [one.asked.recipe for one in data.rows] == [{"rate": 0.1}]
    assert {source.facts["torch"] for source in data.sources} == {"1", "2"}


def test_a_file_in_the_folder_is_a_panel(tmp_path, monkeypatch):
    text = 'ORDER, TITLE, ABOUT, COMMAND = 5, "New", "", "new"\ndef parts(data): return []\n'
    (tmp_path / "dropped.py").write_text(text)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    assert list(panels())[1] == "dropped"
    assert "dropped" in Read(page(Data([]))).sections


def test_the_report_needs_no_torch():
    program = (
        "import sys; from arithmix.report.page import page; from arithmix.report.data import Data; "
        "page(Data([])); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stdout + done.stderr
