"""MCFC against a second implementation in numpy, and its draws against the original's."""

import numpy as np
import pytest
import torch
from torch import nn

from arithmix.units._spec import parse
from arithmix.units.mcfc import MCFC

from .contract import generator

NAMES = ("r", "w", "c")


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def forward(x, r, w, c):
    q = np.exp(r) / np.exp(r).sum(1, keepdims=True)
    return sigmoid(w[:, 0] + c) * (x @ q)


def penalty(step, r, w, c):
    scale = min(max((step - 20000) / 15000, 0), 1)
    return 10 * scale * (-np.mean(r**2) - np.mean(w**2) - np.mean(c**2))


def example(inputs=2, outputs=1):
    random = np.random.default_rng(4)
    values = {
        "r": random.normal(size=(inputs, outputs)),
        "w": random.normal(size=(outputs, 1)),
        "c": random.normal(size=outputs),
    }
    unit = MCFC(inputs, outputs, dtype=torch.float64)
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


@pytest.mark.parametrize("shape", [(2, 1), (3, 2), (1, 1)])
def test_the_forward_is_the_papers(shape):
    unit, values, x, _ = example(*shape)
    out = unit(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, **values), rtol=1e-9, atol=1e-12)


def test_with_one_output_the_shares_are_one():
    unit, values, x, _ = example()
    expected = sigmoid(values["w"][0, 0] + values["c"][0]) * x.sum(1, keepdims=True)
    np.testing.assert_allclose(unit(torch.from_numpy(x)).numpy(force=True), expected, rtol=1e-9)


@pytest.mark.parametrize("step", [0.0, 20_000.0, 30_000.0, 35_000.0, 50_000.0])
def test_the_penalty_is_the_benchmarks(step):
    unit, values, _, _ = example()
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, **values), rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_loss_and_penalty_are_finite_differences(shape):
    unit, values, x, y = example(*shape)
    step = torch.tensor(30_000.0, dtype=torch.float64)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + unit.penalty(step, torch.zeros(()))
    loss.backward()

    def objective(**values):
        return np.mean((forward(x, **values) - y) ** 2) + penalty(30_000, **values)

    for key in NAMES:
        own = unit.get_parameter(key).grad.numpy()
        np.testing.assert_allclose(
            own, numeric_gradient(objective, values, key), rtol=1e-5, atol=1e-7
        )


def test_the_sparsity_is_half_that_of_the_gate():
    unit, values, _, _ = example()
    o = sigmoid(values["w"][0, 0] + values["c"][0])
    np.testing.assert_allclose(unit.sparsity().item(), min(o, 1 - o) / 2, rtol=1e-9)


def test_the_sparsity_of_several_outputs_counts_the_shares():
    unit, values, _, _ = example(3, 2)
    q = np.exp(values["r"]) / np.exp(values["r"]).sum(1, keepdims=True)
    o = sigmoid(values["w"][:, 0] + values["c"])
    expected = (np.minimum(q, 1 - q).max() + np.minimum(o, 1 - o).max()) / 2
    np.testing.assert_allclose(unit.sparsity().item(), expected, rtol=1e-9)


def test_nothing_is_projected():
    unit, values, _, _ = example()
    unit.project()
    assert all(
        np.array_equal(unit.get_parameter(key).numpy(force=True), values[key]) for key in NAMES
    )


def test_a_draw_is_a_sign_and_a_direction():
    unit = MCFC(2, 1)
    drawn = [unit.draw(generator(seed)) for seed in range(200)]
    w = torch.stack([one["w"] for one in drawn]).flatten()
    r = torch.stack([one["r"] for one in drawn]).squeeze(-1)
    assert set(w.tolist()) == {-1.0, 1.0}
    assert 60 < (w > 0).sum() < 140
    assert torch.allclose(r.norm(dim=1), torch.ones(200))
    assert r.mean(0).abs().max() < 0.2
    assert all((one["c"] == 0).all() for one in drawn)
    assert torch.equal(MCFC(3, 3).draw(generator())["r"], torch.eye(3))


@pytest.mark.parametrize("inputs", [2, 10])
def test_a_seed_starts_where_the_original_starts(inputs):
    member = parse("mcfc").build(inputs, "add", 3, dtype=torch.float32)
    torch.manual_seed(3)
    # The original makes a linear map, draws over it thrice, and has r drawn after each w.
    gate, r = nn.Linear(1, 1), torch.empty(inputs, 1)
    for _ in range(3):
        nn.init.orthogonal_(gate.weight)
        nn.init.orthogonal_(r)
    assert torch.equal(member.w, gate.weight)
    assert torch.equal(member.r, r)
    assert torch.equal(member.c, torch.zeros(1))


def test_several_outputs_have_no_solution():
    with pytest.raises(ValueError, match="one output alone"):
        MCFC(2, 2).solution("add")


def test_hardening_gives_each_input_to_one_output():
    unit, values, x, _ = example(3, 2)
    share = (values["r"] == values["r"].max(1, keepdims=True)).astype(float)
    gate = (values["w"][:, 0] + values["c"] >= 0).astype(float)
    out = unit.harden()(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, gate * (x @ share), rtol=1e-12)
    assert unit.sparsity() == 0
