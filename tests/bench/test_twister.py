import numpy as np
import torch

from arithmix.bench.twister import Twister

STREAMS = (0, 1, 3_000_000_000)


def test_the_numbers_are_those_of_numpys_legacy_generator():
    twister = Twister(STREAMS, torch.device("cpu"))
    counts = (1, 311, 5000, 20_000)
    taken = torch.cat([twister.take(count) for count in counts], 1)
    for stream, numbers in zip(STREAMS, taken, strict=True):
        expected = np.random.RandomState(stream).random_sample(sum(counts))
        assert np.array_equal(numbers.numpy(), expected)


def test_a_restored_state_gives_the_same_numbers_again():
    twister = Twister(STREAMS, torch.device("cpu"))
    twister.take(777)
    state = twister.state()
    first = twister.take(6000)
    twister.take(1)
    twister.restore(state)
    assert torch.equal(twister.take(6000), first)
