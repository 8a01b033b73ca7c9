"""Plans: written, checked, read back. `python -m tests.dag.test_plan 10000` tries as many."""

import sys
from random import Random

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.dag import Plan, execute
from arithmix.dag._write import to_sympy

from .expressions import Tracked, random_expression


def outcome(random: Random) -> str:
    """Write, run and read back one random formula; "equal", or why it was not compared."""
    names = "abcdef"[: random.randint(2, 6)]
    text = random_expression(random, names, random.randint(1, 8))
    numbers = {name: random.choice([-1, 1]) * 10 ** random.uniform(-1, 1) for name in names}
    tracked = {name: Tracked(value) for name, value in numbers.items()}
    try:
        plan = Plan.from_expression(text, names)
        true = Tracked.of(eval(text, {"__builtins__": {}}, tracked))
    except (ZeroDivisionError, ValueError) as error:
        assert "zero" in str(error), (text, error)
        return "division by zero"
    if not true.trusted:
        return "cancellation"
    values = torch.tensor([numbers[name] for name in names], dtype=torch.float64)
    close = pytest.approx(true.value, rel=1e-12, abs=0)
    assert execute(plan, values).item() == close, text
    read = plan.expression()
    assert eval(read, {"__builtins__": {}}, numbers) == close, (text, read)
    return "equal"


@given(st.randoms(use_true_random=False))
@settings(max_examples=300, deadline=None)
def test_a_formula_a_plan_and_its_reading_are_the_same_numbers(random):
    outcome(random)


def test_most_random_formulas_can_be_compared():
    random = Random(0)
    seen = [outcome(random) for _ in range(200)]
    assert seen.count("equal") > 150


@given(st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_reading_a_plan_inverts_writing_it_up_to_algebra(random):
    text = random_expression(random, "abc", random.randint(1, 4))
    try:
        plan = Plan.from_expression(text, "abc")
    except ValueError:
        return
    original = to_sympy(text)
    if original.has(sympy.zoo, sympy.nan):
        return
    read = Plan.from_expression(plan.expression(), "abc").expression()
    assert sympy.simplify(original - to_sympy(read)).equals(0) is not False, (text, read)


def test_the_papers_example_needs_the_log_domain_in_its_last_step():
    plan = Plan.from_expression("(a + b) / (c * d)")
    assert plan.O.tolist() == [
        [1, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, -1, 0],
    ]
    assert plan.G.tolist() == [1, 0, 0]
    printed = Plan(plan.O, torch.tensor([1.0, 0.0, 1.0]), names=plan.names)
    assert printed.expression() == "a + b - c * d"


@pytest.mark.parametrize(
    ("text", "read", "depth"),
    [
        ("a", "a", 1),
        ("a + b - c", "a + b - c", 1),
        ("2*a + 3*b", "2 * a + 3 * b", 1),
        ("a**2 / b**3", "a**2 / b**3", 1),
        ("-a * b", "-a * b", 1),
        ("(a + b) * (a + b)", "(a + b)**2", 2),
        ("1 / a", "1 / a", 1),
        ("0.1 * a", "0.1 * a", 1),
        ("a / 3", "a / 3", 1),
        ("a - a + b", "b", 1),
        ("x10 - x2", "x10 - x2", 1),
        ("7", "7", 1),
        ("a * (2 + 2)", "4 * a", 1),
        ("1.5 * a * (b + 3) * 1.5", "1.5**2 * a * (b + 3)", 2),
    ],
)
def test_a_formula_takes_few_steps(text, read, depth):
    plan = Plan.from_expression(text)
    assert (plan.expression(), plan.depth) == (read, depth)


def test_inputs_are_in_alphabetical_order_unless_said_otherwise():
    assert Plan.from_expression("x10 - x2").names == ("x2", "x10")
    plan = Plan.from_expression("b - a", names=["b", "a", "c"])
    assert execute(plan, torch.tensor([5.0, 3.0, 9.0])).item() == 2.0


def test_simplifying_shortens():
    assert Plan.from_expression("(a * b + a * c) / a").expression(simplify=True) == "b + c"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a ** 0.5", "whole powers alone"),
        ("a ** b", "whole powers alone"),
        ("sqrt(a)", "'sqrt\\(a\\)' is none of these"),
        ("a ^ 2", "is none of these"),
        ("a +", "is not a formula"),
        ("a / 0", "divides by zero"),
        ("a / (b - b)", "divides by zero"),
        ("a ** 5000", "1000 at most"),
        ("1e999 * a", "float64's range"),
        ("True", "is none of these"),
        ("__import__('os').getcwd()", "is none of these"),
        ("-" * 9999 + "a", "nested too deeply"),
        ("a + e", "uses e"),
    ],
)
def test_what_a_plan_cannot_hold_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        Plan.from_expression(text, names="ab")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"O": torch.ones(3)}, "axes"),
        ({"O": torch.ones(3, 2)}, "no room"),
        ({"G": torch.ones(3)}, "G must have the shape"),
        ({"S": torch.ones(3)}, "S must have the shape"),
        ({"names": ("a",)}, "got 1 names"),
        ({"O": torch.ones(2, 4)}, "step 0 uses slot 2, which is not there yet"),
        ({"O": torch.full((2, 4), torch.nan)}, "not a finite number"),
        ({"G": torch.tensor([0.0, 1.5])}, "between 0"),
        ({"O": torch.full((2, 4), 0.5).tril(1), "hard": True}, "whole numbers"),
        ({"G": torch.tensor([0.0, 0.5]), "hard": True}, "whole numbers"),
        ({"S": torch.ones(4), "hard": True}, "selects one slot"),
    ],
)
def test_a_wrong_plan_says_what_is_wrong(arguments, words):
    right = {"O": torch.ones(2, 4).tril(1), "G": torch.ones(2)}
    Plan(**right)
    with pytest.raises(ValueError, match=words):
        Plan(**{**right, **arguments})


def test_a_soft_plan_reads_as_a_mix_and_hardens_to_the_nearest():
    rows = torch.tensor([[1.1, 0.9, 0.0, 0.0], [0.0, 0.1, 0.8, 0.0]])
    plan = Plan(rows, torch.tensor([0.3, 1.0]), torch.tensor([0.1, 0.0, 0.2, 0.7]))
    assert plan.expression().startswith("0.1 * x0 + 0.2 * mix(0.3: 1.1 * x0 + 0.9 * x1, 0.7: ")
    assert plan.harden().expression() == "x0 * x1"


def test_a_batch_of_plans_has_no_single_formula():
    one = Plan.from_expression("a * b")
    batch = Plan(one.O.expand(3, -1, -1), one.G.expand(3, -1), names=one.names)
    with pytest.raises(ValueError, match="batch of \\(3,\\)"):
        batch.expression()
    assert batch[1].expression() == "a * b"


if __name__ == "__main__":
    source, count = Random(1), int(sys.argv[1])
    results = [outcome(source) for _ in range(count)]
    for kind in sorted(set(results)):
        print(f"{results.count(kind)} of {count}: {kind}")
