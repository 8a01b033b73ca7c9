"""G-NALU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.gnalu import GNALU

from .contract import generator
from .test_nalu import forward, parameters, weight
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters

PHI = (1 + 5**0.5) / 2


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e2, -3.0]
    y = with_parameters(GNALU(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values, base=PHI), rtol=1e-9, atol=1e-12)


def test_there_is_no_penalty_and_no_projection():
    values = parameters(6, 1, 2)
    unit = with_parameters(GNALU(2), **values)
    unit.project()
    assert penalty_of(unit, 40_000) == 0
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(GNALU(2), **parameters(seed, 1, 2))
    assert_gradients(
        unit, lambda **values: float(((forward(X, **values, base=PHI) - Y) ** 2).mean())
    )


def test_the_sparsity_is_that_of_the_weights():
    for seed in range(5):
        values = parameters(seed, 2, 3)
        w = weight(values["w_hat"], values["m_hat"], PHI)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in w.flat)
        unit = with_parameters(GNALU(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-9, abs=0)


def test_the_draw_is_w_then_m_then_the_gate():
    source, r, bound = generator(3), 9.47140638591577, 2**0.5
    expected = {
        "w_hat": torch.empty(1, 2).uniform_(-r, r, generator=source),
        "m_hat": torch.empty(1, 2).uniform_(-r, r, generator=source),
        "g": torch.empty(1, 2).uniform_(-bound, bound, generator=source),
    }
    assert equal(GNALU(2).draw(generator(3)), expected)


def test_a_hardened_gate_still_looks_at_the_inputs():
    unit = with_parameters(
        GNALU(2),
        w_hat=np.array([[5.0, 5.0]]),
        m_hat=np.array([[5.0, 5.0]]),
        g=np.array([[-5.0, -4.0]]),
    )
    assert unit.expression().startswith("mix(sigmoid_phi(-5 * x0 - 4 * x1): 0.9")
    unit.harden()
    assert unit.expression() == "mix(step(-5 * x0 - 4 * x1): x0 + x1, abs(x0) * abs(x1))"
    x = torch.tensor([[-3.0, -4.0], [3.0, 4.0]], dtype=torch.float64)
    assert unit(x).tolist() == [[-7.0], [12.0]]
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        GNALU(2, population=(4,)).expression()
