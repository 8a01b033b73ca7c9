"""A model that computes is the base with computed digits in its logits, however it is run."""

import pytest
import torch
import transformers

from arithmix.lm.loading import base as base_of
from arithmix.lm.model import attach
from arithmix.lm.plan import NEGLIGIBLE, make_plan
from arithmix.lm.programs import OPERATIONS
from arithmix.lm.reader import Config, Reader

from .digits import make_base

PROMPT = "ab 12.5 and -7, then 1,200 is"
BATCH = [PROMPT, "3 x 44 =", "12 + 30 = 4", "no number here"]


def reader(gate=(0.0, 0.0, 0.0), seed=0, **settings):
    """A reader with random programs, and a gate that is the same everywhere."""
    config = Config(width=32, layers=(1, 2), rank=8, **settings)
    made = Reader(config, torch.Generator().manual_seed(seed))
    made.gate_bias.data = torch.tensor(gate)
    return made.eval()


def product_of_the_last_two(gate=(-20.0, -20.0, 20.0)):
    """A reader that always picks x0 * x1, whatever the states say."""
    made = reader(gate)
    for parameter in (made.query, made.key, made.recency, made.constant, made.operation):
        parameter.data.zero_()
    made.left.data.zero_()
    made.right.data.zero_()
    made.query_bias.data[0] = 10.0
    made.recency.data[0, 0] = made.recency.data[1, 1] = 30.0
    times = OPERATIONS.index("*")
    made.operation.data[times, 0] = 10.0
    made.right.data[times, 0, 0] = made.left.data[times, 0, 1] = 1.0
    return made


@pytest.fixture
def model(base, tokenizer):
    return attach(base, tokenizer, reader())


def write(model, tokenizer, texts, **settings):
    given = tokenizer(texts, return_tensors="pt", padding=True)
    settings = {"do_sample": False, "max_new_tokens": 12, **settings}
    return model.generate(
        input_ids=given.input_ids, attention_mask=given.attention_mask, **settings
    )[:, given.input_ids.shape[1] :]


@pytest.mark.parametrize("beams", [1, 3])
def test_it_writes_the_exact_product_of_two_long_numbers(base, tokenizer, beams):
    model = attach(base, tokenizer, product_of_the_last_two())
    x, y = 123456789012345678901234567891, 987654321098765432109876543211
    # The space is given: when a number comes is the base's choice, and this one is untrained.
    made = write(model, tokenizer, [f"a {x} b {y} = "], num_beams=beams, max_new_tokens=61)
    text = tokenizer.decode(made[0])
    assert text.startswith(str(x * y))
    assert not text[60].isdigit()


def test_with_a_cache_and_without_it_writes_the_same(model, tokenizer):
    for prompt in BATCH:
        with_cache = write(model, tokenizer, [prompt], use_cache=True)
        assert torch.equal(with_cache, write(model, tokenizer, [prompt], use_cache=False))


def test_a_padded_batch_writes_what_its_rows_write_alone(model, tokenizer):
    together = write(model, tokenizer, BATCH)
    for row, prompt in zip(together, BATCH, strict=True):
        assert torch.equal(row, write(model, tokenizer, [prompt])[0])


def test_step_by_step_has_the_logits_of_the_whole_text(model, tokenizer):
    text = PROMPT + " 84,000. 5 x 3 = 15.50 m -8400"
    ids = tokenizer(text, return_tensors="pt").input_ids
    whole = model(ids).logits
    cache = transformers.DynamicCache(config=model.config)
    steps = [model(ids[:, i : i + 1], past_key_values=cache).logits for i in range(ids.shape[1])]
    torch.testing.assert_close(torch.cat(steps, 1), whole, atol=1e-4, rtol=1e-4)
    cut = model(ids, logits_to_keep=3, use_cache=False).logits
    torch.testing.assert_close(cut, whole[:, -3:], atol=1e-4, rtol=1e-4)


def test_a_cropped_cache_goes_on_as_if_nothing_had_been_there(model, tokenizer):
    ids = tokenizer("x 12 y 30 = 360 z", return_tensors="pt").input_ids
    cache = transformers.DynamicCache(config=model.config)
    model(ids, past_key_values=cache)
    cache.crop(-4)
    again = model(ids[:, -4:], past_key_values=cache).logits
    torch.testing.assert_close(again, model(ids).logits[:, -4:], atol=1e-4, rtol=1e-4)


