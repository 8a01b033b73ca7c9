import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.dag import Plan, execute
from arithmix.dag.plan import allowed
from arithmix.tasks import OPERATIONS
from arithmix.units.dmu import dmu

AWKWARD = (0.0, -0.0, 1e-45, 1e-38, -1e-30, 1.0, -1.0, 1e30, -1e30, 3e38, -3e38)
EXAMPLE = "(a + b) / (c * d)"


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def random_plan(inputs, depth, batch=(), select=False, seed=0, dtype=torch.float64):
    draw = generator(seed)
    slots = inputs + depth
    rows = torch.randn(*batch, depth, slots, generator=draw, dtype=dtype)
    gates = torch.rand(*batch, depth, generator=draw, dtype=dtype)
    weights = torch.rand(*batch, slots, generator=draw, dtype=dtype).softmax(-1)
    return Plan(rows * allowed(depth, slots), gates, weights if select else None)


def soft(plan):
    return Plan(plan.O, plan.G, plan.S, names=plan.names, constants=plan.constants)


def signed(shape, seed=1, decades=2.0, dtype=torch.float64):
    size = 10 ** (decades * (torch.rand(shape, generator=generator(seed), dtype=dtype) - 0.5))
    return size * (torch.randint(0, 2, shape, generator=generator(seed + 1)) * 2 - 1)


def test_a_step_is_a_dmu():
    plan, x = random_plan(3, 1), signed((50, 3))
    gate = torch.stack([plan.G, 1 - plan.G], -1)
    assert torch.allclose(execute(plan, x), dmu(x, plan.O[:, :3], gate)[:, 0], rtol=1e-12)


def test_steps_are_dmus_in_series():
    plan, x = random_plan(2, 3, seed=3), signed((50, 2))
    slots = x
    for n in range(3):
        gate = torch.stack([plan.G[n], 1 - plan.G[n]])[None]
        slots = torch.cat([slots, dmu(slots, plan.O[n : n + 1, : slots.shape[1]], gate)], -1)
    assert torch.allclose(execute(plan, x), slots[:, -1], rtol=1e-9)
    chosen = random_plan(2, 3, select=True, seed=3)
    chosen = Plan(plan.O, plan.G, chosen.S)
    assert torch.allclose(execute(chosen, x), slots @ chosen.S, rtol=1e-9)


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("batched", [False, True])
def test_a_hard_step_is_exact(operation, dtype, batched):
    plan = Plan.from_expression(f"a {OPERATIONS[operation].symbol} b")
    plan = plan[None] if batched else plan
    x = signed((500, 2), decades=12.0).to(dtype)
    true, out = OPERATIONS[operation].apply(x[:, 0], x[:, 1]), execute(plan, x)
    assert out.dtype == dtype
    if operation in ("add", "sub"):
        assert torch.equal(out, true)
    else:
        assert ((out - true).abs() <= 4 * torch.finfo(dtype).eps * true.abs()).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_products_may_leave_the_dtypes_range_on_the_way(dtype, size):
    x = torch.tensor([3 * size, 2 * size, -size, size], dtype=dtype)
    plan = Plan.from_expression("(a * b) / (c * d)")
    for one in (plan, soft(plan)):
        assert execute(one, x).item() == pytest.approx(-6.0, rel=1e-4)


def test_a_small_sum_keeps_its_size_as_a_factor():
    x = torch.tensor([1e-9, 2e-9, 4.0, 5.0], dtype=torch.float64)
    assert execute(soft(Plan.from_expression(EXAMPLE)), x).item() == pytest.approx(1.5e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("text", [EXAMPLE, "a / b - c / d", "(a - b)**2 * c**-3 / d"])
def test_values_and_gradients_are_finite_everywhere(text, dtype):
    hard = Plan.from_expression(text)
    x = torch.cartesian_prod(*[torch.tensor(AWKWARD, dtype=dtype)] * 4)
    for plan in (hard, soft(hard), hard[None], random_plan(4, 3, select=True, dtype=dtype)):
        leaves = [t.clone().requires_grad_() for t in (x, plan.O, plan.G)]
        if not plan.hard:
            plan = Plan(leaves[1], leaves[2], plan.S, constants=plan.constants)
        y = execute(plan, leaves[0])
        assert y.isfinite().all()
        y.backward(torch.ones_like(y))
        assert all(leaf.grad is None or leaf.grad.isfinite().all() for leaf in leaves)
        assert leaves[0].grad is not None


def test_what_is_not_a_number_stays_so():
    x = torch.tensor([torch.nan, 1.0, 1.0, 1.0])
    for plan in (Plan.from_expression(EXAMPLE), soft(Plan.from_expression(EXAMPLE))):
        assert execute(plan, x).isnan()


def test_division_by_zero_is_the_largest_number():
    plan = Plan.from_expression("a / b")
    x = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.0]])
    largest = torch.finfo(torch.float32).max
    assert execute(plan, x).tolist() == [largest, -largest, 0.0]
    assert execute(plan[None], x).tolist() == [largest, -largest, 0.0]


