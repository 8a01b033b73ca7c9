"""The page: every panel, whatever the rows; names are text."""

import json
import re
import subprocess
import sys
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go
import pytest

from arithmix.measure.rulers import RULERS
from arithmix.records.provenance import Provenance
from arithmix.records.row import Curve
from arithmix.records.store import Store
from arithmix.report import panels as folder
from arithmix.report.data import Data, Source, gather
from arithmix.report.page import page
from arithmix.report.panels import panels
from arithmix.report.panels._settings import setting
from arithmix.report.panels._words import about_units
from arithmix.report.theme import templates
from arithmix.studies import experiments
from arithmix.tasks import Task
from arithmix.units import units

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
            self.sections[self._at] += data.replace("\u00a0", " ")

    @property
    def figures(self):
        found = [json.loads(text) for kind, text in self.scripts if kind == "application/json"]
        return [one for one in found if "data" in one]


@pytest.fixture(scope="module")
def shipped():
    return page(gather(None, list))


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
    assert "solves +, − and ÷ in every training" in said
    assert "× on 8 of 9 ranges always, on [-0.2, -0.1), called n01, never (0 of 3 [0, 56];" in said
    assert "near miss" not in said
    assert said.index("The rule") < said.index("How sure") < said.index("27/27")
    assert "Domain Mixed Unit (DMU)" in said
    assert "27/27" in said and "on 9 of 9 ranges, on each in 3 of 3 [44, 100]" in said
    assert "other comes nearest" in said


def test_a_failure_close_to_the_threshold_is_a_near_miss():
    limit = RULERS["primer"].threshold(Task("mul", "n01"))
    some = [row("dmu", "mul", "n01", error=1.8 * limit), row("dmu", "mul", "sym")]
    said = Read(page(Data(some))).sections["summary"]
    assert "a near miss, its median error ends at 1.8 times the threshold" in said


def test_the_summary_explains_ranges_units_and_words(full):
    said = Read(full).sections["summary"]
    for words in ("[-0.2, -0.1)[-2, -0.2)", "the domain mixed unit", "judged row", "25 seeds"):
        assert words in said, words


def test_every_unit_of_the_package_has_its_line():
    docs = {name: sys.modules[unit.__module__].__doc__ for name, unit in units().items()}
    assert about_units() == {name: doc.partition("\n")[0] for name, doc in docs.items()}


def test_fewer_trainings_elsewhere_are_told():
    some = [row("dmu", seed=seed) for seed in range(3)]
    said = Read(page(Data([*some, row("wide", inputs=100)]))).sections
    assert "3 trainings for each operation and range" in said["summary"]
    told = "trainings for each operation and range: 1 of wide with 100 inputs."
    assert told in said["success"] and told not in said["summary"]


def test_a_rate_of_ranges_that_are_all_or_nothing_has_no_interval(full):
    read = Read(full)
    assert "88.9 [8 of 9 ranges]" in read.sections["fair"]
    mixed = [row("dmu", seed=seed, error=error) for seed, error in enumerate([1e-12, 0.5])]
    assert "50.0 [9, 91]" in Read(page(Data(mixed))).sections["fair"]


def test_a_unit_has_one_colour_on_the_page(full):
    colours = {}
    for figure in Read(full).figures:
        for one in figure["data"]:
            if one.get("name") in ("dmu", "other") and "color" in one.get("line", {}):
                colours.setdefault(one["name"], set()).add(one["line"]["color"])
    assert {name: len(those) for name, those in colours.items()} == {"dmu": 1, "other": 1}


def test_an_unfinished_ablation_has_no_pooled_rate():
    study = experiments()["ablation-logits"].study()
    every = [
        row(unit, task.operation, task.range, seed, stop="dmu")
        for unit, task in study.entries
        for seed in study.seeds
    ]
    early = [one for one in every if one.asked.unit == "dmu" or one.asked.seed < 2]
    said = Read(page(Data(early))).sections["ablations"]
    assert f"Incomplete: {len(early)} of {study.members} rows" in said
    assert "0 [0, 2]" not in said and "Not recorded" in said
    said = Read(page(Data(every))).sections["ablations"]
    assert "Incomplete" not in said and "0 [0, 2]" in said


