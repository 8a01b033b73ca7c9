import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix import DMU
from arithmix.tasks import OPERATIONS
from arithmix.units.dmu import PAPER_LOG_LIMIT, dmu

from .contract import generator


def numpy_dmu(x, o, g, temperature=1e-4, limit=PAPER_LOG_LIMIT):
    """The unit as the paper's code computes it, for one output."""
    sign = np.where(x >= 0, 1.0, -1.0)
    r_lin = x @ o
    r_log = np.log(np.maximum(np.abs(x), 1e-11)) @ o
    s_lin = np.tanh(r_lin / temperature)
    s_log = np.cos(np.pi * ((1 - sign) / 2) @ np.abs(o))
    l_lin = np.log(np.maximum(np.sqrt(r_lin**2 + 1e-8), 1e-11))
    l_log = np.clip(r_log, -limit, limit)
    size = np.clip(g[0] * l_lin + g[1] * l_log, -limit, limit)
    return (g[0] * s_lin + g[1] * s_log) * np.exp(size)


@pytest.mark.parametrize("o", [[1.0, 1.0], [1.0, -1.0], [0.3, -0.8]])
@pytest.mark.parametrize("g_lin", [0.0, 0.2, 0.5, 1.0])
def test_the_forward_is_the_papers(o, g_lin):
    x = np.random.RandomState(0).uniform(-3, 3, (500, 2))
    gate = torch.tensor([[g_lin, 1 - g_lin]], dtype=torch.float64)
    selector = torch.tensor([o], dtype=torch.float64)
    ours = dmu(torch.from_numpy(x), selector, gate, log_limit=PAPER_LOG_LIMIT)
    assert np.allclose(ours[:, 0].numpy(), numpy_dmu(x, np.array(o), (g_lin, 1 - g_lin)), rtol=1e-9)


def test_the_papers_limit_saturates_and_the_default_does_not():
    x = torch.tensor([[1e6, 1e6]])
    for limit, expected in ((PAPER_LOG_LIMIT, math.exp(PAPER_LOG_LIMIT)), (None, 1e12)):
        unit = DMU(2, 1, log_limit=limit)
        unit.load_state_dict(unit.solution("mul"))
        assert unit(x).item() == pytest.approx(expected, rel=1e-5)


@given(
    a=st.floats(-(2.0**40), 2.0**40, width=32),
    b=st.floats(-(2.0**40), 2.0**40, width=32),
    operation=st.sampled_from(sorted(OPERATIONS)),
    dtype=st.sampled_from([torch.float32, torch.float64]),
)
@settings(max_examples=300, deadline=None)
def test_the_hardened_unit_computes_as_python_does(a, b, operation, dtype):
    unit = DMU(2, 1, dtype=dtype)
    unit.load_state_dict(unit.solution(operation))
    x = torch.tensor([[a, b]], dtype=dtype)
    y = unit.harden()(x).item()
    assert math.isfinite(y)
    if operation == "div" and b == 0:
        return
    expected = OPERATIONS[operation].apply(x[0, 0], x[0, 1])
    if not expected.isfinite():
        assert abs(y) == torch.finfo(dtype).max
    elif operation in ("add", "sub"):
        assert y == expected.item()
    else:
        tiny = torch.finfo(dtype).tiny
        assert abs(y - expected.item()) <= 4 * torch.finfo(dtype).eps * abs(expected.item()) + tiny


def test_three_times_minus_four_is_minus_twelve():
    unit = DMU(2, 1, selector="add")
    unit.load_state_dict(unit.solution("mul"))
    assert unit.harden()(torch.tensor([3.0, -4.0])).item() == -12.0
    unit = DMU(2, 1)
    unit.load_state_dict(unit.solution("sub"))
    assert unit.harden()(torch.tensor([7.0, 7.0])).item() == 0.0
    unit.load_state_dict(unit.solution("div"))
    assert unit(torch.tensor([1.0, 0.0])).isfinite().all()


def test_several_outputs_have_a_gate_and_a_row_each():
    unit = DMU(3, 2, selector=torch.tensor([[1.0, -1.0, 0.0], [0.0, 1.0, 1.0]]))
    with torch.no_grad():
        unit.gate.copy_(torch.tensor([[9.0, -9.0], [-9.0, 9.0]]))
    assert unit.expression() == "(x0 - x1, x1 * x2)"
    x = torch.tensor([[5.0, 2.0, -3.0]])
    assert unit.harden()(x).tolist() == [[3.0, -6.0]]


def test_an_undecided_gate_reads_as_a_mix():
    assert DMU(2, 1).expression() == "mix(0.5: x0 + x1, 0.5: x0 * x1)"


def test_a_population_has_no_single_formula():
    with pytest.raises(ValueError, match="population of"):
        DMU(2, 1, population=(3,)).expression()


