import copy

import pytest
import torch
from torch import nn

from arithmix.dag import DAG, Head, Plan, execute

from .test_execute import generator


def seeded(make, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        return make()


@pytest.mark.parametrize("hidden", [None, 16], ids=["linear", "mlp"])
@pytest.mark.parametrize("select", [False, True])
def test_a_head_predicts_a_plan_for_each_row(hidden, select):
    head = seeded(lambda: Head(5, 3, 2, hidden=hidden, select=select))
    plan = head(torch.randn(7, 5, generator=generator()))
    assert plan.shape == (7,) and (plan.inputs, plan.depth) == (3, 2)
    type(plan)(plan.O, plan.G, plan.S)  # and it passes the checks it was spared
    assert (plan.S is not None) == select
    assert execute(plan, torch.rand(7, 3, generator=generator())).shape == (7,)
    plan.harden()[0].expression()


@pytest.mark.parametrize("hidden", [None, 16], ids=["linear", "mlp"])
def test_a_dag_is_an_ordinary_module(hidden):
    dag = seeded(lambda: DAG(3, 2, hidden=hidden, select=True, dtype=torch.float64))
    x = torch.rand(4, 5, 3, generator=generator(), dtype=torch.float64)
    y = dag(x)
    assert y.shape == (4, 5) and y.dtype == torch.float64
    assert torch.equal(copy.deepcopy(dag)(x), y)
    y.sum().backward()
    assert all(p.grad.isfinite().all() and p.grad.abs().sum() > 0 for p in dag.parameters())


def test_gradients_stay_finite_at_awkward_inputs():
    dag = seeded(lambda: DAG(2, 3, hidden=8))
    numbers = torch.tensor([0.0, 1e-45, 1e-30, -1.0, 1e30, 3e38])
    x = torch.cartesian_prod(numbers, numbers).requires_grad_()
    y = dag(x, torch.ones(36, 2))
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all()
    assert all(p.grad.isfinite().all() for p in dag.parameters())


@pytest.mark.compiled
def test_a_dag_compiles_whole():
    torch.compiler.reset()
    dag = seeded(lambda: DAG(3, 2, hidden=8))
    x = torch.rand(16, 3, generator=generator()) + 0.5
    assert torch.allclose(torch.compile(dag, fullgraph=True)(x), dag(x), rtol=1e-4)


def contexts(rows, source):
    """Context vectors, and which of two programs each asks for."""
    context = torch.randn(rows, 4, generator=source)
    return context, context[:, 0] > context[:, 1]


def trained(parameters, loss, steps):
    optimiser = torch.optim.Adam(list(parameters), lr=1e-2)
    for _ in range(steps):
        optimiser.zero_grad()
        loss().backward()
        optimiser.step()


def test_a_network_learns_two_programs_and_when_to_run_which_from_answers_alone():
    dag = seeded(lambda: DAG(2, 1, features=4, hidden=16))
    source = generator()

    def batch(rows, low, high):
        x = low + (high - low) * torch.rand(rows, 2, generator=source)
        context, multiply = contexts(rows, source)
        return x, context, torch.where(multiply, x.prod(-1), x.sum(-1))

    def loss():
        x, context, y = batch(256, 1, 4)
        return nn.functional.mse_loss(dag(x, context), y)

    trained(dag.parameters(), loss, 800)
    x, context, y = batch(1000, 4, 8)  # where training never was
    chosen = execute(dag.plan(context).harden(), x)
    assert torch.isclose(chosen, y, rtol=1e-5).float().mean() > 0.95


def test_a_network_learns_which_of_two_given_programs_to_run():
    one, other = (Plan.from_expression(t, "abcd") for t in ("(a + b) / (c * d)", "a * b - c * d"))
    network = seeded(lambda: nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1)))
    source = generator()

    def mixed(context):
        p = torch.sigmoid(network(context))
        rows = p[..., None] * one.O + (1 - p[..., None]) * other.O
        return Plan(rows, p * one.G + (1 - p) * other.G, names=one.names, checked=False)

    def batch(rows):
        x = 1 + torch.rand(rows, 4, generator=source)
        context, first = contexts(rows, source)
        return x, context, torch.where(first, execute(one, x), execute(other, x))

    def loss():
        x, context, y = batch(256)
        return nn.functional.huber_loss(execute(mixed(context), x), y)

    trained(network.parameters(), loss, 300)
    x, context, y = batch(1000)
    assert torch.isclose(execute(mixed(context).harden(), x), y).float().mean() > 0.95


def test_a_plan_without_steps_gets_a_sentence():
    with pytest.raises(ValueError, match="depth=0"):
        DAG(3, 0)
