"""The panel of a language model that computes."""

import json
from dataclasses import replace

import plotly.graph_objects as go
import pytest
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm.evaluation import Answers, Evaluation, Score, binned
from arithmix.lm.reading import Operand
from arithmix.lm.trace import Computed, Formula, Trace
from arithmix.lm.words import Near
from arithmix.report.data import Data, gather
from arithmix.report.page import page

from .test_page import NASTY, Read

SIX, SEVEN = Operand("6", 6, 0, 1), Operand("7", 7, 6, 7)
SUM, PRODUCT = (Formula(f"6 {sign} 7", "42", (SIX, SEVEN), 0.9) for sign in "+*")


def example(text):
    whole = f"6 and 7 {text} 42"
    at = len(whole) - 2
    return Trace(whole, (Computed("42", at, at + 2, PRODUCT, 0.97, SUM),))


def made(**changed):
    scores = {"all": Score(40, 2.0, 20), "after =": Score(0, 0.0, 0), "fired": Score(4, 3.0, 1)}
    better = {"all": Score(40, 0.5, 36), "after =": Score(0, 0.0, 0), "fired": Score(4, 0.1, 3)}
    found = Evaluation(
        model=("Tiny", "0123456789abcdef99"),
        block=("mine", "fedcba987654321099"),
        files=(("texts.jsonl", "aaaabbbbccccdddd99"),),
        texts=10,
        base=scores,
        with_block=better,
        fired=4,
        fired_right=3,
        bins=binned([(0.95, True), (0.97, True), (0.99, True), (0.5, False)]),
        answers=Answers(8, 2, 1, 6),
        words={"*": Near(20, {"each": 12, "rare": 4}), "+": Near(20, {"total": 9, "each": 1})},
        examples=(example("give"), *(example(name) for name in NASTY)),
        seconds=3.0,
    )
    return replace(found, **changed)


@pytest.fixture(scope="module")
def read():
    return Read(page(Data([], evaluations=[made()])))


def test_the_panel_has_the_table_with_n_and_intervals(read):
    said = read.sections["language"]
    assert "all numbers402.0000.50050.0 [35, 65]90.0 [77, 96]" in said
    assert "final answers8--12.5 [2, 47]75.0 [41, 93]" in said
    assert "2 texts have no answer" in said
    assert "fired at 4 numbers and were right at 3: 75.0 [30, 95] percent" in said
    assert "texts.jsonl (SHA-256 aaaabbbbccccdddd)" in said
    assert "Tiny 0123456789abcdef, block mine fedcba9876543210" in said


def test_its_figure_is_what_plotly_allows(read):
    [figure] = [one for one in read.figures if "foretold" in json.dumps(one)]
    go.Figure(figure)
    assert figure["data"][1]["y"] == [0, 1]


def test_an_example_has_its_numbers_marked_and_stays_text(read):
    marks = [attributes for tag, attributes in read.tags if tag == "mark"]
    assert len(marks) == 1 + len(NASTY)
    assert marks[0]["title"] == "42 = 6 * 7  (97%; next 6 + 7, 90%)"
    assert not any(tag in ("img", "b") for tag, _ in read.tags)
    for name in NASTY:
        assert name in read.sections["language"]


def test_words_that_are_frequent_enough_go_with_their_operation(read):
    said = read.sections["language"]
    assert said.index("× multiply") < said.index("each12") < said.index("total9")
    assert "rare" not in said


def test_without_a_block_and_without_answers_it_is_the_base_alone():
    alone = made(block=None, with_block={}, answers=None, fired=0, bins=binned([]), words={})
    said = Read(page(Data([], evaluations=[replace(alone, examples=())]))).sections["language"]
    assert "all numbers402.000-50.0 [35, 65]-" in said
    assert "no block" in said and "An example" not in said and "final answers" not in said


def test_several_files_are_several_tabs_and_come_by_the_command(tmp_path):
    for name in ("one", "two"):
        made(files=((f"{name}.txt", "0" * 64),)).save(tmp_path / f"{name}.json")
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    said = Read(page(gather(None, list, own=True, lm=files))).sections["language"]
    assert "1: one.txt" in said and "2: two.txt" in said
    command = ["report", "--own", "--lm", str(files[0]), "-o", str(tmp_path / "r.html")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "all numbers" in (tmp_path / "r.html").read_text()
    done = CliRunner().invoke(app, ["report", "--lm", str(tmp_path / "r.html")])
    assert "is not what `arithmix lm eval --json` writes" in str(done.exception)
