"""NRU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units._spec import parse
from arithmix.units.nru import NRU

from .contract import generator


def forward(x, w, training):
    y = np.ones((len(x), len(w)))
    for j in range(len(w)):
        for i in range(x.shape[1]):
            t = np.tanh(1000 * w[j, i]) ** 2 if training else abs(w[j, i])
            y[:, j] *= np.sign(x[:, i]) * np.abs(x[:, i]) ** w[j, i] * t + (1 - t)
    return y


def penalty(step, w):
    scale = min(max((step - 20000) / 15000, 0), 1)
    return 10 * scale * np.mean(np.minimum(np.abs(w), np.abs(1 - np.abs(w))))


def example(inputs=2, outputs=1):
    random = np.random.default_rng(4)
    w = random.uniform(-1, 1, size=(outputs, inputs))
    w[0, 0] = 3e-4  # where training's form is between leaving an input out and taking it in
    unit = NRU(inputs, outputs, dtype=torch.float64)
    unit.load_state_dict({"w": torch.from_numpy(w)})
    return unit, w, random.normal(size=(50, inputs)) * 5, random.normal(size=(50, outputs))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_the_forward_is_the_papers(shape, training):
    unit, w, x, _ = example(*shape)
    out = unit.train(training)(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, w, training), rtol=1e-9)


def test_training_and_evaluation_agree_at_discrete_weights():
    unit, _, x, _ = example(3)
    unit.load_state_dict({"w": torch.tensor([[1.0, 0.0, -1.0]])})
    x = torch.from_numpy(x)
    assert torch.equal(unit.train()(x), unit.eval()(x))
    assert torch.allclose(unit(x)[:, 0], x[:, 0] / x[:, 2], rtol=1e-12)


@pytest.mark.parametrize("step", [0.0, 20_000.0, 30_000.0, 35_000.0, 50_000.0])
def test_the_penalty_is_the_papers(step):
    unit, w, _, _ = example()
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, w), rtol=1e-9)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_loss_and_penalty_are_finite_differences(shape, training):
    unit, w, x, y = example(*shape)
    step = torch.tensor(30_000.0, dtype=torch.float64)
    unit.train(training)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + unit.penalty(step, torch.zeros(()))
    loss.backward()

    def objective(w):
        return np.mean((forward(x, w, training) - y) ** 2) + penalty(30_000, w)

    for place in np.ndindex(w.shape):
        shift = np.zeros_like(w)
        shift[place] = 1e-8 if abs(w[place]) < 1e-3 else 1e-6
        expected = (objective(w + shift) - objective(w - shift)) / (2 * shift[place])
        np.testing.assert_allclose(unit.w.grad.numpy()[place], expected, rtol=1e-5, atol=1e-5)


def test_the_weights_are_clamped_to_one():
    unit = NRU(3, 1)
    unit.load_state_dict({"w": torch.tensor([[-1.5, 0.3, 2.0]])})
    unit.project()
    assert torch.equal(unit.w, torch.tensor([[-1.0, 0.3, 1.0]]))


def test_the_sparsity_is_the_largest_distance():
    unit, w, _, _ = example(3, 2)
    size = np.abs(w)
    expected = np.minimum(size, np.abs(1 - size)).max()
    np.testing.assert_allclose(unit.sparsity().item(), expected, rtol=1e-9)


@pytest.mark.parametrize(("inputs", "r"), [(2, 0.5), (10, 0.5), (100, np.sqrt(6 / 101))])
def test_a_draw_is_uniform(inputs, r):
    unit = NRU(inputs, 1)
    w = torch.stack([unit.draw(generator(seed))["w"] for seed in range(2000 // inputs)])
    assert w.abs().max() <= r
    assert abs(w.mean()) < 0.1 * r
    assert abs(w.std() - r / np.sqrt(3)) < 0.05 * r


def test_a_seed_starts_where_the_original_starts():
    member = parse("nru").build(2, "div", 3, dtype=torch.float32)
    torch.manual_seed(3)
    w = torch.empty(1, 2)
    for _ in range(2):
        torch.nn.init.uniform_(w, -0.5, 0.5)
    assert torch.equal(member.w, w)


@pytest.mark.parametrize("training", [True, False])
def test_division_by_zero_is_finite(training):
    unit = NRU(2, 1)
    unit.load_state_dict(unit.solution("div"))
    x = torch.tensor([[1.0, 0.0], [1.0, 1e-45], [-3e38, 1e-45], [0.0, 0.0]], requires_grad=True)
    y = unit.train(training)(x)
    assert y.isfinite().all()
    y.sum().backward()
    assert x.grad.isfinite().all() and unit.w.grad.isfinite().all()
