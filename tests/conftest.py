import pytest
import torch


@pytest.fixture(autouse=True)
def keep_the_global_generator():
    """A test that draws from torch's own generator leaves it as it was."""
    state = torch.random.get_rng_state()
    yield
    torch.random.set_rng_state(state)