def test_soft_gradients_are_those_of_finite_differences():
    plan, x = random_plan(3, 3, select=True, seed=5), signed((4, 3), decades=0.5)

    def f(x, rows, gates, weights):
        return execute(Plan(rows * allowed(3, 6), gates, weights, checked=False), x)

    leaves = [t.clone().requires_grad_() for t in (x, plan.O, plan.G, plan.S)]
    assert torch.autograd.gradcheck(f, leaves, atol=1e-5)


def test_hard_gradients_are_those_of_the_formula():
    x = signed((20, 4)).requires_grad_()
    a, b, c, d = x.unbind(-1)
    (true,) = torch.autograd.grad(((a + b) / (c * d)).sum(), x)
    plan = Plan.from_expression(EXAMPLE)
    for one in (plan, plan[None]):
        (ours,) = torch.autograd.grad(execute(one, x).sum(), x)
        assert torch.allclose(ours, true, rtol=1e-12)


@given(
    inputs=st.integers(1, 4),
    depth=st.integers(1, 4),
    hard=st.booleans(),
    select=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_plans_and_rows_are_broadcast(inputs, depth, hard, select, seed):
    plans = random_plan(inputs, depth, (5,), select, seed)
    plans = plans.harden() if hard else plans
    x = signed((7, inputs), seed)
    together = execute(plans[:, None], x)
    assert together.shape == (5, 7)
    alone = torch.stack([execute(plans[i], x) for i in range(5)])
    assert torch.allclose(together, alone, rtol=1e-9)
    paired = execute(plans, x[:5])
    assert torch.allclose(paired, together[:, :5].diagonal(), rtol=1e-12)


def test_constants_have_slots_of_their_own():
    plan = Plan.from_expression("0.5 * a + 3 / b - 1")
    x = torch.tensor([[4.0, 6.0], [1.0, 2.0]], dtype=torch.float64)
    true = 0.5 * x[:, 0] + 3 / x[:, 1] - 1
    for one in (plan, plan[None], soft(plan)):
        assert torch.allclose(execute(one, x), true, rtol=1e-6)
    assert execute(Plan.from_expression("7"), torch.ones(3, 0)).tolist() == [7.0] * 3


@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["soft", "hard", "batch"])
def test_it_compiles_whole(kind):
    torch.compiler.reset()
    plan = Plan.from_expression(EXAMPLE)
    plan = {"soft": soft(plan), "hard": plan, "batch": plan[None]}[kind]
    x = signed((64, 4), dtype=torch.float32).requires_grad_()

    def run(x):
        return execute(plan, x)

    compiled, eager = torch.compile(run, fullgraph=True)(x), run(x)
    assert torch.allclose(compiled, eager, rtol=1e-4)
    (g,), (h,) = (torch.autograd.grad(y.sum(), x) for y in (compiled, eager))
    assert torch.allclose(g, h, rtol=1e-3, atol=1e-3 * h.abs().max().item())


@pytest.mark.compiled
@pytest.mark.parametrize("axis", [0, 1])
def test_it_compiles_under_vmap(axis):
    torch.compiler.reset()
    plan = soft(Plan.from_expression(EXAMPLE))
    x = signed((5, 7, 4), dtype=torch.float32)
    run = torch.compile(torch.vmap(lambda x: execute(plan, x), in_dims=axis, out_dims=axis))
    assert torch.allclose(run(x), execute(plan, x), rtol=1e-4)


def test_dtypes_are_kept():
    plan = Plan.from_expression(EXAMPLE)
    for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64):
        x = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype)
        assert execute(plan, x).dtype == dtype
        own = Plan(plan.O.to(dtype), plan.G.to(dtype))
        assert execute(own, x).dtype == dtype
        assert math.isclose(execute(own, x).item(), 0.25, rel_tol=1e-2)


def test_a_wrong_width_gets_a_sentence():
    with pytest.raises(ValueError, match="4 inputs, a, b, c, d"):
        execute(Plan.from_expression(EXAMPLE), torch.ones(3))
