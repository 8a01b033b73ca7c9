import math

import numpy as np
import pytest
import torch
from torch.func import functional_call

from arithmix.tasks import OPERATIONS, RANGES
from arithmix.units import _structures
from arithmix.units._structures import PAIRS, Pair, Structures
from arithmix.units.unified import FLOOR, Unified

from .contract import generator

CPU = torch.device("cpu")


def numbers(*shape, seed=0):
    x = np.random.RandomState(seed).uniform(0.5, 2, shape)
    return x * np.random.RandomState(seed + 1).choice([-1, 1], shape)


def formulas(inputs):
    """Every structure's number and formula."""
    structures = Structures(inputs)
    valid = structures.valid(CPU).nonzero()[:, 0].tolist()
    return structures, {number: structures.text(number) for number in valid}


def said(formula, x):
    """What a formula computes, by Python."""
    names = {f"x{i}": x[..., i] for i in range(x.shape[-1])}
    return eval(formula, {"__builtins__": {}}, names) * np.ones(x.shape[:-1])


def numpy_losses(x, y):
    """The plain twin: every formula on the batch, one after the other."""
    structures, texts = formulas(x.shape[-1])
    loss = np.full(structures.count, np.inf)
    for number, formula in texts.items():
        loss[number] = np.mean((said(formula, x) - y) ** 2)
    return loss


def numpy_train(batches, rate, beta=(0.9, 0.999)):
    """Adam on the natural gradient, with every loss from its formula."""
    theta = np.zeros(Structures(batches[0][0].shape[-1]).count)
    first, second = np.zeros_like(theta), np.zeros_like(theta)
    for step, (x, y) in enumerate(batches, 1):
        loss = numpy_losses(x, y)
        there = np.isfinite(loss)
        loss = np.log(np.clip(loss[there] / np.mean(y**2), FLOOR, 1 / FLOOR))
        p = np.exp(theta[there] - theta.max())
        gradient = np.zeros_like(theta)
        gradient[there] = loss - p @ loss / p.sum()
        first = beta[0] * first + (1 - beta[0]) * gradient
        second = beta[1] * second + (1 - beta[1]) * gradient**2
        spread = np.sqrt(second / (1 - beta[1] ** step)) + 1e-8
        theta = theta - rate * first / (1 - beta[0] ** step) / spread
        theta = np.maximum(theta - theta.max(), -40)
    return theta


def train(unit, draw, steps=120, noise=0.0):
    """The unit's own recipe on batches of `draw(source)`."""
    optimiser = torch.optim.Adam(unit.parameters(), lr=unit.recipe("add").rate)
    source = generator(1)
    for _ in range(steps):
        x, y = draw(source)
        y = y + noise * torch.randn(y.shape, generator=source)
        optimiser.zero_grad()
        unit.loss(x, y).sum().backward()
        optimiser.step()
        unit.project()
    return unit


@pytest.mark.parametrize("inputs", [1, 2, 4, 9])
def test_every_loss_is_that_of_its_formula(inputs):
    x, y = numbers(50, inputs), numbers(50, seed=7)
    losses = Structures(inputs).losses(torch.from_numpy(x), torch.from_numpy(y)[:, None])[0]
    assert np.allclose(losses.numpy(), numpy_losses(x, y), rtol=1e-9)


@pytest.mark.parametrize("inputs", [2, 4])
def test_every_structure_computes_its_formula(inputs):
    x = numbers(20, inputs)
    structures, texts = formulas(inputs)
    y = structures.evaluate(torch.from_numpy(x), torch.tensor(list(texts)))
    assert np.allclose(y.numpy(), np.stack([said(t, x) for t in texts.values()], -1), rtol=1e-12)


def test_no_two_formulas_are_the_same():
    x = numbers(50, 4)
    outputs = np.stack([said(formula, x) for formula in formulas(4)[1].values()])
    assert len(np.unique(outputs.round(9), axis=0)) == len(outputs)


@pytest.mark.parametrize("population", [(), (3,)])
def test_the_soft_output_is_the_mean_over_structures(population):
    unit = Unified(3, 2, population=population, dtype=torch.float64).train()
    structures, texts = formulas(3)
    with torch.no_grad():
        unit.logits.copy_(torch.from_numpy(numbers(*unit.logits.shape)))
    x = torch.from_numpy(numbers(*population, 20, 3))
    all_ = structures.evaluate(x, torch.tensor(list(texts)).expand(*population, -1))
    mean = all_ @ unit.probabilities()[..., list(texts)].mT
    assert torch.allclose(unit(x), mean, rtol=1e-9)
    assert torch.allclose(unit.probabilities().sum(-1), torch.ones(1, dtype=torch.float64))


