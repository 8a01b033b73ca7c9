"""sNMU against a second implementation in numpy, and its noise against uniform noise."""

import numpy as np
import pytest
import torch

from arithmix.units._spec import parse
from arithmix.units.snmu import SNMU, uniform_hash

from .contract import generator

NOISES = ("range", "batch")
INTERVALS = [(-2.0, 2.0), (1.1, 1.2), (10.0, 20.0)]


def forward(x, w, n):
    y = np.ones((len(x), len(w)))
    for j in range(len(w)):
        for i in range(x.shape[1]):
            y[:, j] *= w[j, i] * n[:, i] * x[:, i] + 1 - w[j, i]
        for i in range(x.shape[1]):
            y[:, j] /= w[j, i] * n[:, i] + 1 - w[j, i]
    return y


def penalty(step, w):
    scale = min(max((step - 20000) / 15000, 0), 1)
    return 10 * scale * np.mean(np.minimum(np.abs(w), np.abs(1 - w)))


def example(noise="range", inputs=2, outputs=1):
    random = np.random.default_rng(4)
    w = random.uniform(0, 1, size=(outputs, inputs))
    unit = SNMU(inputs, outputs, noise=noise, dtype=torch.float64)
    unit.load_state_dict({"w": torch.from_numpy(w)})
    return unit, w, random.normal(size=(50, inputs)) * 5, random.normal(size=(50, outputs))


def noise_of(unit, x):
    # numpy 1.26 would multiply a float32 array by a number of float64 in float32.
    return unit.noise_of(torch.from_numpy(x)).double().numpy(force=True)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_the_forward_is_the_papers(shape, noise):
    unit, w, x, _ = example(noise, *shape)
    out = unit.train()(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, w, noise_of(unit, x)), rtol=1e-9, atol=1e-12)
    out = unit.eval()(torch.from_numpy(x)).numpy(force=True)
    np.testing.assert_allclose(out, forward(x, w, np.ones_like(x)), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [0.0, 20_000.0, 30_000.0, 35_000.0, 50_000.0])
def test_the_penalty_is_the_papers(step):
    unit, w, _, _ = example()
    own = unit.penalty(torch.tensor(step, dtype=torch.float64), torch.tensor(0.5)).item()
    np.testing.assert_allclose(own, penalty(step, w), rtol=1e-9)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("shape", [(2, 1), (3, 2)])
def test_gradients_of_loss_and_penalty_are_finite_differences(shape, noise, training):
    unit, w, x, y = example(noise, *shape)
    step = torch.tensor(30_000.0, dtype=torch.float64)
    unit.train(training)
    loss = unit.loss(torch.from_numpy(x), torch.from_numpy(y)) + unit.penalty(step, torch.zeros(()))
    loss.backward()
    n = noise_of(unit, x) if training else np.ones_like(x)

    def objective(w):
        return np.mean((forward(x, w, n) - y) ** 2) + penalty(30_000, w)

    for place in np.ndindex(w.shape):
        shift = np.zeros_like(w)
        shift[place] = 1e-6
        expected = (objective(w + shift) - objective(w - shift)) / 2e-6
        np.testing.assert_allclose(unit.w.grad.numpy()[place], expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("noise", NOISES)
def test_the_noise_comes_out_again_at_discrete_weights(noise):
    unit, _, x, _ = example(noise, 3)
    unit.load_state_dict({"w": torch.tensor([[1.0, 0.0, 1.0]])})
    x = torch.from_numpy(x)
    assert torch.allclose(unit.train()(x), unit.eval()(x), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("interval", INTERVALS)
def test_the_noise_is_uniform_and_uncorrelated(interval, dtype):
    low, high = interval
    count = 100_000
    x = torch.rand(count, 2, generator=generator(), dtype=torch.float64) * (high - low) + low
    x = x.to(dtype)
    u = uniform_hash(x)
    assert u.min() >= 0 and u.max() < 1
    grid = (torch.arange(count) + 0.5) / count
    for i in range(2):
        distance = (u[:, i].sort().values - grid).abs().max()
        assert distance * count**0.5 < 1.95  # the Kolmogorov-Smirnov bound at a level of 0.001
    columns = torch.cat([u, x, u[:, :1] * u[:, 1:], u.roll(1, 0), u.square()], 1).double()
    correlation = torch.corrcoef(columns.T)
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (4, 2), (4, 3), (0, 5), (1, 6), (0, 8), (1, 7)]
    assert max(abs(correlation[pair]) for pair in pairs) < 4 / count**0.5


def test_every_cell_of_two_noises_is_as_full_as_any_other():
    x = torch.rand(100_000, 2, generator=generator()) * 0.1 + 1.1
    cell = (uniform_hash(x) * 16).long()
    counts = torch.bincount(cell[:, 0] * 16 + cell[:, 1], minlength=256).double()
    expected = 100_000 / 256
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_squared - 255) < 4 * (2 * 255) ** 0.5


