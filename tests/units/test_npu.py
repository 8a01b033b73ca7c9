"""NPU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.npu import NPU

from .contract import generator, made
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters

EPSILON = 1.1920928955078125e-07
# Weights of the penalty at these steps, for products and for quotients.
STEPS = [0, 9_999, 10_000, 19_999, 20_000, 30_000, 50_000]
BETAS = {
    "mul": [1e-7, 1e-7, 1e-6, 1e-6, 1e-5, 1e-5, 1e-5],
    "div": [1e-9, 1e-9, 1e-8, 1e-8, 1e-7, 1e-7, 1e-7],
}


def forward(x: np.ndarray, w_re: np.ndarray, w_im: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The real part of a product of complex powers."""
    gate = np.clip(g, 0, 1)
    y = np.ones((len(x), w_re.shape[1]), dtype=complex)
    for i in range(len(g)):
        r = gate[i] * (abs(x[:, i]) + EPSILON) + 1 - gate[i]
        k = gate[i] * np.pi * (x[:, i] < 0)
        for j in range(w_re.shape[1]):
            y[:, j] *= np.exp((np.log(r) + 1j * k) * (w_re[i, j] + 1j * w_im[i, j]))
    return y.real


def size(**values: np.ndarray) -> float:
    return sum(float(abs(p).sum()) for p in values.values())


def parameters(seed: int, inputs: int, outputs: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {
        "w_re": random.uniform(-1.6, 1.6, (inputs, outputs)),
        "w_im": random.uniform(-0.5, 0.5, (inputs, outputs)),
        "g": random.uniform(-0.3, 1.3, inputs),
    }


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 4, 3)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e4, -3.0]
    y = with_parameters(NPU(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("operation", ["mul", "div"])
@pytest.mark.parametrize("place", range(len(STEPS)))
def test_the_penalty_grows_tenfold_every_10000_steps(operation, place):
    values = parameters(6, 2, 1)
    unit = with_parameters(made(NPU, operation), **values)
    expected = BETAS[operation][place] * size(**values)
    assert penalty_of(unit, STEPS[place]) == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_penalty_may_stay_or_be_off():
    values = parameters(6, 2, 1)
    unit = with_parameters(NPU(2, l1_start=1e-3, l1_end=1e-3), **values)
    assert penalty_of(unit, 50_000) == pytest.approx(1e-3 * size(**values), rel=1e-12)
    assert penalty_of(with_parameters(NPU(2, l1_start=0.0), **values), 50_000) == 0


@pytest.mark.parametrize("seed", range(6))
def test_the_gradients_are_those_of_the_equations(seed):
    # A penalty large enough to be seen in the differences.
    unit = with_parameters(NPU(2, l1_start=1e-3, l1_end=0.1), **parameters(seed, 2, 1))

    def total(**values: np.ndarray) -> float:
        return float(((forward(X, **values) - Y) ** 2).mean()) + 0.1 * size(**values)

    assert_gradients(unit, total)


def test_nothing_is_projected():
    values = {key: 30 * value for key, value in parameters(1, 2, 1).items()}
    unit = with_parameters(NPU(2), **values)
    unit.project()
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


def test_the_sparsity_is_the_mean_of_both_parts():
    for seed in range(5):
        values = parameters(seed, 3, 2)
        errors = [
            max(min(abs(v), abs(1 - abs(v))) for v in values[key].flat) for key in ("w_re", "w_im")
        ]
        unit = with_parameters(NPU(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(sum(errors) / 2, rel=1e-12, abs=0)


def test_the_draw_is_one_call_of_torchs_uniform():
    source, bound = generator(3), 2**0.5
    expected = {
        "w_re": torch.empty(2, 1).uniform_(-bound, bound, generator=source),
        "w_im": torch.zeros(2, 1),
        "g": torch.tensor([0.5, 0.5]),
    }
    assert equal(NPU(2).draw(generator(3)), expected)


@pytest.mark.parametrize(("inputs", "bound"), [(2, 1.41421), (10, 0.73855)])
def test_the_draw_is_glorots(inputs, bound):
    unit, source = NPU(inputs), generator(4)
    drawn = torch.cat([unit.draw(source)["w_re"].flatten() for _ in range(20_000 // inputs)])
    assert drawn.abs().max() <= bound + 1e-5
    assert drawn.mean().item() == pytest.approx(0, abs=0.02)
    assert drawn.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)


def test_imaginary_powers_do_not_move_on_positive_inputs():
    unit = NPU(2, generator=generator())
    x = torch.rand(64, 2, generator=generator(1)) + 1
    unit.loss(x, x[:, :1] * x[:, 1:]).backward()
    assert unit.w_im.grad is not None and not unit.w_im.grad.any()


def test_the_recipe_is_the_original_benchmarks():
    for operation, betas in BETAS.items():
        recipe = NPU.recipe(operation)
        assert (recipe.rate, recipe.clip_value, recipe.clip_norm) == (5e-3, None, None)
        assert recipe.arguments == {"l1_start": betas[0], "l1_end": betas[-1]}


def test_the_formula_is_the_real_part():
    values = {
        "w_re": np.array([[0.5], [-1.0]]),
        "w_im": np.array([[0.25], [0.0]]),
        "g": np.array([1.2, 0.75]),
    }
    unit = with_parameters(NPU(2), **values)
    text = unit.expression()
    assert text == "real(x0**(0.5+0.25j) * (0.75 * abs(x1) + 0.25)**(-1+0j))"
    said = eval(text, {"real": np.real, "abs": abs, "x0": complex(-2), "x1": 3.0})
    y = unit(torch.tensor([[-2.0, 3.0]], dtype=torch.float64))
    assert y.item() == pytest.approx(said, rel=1e-6)
    assert unit.harden().expression() == "1 / x1"
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NPU(2, population=(4,)).expression()
