"""The unit contract: what every unit must do. Each property is a function that asserts it.

`PROPERTIES` is run over every unit of the package by test_contract.py, and over deliberately broken
ones, which must fail, by test_broken.py.
"""

import copy
import io
import math
from collections.abc import Callable

import torch
from torch import Tensor

from arithmix import Recipe
from arithmix.tasks import OPERATIONS

from .making import Make, generator, made, pairs, solved
from .refusals import (
    a_target_of_another_shape_is_an_error,
    a_wrong_width_is_an_error,
    sizes_that_no_unit_has_are_an_error,
)

AWKWARD = (0.0, -0.0, 1e-45, 1e-38, -1e-38, 1e-30, 1.0, -1.0, 1e30, -1e30, 3e38, -3e38)


def the_solution_computes_the_operation(unit: Make) -> None:
    x = pairs(unit, 2)
    for operation in unit.exact:
        y = OPERATIONS[operation].apply(x[:, 0], x[:, 1])
        out = solved(unit, operation, dtype=torch.float64)(x)[:, 0]
        # A unit may smooth or shift a number that is near zero, so the scale is that of the inputs.
        assert torch.allclose(out, y, rtol=1e-5, atol=1e-5), operation


def the_hardened_unit_is_exact(unit: Make) -> None:
    for dtype in (torch.float32, torch.float64):
        x = pairs(unit, 12).to(dtype)
        for operation in unit.exact:
            one = solved(unit, operation, dtype=dtype)
            assert one.harden() is one
            y = OPERATIONS[operation].apply(x[:, 0], x[:, 1])
            out = one(x)[:, 0]
            assert out.dtype == dtype
            if operation in ("add", "sub"):
                assert torch.equal(out, y), operation
            else:
                ulp = torch.finfo(dtype).eps * y.abs()
                assert ((out - y).abs() <= 4 * ulp).all(), operation
            assert one.sparsity() == 0


def the_expression_is_what_it_computes(unit: Make) -> None:
    x = pairs(unit, 4).abs()
    values = {"x0": x[:, 0], "x1": x[:, 1], "abs": abs}
    for operation in unit.exact:
        one = solved(unit, operation, dtype=torch.float64)
        said = eval(one.expression(), {"__builtins__": {}}, values)
        y = OPERATIONS[operation].apply(x[:, 0], x[:, 1])
        assert torch.allclose(said, y, rtol=1e-6), one.expression()
        assert one.harden().expression() == one.expression()


def gradients_match_finite_differences(unit: Make) -> None:
    for operation in sorted(unit.exact):
        one = made(unit, operation, dtype=torch.float64).eval()
        x = pairs(unit, 1, 5).requires_grad_()
        names = [name for name, _ in one.named_parameters()]
        # Away from kinks: parameters at 0.5 or at a bound have one-sided derivatives.
        tensors = [p.detach() + 0.01 * (i + 1) for i, p in enumerate(one.parameters())]

        def f(x: Tensor, *tensors: Tensor, one=one, names=names) -> Tensor:
            return torch.func.functional_call(one, dict(zip(names, tensors, strict=True)), (x,))

        assert torch.autograd.gradcheck(f, (x, *(t.requires_grad_() for t in tensors)), atol=1e-5)


def values_and_gradients_are_finite(unit: Make) -> None:
    for operation in sorted(unit.exact):
        for one in (
            made(unit, operation),
            solved(unit, operation),
            solved(unit, operation).harden(),
            unit(2, 1, generator=generator(3)),
        ):
            x = torch.tensor([[a, b] for a in AWKWARD for b in AWKWARD], requires_grad=True)
            y = one.eval()(x)
            assert y.isfinite().all(), operation
            y.backward(torch.ones_like(y))
            assert x.grad is not None and x.grad.isfinite().all(), operation
            for name, p in one.named_parameters():
                assert p.grad is None or p.grad.isfinite().all(), (operation, name)


