import subprocess
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from arithmix.bench import reference
from arithmix.cli import app
from arithmix.landscape import interactive, make, picture
from arithmix.landscape.arrays import Landscape
from arithmix.landscape.paths import SEEDS, STARTS, _unit, train
from arithmix.landscape.tables import away, near, places, said, summary, tables
from arithmix.records.store import Store
from arithmix.tasks import Task
from arithmix.units.dmu import DMU

TASK = Task("sub", "p20")


@pytest.fixture(scope="module")
def made():
    return make.landscape(TASK, make.ground(TASK), train([TASK], steps=40, compiled=False)[0])


def test_a_path_is_that_of_the_plain_twin():
    tasks = [Task("mul", "n01"), TASK]
    ways = train(tasks, steps=12, compiled=False)
    for task, way in zip(tasks, ways, strict=True):
        assert way.step[0] == 0
        assert way.step[-1] == 12
        assert way.path.shape == (len(STARTS), len(way.step), 3)
        assert (way.path[:, 0, 2] == 0.5).all()
        ends = [*way.path[:, -1], *way.test]
        for seed in (0, 3, 6, SEEDS, 2 * SEEDS - 1):
            unit = _unit(task, list(STARTS.values())[seed % SEEDS], seed)
            recipe = replace(DMU.recipe(task.operation), arguments={})
            reference.train(unit, task, seed, recipe, 12)
            g = unit.weights().detach()[0, :1]
            end = torch.cat([unit.selector.detach()[0], g]).numpy()
            np.testing.assert_allclose(ends[seed], end, atol=2e-5)


def test_arrays_have_their_shapes(made):
    rows, columns, points, trainings = 61, 121, len(made.point), len(STARTS)
    assert made.loss.shape == (rows, columns) == (len(made.g), len(made.o1))
    assert made.point.shape == made.point_eigenvalues.shape == (points, 3)
    for name in ("kind", "rest", "loss", "slope"):
        assert getattr(made, f"point_{name}").shape == (points,)
    assert made.plane_point.shape == (len(made.plane_kind), 2)
    assert made.path.shape == (trainings, len(made.path_step), 3)
    assert made.path_loss.shape == made.path.shape[:2]
    assert (made.path_point < points).all()
    assert made.place.shape == (len(made.place_point), 3)
    assert set(made.place_point.tolist()) == set(range(points))
    for ends, distance in (
        (made.path[:, -1], made.path_distance),
        (made.test_end, made.test_distance),
    ):
        apart = np.abs(ends[:, None] - made.place).max(-1)
        np.testing.assert_allclose(apart.min(1), distance)
    np.testing.assert_array_equal(
        made.place_point[np.abs(made.path[:, -1, None] - made.place).max(-1).argmin(1)],
        made.path_point,
    )


def test_a_landscape_comes_back_from_a_file_and_from_the_records(made, tmp_path):
    made.save(tmp_path / "a.npz")
    for back in (Landscape.load(tmp_path / "a.npz"), Landscape.of(made.arrays)):
        assert back.task == TASK
        for name, array in made.arrays.items():
            np.testing.assert_array_equal(getattr(back, name), array)


@pytest.mark.parametrize("form", ["png", "svg", "pdf", "html"])
def test_pictures_are_written_and_the_same_again(made, tmp_path, form):
    draw = interactive.draw if form == "html" else picture.draw
    for name in ("a", "b"):
        draw(made, tmp_path / f"{name}.{form}")
    first, second = ((tmp_path / f"{name}.{form}").read_bytes() for name in ("a", "b"))
    assert len(first) > 10_000
    assert form == "html" or first == second


def test_tables_count_the_trainings(made):
    points, ways, gate = tables(made)
    assert len(points.rows) == len(made.point)
    assert [row[0] for row in ways.rows] == list(STARTS)
    assert gate.rows[0][2] == "yes"
    hits, failed = near([made, made])
    assert failed == 2 * (~made.path_solved).sum()
    assert hits == 2 * (~made.path_solved & (made.path_distance < 0.05)).sum()
    some = {"test_solved": np.array([True, False, False]), "test_distance": np.array([0, 0, 1.0])}
    tested = replace(made, chance=np.array(0.25), **some)
    assert near([tested], test=True) == (1, 2)
    assert said([tested]).endswith("start from, 1 of 2; of places drawn evenly 25.0% are as near")
    ends = Counter(made.path_point[made.path_distance < 0.05].tolist())
    assert [row[1] for row in points.rows if row[1]] == [str(n) for _, n in ends.most_common()]
    assert len(places(made, some=True).rows) == len(ends | {0: 1})
    assert summary([made])[0].rows[0][0] == "sub p20"


def test_slopes_away_are_none_in_a_bowl(made):
    bowl = (made.o1 - made.pattern[1]) ** 2 + made.g[:, None]
    assert away(replace(made, loss=bowl)) == 0
    assert away(replace(made, loss=-bowl)) == 1


def test_the_command_keeps_arrays_and_draws(tmp_path, monkeypatch):
    monkeypatch.setattr(make, "train", lambda tasks, steps: train(tasks, 10, compiled=False))
    words = [
        "landscape",
        "add",
        "p11",
        "--db",
        str(tmp_path / "a.db"),
        "-o",
        str(tmp_path / "a.svg"),
    ]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0
    assert "Stationary points of add p11" in result.stdout
    assert "solution" in result.stdout
    assert (tmp_path / "a.svg").exists()
    with Store(tmp_path / "a.db", create=False) as store:
        (name, arrays), *others = store.kept("landscape/").items()
    assert not others
    assert name == "landscape/add/p11"
    assert Landscape.of(arrays).task == Task("add", "p11")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "name an operation and a range"),
        (["sub"], "name an operation and a range"),
        (["sbu", "sym"], "no operation is called 'sbu'"),
        (["sub", "smy"], "no range is called 'smy'"),
        (["sub", "--all"], "--all is every operation"),
        (["sub", "sym", "-o", "a.jpg"], "no format is called 'jpg'"),
    ],
)
def test_mistakes_are_one_sentence(words, sentence):
    result = CliRunner().invoke(app, ["landscape", *words])
    assert isinstance(result.exception, ValueError)
    assert sentence in str(result.exception)


def test_reading_and_drawing_need_no_torch():
    modules = "arrays, interactive, picture, tables"
    program = f"import sys; from arithmix.landscape import {modules}; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
