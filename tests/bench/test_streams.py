import numpy as np
import pytest
import torch

from arithmix.bench import streams
from arithmix.bench.streams import Streams, fixed_set, origin
from arithmix.tasks import RANGES, Task


def test_the_numbers_are_the_original_streams_in_any_order():
    made = Streams([0, 7], 2, 128, torch.device("cpu"))
    for index in (0, 1, 2, 3, 4, 5, 6, 7, 0, 3, 9, 1):
        chunk = made.chunk(index)
        for place, seed in enumerate((0, 7)):
            legacy = np.random.RandomState(origin(seed, 2).stream)
            legacy.random_sample((index * made.steps, 128, 2))
            expected = legacy.random_sample((3, 128, 2)).transpose(0, 2, 1)
            assert np.array_equal(chunk[:3, place].numpy(), expected)
    made.close()


def test_rescaled_numbers_are_numpys_uniform():
    made = Streams([3], 2, 128, torch.device("cpu"))
    numbers = made.chunk(0)[0, 0].T.numpy()
    for name in RANGES:
        low, high = RANGES[name].train
        expected = np.random.RandomState(origin(3, 2).stream).uniform(low, high, (128, 2))
        assert np.array_equal(low + (high - low) * numbers, expected)
    made.close()


def test_chunks_are_kept_within_their_budget(monkeypatch):
    monkeypatch.setitem(streams.KEPT_BYTES, "cpu", 0)
    made = Streams([1], 2, 8, torch.device("cpu"))
    first = made.chunk(0).clone()
    for index in range(5):
        made.chunk(index)
    assert len(made._kept) <= 2
    assert torch.equal(made.chunk(0), first)
    made.close()


def test_division_on_sym_has_the_published_tail():
    _, y = fixed_set(Task("div", "sym"), "validation", 0)
    assert np.abs(y).max() == pytest.approx(6094.7, rel=1e-4)
    assert (y**2).mean() == pytest.approx(6129, rel=1e-3)


def test_the_mirrored_test_set_has_four_quadrants():
    x, _ = fixed_set(Task("add", "sym"), "test", 0)
    assert ((np.abs(x) >= 2) & (np.abs(x) <= 6)).all()
    quadrants = np.unique(np.sign(x), axis=0, return_counts=True)[1]
    assert (np.abs(quadrants / len(x) - 0.25) < 0.02).all()


def test_operands_among_many_inputs_move_with_the_seed():
    task = Task("sub", "pos", 10)
    offsets = {origin(seed, 10).offset for seed in range(50)}
    assert offsets == set(range(9))
    x, y = fixed_set(task, "test", 4)
    offset = origin(4, 10).offset
    assert np.array_equal(y[:, 0], x[:, offset] - x[:, offset + 1])
    assert np.array_equal(x, fixed_set(task, "test", 5)[0])
