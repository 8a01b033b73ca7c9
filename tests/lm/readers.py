"""Readers with random programs, and one that knows what it wants."""

import torch

from arithmix.lm.programs import OPERATIONS
from arithmix.lm.reader import Config, Reader


def random_reader(gate=(0.0, 0.0, 0.0, 0.0, 0.0), seed=0, threshold=0.0, **settings):
    """A reader with random programs, and a gate that is the same everywhere."""
    settings = {"size": 16, "depth": 2, "heads": 2, "rank": 8, "memory": 6, **settings}
    config = Config(width=32, layers=(1, 2), threshold=threshold, **settings)
    made = Reader(config, torch.Generator().manual_seed(seed))
    made.gate_head.bias.data = torch.tensor(gate)
    return made.eval()


def last_two(operation="*", gate=(-20.0, -20.0, 20.0, -20.0, -20.0), **settings):
    """A reader that always picks an operation on the last two numbers, whatever the states say."""
    made = random_reader(gate, threshold=0.5, **settings)
    for name, parameter in made.named_parameters():
        if name.split(".")[0] not in ("enter", "layers", "leave", "gate_head"):
            parameter.data.zero_()
    made.query.bias.data[0] = 10.0
    made.recency.data[0, 0] = made.recency.data[1, 1] = 30.0
    first = OPERATIONS.index(operation) * made.config.rank
    made.left.weight.data[first + 1, 0] = made.right.weight.data[first, 0] = 1.0
    made.style_head.bias.data[0] = 20.0
    return made
