"""RealNPU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.real_npu import RealNPU

from .contract import generator, made
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters
from .test_npu import BETAS, EPSILON, STEPS, size


def forward(x: np.ndarray, w: np.ndarray, g: np.ndarray) -> np.ndarray:
    y = np.empty((len(x), w.shape[1]))
    for b, sample in enumerate(x):
        for j in range(w.shape[1]):
            product, angle = 1.0, 0.0
            for i, value in enumerate(sample):
                gate = min(max(g[i], 0.0), 1.0)
                product *= (gate * (abs(value) + EPSILON) + 1 - gate) ** w[i, j]
                angle += w[i, j] * gate * np.pi if value < 0 else 0.0
            y[b, j] = product * np.cos(angle)
    return y


def parameters(seed: int, inputs: int, outputs: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    w = random.uniform(-1.6, 1.6, (inputs, outputs))
    return {"w": w, "g": random.uniform(-0.3, 1.3, inputs)}


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 4, 3)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e4, -3.0]
    y = with_parameters(RealNPU(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("operation", ["mul", "div"])
@pytest.mark.parametrize("place", range(len(STEPS)))
def test_the_penalty_grows_tenfold_every_10000_steps(operation, place):
    values = parameters(6, 2, 1)
    unit = with_parameters(made(RealNPU, operation), **values)
    expected = BETAS[operation][place] * size(**values)
    assert penalty_of(unit, STEPS[place]) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("seed", range(6))
def test_the_gradients_are_those_of_the_equations(seed):
    # A penalty large enough to be seen in the differences.
    unit = with_parameters(RealNPU(2, l1_start=1e-3, l1_end=0.1), **parameters(seed, 2, 1))

    def total(**values: np.ndarray) -> float:
        return float(((forward(X, **values) - Y) ** 2).mean()) + 0.1 * size(**values)

    assert_gradients(unit, total)


def test_nothing_is_projected():
    values = {key: 30 * value for key, value in parameters(1, 2, 1).items()}
    unit = with_parameters(RealNPU(2), **values)
    unit.project()
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


def test_the_sparsity_is_that_of_the_powers():
    for seed in range(5):
        values = parameters(seed, 3, 2)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in values["w"].flat)
        unit = with_parameters(RealNPU(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_draw_is_one_call_of_torchs_uniform():
    source, bound = generator(3), 2**0.5
    w = torch.empty(2, 1).uniform_(-bound, bound, generator=source)
    assert equal(RealNPU(2).draw(generator(3)), {"w": w, "g": torch.tensor([0.5, 0.5])})


def test_the_draw_is_glorots():
    unit, source = RealNPU(2), generator(4)
    drawn = torch.cat([unit.draw(source)["w"].flatten() for _ in range(10_000)])
    assert drawn.abs().max() <= 2**0.5
    assert drawn.mean().item() == pytest.approx(0, abs=0.02)
    assert drawn.std().item() == pytest.approx((2 / 3) ** 0.5, rel=0.02)


def test_the_recipe_is_the_original_benchmarks():
    for operation, betas in BETAS.items():
        recipe = RealNPU.recipe(operation)
        assert (recipe.rate, recipe.clip_value, recipe.clip_norm) == (5e-3, None, None)
        assert recipe.arguments == {"l1_start": betas[0], "l1_end": betas[-1]}


def test_a_closed_gate_leaves_its_input_out():
    values = {"w": np.array([[1.0], [-1.0], [0.5]]), "g": np.array([1.0, 1.3, -0.2])}
    unit = with_parameters(RealNPU(3), **values)
    assert unit.expression() == "x0 / x1"
    x = torch.tensor([[-3.0, 4.0, 7.0]], dtype=torch.float64)
    assert unit(x).item() == pytest.approx(-0.75, rel=1e-6)
    assert unit.harden()(x).item() == -0.75
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        RealNPU(2, population=(4,)).expression()
