"""NAC• against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.nac_mul import NACMul

from .contract import generator
from .test_nac_add import parameters, weight
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters


def forward(x: np.ndarray, w_hat: np.ndarray, m_hat: np.ndarray) -> np.ndarray:
    y = np.ones((len(x), len(w_hat)))
    for j, row in enumerate(weight(w_hat, m_hat)):
        for i, power in enumerate(row):
            y[:, j] *= (abs(x[:, i]) + 1e-7) ** power
    return y


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e4, -3.0]
    y = with_parameters(NACMul(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9)


def test_there_is_no_penalty_and_no_projection():
    values = parameters(6, 1, 2)
    unit = with_parameters(NACMul(2), **values)
    unit.project()
    assert penalty_of(unit, 40_000) == 0
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(NACMul(2), **parameters(seed, 1, 2))
    assert_gradients(unit, lambda **values: float(((forward(X, **values) - Y) ** 2).mean()))


def test_the_sparsity_is_the_largest_distance_from_discrete():
    for seed in range(5):
        values = parameters(seed, 2, 3)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in weight(**values).flat)
        unit = with_parameters(NACMul(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_draw_is_w_and_then_m():
    source, r = generator(3), 9.47140638591577
    w_hat = torch.empty(1, 2).uniform_(-r, r, generator=source)
    m_hat = torch.empty(1, 2).uniform_(-r, r, generator=source)
    assert equal(NACMul(2).draw(generator(3)), {"w_hat": w_hat, "m_hat": m_hat})


def test_hardening_rounds_to_minus_one_zero_and_one_and_loses_signs():
    values = {"w_hat": np.array([[2.0, -2.0, 2.0]]), "m_hat": np.array([[2.0, 2.0, -2.0]])}
    unit = with_parameters(NACMul(3), **values).harden()
    assert unit.expression() == "abs(x0) / abs(x1)"
    assert unit(torch.tensor([[-3.0, 4.0, 7.0]])).item() == 0.75
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NACMul(2, population=(4,)).expression()
