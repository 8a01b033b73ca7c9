"""MulMCFC and its signs against a second implementation in numpy, and its draws."""

import numpy as np
import pytest
import torch
from torch import nn

from arithmix.units._spec import parse
from arithmix.units.mul_mcfc import MulMCFC

from .contract import PROPERTIES, generator

SIGNS = ("none", "inalu", "real_npu")


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def shares(r):
    return np.exp(r) / np.exp(r).sum(1, keepdims=True)


def forward(sign, x, r, w, c, alpha, g=None):
    q = shares(r)
    y = np.exp(sigmoid(w[:, 0] + c) * (np.log(np.abs(x)) @ q) + alpha)
    for j in range(q.shape[1]):
        for n in range(len(x)):
            if sign == "inalu":
                y[n, j] *= np.prod(np.sign(x[n]) * q[:, j] + 1 - q[:, j])
            if sign == "real_npu":
                y[n, j] *= np.cos(np.pi * np.sum(np.clip(g, 0, 1) * (x[n] < 0) * q[:, j]))
    return y


def penalty(step, r, w, c, alpha, g=None):
    scale = min(max((step - 20000) / 15000, 0), 1)
    total = -10 * scale * (np.mean(r**2) + np.mean(w**2) + np.mean(c**2))
    if g is not None:
        total += scale * np.mean(np.minimum(np.abs(g), np.abs(1 - g)))
    return total


def example(sign, inputs=2, outputs=1):
    random = np.random.default_rng(4)
    values = {
        "r": random.normal(size=(inputs, outputs)),
        "w": random.normal(size=(outputs, 1)),
        "c": random.normal(size=outputs),
        "alpha": random.normal(size=outputs),
    }
    if sign == "real_npu":
        values["g"] = np.array([0.3, 0.8, 1.2])[:inputs]
    unit = MulMCFC(inputs, outputs, sign=sign, dtype=torch.float64)
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
@pytest.mark.parametrize("sign", SIGNS)
def test_the_forward_is_the_benchmarks(sign, shape):
    unit, values, x, _ = example(sign, *shape)
    out = unit(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(sign, x, **values), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [0.0, 20_000.0, 30_000.0, 35_000.0, 50_000.0])
@pytest.mark.parametrize("sign", SIGNS)
def test_the_penalty_is_the_benchmarks(sign, step):
    unit, values, _, _ = example(sign)
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, **values), rtol=1e-9)


@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
@pytest.mark.parametrize("sign", SIGNS)
def test_gradients_of_loss_and_penalty_are_finite_differences(sign, shape):
    unit, values, x, y = example(sign, *shape)
    step = torch.tensor(30_000.0, dtype=torch.float64)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + unit.penalty(step, torch.zeros(()))
    loss.backward()

    def objective(**values):
        return np.mean((forward(sign, x, **values) - y) ** 2) + penalty(30_000, **values)

    for key in values:
        own = unit.get_parameter(key).grad.numpy()
        expected = numeric_gradient(objective, values, key)
        np.testing.assert_allclose(own, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sign", SIGNS)
def test_the_sparsity_is_half_that_of_the_gate(sign):
    unit, values, _, _ = example(sign)
    o = sigmoid(values["w"][0, 0] + values["c"][0])
    np.testing.assert_allclose(unit.sparsity().item(), min(o, 1 - o) / 2, rtol=1e-9)


@pytest.mark.parametrize("sign", SIGNS)
def test_nothing_is_projected(sign):
    unit, values, _, _ = example(sign)
    unit.project()
    for key, value in values.items():
        np.testing.assert_array_equal(unit.get_parameter(key).numpy(force=True), value)


def test_a_draw_is_a_sign_and_a_direction():
    unit = MulMCFC(2, 1, sign="real_npu")
    drawn = [unit.draw(generator(seed)) for seed in range(200)]
    w = torch.stack([one["w"] for one in drawn]).flatten()
    r = torch.stack([one["r"] for one in drawn]).squeeze(-1)
    assert set(w.tolist()) == {-1.0, 1.0}
    assert 60 < (w > 0).sum() < 140
    assert torch.allclose(r.norm(dim=1), torch.ones(200))
    assert all((one["c"] == 0).all() and (one["alpha"] == 0).all() for one in drawn)
    assert all((one["g"] == 0.5).all() for one in drawn)


@pytest.mark.parametrize("sign", SIGNS)
def test_a_seed_starts_where_the_original_starts(sign):
    member = parse(f"mul_mcfc[sign={sign}]").build(2, "mul", 3, dtype=torch.float32)
    torch.manual_seed(3)
    # The original makes a linear map, draws over it thrice, and has r drawn after each w.
    gate, r = nn.Linear(1, 1), torch.empty(2, 1)
    for _ in range(3):
        nn.init.orthogonal_(gate.weight)
        nn.init.orthogonal_(r)
    assert torch.equal(member.w, gate.weight)
    assert torch.equal(member.r, r)


@pytest.mark.parametrize("check", PROPERTIES, ids=lambda check: check.__name__)
@pytest.mark.parametrize("chosen", SIGNS[1:])
def test_a_signed_one_keeps_the_contract(chosen, check):
    class Signed(MulMCFC):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, sign=chosen, **more)

    check(Signed)


@pytest.mark.compiled
@pytest.mark.parametrize("sign", SIGNS[1:])
def test_a_signed_one_compiles_whole(sign):
    torch.compiler.reset()
    unit, _, x, _ = example(sign)
    compiled = torch.compile(unit, fullgraph=True)(torch.from_numpy(x))
    assert torch.allclose(compiled, unit(torch.from_numpy(x)), rtol=1e-9)


def test_negative_inputs_are_magnitudes_without_a_sign():
    unit, _, x, _ = example("none")
    assert torch.equal(unit(torch.from_numpy(x)), unit(torch.from_numpy(-np.abs(x))))


@pytest.mark.parametrize("sign", SIGNS)
def test_several_outputs_have_no_solution(sign):
    with pytest.raises(ValueError, match="one output alone"):
        MulMCFC(2, 2, sign=sign).solution("mul")


def test_a_sign_that_is_none_of_the_three_is_an_error():
    with pytest.raises(ValueError, match="no sign is called 'npu'"):
        MulMCFC(2, 1, sign="npu")


@pytest.mark.parametrize("sign", SIGNS)
def test_hardening_gives_each_input_to_one_output(sign):
    unit, values, x, _ = example(sign, 3, 2)
    share = (values["r"] == values["r"].max(1, keepdims=True)).astype(float)
    gate = (values["w"][:, 0] + values["c"] >= 0).astype(float)
    powers = gate * share
    expected = np.exp(np.log(np.abs(x)) @ powers)
    signs = np.where(x < 0, -1.0, 1.0)
    chosen = share if sign == "inalu" else 0 * share
    if sign == "real_npu":
        chosen = share * np.round(np.clip(values["g"], 0, 1))[:, None]
    for j in range(2):
        expected[:, j] *= np.prod(np.where(chosen[:, j] > 0, signs, 1.0), 1)
    out = unit.harden()(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert unit.sparsity() == 0
