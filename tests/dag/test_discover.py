import csv
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from arithmix.cli import app, main
from arithmix.dag import Discover
from arithmix.dag._write import to_sympy

FORMULAS = [
    "a",
    "a - b",
    "b / c",
    "a * b - c",
    "(a + b) / (c * d)",
    "(a - b) * (c - d)",
    "a / b + c / d",
]


def examples(text, rows=400, noise=0.0, low=1.0, high=2.0, seed=0):
    random = np.random.default_rng(seed)
    x = random.uniform(low, high, (rows, 4))
    y = eval(text, {}, dict(zip("abcd", x.T, strict=True)))
    return x, y * (1 + noise * random.standard_normal(rows))


@pytest.mark.parametrize("noise", [0.0, 0.01])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_found_from_examples(text, noise):
    found = Discover().fit(*examples(text, noise=noise), names="abcd")
    assert (to_sympy(found.expression_) - to_sympy(text)).expand().equals(0)
    assert found.error_ == pytest.approx(noise, abs=1e-12, rel=0.3)
    assert found.probability_ > 0.9
    assert sum(one.probability for one in found.candidates_) <= 1 + 1e-9
    x, y = examples(text, low=2.0, high=6.0)
    assert np.allclose(found.predict(x), y, rtol=1e-9, atol=1e-12)
    assert found.score(x, y) == pytest.approx(1.0)


def test_the_output_says_what_was_searched():
    x, y = examples("(a + b) / (c * d)")
    assert "exactly all 196 596 plans of up to 3 steps" in Discover().fit(x, y).searched_
    beam = Discover(budget=2**20).fit(x, y)
    assert beam.searched_.startswith("a beam over")
    assert beam.expression_ == "(x0 + x1) / (x2 * x3)"
    assert "no deeper one was needed" in Discover().fit(x, x[:, 0] * x[:, 1]).searched_


def test_constants_are_used_where_they_are_given():
    x, _ = examples("a")
    found = Discover(2, constants=(1, 2)).fit(x[:, :2], 2 * x[:, 0] + x[:, 1])
    assert found.expression_ == "2 * x0 + x1"
    assert found.predict([[1.0, 5.0]]).tolist() == [7.0]


def test_numbers_of_any_size_and_sign_will_do():
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, (300, 3)) * [1e12, 1e-9, 1.0]
    found = Discover().fit(x, x[:, 0] * x[:, 1] + x[:, 2])
    assert found.expression_ == "x2 + x0 * x1"


def test_noise_alone_gets_no_certain_formula():
    random = np.random.default_rng(0)
    found = Discover(2).fit(random.uniform(1, 2, (100, 3)), random.standard_normal(100))
    assert found.error_ > 0.5


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (np.ones(4), np.ones(4), "X must be a table"),
        (np.ones((4, 2)), np.ones((4, 2)), "y must be a list"),
        (np.ones((4, 2)), np.ones(5), "same number of rows"),
        (np.ones((2, 2)), np.ones(2), "four at least"),
        (np.full((9, 2), np.nan), np.ones(9), "not a finite number"),
    ],
)
def test_wrong_examples_get_a_sentence(x, y, words):
    with pytest.raises(ValueError, match=words):
        Discover().fit(x, y)


def write(path, header, lines):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([*([header] if header else []), *lines])
    return str(path)


def test_the_command_reads_a_file_and_prints_the_formula(tmp_path):
    x, y = examples("(a + b) / (c * d)", 100)
    file = write(tmp_path / "data.csv", ["a", "b", "c", "d", "y"], np.column_stack([x, y]))
    done = CliRunner().invoke(app, ["discover", file, "--device", "cpu"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("y = (a + b) / (c * d)\n")
    assert "held-out" in done.output and "exactly all" in done.output
    x, y = examples("a - b", 100)
    file = write(tmp_path / "bare.csv", None, np.column_stack([y, x[:, :2]]))
    done = CliRunner().invoke(app, ["discover", file, "--target", "x0", "--device", "cpu"])
    assert done.output.startswith("x0 = x1 - y\n")


@pytest.mark.parametrize(
    ("text", "more", "words"),
    [
        (None, [], "can't be read"),
        ("a,b\n1,2\n", [], "four are needed"),
        ("a\n1\n2\n", [], "two columns"),
        ("a,b\n1,2\n1,x\n3,4\n5,6\n", [], "row 3 .* has 'x' for b"),
        ("a,b\n1,2\n1\n", [], "row 3 .* has 1 cells"),
        ("a,a\n1,2\n", [], "different names"),
        ("a,b\n" + "1,2\n" * 9, ["--target", "c"], "no column is called 'c'"),
        ("a,b\n" + "1,2\n" * 9, ["--depth", "0"], "depth must be 1"),
        ("a,b\n" + "1,2\n" * 9, ["--constants", "1,p"], "constants are numbers"),
    ],
)
def test_a_bad_file_gets_a_sentence(tmp_path, monkeypatch, capsys, text, more, words):
    path = tmp_path / "data.csv"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr("sys.argv", ["arithmix", "discover", str(path), *more])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("arithmix: ") and error.count("\n") == 1
    assert re.search(words, error), error