def test_an_unfinished_study_of_the_papers_rule_has_no_rate():
    some = [*rows("dmu"), row("dmu", stop="dmu")]
    assert (
        "no rate yet for what has fewer than 900 rows, as the DMU (1)."
        in Read(page(Data(some))).sections["summary"]
    )


def test_the_judged_step_is_marked():
    step = np.arange(0, 5001, 1000, dtype=np.int32)
    validation = np.array([5, 4, 1, 3, 3, 3], dtype=np.float32)
    test = np.array([9, 9, 7, 1e-12, 9, 9], dtype=np.float32)
    curve = Curve(step, validation, test, validation)
    read = Read(page(Data([row("dmu", curve=curve)])))
    dots = [
        one
        for figure in read.figures
        for one in figure["data"]
        if "judged" in str(one.get("hovertemplate"))
    ]
    assert [(one["x"], one["y"]) for one in dots] == [([2000, 2000], [7, 7])]


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        ("dmu[gate_temperature=0.3]", "gate_temperature=0.3"),
        ("dmu[learn_selector=True,selector=add]", "learn_selector, selector=add"),
        ("dmu", "dmu as it is"),
    ],
)
def test_a_variant_is_named_by_what_it_changes(unit, said):
    assert setting(unit) == said


def test_shared_rows_are_counted_once():
    some = [row("dmu", stop="dmu"), row("dmu[gate=single]", stop="dmu")]
    said = Read(page(Data(some))).sections["provenance"]
    assert "ablation-logitsdmu2 of 18001" in said  # two rows, one of them listed above
    assert "all, each once2" in said
    assert "ablation-dtype," in said.partition("Without rows of its own")[2]


def test_ends_of_recorded_trainings_are_put_beside_the_landscape():
    name, closed = "dmu[learn_selector=True,selector=half]", [[9.0, -9.0]]
    ends = {0: [[1.01, 0.98]], 1: [[0.52, -0.3]], 2: [[0.0, 0.0]], 3: [[1.0, 1.0]]}
    step, small = np.arange(200, dtype=np.int32), np.full(200, 1e-12, dtype=np.float32)
    some = [
        row(
            name,
            "sub",
            seed=seed,
            stop="dmu",
            curve=Curve(step, small, small if seed == 3 else small + 9, small),
            parameters={"gate": closed, "selector": selector},
            arguments={"gate_temperature": 0.1},
        )
        for seed, selector in ends.items()
    ]
    listed = {"place": np.array([[1.0, 1, 1], [0.5, -0.3, 1]]), "place_point": np.array([0, 1])}
    said = Read(page(Data(some, kept={"landscape/sub/sym": landscape() | listed}))).sections
    assert "Of 3 trainings with a learnable O that fail" in said["landscape"]
    assert "1 end within 0.05 of the solution" in said["landscape"]
    assert "1 of the other 2 end within" in said["landscape"]


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


def test_the_rows_that_are_chosen_count_whenever_they_were_written(tmp_path):
    first, second = row("dmu", error=1.0), row("dmu", error=1e-12)
    first = replace(first, asked=replace(first.asked, recipe={"rate": 0.1}))
    with Store(tmp_path / "x.db") as store:
        store.add([first], Provenance({"torch": "1"}))
        store.add([second], Provenance({"torch": "2"}))
    chosen = gather(
        tmp_path / "x.db", lambda rows: [r for r in rows if r.asked.recipe["rate"] == 0.1], own=True
    )
    assert [one.asked.recipe for one in chosen.rows] == [{"rate": 0.1}]
    assert {source.facts["torch"] for source in chosen.sources} == {"1", "2"}


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


@pytest.mark.parametrize(("logits", "end"), [([[1.0, -1.0]], 1.0), ([[-1.0, 1.0]], 0.0)])
def test_a_gate_goes_to_the_side_on_which_it_ends(logits, end):
    read = Read(page(Data([row("dmu", parameters={"gate": logits})])))
    (weights,) = (
        one["data"]
        for one in read.figures
        if one["layout"].get("yaxis", {}).get("title", {}).get("text", "").startswith("weight of")
    )
    packed = weights[-1]["y"]
    middle = np.frombuffer(b64decode(packed["bdata"]), packed["dtype"])
    assert middle[0] == 0.5
    assert middle[-1] == pytest.approx(end, abs=1e-3)
