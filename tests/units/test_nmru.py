"""NMRU, with and without its sign, against a second implementation in numpy."""

import numpy as np
import pytest
import torch

from arithmix.units._spec import parse
from arithmix.units.nmru import NMRU

from .contract import PROPERTIES, generator

EPSILON = np.finfo(np.float32).eps.astype(float)


def forward(x, w, sign, training):
    v = np.concatenate([x, 1 / (x + EPSILON) if training else 1 / x], 1)
    y = np.ones((len(x), len(w)))
    for j in range(len(w)):
        angle = np.zeros(len(x))
        for k in range(v.shape[1]):
            size = np.abs(v[:, k]) if sign else v[:, k]
            y[:, j] *= w[j, k] * size + 1 - w[j, k]
            angle += w[j, k] * np.where(v[:, k] < 0, np.pi, 0)
        if sign:
            y[:, j] *= np.cos(angle)
    return y


def penalty(step, w):
    scale = min(max((step - 20000) / 15000, 0), 1)
    return 10 * scale * np.mean(np.minimum(np.abs(w), np.abs(1 - w)))


def example(sign, inputs=2, outputs=1):
    random = np.random.default_rng(4)
    w = random.uniform(0, 1, size=(outputs, 2 * inputs))
    unit = NMRU(inputs, outputs, sign=sign, dtype=torch.float64)
    unit.load_state_dict({"w": torch.from_numpy(w)})
    return unit, w, random.normal(size=(50, inputs)) * 5, random.normal(size=(50, outputs))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("sign", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_the_forward_is_the_papers(shape, sign, training):
    unit, w, x, _ = example(sign, *shape)
    out = unit.train(training)(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, w, sign, training), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [0.0, 20_000.0, 30_000.0, 35_000.0, 50_000.0])
def test_the_penalty_is_the_papers(step):
    unit, w, _, _ = example(True)
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, w), rtol=1e-9)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("sign", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_loss_and_penalty_are_finite_differences(shape, sign, training):
    unit, w, x, y = example(sign, *shape)
    step = torch.tensor(30_000.0, dtype=torch.float64)
    unit.train(training)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + unit.penalty(step, torch.zeros(()))
    loss.backward()

    def objective(w):
        return np.mean((forward(x, w, sign, training) - y) ** 2) + penalty(30_000, w)

    for place in np.ndindex(w.shape):
        shift = np.zeros_like(w)
        shift[place] = 1e-6
        expected = (objective(w + shift) - objective(w - shift)) / 2e-6
        np.testing.assert_allclose(unit.w.grad.numpy()[place], expected, rtol=1e-5, atol=1e-5)


def test_the_weights_are_clamped_to_0_and_1():
    unit = NMRU(2, 1)
    unit.load_state_dict({"w": torch.tensor([[-1.5, 0.3, 2.0, 1.0]])})
    unit.project()
    assert torch.equal(unit.w, torch.tensor([[0.0, 0.3, 1.0, 1.0]]))


def test_the_sparsity_is_the_largest_distance():
    unit, w, _, _ = example(True, 3, 2)
    expected = np.minimum(w, 1 - w).max()
    np.testing.assert_allclose(unit.sparsity().item(), expected, rtol=1e-9)


def test_a_draw_is_uniform_around_one_half():
    unit = NMRU(10, 1)
    w = torch.stack([unit.draw(generator(seed))["w"] for seed in range(200)])
    assert w.shape == (200, 1, 20)
    assert w.min() >= 0.25 and w.max() <= 0.75
    assert abs(w.mean() - 0.5) < 0.01
    assert abs(w.std() - 0.25 / np.sqrt(3)) < 0.01


def test_a_seed_starts_where_the_original_starts():
    member = parse("nmru").build(2, "div", 3, dtype=torch.float32)
    torch.manual_seed(3)
    w = torch.empty(1, 4)
    for _ in range(2):
        torch.nn.init.uniform_(w, 0.25, 0.75)
    assert torch.equal(member.w, w)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("sign", [True, False])
def test_division_by_zero_is_finite(sign, training):
    eps = float(EPSILON)
    unit = NMRU(2, 1, sign=sign, generator=generator()).train(training)
    for state in (unit.state_dict(), unit.solution("div")):
        unit.load_state_dict(state)
        unit.zero_grad()
        x = torch.tensor([[1.0, 0.0], [1.0, -eps], [-3e38, 1e-45], [0.0, 0.0]], requires_grad=True)
        y = unit(x)
        assert y.isfinite().all()
        y.sum().backward()
        assert x.grad.isfinite().all() and unit.w.grad.isfinite().all()


@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
def test_the_one_without_a_sign_keeps_the_contract(check):
    class Plain(NMRU):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, sign=False, **more)

    check(Plain)


def test_an_input_and_its_reciprocal_cancel():
    unit = NMRU(2, 1)
    unit.load_state_dict({"w": torch.tensor([[1.0, 1.0, 0.0, 1.0]])})
    x = torch.tensor([[3.0, -4.0], [-2.0, 5.0]])
    assert torch.allclose(unit.eval()(x)[:, 0], x[:, 0])
    assert torch.equal(unit.harden()(x)[:, 0], x[:, 0])


def test_an_undecided_weight_reads_as_a_factor():
    unit = NMRU(2, 1)
    unit.load_state_dict({"w": torch.tensor([[1.0, 0.0, 0.0, 0.75]])})
    assert unit.expression() == "x0 * (0.75 / x1 + 0.25)"