def test_training_is_its_plain_twins():
    batches = [(numbers(16, 3, seed=s), numbers(16, 3, seed=s)[:, 2]) for s in range(0, 24, 2)]
    unit = Unified(3, 1, dtype=torch.float64)
    given = iter([(torch.from_numpy(x), torch.from_numpy(y)[:, None]) for x, y in batches])
    train(unit, lambda source: next(given), len(batches))
    valid = Structures(3).valid(CPU).numpy()
    twin = numpy_train(batches, unit.recipe("add").rate)
    assert np.allclose(unit.logits.detach().numpy()[0, valid], twin[valid], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("inputs", [2, 10])
def test_one_recipe_finds_every_operation_on_every_range(inputs):
    cells = [(operation, range_) for operation in OPERATIONS for range_ in RANGES]
    bounds = torch.tensor([RANGES[range_].train for _, range_ in cells])
    low, high = bounds[:, :, None, None].unbind(1)

    def draw(source):
        x = low + (high - low) * torch.rand(36, 128, inputs, generator=source)
        made = zip(cells, x, strict=True)
        y = [OPERATIONS[o].apply(one[:, 0], one[:, 1]) for (o, _), one in made]
        return x, torch.stack(y)[:, :, None]

    unit = train(Unified(inputs, 1, population=(36,)), draw)
    right = torch.tensor([Structures(inputs).find(operation) for operation, _ in cells])
    assert torch.equal(unit.probabilities()[:, 0].argmax(-1), right)
    assert unit.sparsity().max() < 1e-6


BEYOND = {
    "x2": lambda x: x[2],
    "3 * x1": lambda x: 3 * x[1],
    "-x0 / 4": lambda x: -x[0] / 4,
    "1 / x3": lambda x: 1 / x[3],
    "x1 * x1": lambda x: x[1] ** 2,
    "(x0 + x2 + x3)": lambda x: x[0] + x[2] + x[3],
    "(x0 + x1 + x2 + x3) / 4": lambda x: sum(x) / 4,
    "(x1 * x2 * x3)": lambda x: x[1] * x[2] * x[3],
    "7": lambda x: 0 * x[0] + 7,
    "0": lambda x: 0 * x[0],
}


@pytest.mark.parametrize("formula", BEYOND)
def test_more_than_pairs_are_found(formula):
    def draw(source):
        x = 1 + torch.rand(64, 4, generator=source)
        return x, BEYOND[formula](x.unbind(-1))[:, None]

    assert train(Unified(4, 1), draw).expression() == formula


def test_a_small_difference_of_large_numbers_is_found():
    def draw(source):
        x = 1e7 + torch.rand(128, 5, generator=source, dtype=torch.float64)
        return x, x[:, 3:4] - x[:, 1:2]

    assert train(Unified(5, 1), draw).expression() == "x3 - x1"


def test_outputs_are_found_each_by_itself():
    def draw(source):
        x = 1 + torch.rand(64, 3, generator=source)
        return x, torch.stack([x[:, 0] - x[:, 2], x[:, 1] / x[:, 0]], -1)

    unit = train(Unified(3, 2), draw).eval()
    assert unit.expression() == "(x0 - x2, x1 / x0)"
    assert unit(torch.tensor([4.0, 2.0, 1e6])).tolist() == [4 - 1e6, 0.5]


def test_what_it_can_not_compute_is_never_called_exact():
    def draw(source):
        x = 1 + torch.rand(128, 2, generator=source)
        return x, (x[:, :1] ** x[:, 1:])

    unit = train(Unified(2, 1), draw, 200)
    assert unit.harden().expression().startswith("about ")
    assert unit.error.item() > math.log(1e-4)


def test_noise_does_not_hide_the_structure_but_is_told():
    def draw(source):
        x = 1 + torch.rand(128, 2, generator=source)
        return x, x[:, :1] / x[:, 1:]

    said = train(Unified(2, 1), draw, 200, noise=0.1).expression()
    assert said.startswith("about x0 / x1 (off by 0.")


@pytest.mark.parametrize(
    ("pair", "target"),
    [
        (Pair("max", "max", torch.maximum, torch.lt), torch.maximum),
        (
            Pair("heron", "heron", lambda a, b: a * a * b, torch.ne, ((1, 2, 1),)),
            lambda a, b: a * a * b,
        ),
    ],
    ids=["from outputs", "from moments"],
)
def test_one_entry_more_is_one_operation_more(pair, target, monkeypatch):
    monkeypatch.setitem(_structures.PAIRS, pair.name, pair)

    def draw(source):
        x = 1 + torch.rand(64, 3, generator=source)
        return x, target(x[:, 1], x[:, 2])[:, None]

    unit = train(Unified(3, 1), draw)
    assert unit.expression() == f"x1 {pair.symbol} x2"
    x = torch.tensor([[9.0, 5.0, -7.0]])
    assert unit.eval()(x).item() == target(x[:, 1], x[:, 2]).item()
    assert unit.train()(x).item() == pytest.approx(target(x[:, 1], x[:, 2]).item())


def test_modes_share_their_parameters():
    x = torch.tensor([[3.0, 4.0]], requires_grad=True)
    outputs, gradients = {}, {}
    for mode in ("soft", "straight", "hard"):
        unit = Unified(2, 1, mode=mode)
        with torch.no_grad():
            unit.logits[0, Structures(2).find("mul")] = 2.0
        outputs[mode] = unit(x).item()
        unit.zero_grad()
        gradients[mode] = torch.autograd.grad(unit(x).sum(), [x, unit.logits], allow_unused=True)
    assert outputs["straight"] == outputs["hard"] == 12.0 != outputs["soft"]
    for straight, soft in zip(gradients["straight"], gradients["soft"], strict=True):
        assert torch.equal(straight, soft) and soft.abs().sum() > 0
    assert gradients["hard"][0].tolist() == [[4.0, 3.0]] and gradients["hard"][1] is None


def test_straight_through_is_exact_where_the_mean_is_enormous():
    unit = Unified(2, 1, mode="straight")
    with torch.no_grad():
        unit.logits[0, Structures(2).find("add")] = 2.0
    assert unit(torch.tensor([[3.0, 1e-30]])).item() == 3.0


def test_numbers_that_are_no_structure_have_no_say():
    unit = Unified(2, 1)
    with torch.no_grad():
        unit.logits.sub_(70.0)[:, ~Structures(2).valid(CPU)] = 0.0
        unit.logits[0, Structures(2).find("sub")] += 20.0
    unit.project()
    assert unit.expression() == "about x0 - x1 (off by 1)"


def test_a_decided_output_is_exact_in_evaluation_alone():
    unit = Unified(2, 1)
    unit.load_state_dict(unit.solution("mul"))
    x = torch.tensor([[1.0, 0.0]])
    assert unit.eval()(x).item() == 0.0
    assert unit.train()(x).item() != 0.0
    assert 0 < unit.sparsity() < 1e-12


def test_it_works_inside_a_network():
    for mode in ("soft", "straight", "hard"):
        network = torch.nn.Sequential(torch.nn.Linear(5, 4), Unified(4, 3, mode=mode))
        network(torch.randn(2, 7, 5, generator=generator())).sum().backward()
        assert all(p.grad is None or p.grad.isfinite().all() for p in network.parameters())
        assert network[0].weight.grad.abs().sum() > 0


def test_the_loss_has_gradients_in_the_inputs_and_never_hides_a_nan():
    unit, x = Unified(3, 1), torch.tensor([[1.0, 0.0, 3e38]] * 8, requires_grad=True)
    unit.loss(x, torch.ones(8, 1)).backward()
    assert x.grad.isfinite().all() and unit.logits.grad.isfinite().all()
    assert unit.loss(x, torch.full((8, 1), math.nan)).isnan()


def test_the_recipe_is_never_told_the_operation():
    assert len({repr(Unified.recipe(o, n)) for o in OPERATIONS for n in (2, 10, 100)}) == 1
    assert list(PAIRS) == list(OPERATIONS)
    with pytest.raises(ValueError, match="no mode is called 'sft'"):
        Unified(2, 1, mode="sft")
    assert Unified(2, 1).expression().startswith("mix(")


@pytest.mark.compiled
def test_the_loss_compiles_once_for_populations_of_any_size():
    torch.compiler.reset()
    unit = Unified(3, 1).train()
    loss = _Loss(unit)

    def gradients(state, x, y):
        return torch.func.grad(lambda state: functional_call(loss, state, (x, y)).sum())(state)

    compiled = torch.compile(gradients, fullgraph=True, backend="aot_eager")
    for members in (4, 6):
        state = {
            f"unit.{k}": v.expand(members, *v.shape).clone() for k, v in unit.state_dict().items()
        }
        x = torch.from_numpy(numbers(members, 16, 3)).float()
        y = x[..., :1] * x[..., 1:2]
        for tensor in (*state.values(), x, y):
            torch._dynamo.mark_dynamic(tensor, 0)
        eager = gradients(state, x, y)
        for key, value in compiled(state, x, y).items():
            assert torch.allclose(value, eager[key], rtol=1e-5, atol=1e-5)


class _Loss(torch.nn.Module):
    def __init__(self, unit):
        super().__init__()
        self.unit = unit

    def forward(self, x, y):
        return self.unit.loss(x, y)


def test_what_the_data_do_not_tell_stays_undecided():
    def draw(source):
        x = 1 + torch.rand(64, 3, generator=source)
        x[:, 2] = x[:, 0]
        return x, x[:, :1] / x[:, 1:2]

    assert train(Unified(3, 1), draw).expression().startswith("mix(0.5: x0 / x1, 0.5: x2 / x1")
