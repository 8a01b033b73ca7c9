import pytest

from .digits import make_base, make_tokenizer


@pytest.fixture(scope="session")
def tokenizer():
    """One that writes each digit as a token."""
    return make_tokenizer()


@pytest.fixture
def base(tokenizer):
    """A language model of two layers with random weights."""
    return make_base(tokenizer)
