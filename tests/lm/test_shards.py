"""Samples kept on disk are read back as they were made."""

import numpy as np
import pytest
import torch

from arithmix.lm.samples import collect
from arithmix.lm.shards import kept, read, write
from arithmix.lm.vocabulary import Vocabulary

TEXTS = [
    "a 12 b 30 is 42.",
    "a 3 b 4 c 50 is 38.",
    "a 7 b 11 c 13 d 17 is 298, so 298.",
    "no number here",
    "a 5 b 977777",
]


@pytest.fixture
def make(base, tokenizer):
    vocabulary = Vocabulary(tokenizer)
    return lambda texts: collect(texts, base, vocabulary, (1, 2), 6, ("2", "10"))


def same(one, other):
    assert one.ids == other.ids
    assert torch.equal(one.digit, other.digit) and torch.equal(one.states, other.states)
    assert one.states.dtype == other.states.dtype == torch.float16
    for a, b in zip(one.targets, other.targets, strict=True):
        for name, value in vars(a).items():
            if name != "found":
                assert getattr(b, name) == value
        for kind, rows in vars(a.found).items():
            assert np.array_equal(rows, getattr(b.found, kind))
            assert rows.shape == getattr(b.found, kind).shape


def test_what_is_written_is_read_back(make, tmp_path):
    samples = list(make(TEXTS))
    path = tmp_path / "some.safetensors"
    write(path, samples)
    again = read(path)
    assert len(again) == len(samples) == len(TEXTS)
    for one, other in zip(samples, again, strict=True):
        same(one, other)
    kinds = {k for s in again for t in s.targets for k, rows in vars(t.found).items() if len(rows)}
    assert kinds == {"copies", "ones", "twos", "threes"}


def test_texts_without_any_target_are_kept_too(make, tmp_path):
    write(tmp_path / "none.safetensors", list(make(["no number", "5"])))
    assert [sample.targets for sample in read(tmp_path / "none.safetensors")] == [[], []]


def test_samples_are_made_once_and_anew_where_anything_else_is_asked_for(make, tmp_path):
    asked, told = [], []

    def noted(texts):
        asked.extend(texts)
        return make(texts)

    first = kept(tmp_path, TEXTS, {"layers": [1, 2]}, noted, lambda *done: told.append(done))
    assert sorted(asked) == sorted(TEXTS) and told == [(5, 5)]
    again = kept(tmp_path, TEXTS, {"layers": [1, 2]}, noted)
    assert len(asked) == len(TEXTS)
    for one, other in zip(first, again, strict=True):
        same(one, other)
    kept(tmp_path, TEXTS, {"layers": [1]}, noted)
    kept(tmp_path, TEXTS[:2], {"layers": [1, 2]}, noted)
    assert len(asked) == 2 * len(TEXTS) + 2


def test_a_file_that_was_half_written_is_made_again(make, tmp_path):
    kept(tmp_path, TEXTS, {}, make)
    [path] = tmp_path.iterdir()
    path.replace(path.with_name(f".{path.name}.part"))
    assert len(kept(tmp_path, TEXTS, {}, make)) == len(TEXTS)
    assert path.is_file()


def test_a_making_that_fails_leaves_no_file(tmp_path):
    def broken(texts):
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        kept(tmp_path, TEXTS, {}, broken)
    assert not list(tmp_path.iterdir())