def a_population_is_its_members(unit: Make) -> None:
    alone = [unit(2, 1, generator=generator(seed)).eval() for seed in range(6)]
    together = unit(2, 1, population=(6,), generator=generator()).eval()
    stacked = [member.state_dict() for member in alone]
    together.load_state_dict({k: torch.stack([s[k] for s in stacked]) for k in stacked[0]})
    x = pairs(unit, 1, 6 * 64).float().reshape(6, 64, 2)
    y = together(x)
    assert y.shape == (6, 64, 1)
    for i, member in enumerate(alone):
        assert torch.allclose(y[i], member(x[i]), rtol=1e-6, atol=0)
    target = torch.zeros(6, 64, 1)
    assert together.loss(x, target).shape == (6,)
    assert together.sparsity().shape == (6,)
    step, validation = torch.tensor(30_000.0), torch.full((6,), 0.5)
    penalty = together.penalty(step, validation)
    assert penalty.shape == (6,)
    for i, member in enumerate(alone):
        own = member.penalty(step, validation[i])
        assert torch.allclose(own, penalty[i], rtol=1e-6)
        assert torch.allclose(member.sparsity(), together.sparsity()[i], rtol=1e-6)


def any_batch_shape_will_do(unit: Make) -> None:
    one = unit(3, 2, generator=generator()).eval()
    x = torch.rand(4, 5, 3, generator=generator(1)) + 0.5
    y = one(x)
    assert y.shape == (4, 5, 2)
    assert torch.allclose(one(x.reshape(20, 3)).reshape(4, 5, 2), y, rtol=1e-6)
    assert one(x[0, 0]).shape == (2,)
    assert torch.allclose(one(x[0, 0]), y[0, 0], rtol=1e-6)


def a_draw_depends_on_its_generator_alone(unit: Make) -> None:
    one = unit(2, 1, generator=generator())
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    first = one.draw(generator(7))
    assert torch.equal(torch.random.get_rng_state(), before)
    torch.manual_seed(2)
    second = one.draw(generator(7))
    assert all(torch.equal(first[key], second[key]) for key in first)
    source = generator(7)
    drawn = [one.draw(source) for _ in range(2)]
    if any(not torch.equal(drawn[0][key], first[key]) for key in first):
        raise AssertionError("the first draw of a generator is not that of its seed")
    parameters, buffers = dict(one.named_parameters()), dict(one.named_buffers())
    held = {key: value.shape for key, value in (parameters | buffers).items() if key in first}
    assert {key: value.shape for key, value in first.items()} == held
    assert set(first) == one.constants | set(parameters) and not one.constants & set(parameters)
    other = one.draw(generator(8))
    moved = source.get_state().equal(generator(7).get_state())
    assert moved or any(not torch.equal(other[key], first[key]) for key in first)


def a_reset_draws_anew(unit: Make) -> None:
    one = unit(2, 1, population=(2,), generator=generator()).harden()
    before, rng = {key: id(p) for key, p in one.named_parameters()}, torch.random.get_rng_state()
    assert one.reset_parameters(generator(7)) is None
    source = generator(7)
    drawn = [one.draw(source) for _ in range(2)]
    assert not one.hardened
    assert {key: id(p) for key, p in one.named_parameters()} == before
    for key in drawn[0]:
        value = torch.stack([member[key] for member in drawn])
        assert torch.equal(one.state_dict()[key], value), key
    assert torch.equal(torch.random.get_rng_state(), rng)


def forward_leaves_no_trace(unit: Make) -> None:
    one = unit(2, 1, generator=generator()).eval()
    x = pairs(unit, 1).float()
    before, kept, rng = copy.deepcopy(one.state_dict()), x.clone(), torch.random.get_rng_state()
    attributes = set(vars(one))
    first, second = one(x), one(x)
    assert torch.equal(first, second)
    assert torch.equal(x, kept)
    assert torch.equal(torch.random.get_rng_state(), rng)
    assert set(vars(one)) == attributes
    assert all(torch.equal(value, before[key]) for key, value in one.state_dict().items())


def projection_is_idempotent_and_keeps_the_solution(unit: Make) -> None:
    for operation in sorted(unit.exact):
        one = solved(unit, operation)
        one.project()
        assert all(torch.equal(v, one.solution(operation)[k]) for k, v in one.state_dict().items())
    one = unit(2, 1, generator=generator())
    with torch.no_grad():
        for p in one.parameters():
            p.mul_(10)
    one.project()
    once = copy.deepcopy(one.state_dict())
    one.project()
    assert all(torch.equal(value, once[key]) for key, value in one.state_dict().items())


