"""Global random numbers, lent to a module that knows no others."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def lent() -> Iterator[None]:
    """Put torch's, numpy's and Python's global generators back afterwards as they were."""
    python, legacy = random.getstate(), np.random.get_state()
    devices = [torch.cuda.current_device()] if torch.cuda.is_initialized() else []
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(legacy)


def states() -> tuple[object, ...]:
    """Where these generators stand, to be compared with where they stand later."""
    _, numbers, place, *rest = np.random.get_state()
    torchs = torch.random.get_rng_state().numpy().tobytes()
    return random.getstate(), np.asarray(numbers).tobytes(), place, *rest, torchs


def seed_all(seed: int) -> None:
    """Seed these three; only inside `lent`."""
    torch.random.default_generator.manual_seed(seed)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed(seed)
    np.random.seed(seed % 2**32)
    random.seed(seed)
