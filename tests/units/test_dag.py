import pytest
import torch

from arithmix.units.dag import DAG

from .contract import PROPERTIES, generator

CHOSEN = [check for check in PROPERTIES if "hardened" not in check.__name__]


def variant(**settings):
    """The unit with other defaults, as a class the contract can be run over."""

    class Variant(DAG):
        def __init__(self, in_features, out_features=1, **more):
            super().__init__(in_features, out_features, **{**settings, **more})

    return Variant


@pytest.mark.parametrize("check", CHOSEN, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "settings",
    [{"depth": 3}, {"head": "linear"}, {"depth": 2, "head": "mlp"}],
    ids=["depth 3", "linear", "mlp"],
)
def test_every_variant_keeps_the_contract(settings, check):
    check(variant(**settings))


def test_one_step_learns_to_multiply():
    unit = DAG(2, 1, generator=generator(1))
    optimiser = torch.optim.Adam(unit.parameters(), lr=1e-2)
    source = generator(1)
    for _ in range(600):
        x = 1 + torch.rand(128, 2, generator=source)
        loss = unit.loss(x, x.prod(-1, keepdim=True))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert unit.harden().expression() == "x0 * x1"


def test_several_outputs_have_a_plan_each():
    unit = DAG(2, 2, depth=2, generator=generator())
    product, sum_ = unit.solution("mul")["bias"][0], unit.solution("add")["bias"][0]
    unit.load_state_dict({"bias": torch.stack([product, sum_])})
    assert unit.expression() == "(x0 * x1, x0 + x1)"
    assert unit.harden()(torch.tensor([3.0, 4.0])).tolist() == [12.0, 7.0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [({"depth": 0}, "depth must be 1"), ({"head": "liner"}, "did you mean linear")],
)
def test_a_wrong_argument_gets_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        DAG(2, 1, **arguments)