def sparsity_is_zero_at_a_solution(unit: Make) -> None:
    for operation in sorted(unit.exact):
        assert solved(unit, operation).sparsity() < 1e-6
    drawn = unit(2, 1, generator=generator()).sparsity()
    assert drawn.shape == () and drawn >= 0


def the_state_can_be_saved_and_copied(unit: Make) -> None:
    one = unit(2, 1, generator=generator()).eval()
    x = pairs(unit, 1).float()
    file = io.BytesIO()
    torch.save(one.state_dict(), file)
    file.seek(0)
    other = unit(2, 1, generator=generator(5)).eval()
    other.load_state_dict(torch.load(file))
    assert torch.equal(other(x), one(x))
    assert torch.equal(copy.deepcopy(one)(x), one(x))


def a_saved_unit_is_as_hard_as_it_was(unit: Make) -> None:
    x = pairs(unit, 12).float()
    for operation in sorted(unit.exact):
        soft = solved(unit, operation)
        hard = copy.deepcopy(soft).harden()
        assert hard.hardened and not soft.hardened
        assert set(hard.state_dict()) == {*soft.state_dict(), "hardened"}
        for one in (soft, hard):
            file = io.BytesIO()
            torch.save(one.state_dict(), file)
            file.seek(0)
            state = torch.load(file)
            nested = torch.nn.Sequential(unit(2, 1, generator=generator(5)).eval())
            nested.load_state_dict(torch.nn.Sequential(one).state_dict())
            for other in (unit(2, 1), unit(2, 1).harden(), copy.deepcopy(hard), nested[0]):
                if other is not nested[0]:
                    other.eval().load_state_dict(state)
                assert other.hardened == one.hardened
                assert torch.equal(other(x), one(x)), operation
            assert torch.equal(copy.deepcopy(one)(x), one(x))


def dtypes_are_kept(unit: Make) -> None:
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        one = unit(2, 1, generator=generator(), dtype=dtype).eval()
        y = one(torch.ones(3, 2, dtype=dtype))
        assert y.dtype == dtype and y.isfinite().all()
    one = unit(2, 1, generator=generator()).eval()
    x = pairs(unit, 2).float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = one(x)
    assert y.isfinite().all()
    assert torch.allclose(y.float(), one(x), rtol=2e-2, atol=2e-2)


def the_recipe_builds_the_unit(unit: Make) -> None:
    for operation in sorted(unit.exact):
        recipe = unit.recipe(operation)
        assert isinstance(recipe, Recipe)
        assert recipe.steps > 0 and recipe.rate > 0 and recipe.batch > 0
        made(unit, operation)


def training_moves_it_finitely(unit: Make) -> None:
    for operation in sorted(unit.exact):
        one = made(unit, operation).train()
        x = pairs(unit, 0.5, 128).float()
        y = OPERATIONS[operation].apply(x[:, :1], x[:, 1:])
        loss = one.loss(x, y)
        assert loss.shape == () and math.isfinite(loss.item())
        penalty = one.penalty(torch.tensor(45_000.0), torch.tensor(0.5))
        (loss + penalty).backward()
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in one.parameters())
        assert all(p.grad is None or p.grad.isfinite().all() for p in one.parameters())


PROPERTIES: list[Callable[[Make], None]] = [
    the_solution_computes_the_operation,
    the_hardened_unit_is_exact,
    the_expression_is_what_it_computes,
    gradients_match_finite_differences,
    values_and_gradients_are_finite,
    a_population_is_its_members,
    any_batch_shape_will_do,
    a_wrong_width_is_an_error,
    a_target_of_another_shape_is_an_error,
    sizes_that_no_unit_has_are_an_error,
    a_draw_depends_on_its_generator_alone,
    a_reset_draws_anew,
    forward_leaves_no_trace,
    projection_is_idempotent_and_keeps_the_solution,
    sparsity_is_zero_at_a_solution,
    the_state_can_be_saved_and_copied,
    a_saved_unit_is_as_hard_as_it_was,
    dtypes_are_kept,
    the_recipe_builds_the_unit,
    training_moves_it_finitely,
]
