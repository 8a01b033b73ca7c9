"""What a model computed, read back; and a block kept without its base."""

import json

import pytest
import torch
import transformers

from arithmix.lm.loading import base as base_of
from arithmix.lm.model import attach
from arithmix.lm.reader import Reader

from .digits import make_base
from .readers import last_two, random_reader


@pytest.fixture
def model(base, tokenizer):
    return attach(base, tokenizer, last_two())


@pytest.fixture
def any_model(any_tokenizer):
    return attach(make_base(any_tokenizer), any_tokenizer, last_two())


def test_a_trace_has_formula_operands_and_places(any_model):
    text = "ab 12 and -30.5 is -366."
    trace = any_model.trace(text)
    [found] = trace
    shift = len(trace.text) - len(text)  # SentencePiece puts a space before a text
    assert trace.text.endswith(text)
    assert (found.text, found.program.text, found.program.value) == ("-366", "12 * -30.5", "-366")
    assert trace.text[found.start : found.end] == "-366"
    assert found.start == text.index("-366") + shift
    assert [operand.text for operand in found.program.operands] == ["12", "-30.5"]
    for operand in found.program.operands:
        assert trace.text[operand.start : operand.end] == operand.text
    assert found.probability > 0.99 and found.runner_up is None
    assert not found.program.is_copy
    assert len(any_model.trace("ab 12 and -30.5 is 366.")) == 0


def test_a_wrong_number_is_foretold_and_not_computed(model):
    text = "ab 12 and 30 is 361."
    assert not len(model.trace(text))
    [told] = [told for told in model.foretold(text) if told.start == text.index("361")]
    assert (told.text, told.value_text, told.right) == ("361", "360", False)
    assert told.probability > 0.99 > told.base
    [told] = [told for told in model.foretold("ab 12 and 30 is 360.") if told.text == "360"]
    assert told.right


def test_token_ids_are_traced_as_their_text(model, tokenizer):
    text = "ab 12 and 30 is 360."
    ids = tokenizer(text, return_tensors="pt").input_ids
    assert model.trace(ids) == model.trace(ids[0]) == model.trace(text)


def test_letters_of_several_tokens_are_one_character(model):
    text = "é🙂 12 × 30 is 360."
    trace = model.trace(text)
    assert trace.text == text
    [found] = trace
    assert text[found.start : found.end] == "360"


def test_every_way_to_write_the_value_is_right(model):
    model.author.block.style_head.bias.data.zero_()
    for written in ("1200", "1,200", "1200.00", "1,200.00"):
        assert [found.text for found in model.trace(f"a 12 b 100 is {written}.")] == [written]


def test_a_copy_is_a_formula_of_one_number(base, tokenizer):
    reader = last_two(gate=(-20.0, 20.0, -20.0, -20.0, -20.0))
    reader.copy.weight.data[0, 0] = 1.0
    [found] = attach(base, tokenizer, reader).trace("a 12 b 30 is 30.")
    assert found.program.is_copy and found.program.text == "30"


def test_the_runner_up_is_the_likeliest_of_another_value(base, tokenizer):
    reader = last_two()
    rank = reader.config.rank
    for weight in (reader.left.weight, reader.right.weight):
        weight.data[:rank] = weight.data[2 * rank : 3 * rank]  # + as likely as *
    reader.operation.bias.data[2] = 0.5
    reader.config = type(reader.config)(**{**vars(reader.config), "threshold": 0.3})
    [found] = attach(base, tokenizer, reader).trace("a 12 b 30 is 360.")
    assert (found.program.text, found.runner_up.text) == ("12 * 30", "12 + 30")
    assert found.program.probability > found.runner_up.probability > 0.3


def test_a_block_is_saved_alone_and_refuses_another_base(base, tokenizer, tmp_path):
    made = random_reader(base=("tiny", base_of(base).hash))
    made.load_state_dict({k: v.half().float() for k, v in made.state_dict().items()})
    made.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["block.json", "block.safetensors"]
    loaded = Reader.from_pretrained(tmp_path)
    assert loaded.config == made.config
    ids = tokenizer("ab 12 and 30 is", return_tensors="pt").input_ids
    logits = attach(base, tokenizer, made)(ids).logits
    assert torch.equal(attach(base, tokenizer, loaded)(ids).logits, logits)
    with pytest.raises(ValueError, match="states of 'tiny' with the hash"):
        attach(make_base(tokenizer, seed=1), tokenizer, loaded)
    with pytest.raises(ValueError, match=r"block\.json; got"):
        Reader.from_pretrained(tmp_path / "nothing")


@pytest.mark.parametrize("damage", ["{", '{"width": 3}', "[]", None])
def test_a_damaged_block_is_refused_in_a_sentence(tmp_path, damage):
    random_reader().save_pretrained(tmp_path)
    settings = tmp_path / "block.json"
    if damage is None:
        told = json.loads(settings.read_text())
        damage = json.dumps({**told, "rank": told["rank"] * 2})
    settings.write_text(damage)
    with pytest.raises(ValueError, match=r"the block in .* (can't be read|does not fit)"):
        Reader.from_pretrained(tmp_path)
    (tmp_path / "block.safetensors").write_bytes(b"half")
    with pytest.raises(ValueError, match="can't be read"):
        Reader.from_pretrained(tmp_path)


def test_the_base_is_frozen_and_saved_without_the_block(model, tmp_path):
    assert not any(parameter.requires_grad for parameter in model.parameters())
    model.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert again.config.architectures == ["LlamaForCausalLM"]
    assert base_of(again).hash == base_of(model).hash
