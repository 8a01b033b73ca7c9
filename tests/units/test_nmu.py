"""NMU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.nmu import NMU

from .contract import generator
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters


def forward(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    y = np.ones((len(x), len(w)))
    for j, row in enumerate(w):
        for i, weight in enumerate(row):
            y[:, j] *= weight * x[:, i] + 1 - weight
    return y


def penalty(w: np.ndarray, step: float) -> float:
    scale = min(max((step - 20_000) / 15_000, 0.0), 1.0)
    return 10 * scale * sum(min(abs(v), abs(1 - v)) for v in w.flat) / w.size


def weights(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.4, 1.4, shape)


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    w = weights(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    y = with_parameters(NMU(4, 3), w=w)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, w), rtol=1e-9)


@pytest.mark.parametrize("step", [0, 20_000, 27_000, 35_000, 50_000])
def test_the_penalty_is_the_papers(step):
    w = weights(6, 1, 2)
    unit = with_parameters(NMU(2), w=w)
    assert penalty_of(unit, step) == pytest.approx(penalty(w, step), rel=1e-9, abs=0)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(NMU(2), w=weights(seed, 1, 2))
    assert_gradients(unit, lambda w: float(((forward(X, w) - Y) ** 2).mean()) + penalty(w, 27_000))


def test_the_projection_clips_at_zero_and_one():
    unit = with_parameters(NMU(3), w=np.array([[1.5, -7.0, 0.3]]))
    unit.project()
    assert unit.w.tolist() == [[1.0, 0.0, 0.3]]


def test_the_sparsity_is_the_largest_distance_from_discrete():
    for seed in range(5):
        w = weights(seed, 2, 3)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in w.flat)
        unit = with_parameters(NMU(3, 2), w=w)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-12, abs=0)


def test_the_draw_is_uniform_around_one_half():
    unit = NMU(10)
    source = generator(4)
    drawn = torch.cat([unit.draw(source)["w"].flatten() for _ in range(2000)])
    assert drawn.min() >= 0.25 and drawn.max() <= 0.75
    assert drawn.mean().item() == pytest.approx(0.5, abs=0.01)
    assert drawn.std().item() == pytest.approx(0.5 / 12**0.5, rel=0.02)


def test_the_draw_is_one_call_of_torchs_uniform():
    source = generator(3)
    expected = {"w": torch.empty(1, 2).uniform_(0.25, 0.75, generator=source)}
    assert equal(NMU(2).draw(generator(3)), expected)


def test_an_overflow_before_a_zero_is_no_nan():
    unit = NMU(3)
    unit.load_state_dict(unit.solution("mul"))
    assert unit(torch.tensor([[3e38, 3e38, 0.0]])).item() == 0
    assert unit(torch.tensor([[float("nan"), 1.0, 1.0]])).isnan().all()


def test_a_trained_unit_reads_to_three_decimals():
    unit = with_parameters(NMU(3), w=np.array([[0.99999, 0.25, 1e-6]]))
    assert unit.expression() == "x0 * (0.25 * x1 + 0.75)"
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NMU(2, population=(4,)).expression()
