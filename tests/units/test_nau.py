"""NAU against a second implementation in numpy, written from the equations."""

from typing import TypeVar

import numpy as np
import pytest
import torch
from torch import Tensor

from arithmix import Unit
from arithmix.units.nau import NAU

from .contract import generator

U = TypeVar("U", bound=Unit)
X = np.random.default_rng(0).uniform(-3, 3, (40, 2))
Y = np.random.default_rng(1).uniform(-3, 3, (40, 1))


def with_parameters(unit: U, **values: np.ndarray) -> U:
    """The unit with these parameters, in float64."""
    unit = unit.double()
    unit.load_state_dict({key: torch.tensor(value) for key, value in values.items()})
    return unit


def assert_gradients(unit: Unit, function, step: float = 27_000.0, validation: float = 0.5) -> None:
    """Compare with central differences of `function`, the whole loss of numpy parameters."""
    total = unit.loss(torch.tensor(X), torch.tensor(Y))
    total = total + unit.penalty(
        torch.tensor(step, dtype=torch.float64), torch.tensor(validation, dtype=torch.float64)
    )
    values = {key: p.detach().numpy().copy() for key, p in unit.named_parameters()}
    assert total.item() == pytest.approx(function(**values), rel=1e-9)
    total.backward()
    h = 1e-6
    for key, p in unit.named_parameters():
        assert p.grad is not None
        for place in np.ndindex(*p.shape):
            sides = []
            for move in (h, -h):
                moved = {k: v.copy() for k, v in values.items()}
                moved[key][place] += move
                sides.append(function(**moved))
            slope = (sides[0] - sides[1]) / (2 * h)
            assert p.grad[place].item() == pytest.approx(slope, rel=1e-5, abs=1e-6), (key, place)


def penalty_of(unit: Unit, step: float, validation: float = 0.5) -> float:
    wide = torch.float64
    return unit.penalty(torch.tensor(step, dtype=wide), torch.tensor(validation, dtype=wide)).item()


def equal(first: dict[str, Tensor], second: dict[str, Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[k], second[k]) for k in first)


def forward(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x @ np.clip(w, -1, 1).T


def penalty(w: np.ndarray, step: float) -> float:
    scale = min(max((step - 20_000) / 15_000, 0.0), 1.0)
    total = sum(min(abs(v), abs(1 - abs(v))) for v in w.flat)
    return 0.01 * scale * total / w.size


def weights(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1.4, 1.4, shape)


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    w = weights(seed, 3, 4)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    y = with_parameters(NAU(4, 3), w=w)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, w), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [0, 20_000, 27_000, 35_000, 50_000])
def test_the_penalty_is_the_papers(step):
    w = weights(6, 1, 2)
    unit = with_parameters(NAU(2), w=w)
    assert penalty_of(unit, step) == pytest.approx(penalty(w, step), rel=1e-9, abs=0)


def test_the_penalty_has_its_settings():
    w = np.array([[0.5, 0.25]])
    unit = with_parameters(NAU(2, weight=2.0, ramp_start=0, ramp_end=100), w=w)
    assert penalty_of(unit, 50) == 0.375
    with pytest.raises(ValueError, match="ramp_end must be after ramp_start=5; got 5"):
        NAU(2, ramp_start=5, ramp_end=5)


@pytest.mark.parametrize("seed", range(4))
def test_the_gradients_are_those_of_the_equations(seed):
    unit = with_parameters(NAU(2), w=weights(seed, 1, 2))
    assert_gradients(unit, lambda w: float(((forward(X, w) - Y) ** 2).mean()) + penalty(w, 27_000))


def test_the_projection_clips_at_one():
    unit = with_parameters(NAU(3), w=np.array([[1.5, -7.0, 0.3]]))
    unit.project()
    assert unit.w.tolist() == [[1.0, -1.0, 0.3]]


def test_the_sparsity_is_the_largest_distance_from_discrete():
    for seed in range(5):
        w = weights(seed, 2, 3)
        inside = np.clip(w, -1, 1)
        expected = max(min(abs(v), abs(1 - abs(v))) for v in inside.flat)
        unit = with_parameters(NAU(3, 2), w=w)
        assert unit.sparsity().item() == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize(("inputs", "bound"), [(2, 0.5), (10, 0.5), (100, 0.243733)])
def test_the_draw_is_uniform_within_its_bound(inputs, bound):
    unit = NAU(inputs)
    source = generator(4)
    drawn = torch.cat([unit.draw(source)["w"].flatten() for _ in range(20_000 // inputs)])
    assert drawn.abs().max() <= bound + 1e-6
    assert drawn.mean().item() == pytest.approx(0, abs=0.02 * bound)
    assert drawn.std().item() == pytest.approx(bound / 3**0.5, rel=0.02)


def test_the_draw_is_one_call_of_torchs_uniform():
    source = generator(3)
    expected = {"w": torch.empty(1, 2).uniform_(-0.5, 0.5, generator=source)}
    assert equal(NAU(2).draw(generator(3)), expected)


def test_a_population_has_no_formula():
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        NAU(2, population=(4,)).expression()


def test_a_trained_unit_reads_to_three_decimals():
    unit = with_parameters(NAU(3), w=np.array([[0.99999, -0.25, 1e-6]]))
    assert unit.expression() == "x0 - 0.25 * x1"