def test_each_noise_depends_on_every_input():
    x = torch.tensor([[1.5, 2.5, 3.5]])
    first = uniform_hash(x)
    for i in range(3):
        moved = x.clone()
        moved[0, i] = torch.nextafter(moved[0, i], torch.tensor(9.0))
        assert (uniform_hash(moved) != first).all()
    assert first.unique().numel() == 3


def test_the_range_of_the_noise():
    unit, _, _, _ = example()
    x = np.random.default_rng(1).uniform(-2, 2, (20_000, 2))
    n = noise_of(unit, x)
    assert 1 <= n.min() < 1.01 and 4.99 < n.max() < 5
    assert abs(n.mean() - 3) < 0.05


@pytest.mark.parametrize(
    ("interval", "top"), [((1.1, 1.2), 35.6), ((10, 20), 1.35), ((-2, 2), 1.87)]
)
def test_the_noise_of_a_batch_follows_its_spread(interval, top):
    unit, _, _, _ = example("batch")
    x = np.random.default_rng(1).uniform(interval[0], interval[1], (20_000, 2))
    n = noise_of(unit, x)
    assert n.min() >= 1
    assert abs(n.max() - (1 + 1 / x.std(ddof=1))) < 0.001 * top
    assert abs(n.max() - top) < 0.02 * top


def test_the_noise_of_equal_numbers_is_finite():
    unit = SNMU(2, 1, noise="batch", generator=generator())
    assert unit.train()(torch.ones(128, 2)).isfinite().all()


@pytest.mark.parametrize("noise", NOISES)
def test_a_population_trains_as_its_members_do(noise):
    together = SNMU(2, 1, noise=noise, population=(3,), generator=generator())
    x = torch.randn(3, 64, 2, generator=generator(1)) * torch.tensor([1.0, 2.0, 3.0])[:, None, None]
    for i, y in enumerate(together.train()(x)):
        alone = SNMU(2, 1, noise=noise)
        alone.load_state_dict({"w": together.w[i]})
        assert torch.allclose(alone.train()(x[i]), y, rtol=1e-6)


def test_training_leaves_the_batch_and_the_generator_alone():
    unit, _, x, _ = example()
    x = torch.from_numpy(x)
    kept, state = x.clone(), torch.random.get_rng_state()
    assert torch.equal(unit.train()(x), unit(x))
    assert torch.equal(x, kept) and torch.equal(torch.random.get_rng_state(), state)


@pytest.mark.parametrize("noise", NOISES)
def test_training_is_finite_for_awkward_inputs(noise):
    unit = SNMU(2, 1, noise=noise, generator=generator()).train()
    numbers = (0.0, 1e-45, -1e-38, 1.0, -1e30, 3e38, -3e38)
    x = torch.tensor([[a, b] for a in numbers for b in numbers], requires_grad=True)
    y = unit(x)
    y.sum().backward()
    assert y.isfinite().all() and x.grad.isfinite().all() and unit.w.grad.isfinite().all()


@pytest.mark.compiled
@pytest.mark.parametrize("noise", NOISES)
def test_training_compiles_whole(noise):
    torch.compiler.reset()
    unit = SNMU(2, 1, noise=noise, generator=generator()).train()
    x = torch.randn(128, 2, generator=generator(1))
    compiled = torch.compile(unit, fullgraph=True)(x)
    # A factor near zero is a difference of numbers near one, so the scale is that of the inputs.
    assert torch.allclose(compiled, unit(x), rtol=1e-5, atol=1e-6)


def test_the_weights_are_clamped_to_0_and_1():
    unit = SNMU(3, 1)
    unit.load_state_dict({"w": torch.tensor([[-1.5, 0.3, 2.0]])})
    unit.project()
    assert torch.equal(unit.w, torch.tensor([[0.0, 0.3, 1.0]]))


def test_the_sparsity_is_the_largest_distance():
    unit, w, _, _ = example("range", 3, 2)
    np.testing.assert_allclose(unit.sparsity().item(), np.minimum(w, 1 - w).max(), rtol=1e-9)


def test_a_draw_is_uniform_around_one_half():
    unit = SNMU(10, 1)
    w = torch.stack([unit.draw(generator(seed))["w"] for seed in range(400)])
    assert w.min() >= 0.25 and w.max() <= 0.75
    assert abs(w.mean() - 0.5) < 0.01
    assert abs(w.std() - 0.25 / np.sqrt(3)) < 0.01


def test_a_seed_starts_where_the_original_starts():
    member = parse("snmu").build(2, "mul", 3, dtype=torch.float32)
    torch.manual_seed(3)
    w = torch.empty(1, 2)
    for _ in range(2):
        torch.nn.init.uniform_(w, 0.25, 0.75)
    assert torch.equal(member.w, w)
