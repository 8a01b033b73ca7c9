"""iNALU against a second implementation in numpy, written from the equations."""

import numpy as np
import pytest
import torch

from arithmix.units.inalu import INALU

from .contract import generator
from .test_nac_add import weight
from .test_nau import X, Y, assert_gradients, equal, penalty_of, with_parameters

MEANS = {"w_a": 0.88, "m_a": 0.5, "w_m": 0.88, "m_m": 0.5}


def forward(x: np.ndarray, w_a, m_a, w_m, m_m, g) -> np.ndarray:
    y = np.empty((len(x), len(g)))
    additive, powers = weight(w_a, m_a), weight(w_m, m_m)
    for b, sample in enumerate(x):
        for j in range(len(g)):
            total, exponent, sign = 0.0, 0.0, 1.0
            for i, value in enumerate(sample):
                total += additive[i, j] * value
                exponent += powers[i, j] * np.log(max(abs(value), 1e-7))
                sign *= np.sign(value) * abs(powers[i, j]) + 1 - abs(powers[i, j])
            gate = 1 / (1 + np.exp(-g[j]))
            y[b, j] = gate * total + (1 - gate) * np.exp(min(exponent, 20)) * sign
    return y


def penalty(step: float, validation: float, **values: np.ndarray) -> float:
    if step <= 10_000 or not validation < 1:
        return 0.0
    return sum(float(np.maximum(0, 20 - abs(p)).mean()) for p in values.values()) / 20


def parameters(seed: int, inputs: int, outputs: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    values = {key: random.uniform(-3, 3, (inputs, outputs)) for key in MEANS}
    return values | {"g": random.uniform(-3, 3, outputs)}


@pytest.mark.parametrize("seed", range(5))
def test_the_forward_is_the_papers(seed):
    values = parameters(seed, 4, 3)
    x = np.random.default_rng(seed).normal(0, 5, (30, 4))
    x[0] = [0.0, -1e-8, 1e4, -3.0]
    y = with_parameters(INALU(4, 3), **values)(torch.tensor(x)).detach().numpy()
    np.testing.assert_allclose(y, forward(x, **values), rtol=1e-9, atol=1e-12)


def test_the_product_ends_at_e_to_the_20():
    values = parameters(0, 2, 1) | {"w_m": np.full((2, 1), 9.0), "m_m": np.full((2, 1), 9.0)}
    values["g"] = np.array([-40.0])
    y = with_parameters(INALU(2), **values)(torch.tensor([[-1e8, 1e8]], dtype=torch.float64))
    assert y.item() == pytest.approx(-np.exp(20), rel=1e-3)


@pytest.mark.parametrize("step", [0, 10_000, 10_001, 50_000])
@pytest.mark.parametrize("validation", [0.0, 0.999, 1.0, 7.0, float("nan"), float("inf")])
def test_the_penalty_is_on_late_and_below_an_error_of_one(step, validation):
    values = parameters(6, 2, 1)
    values["w_a"][0, 0], values["g"][0] = -21.0, 20.5
    unit = with_parameters(INALU(2), **values)
    expected = penalty(step, validation, **values)
    assert penalty_of(unit, step, validation) == pytest.approx(expected, rel=1e-9, abs=0)


def test_each_member_of_a_population_has_its_own_switch():
    unit = INALU(2, population=(3,), generator=generator())
    on = unit.penalty(torch.tensor(20_000.0), torch.tensor([0.5, 2.0, float("nan")]))
    assert [value > 0 for value in on.tolist()] == [True, False, False]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("step", [5_000.0, 27_000.0])
def test_the_gradients_are_those_of_the_equations(seed, step):
    unit = with_parameters(INALU(2), **parameters(seed, 2, 1))

    def total(**values: np.ndarray) -> float:
        return float(((forward(X, **values) - Y) ** 2).mean()) + penalty(step, 0.5, **values)

    assert_gradients(unit, total, step)


def test_nothing_is_projected():
    values = {key: 30 * value for key, value in parameters(1, 2, 1).items()}
    unit = with_parameters(INALU(2), **values)
    unit.project()
    assert all(np.array_equal(unit.get_parameter(k).detach(), v) for k, v in values.items())


def test_the_sparsity_is_the_mean_of_the_two_weights():
    for seed in range(5):
        values = parameters(seed, 3, 2)
        both = weight(values["w_a"], values["m_a"]), weight(values["w_m"], values["m_m"])
        errors = [max(min(abs(v), abs(1 - abs(v))) for v in w.flat) for w in both]
        unit = with_parameters(INALU(3, 2), **values)
        assert unit.sparsity().item() == pytest.approx(sum(errors) / 2, rel=1e-12, abs=0)


def test_the_draw_is_five_calls_of_torchs_normal():
    source = generator(3)
    expected = {
        key: torch.empty(2, 1).normal_(mean, 0.2, generator=source) for key, mean in MEANS.items()
    }
    expected["g"] = torch.empty(1).normal_(0.0, 0.2, generator=source)
    assert equal(INALU(2).draw(generator(3)), expected)


def test_the_draws_have_their_means_and_widths():
    unit, source = INALU(2), generator(4)
    drawn = [unit.draw(source) for _ in range(4000)]
    for key, mean in {**MEANS, "g": 0.0}.items():
        values = torch.cat([d[key].flatten() for d in drawn])
        assert values.mean().item() == pytest.approx(mean, abs=0.02)
        assert values.std().item() == pytest.approx(0.2, rel=0.05)


def test_the_recipe_clips_each_entry_of_the_gradient():
    recipe = INALU.recipe("mul")
    assert (recipe.rate, recipe.clip_value, recipe.clip_norm) == (1e-3, 0.1, None)


def test_an_undecided_gate_reads_as_a_mix():
    values = {key: np.full((2, 1), 50.0) for key in MEANS} | {"g": np.array([0.0])}
    unit = with_parameters(INALU(2), **values)
    assert unit.expression() == "mix(0.5: x0 + x1, 0.5: x0 * x1)"
    assert unit.harden().expression() == "x0 + x1"
    with pytest.raises(ValueError, match="population of \\(4,\\)"):
        INALU(2, population=(4,)).expression()
