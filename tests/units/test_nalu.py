"""NALU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.nalu import NALU

from .contract import generator
from .test_nac_add import parameters as nac_parameters
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters


def forward(
    x: np.ndarray, w_hat: np.ndarray, m_hat: np.ndarray, g: np.ndarray, base=np.e
) -> np.ndarray:
    """Outputs one number at a time, with sigmoid and tanh to any base."""
    y = np.empty((len(x), len(g)))
    w = weight(w_hat, m_hat, base)
    for b, sample in enumerate(x):
        for j in range(len(g)):
            total = sum(w[j, i] * sample[i] for i in range(len(sample)))
            product = np.prod([(abs(sample[i]) + 1e-7) ** w[j, i] for i in range(len(sample))])
            gate = 1 / (1 + base ** -sum(g[j, i] * sample[i] for i in range(len(sample))))
            y[b, j] = gate * total + (1 - gate) * product
    return y


def weight(w_hat: np.ndarray, m_hat: np.ndarray, base: float = np.e) -> np.ndarray:
    return (base ** (2 * w_hat) - 1) / (base ** (2 * w_hat) + 1) / (1 + base**-m_hat)


def parameters(seed: int, *shape: int) -> dict[str, np.ndarray]:
    return nac_parameters(seed, *shape) | {
        "g": np.random.default_rng(seed + 50).normal(0, 1, shape)
    }


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e2, -3.0]
    y = with_parameters(NALU(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9, atol=1e-12)


def test_there_is_no_penalty_and_no_projection():
    values = parameters(6, 1, 2)
    unit = with_parameters(NALU(2), **values)
    unit.project()
    assert penalty_of(unit, 40_000) == 0
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(NALU(2), **parameters(seed, 1, 2))
    assert_gradients(unit, lambda **values: float(((forward(X, **values) - Y) ** 2).mean()))


def test_the_sparsity_is_that_of_the_weights():
    for seed in range(5):
        values = parameters(seed, 2, 3)
        w = weight(values["w_hat"], values["m_hat"])
        expected = max(min(abs(v), abs(1 - abs(v))) for v in w.flat)
        unit = with_parameters(NALU(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_draw_is_w_then_m_then_the_gate():
    source, r, bound = generator(3), 9.47140638591577, 2**0.5
    expected = {
        "w_hat": torch.empty(1, 2).uniform_(-r, r, generator=source),
        "m_hat": torch.empty(1, 2).uniform_(-r, r, generator=source),
        "g": torch.empty(1, 2).uniform_(-bound, bound, generator=source),
    }
    assert equal(NALU(2).draw(generator(3)), expected)


def test_the_gates_draw_is_glorots():
    unit, source = NALU(2), generator(4)
    drawn = torch.cat([unit.draw(source)["g"].flatten() for _ in range(10_000)])
    assert drawn.abs().max() <= 2**0.5
    assert drawn.mean().item() == pytest.approx(0, abs=0.02)
    assert drawn.std().item() == pytest.approx((2 / 3) ** 0.5, rel=0.02)


def test_a_hardened_gate_still_looks_at_the_inputs():
    unit = with_parameters(
        NALU(2),
        w_hat=np.array([[3.0, 3.0]]),
        m_hat=np.array([[3.0, 3.0]]),
        g=np.array([[-5.0, -4.0]]),
    )
    assert unit.expression() == (
        "mix(sigmoid(-5 * x0 - 4 * x1): 0.948 * x0 + 0.948 * x1, abs(x0)**0.948 * abs(x1)**0.948)"
    )
    unit.harden()
    assert unit.expression() == "mix(step(-5 * x0 - 4 * x1): x0 + x1, abs(x0) * abs(x1))"
    x = torch.tensor([[-3.0, -4.0], [3.0, 4.0]], dtype=torch.float64)
    assert unit(x).tolist() == [[-7.0], [12.0]]
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NALU(2, population=(4,)).expression()
