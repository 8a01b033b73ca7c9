"""NAC+ against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units._math import nac_bound
from arithmix.units.nac_add import NACAdd

from .contract import generator
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters


def weight(w_hat: np.ndarray, m_hat: np.ndarray) -> np.ndarray:
    return np.tanh(w_hat) / (1 + np.exp(-m_hat))


def parameters(seed: int, *shape: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {"w_hat": random.uniform(-3, 3, shape), "m_hat": random.uniform(-3, 3, shape)}


def forward(x: np.ndarray, w_hat: np.ndarray, m_hat: np.ndarray) -> np.ndarray:
    return x @ weight(w_hat, m_hat).T


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    y = with_parameters(NACAdd(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9, atol=1e-12)


def test_there_is_no_penalty_and_no_projection():
    values = parameters(6, 1, 2)
    unit = with_parameters(NACAdd(2), **values)
    unit.project()
    assert penalty_of(unit, 40_000) == 0
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(NACAdd(2), **parameters(seed, 1, 2))
    assert_gradients(unit, lambda **values: float(((forward(X, **values) - Y) ** 2).mean()))


def test_the_sparsity_is_the_largest_distance_from_discrete():
    for seed in range(5):
        values = parameters(seed, 2, 3)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in weight(**values).flat)
        unit = with_parameters(NACAdd(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("inputs", "bound"), [(2, 9.47140638591577), (10, 2.26046806), (100, 0.50659275)]
)
def test_the_bound_of_the_draw_is_the_original_benchmarks(inputs, bound):
    assert nac_bound(inputs, 1) == pytest.approx(bound, rel=1e-8)
    # What a float32 draw sees of the bound is the same to the last bit.
    assert np.float32(nac_bound(2, 1)) == np.float32(9.47140638591577)


def test_the_weights_of_a_draw_have_glorots_variance():
    unit = NACAdd(10, 4)
    source = generator(4)
    drawn = [unit.draw(source) for _ in range(2000)]
    w_hat, m_hat = (torch.cat([d[k].flatten() for d in drawn]) for k in ("w_hat", "m_hat"))
    bound = nac_bound(10, 4)
    for values in (w_hat, m_hat):
        assert values.abs().max() <= bound
        assert values.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)
    weights = torch.tanh(w_hat) * torch.sigmoid(m_hat)
    assert weights.mean().item() == pytest.approx(0, abs=0.01)
    assert weights.var().item() == pytest.approx(2 / 14, rel=0.03)


def test_the_draw_is_w_and_then_m():
    source, r = generator(3), 9.47140638591577
    w_hat = torch.empty(1, 2).uniform_(-r, r, generator=source)
    m_hat = torch.empty(1, 2).uniform_(-r, r, generator=source)
    assert equal(NACAdd(2).draw(generator(3)), {"w_hat": w_hat, "m_hat": m_hat})


def test_hardening_rounds_to_minus_one_zero_and_one():
    values = {"w_hat": np.array([[2.0, -2.0, 2.0]]), "m_hat": np.array([[2.0, 2.0, -2.0]])}
    unit = with_parameters(NACAdd(3), **values).harden()
    assert unit.weights().tolist() == [[1.0, -1.0, 0.0]]
    assert unit.expression() == "x0 - x1"
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NACAdd(2, population=(4,)).expression()