def test_probabilities_sum_to_one_and_are_the_mixture_of_whole_numbers(tokenizer):
    base = make_base(tokenizer)
    prompt, answer = "ab 12 and 30 is", " 42"
    ids = tokenizer(prompt + answer, return_tensors="pt").input_ids
    plain = base(ids).logits.log_softmax(-1)
    model = attach(base, tokenizer, reader())
    mixed = model(ids).logits.log_softmax(-1)
    before = len(tokenizer(prompt).input_ids)
    row = model._rows(*_notes(model, ids))[0]
    plan = make_plan(model.block, row, before - 1)
    assert abs(plan.base + sum(plan.values().values()) - 1) < 1e-5

    places = range(before - 1, ids.shape[1] - 1)
    digits = [model.alphabet.ids[d] for d in "0123456789"]

    def whole(logs):
        """The probability of the answer's tokens and of no digit after them."""
        tokens = sum(logs[0, i, ids[0, i + 1]] for i in places)
        return (tokens + torch.log1p(-logs[0, -1, digits].exp().sum())).exp().item()

    spaced = plain[0, before - 1, [model.alphabet.ids[k] for k in " m"]].exp().sum().item()
    expected = plan.base * whole(plain) + spaced * plan.values()["42"]
    assert whole(mixed) == pytest.approx(expected, rel=1e-4)
    assert plan.values()["42"] > NEGLIGIBLE


def _notes(model, ids):
    layer = model(ids, use_cache=True).past_key_values.layers[-1]
    return layer.keys, layer.values


def test_a_closed_gate_leaves_every_bit(tokenizer):
    base = make_base(tokenizer)
    given = tokenizer(BATCH, return_tensors="pt", padding=True)
    base.requires_grad_(False)  # torch multiplies in another order where it keeps gradients
    plain, last = base(**given).logits, base(**given, logits_to_keep=1).logits
    model = attach(base, tokenizer, reader(gate=(9.0, -9.0, -9.0)))
    assert torch.equal(model(**given).logits, plain)
    assert torch.equal(model(**given, logits_to_keep=1).logits, last)


@pytest.mark.parametrize(
    "text", ["no number at all", "a 5 / 0 ", "", "7", "12 + 3", "-", " ", "1,2,3.4.5 (-6)--7 8"]
)
def test_odd_texts_are_no_trouble(model, tokenizer, text):
    ids = tokenizer(text or "a", return_tensors="pt").input_ids
    logits = model(ids).logits
    assert torch.isfinite(logits).all()
    assert model.generate(ids, attention_mask=ids * 0 + 1, max_new_tokens=5).shape[0] == 1
    assert isinstance(model.trace(text), list)


def test_beams_and_sampling_run_and_the_loss_is_that_of_the_logits(model, tokenizer):
    assert write(model, tokenizer, BATCH, num_beams=3).shape[0] == len(BATCH)
    sampled = write(model, tokenizer, BATCH, do_sample=True, num_return_sequences=2)
    assert sampled.shape[0] == 2 * len(BATCH)
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    out = model(ids, labels=ids)
    logs = out.logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    torch.testing.assert_close(out.loss, -logs.mean())


def test_a_trace_has_formula_operands_and_runner_up(base, tokenizer):
    model = attach(base, tokenizer, product_of_the_last_two())
    [found] = model.trace("ab 12 and -30.5 is -366.")
    assert (found.text, found.program.formula) == ("-366", "12 * -30.5")
    assert [operand.text for operand in found.program.operands] == ["12", "-30.5"]
    assert [operand.start for operand in found.program.operands] == [3, 10]
    assert found.probability > 0.99
    assert model.trace("ab 12 and -30.5 is 366.") == []


def test_a_block_is_saved_alone_and_refuses_another_base(base, tokenizer, tmp_path):
    made = reader(base=("tiny", base_of(base).hash))
    made.save_pretrained(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["block.json", "block.safetensors"]
    loaded = Reader.from_pretrained(tmp_path)
    assert loaded.config == made.config
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    logits = attach(base, tokenizer, made)(ids).logits
    assert torch.equal(attach(base, tokenizer, loaded)(ids).logits, logits)
    with pytest.raises(ValueError, match="states of 'tiny' with the hash"):
        attach(make_base(tokenizer, seed=1), tokenizer, loaded)
    with pytest.raises(FileNotFoundError, match=r"block\.json; got"):
        Reader.from_pretrained(tmp_path / "nothing")


def test_the_base_is_frozen_and_saved_without_the_block(model, tmp_path):
    assert not any(parameter.requires_grad for parameter in model.parameters())
    model.save_pretrained(tmp_path)
    again = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert again.config.architectures == ["LlamaForCausalLM"]
    assert base_of(again).hash == base_of(model).hash


def test_what_it_can_not_run_is_refused(model, tokenizer):
    ids = tokenizer(PROMPT, return_tensors="pt").input_ids
    with pytest.raises(ValueError, match="input_ids; got none"):
        model(inputs_embeds=torch.zeros(1, 2, 32))
    static = transformers.StaticCache(config=model.config, max_cache_len=64)
    with pytest.raises(ValueError, match="DynamicCache; got StaticCache"):
        model(ids, past_key_values=static)
    foreign = transformers.DynamicCache(config=model.config)
    make_base(tokenizer)(ids, past_key_values=foreign)
    with pytest.raises(ValueError, match="from its first token on; got"):
        model(ids[:, :1], past_key_values=foreign)
