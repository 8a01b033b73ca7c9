import pytest
import torch
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.dag import execute
from arithmix.dag.descent import descend
from arithmix.dag.recover import agrees, balanced, cases, different, distribution, examples, recover
from arithmix.dag.search import evaluate

from .test_execute import generator


def test_every_program_is_a_function_of_its_own():
    assert len(different(4, 1)) == 36
    codes = different(3, 2)
    x = 1 + torch.rand(8, 3, generator=generator(), dtype=torch.float64)
    values = evaluate(codes, x)
    gap = (values[:, None] - values).abs().amax(-1) + torch.eye(len(codes))
    assert gap.min() > 1e-9


def test_balanced_programs_join_two_results():
    kinds = {case.name: case for case in cases(20, 0, 0.0)}
    assert len(kinds["3 steps, balanced"].programs) == 10
    assert len(kinds["3 steps, unbalanced"].programs) == 10
    assert all(balanced(codes, 4) for codes in kinds["3 steps, balanced"].programs)
    # The last step joins slots 4 and 5: (a + b) and (a + c) stand apart, (a + b) + c does not.
    assert balanced([0, 6, 84], 4) and not balanced([0, 36, 84], 4)


def test_the_distribution_recovers_what_it_is_shown():
    table = recover(count=2, deep=0, noise=0.01, others=0, methods={"distribution": distribution})
    assert len(table.rows) == 8
    for row in table.rows:
        solved, tried = row[2].split("/")
        assert solved == tried, row


def test_another_seed_draws_other_programs_and_examples():
    first, again, other = (list(cases(20, 0, 0.0, seed)) for seed in (0, 0, 1))
    assert first == again
    assert first[2].programs != other[2].programs
    x, same, shifted = (examples(first[2], 0, "cpu", seed)[0] for seed in (0, 0, 1))
    assert x.equal(same) and not x.equal(shifted)


def test_a_wrong_answer_is_not_counted():
    wrong = {"wrong": lambda x, y, depth, seconds: lambda values: values.sum(1)}
    table = recover(count=2, deep=0, noise=0.0, others=0, methods=wrong)
    assert all(row[2].startswith("0/") for row in table.rows)
    true = torch.tensor([1.0, 2.0], dtype=torch.float64)
    assert agrees(true + 1e-12, true) and not agrees(true + 1e-6, true)


def test_descent_ends_at_a_hard_plan():
    x = 1 + torch.rand(200, 3, generator=generator(), dtype=torch.float64)
    plan = descend(x, x.prod(1), depth=2, seconds=0.1)
    assert plan.hard and (plan.shape, plan.inputs, plan.depth) == ((), 3, 2)
    assert execute(plan, x).isfinite().all()


def test_the_command_prints_a_table():
    options = ["--count", "2", "--deep", "0", "--others", "0", "--noise", "0", "--format", "csv"]
    done = CliRunner().invoke(app, ["recover", *options, "--quiet"])
    assert done.exit_code == 0, done.output
    assert '3 steps, balanced",distribution,1/1' in done.output


@pytest.mark.parametrize("options", [["--count", "0"], ["--noise", "2"], ["--seed", "-1"]])
def test_senseless_numbers_get_a_sentence(options):
    done = CliRunner().invoke(app, ["recover", *options])
    assert isinstance(done.exception, ValueError) and "needs a program" in str(done.exception)
