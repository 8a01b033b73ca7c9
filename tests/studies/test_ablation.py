"""The ablations ask for units that exist, share the paper's run, and read where trainings end."""

import dataclasses

import numpy as np
import pytest

from arithmix.bench.asked import asks
from arithmix.records.row import Curve, Row
from arithmix.studies import experiment, experiments
from arithmix.studies._ablation import linear_weight, tables

ABLATIONS = [name for name in experiments() if name.startswith("ablation-")]


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_variant_can_be_asked_and_the_papers_run_is_among_them(name):
    study = experiment(name).study()
    assert study.about.endswith("?")
    keys = {ask.key for ask in asks(study)}
    assert len(keys) == study.members  # no two variants are the same question
    paper = experiment("dmu").study()
    assert {ask.key for ask in asks(paper)} <= keys


def made(unit, solved):
    """A row of a training that stays under its threshold from step 10 on, or never."""
    study = experiment("ablation-selector").study().narrow(units=[unit], seeds=[0])
    asked = asks(study)[0]
    step = np.arange(200)
    error = np.where(step >= 10, 0.0 if solved else 1.0, 1.0).astype(np.float32)
    parameters = {"gate": [[0.1, -0.1]]}
    if "learn" in unit:
        parameters["selector"] = [[0.25, -0.5]]
    return Row(asked, "stopped", 110, Curve(step, error, error, error), parameters)


def test_tables_tell_what_failed_and_where_it_ended():
    learned = "dmu[learn_selector=True,selector=half]"
    rows = [made("dmu", True), made(learned, False)]
    study = experiment("ablation-selector").study()
    success, steps, unsolved = tables(rows, study)
    assert [line[1][:3] for line in success.rows] == ["1/1", "0/1"]
    assert steps.rows[0][1].startswith("109") and steps.rows[1][1] == "-"
    (line,) = unsolved.rows
    assert line[:2] == [learned, "add sym"]
    # Two logits 0.2 apart under a temperature of 0.1: a sigmoid of 2.
    assert line[4:] == [f"{1 / (1 + np.exp(-2)):.3f}", "0.25 -0.50"]


def test_one_logit_is_a_sigmoid():
    row = dataclasses.replace(made("dmu", True), parameters={"gate": [[-0.2]]})
    assert linear_weight(row) == pytest.approx(1 / (1 + np.exp(2)))
