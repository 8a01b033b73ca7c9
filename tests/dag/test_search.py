import itertools

import pytest
import torch

from arithmix.dag.distribution import log_likelihood_loss, train
from arithmix.dag.search import OPERATIONS, Search, combine, evaluate, plans

from .test_execute import generator


def examples(inputs, rows=24):
    x = 1 + torch.rand(rows, inputs, generator=generator(), dtype=torch.float64)
    return x, x.prod(1)


def every_function(x, depth):
    """What all plans of exactly `depth` steps compute, one after the other."""
    states = [list(x.T)]
    for _ in range(depth):
        states = [
            [*slots, value]
            for slots in states
            for a, b in itertools.combinations(slots, 2)
            for value in combine(a[None], b[None])[:, 0]
        ]
    return torch.stack([slots[-1] for slots in states])


def keys(values):
    """The different functions among values, as rounded numbers."""
    usable = values[values.isfinite().all(1)]
    return {tuple(f"{v:.7e}".replace("-0.0", "0.0") for v in row) for row in usable[:, :3].tolist()}


def test_the_number_of_plans_is_that_of_the_choices():
    x, _ = examples(3)
    assert len(every_function(x, 2)) == plans(3, 2) == 18 * 36


@pytest.mark.parametrize(("inputs", "depth"), [(2, 3), (3, 2), (4, 2)])
def test_no_function_is_left_out(inputs, depth):
    x, y = examples(inputs)
    found = set()
    for level in Search(x, y, depth, 2**30).levels():
        values = evaluate(level.codes, x) if level.depth else x.T
        assert torch.allclose(Search(x, y, 1, 1).target.loss(values), level.losses, rtol=1e-9)
        found |= keys(values)
        assert not level.beam
    true = set().union(*(keys(every_function(x, d)) for d in range(1, depth + 1)), keys(x.T))
    # A value that cancels to nothing is zero or rounding, whichever way it was computed.
    missing = [key for key in true - found if not any("e-1" in word for word in key)]
    assert not missing and len(found) < 2 * len(true)


def test_a_program_uses_all_its_steps():
    x, y = examples(3)
    *_, last = Search(x, y, 3, 2**30).levels()
    pairs = {n: torch.triu_indices(n, n, 1) for n in (3, 4, 5)}
    for codes in last.codes[:: len(last.codes) // 200].tolist():
        used = {int(k) for n, code in enumerate(codes) for k in pairs[3 + n][:, code // OPERATIONS]}
        assert {3, 4} <= used


def test_a_small_budget_makes_a_beam_that_still_finds_a_balanced_program():
    x, _ = examples(4, 64)
    y = (x[:, 0] + x[:, 1]) / (x[:, 2] * x[:, 3])
    sizes = []
    for budget in (2**30, 2**18):
        *_, last = Search(x, y, 3, budget).levels()
        sizes.append(len(last.losses))
        assert last.losses.min() < -50
        assert last.beam == (budget == 2**18)
    assert sizes[1] < sizes[0] / 2


def test_training_ends_at_the_posterior():
    losses = torch.tensor([-9.0, -8.0, -2.0], dtype=torch.float64)
    start = torch.tensor([0.0, 1.0, 0.5], dtype=torch.float64)
    p = train(start, losses, 10.0).softmax(0)
    assert torch.allclose(p, (start - 10 * losses).softmax(0))
    assert (train(start, losses, 1.0).softmax(0) * losses).sum() < (start.softmax(0) * losses).sum()


def test_noise_in_proportion_is_known_from_noise_of_one_size():
    f = torch.linspace(0.1, 10, 500, dtype=torch.float64)
    noise = torch.randn(500, generator=generator(), dtype=torch.float64)
    wrong = f + 0.02
    for y in (f * (1 + 0.01 * noise), f + 0.01 * noise):
        true, other = log_likelihood_loss(torch.stack([f, wrong]), y)
        assert true < other - 0.1
