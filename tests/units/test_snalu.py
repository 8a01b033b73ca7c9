"""sNALU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch
from torch import nn

from arithmix.units._spec import parse
from arithmix.units.snalu import SNALU

from .contract import generator


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def weights(w_hat, m_hat):
    return np.tanh(w_hat) * sigmoid(m_hat)


def forward(x, w_hat, m_hat, g):
    w = weights(w_hat, m_hat)
    m = np.exp(np.log(np.abs(x) + 1e-8) @ w) * np.prod(np.sign(x), 1, keepdims=True)
    return sigmoid(g) * (x @ w) + (1 - sigmoid(g)) * m


def example(inputs=2, outputs=1):
    random = np.random.default_rng(4)
    values = {
        "w_hat": random.normal(size=(inputs, outputs)),
        "m_hat": random.normal(size=(inputs, outputs)),
        "g": random.normal(size=(1, 1)),
    }
    unit = SNALU(inputs, outputs, dtype=torch.float64)
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


@pytest.mark.parametrize("shape", [(2, 1), (2, 2), (3, 2)])
def test_the_forward_is_the_originals(shape):
    unit, values, x, _ = example(*shape)
    out = unit(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, **values), rtol=1e-9, atol=1e-12)


def test_a_zero_input_leaves_the_sum_alone():
    unit, values, _, _ = example()
    x = np.array([[0.0, 3.0]])
    expected = sigmoid(values["g"]) * (x @ weights(values["w_hat"], values["m_hat"]))
    np.testing.assert_allclose(unit(torch.from_numpy(x)).numpy(force=True), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_the_loss_are_finite_differences(shape):
    unit, values, x, y = example(*shape)
    penalty = unit.penalty(torch.tensor(30_000.0), torch.tensor(0.5, dtype=torch.float64))
    assert penalty == 0
    (unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + penalty).backward()

    def objective(**values):
        return np.mean((forward(x, **values) - y) ** 2)

    for key in values:
        own = unit.get_parameter(key).grad.numpy()
        expected = numeric_gradient(objective, values, key)
        np.testing.assert_allclose(own, expected, rtol=1e-5, atol=1e-6)


def test_nothing_is_projected():
    unit, values, _, _ = example()
    unit.project()
    for key, value in values.items():
        np.testing.assert_array_equal(unit.get_parameter(key).numpy(force=True), value)


def test_the_sparsity_is_the_largest_distance():
    unit, values, _, _ = example(3, 2)
    size = np.abs(weights(values["w_hat"], values["m_hat"]))
    expected = np.minimum(size, 1 - size).max()
    np.testing.assert_allclose(unit.sparsity().item(), expected, rtol=1e-9)


@pytest.mark.parametrize(("shape", "bound"), [((2, 2), 1.22474), ((2, 1), 1.41421)])
def test_a_draw_is_uniform(shape, bound):
    unit = SNALU(*shape)
    drawn = [unit.draw(generator(seed)) for seed in range(500)]
    for key, limit in (("w_hat", bound), ("m_hat", bound), ("g", 1.73205)):
        values = torch.stack([one[key] for one in drawn])
        assert 0.98 * limit < values.abs().max() <= 1.00001 * limit
        assert abs(values.mean()) < 0.1 * limit
        assert abs(values.std() - limit / 3**0.5) < 0.05 * limit


def test_a_seed_starts_where_the_original_starts():
    member = parse("snalu").build(2, "mul", 3, dtype=torch.float32)
    torch.manual_seed(3)
    g = nn.init.xavier_uniform_(torch.zeros(1, 1))
    w_hat = nn.init.xavier_uniform_(torch.empty(2, 1))
    m_hat = nn.init.xavier_uniform_(torch.empty(2, 1))
    assert torch.equal(member.g, g)
    assert torch.equal(member.w_hat, w_hat)
    assert torch.equal(member.m_hat, m_hat)


def test_hardening_keeps_the_sign_of_an_input_it_leaves_out():
    unit = SNALU(2, 1)
    state = unit.solution("mul")
    state["m_hat"][1] = -1e4
    unit.load_state_dict(state)
    x = torch.tensor([[3.0, -4.0], [-3.0, -4.0]])
    assert torch.equal(unit.harden()(x), torch.tensor([[-3.0], [3.0]]))
    assert unit.expression() == "abs(x0) * sign(x0) * sign(x1)"


def test_an_undecided_gate_reads_as_a_mix():
    unit = SNALU(2, 1)
    unit.load_state_dict(unit.solution("mul") | {"g": torch.zeros(1, 1)})
    assert unit.expression() == "mix(0.5: x0 + x1, 0.5: x0 * x1)"
