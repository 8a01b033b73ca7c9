"""The modified RealNPU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units._spec import parse
from arithmix.units.real_npu_mod import ModifiedRealNPU

from .contract import generator

EPSILON = float(np.finfo(np.float32).eps)


def forward(x, w, g):
    g = np.clip(g, 0, 1)
    r = g * (np.abs(x) + EPSILON) + 1 - g
    k = g * np.pi * (x < 0)
    return np.exp(np.log(r) @ w) * np.cos(k @ w)


def penalty(step, w, g):
    beta = 1e-9 if step < 10_000 else 1e-8 if step < 20_000 else 1e-7
    scale = min(max((step - 40000) / 10000, 0), 1)
    size = np.abs(w).sum() + np.abs(g).sum()
    gates = np.mean(np.minimum(np.abs(g), np.abs(1 - g)))
    return beta * size + scale * (np.mean(np.abs(1 - np.abs(w))) + gates)


def example(inputs=2, outputs=1):
    random = np.random.default_rng(4)
    values = {
        "w": random.uniform(-1, 1, size=(inputs, outputs)),
        "g": np.array([0.3, 0.8, 1.2])[:inputs],
    }
    unit = ModifiedRealNPU(inputs, outputs, dtype=torch.float64)
    unit.load_state_dict({key: torch.from_numpy(value) for key, value in values.items()})
    return unit, values, random.normal(size=(50, inputs)) * 5, random.normal(size=(50, outputs))


def numeric_gradient(f, values, key, h=1e-6):
    gradient = np.zeros_like(values[key])
    for place in np.ndindex(gradient.shape):
        sides = []
        for shift in (h, -h):
            moved = {k: v.copy() for k, v in values.items()}
            moved[key][place] += shift
            sides.append(f(**moved))
        gradient[place] = (sides[0] - sides[1]) / (2 * h)
    return gradient


@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_the_forward_is_the_papers(shape):
    unit, values, x, _ = example(*shape)
    out = unit(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, **values), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "step", [0.0, 9_999.0, 10_000.0, 19_999.0, 20_000.0, 40_000.0, 45_000.0, 50_000.0]
)
def test_the_penalty_is_the_papers(step):
    unit, values, _, _ = example(3, 2)
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, **values), rtol=1e-9)


@pytest.mark.parametrize("step", [5_000, 45_000])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_loss_and_penalty_are_finite_differences(shape, step):
    unit, values, x, y = example(*shape)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y))
    at = torch.tensor(float(step), dtype=torch.float64)
    (loss + unit.penalty(at, torch.zeros(()))).backward()

    def objective(**values):
        return np.mean((forward(x, **values) - y) ** 2) + penalty(step, **values)

    for key in values:
        own = unit.get_parameter(key).grad.numpy()
        expected = numeric_gradient(objective, values, key)
        np.testing.assert_allclose(own, expected, rtol=1e-5, atol=1e-6)


def test_powers_and_gates_are_clamped():
    unit = ModifiedRealNPU(2, 1)
    unit.load_state_dict({"w": torch.tensor([[-1.5], [2.0]]), "g": torch.tensor([-0.5, 1.5])})
    unit.project()
    assert torch.equal(unit.w, torch.tensor([[-1.0], [1.0]]))
    assert torch.equal(unit.g, torch.tensor([0.0, 1.0]))


def test_the_sparsity_is_that_of_the_powers():
    unit, values, _, _ = example(3, 2)
    size = np.abs(values["w"])
    expected = np.minimum(size, np.abs(1 - size)).max()
    np.testing.assert_allclose(unit.sparsity().item(), expected, rtol=1e-9)


@pytest.mark.parametrize(("inputs", "r"), [(2, 0.5), (10, 0.5), (100, np.sqrt(6 / 101))])
def test_a_draw_is_uniform(inputs, r):
    unit = ModifiedRealNPU(inputs, 1)
    drawn = [unit.draw(generator(seed)) for seed in range(2000 // inputs)]
    w = torch.stack([one["w"] for one in drawn])
    assert w.abs().max() <= r
    assert abs(w.mean()) < 0.1 * r
    assert abs(w.std() - r / np.sqrt(3)) < 0.05 * r
    assert all((one["g"] == 0.5).all() for one in drawn)


def test_a_seed_starts_where_the_original_starts():
    member = parse("real_npu_mod").build(2, "div", 3, dtype=torch.float32)
    torch.manual_seed(3)
    w = torch.empty(2, 1)
    for _ in range(2):
        torch.nn.init.uniform_(w, -0.5, 0.5)
    assert torch.equal(member.w, w)
    assert torch.equal(member.g, torch.full((2,), 0.5))


def test_a_shut_gate_leaves_its_input_out():
    unit = ModifiedRealNPU(2, 1)
    state = {"w": torch.tensor([[-1.0], [1.0]]), "g": torch.tensor([1.0, 0.0])}
    unit.load_state_dict(state)
    x = torch.tensor([[-4.0, 3.0], [2.0, -5.0]])
    assert torch.allclose(unit(x)[:, 0], 1 / x[:, 0])
    assert torch.equal(unit.harden()(x)[:, 0], 1 / x[:, 0])
    assert unit.expression() == "1 / x0"