def test_results_can_be_mixed_in_the_place_of_logarithms():
    x = torch.tensor([[3.0, -4.0], [-0.5, -2.0]], dtype=torch.float64)
    gate = torch.tensor([[0.3, 0.7]], dtype=torch.float64)
    y = dmu(x, torch.tensor([[1.0, 1.0]], dtype=torch.float64), gate, mix="linear")
    expected = 0.3 * x.sum(-1) + 0.7 * x.prod(-1)
    assert torch.allclose(y[:, 0], expected, rtol=1e-12)


def test_a_random_selector_follows_its_generator():
    def drawn(seed):
        generator = torch.Generator().manual_seed(seed)
        return DMU(3, 2, selector="random", learn_selector=True, generator=generator).selector

    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))
    assert drawn(1).abs().max() <= 1 and drawn(1).std() > 0.1


@pytest.mark.parametrize("start", ["add", "half", "first"])
def test_a_learned_selector_starts_from_its_pattern(start):
    unit = DMU(3, 1, selector=start, learn_selector=True)
    rows = {"add": [1.0, 1.0, 1.0], "half": [0.5, 0.5, 0.5], "first": [1.0, 0.0, 0.0]}
    assert unit.selector.tolist() == [rows[start]]


@pytest.mark.parametrize("gate", ["dual", "single"])
@pytest.mark.parametrize("learn", [False, True])
def test_every_variant_learns_to_add(gate, learn):
    unit = DMU(2, 1, gate=gate, learn_selector=learn, generator=generator())
    names = {name for name, _ in unit.named_parameters()}
    assert names == {"gate", "selector"} if learn else {"gate"}
    optimiser = torch.optim.Adam(unit.parameters(), lr=1e-2)
    source = generator(1)
    for _ in range(300):
        x = 1 + torch.rand(128, 2, generator=source)
        loss = unit.loss(x, x.sum(-1, keepdim=True))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert unit.harden().expression() == "x0 + x1"


@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_a_mix_of_losses_decides_in_a_hundred_steps(operation):
    source = generator(1)
    unit = DMU(2, 1, **{**DMU.recipe(operation).arguments, "mix": "loss"})
    optimiser = torch.optim.Adam(unit.parameters(), lr=1e-2)
    for _ in range(100):  # of the up to 20 000 that the paper's loss takes
        x = 4 * torch.rand(128, 2, generator=source) - 2
        loss = unit.loss(x, OPERATIONS[operation].apply(x[:, :1], x[:, 1:]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(unit.parameters(), 0.01)
        optimiser.step()
    assert unit.sparsity() < 1e-3
    assert unit.expression() == f"x0 {OPERATIONS[operation].symbol} x1"


def test_a_mix_of_losses_is_linear_in_the_gate():
    unit, plain = DMU(2, 2, mix="loss", dtype=torch.float64), DMU(2, 2, dtype=torch.float64)
    x = torch.rand(64, 2, generator=generator(), dtype=torch.float64) + 0.5
    y = torch.rand(64, 2, generator=generator(1), dtype=torch.float64) + 0.5
    logs = []
    for pattern in ([1000.0, -1000.0], [-1000.0, 1000.0]):
        plain.gate.data.copy_(torch.tensor(pattern).expand(2, 2))
        logs.append(((plain(x) - y).square().mean(0) / y.square().mean(0)).log())
    unit.gate.data.copy_(torch.tensor([[0.02, -0.03], [0.1, 0.0]]))
    plain.load_state_dict(unit.state_dict())
    expected = (unit.weights() * torch.stack(logs, -1)).sum(-1).mean()
    assert torch.allclose(unit.loss(x, y), expected)
    assert torch.equal(unit(x), plain(x))


def test_gradients_are_finite_where_the_true_one_is_not():
    unit = DMU(2, 1)
    unit.load_state_dict(unit.solution("div"))
    for one in (unit, DMU(2, 1, selector="sub"), unit.harden()):
        x = torch.tensor([[1e5, 1e-30], [1.0, 0.0], [0.0, 0.0], [3.0, 3.0]], requires_grad=True)
        one(x).sum().backward()
        assert x.grad.isfinite().all()


def test_it_works_inside_a_network():
    network = torch.nn.Sequential(torch.nn.Linear(5, 4), DMU(4, 3), torch.nn.Linear(3, 1))
    network(torch.randn(2, 7, 5, generator=generator())).sum().backward()
    assert all(p.grad.isfinite().all() for p in network.parameters())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"selector": "ad"}, "did you mean add"),
        ({"gate": "triple"}, "no gate is called 'triple'"),
        ({"selector": torch.ones(3, 3)}, "1 x 2"),
        ({"temperature": 0.0}, "temperature must be positive"),
    ],
)
def test_a_wrong_argument_gets_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        DMU(2, 1, **arguments)
