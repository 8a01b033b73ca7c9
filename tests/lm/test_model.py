"""A model that computes is the base with computed digits in its logits, however it is run."""

import pytest
import torch
import transformers

from arithmix.lm.model import attach, detach
from arithmix.lm.reading import Reading

from .digits import make_base
from .readers import last_two, random_reader

PROMPT = "ab 12.5 and -7, then 1,200 is"
BATCH = [PROMPT, "3 x 44 =", "12 + 30 = 4", "no number here"]
LONG = PROMPT + " 84,000. 5 x 3 = 15.50 m -8400\n12"
BIG = 123456789012345678901234567891, 987654321098765432109876543211
CLOSED = (9.0, -9.0, -9.0, -9.0, -9.0)


@pytest.fixture
def any_model(any_tokenizer):
    return attach(make_base(any_tokenizer), any_tokenizer, random_reader())


@pytest.fixture
def model(base, tokenizer):
    return attach(base, tokenizer, random_reader())


def encode(model, text):
    return model.tokenizer(text, return_tensors="pt").input_ids


def write(model, texts, **settings):
    given = model.tokenizer(texts, return_tensors="pt", padding=True)
    settings = {"do_sample": False, "max_new_tokens": 12, **settings}
    return model.generate(
        input_ids=given.input_ids, attention_mask=given.attention_mask, **settings
    )[:, given.input_ids.shape[1] :]


def near(one, other):
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("beams", [1, 3])
def test_it_writes_the_exact_product_of_two_long_numbers(any_tokenizer, beams):
    model = attach(make_base(any_tokenizer), any_tokenizer, last_two())
    vocabulary = model.author.vocabulary
    x, y = BIG
    # When a number comes is the base's choice, and this one is untrained: so its first token is
    # given. In it there is a digit or none.
    answer = vocabulary.spell("=", f" {x * y}")
    ids = torch.cat([encode(model, f"a {x} b {y} ="), torch.tensor([answer[:1]])], 1)
    made = model.generate(
        ids, attention_mask=ids * 0 + 1, max_new_tokens=61, num_beams=beams, do_sample=False
    )[0, ids.shape[1] - 1 :]
    assert tuple(made[: len(answer)].tolist()) == answer
    assert not vocabulary.texts[made[len(answer)]][:1].isdigit()


def test_with_a_cache_and_without_it_writes_the_same(any_model):
    for prompt in BATCH:
        with_cache = write(any_model, [prompt], use_cache=True)
        assert torch.equal(with_cache, write(any_model, [prompt], use_cache=False))


def test_a_padded_batch_writes_what_its_rows_write_alone(any_model):
    together = write(any_model, BATCH)
    for row, prompt in zip(together, BATCH, strict=True):
        assert torch.equal(row, write(any_model, [prompt])[0])


def test_a_padded_batch_has_the_logits_of_its_rows(any_model):
    given = any_model.tokenizer(BATCH, return_tensors="pt", padding=True)
    logits = any_model(**given).logits
    for row, prompt in zip(logits, BATCH, strict=True):
        alone = any_model(encode(any_model, prompt)).logits[0]
        near(row[-len(alone) :], alone)


def test_step_by_step_has_the_logits_of_the_whole_text(any_model):
    ids = encode(any_model, LONG)
    whole = any_model(ids).logits
    cache = transformers.DynamicCache(config=any_model.config)
    every = range(ids.shape[1])
    steps = [any_model(ids[:, i : i + 1], past_key_values=cache).logits for i in every]
    near(torch.cat(steps, 1), whole)
    cache = transformers.DynamicCache(config=any_model.config)
    parts = [any_model(part, past_key_values=cache).logits for part in ids.split(5, 1)]
    near(torch.cat(parts, 1), whole)


def test_the_logits_asked_for_are_those_of_the_whole_text(any_model):
    ids = encode(any_model, LONG)
    whole = any_model(ids).logits
    near(any_model(ids, logits_to_keep=3, use_cache=False).logits, whole[:, -3:])
    for some in (*([i] for i in range(ids.shape[1])), [2, 9, 10], [10, 2]):
        kept = any_model(ids, logits_to_keep=torch.tensor(some)).logits
        near(kept, whole[:, some])


def test_an_open_gate_changes_the_logits_where_a_number_may_come(any_model):
    ids = encode(any_model, PROMPT)
    changed = any_model(ids).logits
    assert not torch.equal(changed[:, -1], detach(any_model)(ids).logits[:, -1])


def test_a_cropped_cache_goes_on_as_if_nothing_had_been_there(model):
    ids = encode(model, "x 12 y 30 = 360 z")
    cache = transformers.DynamicCache(config=model.config)
    model(ids, past_key_values=cache)
    cache.crop(-4)
    again = model(ids[:, -4:], past_key_values=cache).logits
    near(again, model(ids).logits[:, -4:])


def test_probabilities_sum_to_what_the_base_has(any_model):
    ids = encode(any_model, LONG)
    mixed = any_model(ids).logits.logsumexp(-1)
    near(mixed, detach(any_model)(ids).logits.logsumexp(-1))


def test_the_product_over_a_numbers_tokens_is_the_mixture(any_model):
    vocabulary, prompt = any_model.author.vocabulary, encode(any_model, "ab 12 and 30 is")
    place = prompt.shape[1] - 1
    answer = vocabulary.spell("s", " 42")
    ids = torch.cat([prompt, torch.tensor([answer])], 1)
    mixed = any_model(ids).logits[0].double().log_softmax(-1)
    notes = any_model._notes(ids, None, any_model(ids, use_cache=False, output_hidden_states=True))
    seen = any_model.author.outlook(notes, 0, Reading(vocabulary.text(ids[0].tolist())), place)
    plain = detach(any_model)(ids).logits[0].double().log_softmax(-1)
    digits = [i for i, text in enumerate(vocabulary.texts) if text[:1].isdigit()]

    def whole(logs):
        """The probability of the answer's tokens and of no digit after them."""
        tokens = sum(logs[place + i, token] for i, token in enumerate(answer))
        return (tokens.exp() * (1 - logs[-1, digits].exp().sum())).item()

    starts = [vocabulary.written[i] for i in vocabulary.starts["spaced"]]
    spaced = plain[place, starts].exp().sum().item()
    computed = seen.texts["42"] + seen.texts["42.00"]  # both have no digit after 42
    assert computed > 1e-3
    expected = seen.base * whole(plain) + spaced * computed
    assert whole(mixed) == pytest.approx(expected, rel=1e-3)


def test_a_closed_gate_leaves_every_bit(any_tokenizer):
    base = make_base(any_tokenizer)
    given = any_tokenizer(BATCH, return_tensors="pt", padding=True)
    base.requires_grad_(False)  # torch multiplies in another order where it keeps gradients
    last = {"logits_to_keep": 1}

    def step(model):
        cache = model(**given, use_cache=True).past_key_values
        mask = torch.cat([given.attention_mask, torch.ones(len(BATCH), 1, dtype=torch.long)], 1)
        new = given.input_ids[:, :1]
        return model(new, attention_mask=mask, past_key_values=cache).logits

    plain = base(**given).logits, base(**given, **last).logits, step(base)
    model = attach(base, any_tokenizer, random_reader(CLOSED, threshold=0.5))
    now = model(**given).logits, model(**given, **last).logits, step(model)
    assert all(map(torch.equal, plain, now))


def test_a_model_detached_is_its_base_again(tokenizer):
    base = make_base(tokenizer)
    kind, ids = type(base), tokenizer(PROMPT, return_tensors="pt").input_ids
    plain = base(ids).logits
    keys = base.state_dict().keys()
    trained = [parameter.requires_grad for parameter in base.parameters()]
    model = attach(attach(base, tokenizer, last_two()), tokenizer, random_reader())
    assert not torch.equal(model(ids).logits, plain)
    assert detach(model) is base
    assert type(base) is kind
    assert torch.equal(base(ids).logits, plain)
    assert base.state_dict().keys() == keys
    assert not hasattr(base, "trace") and not hasattr(base, "author")
    assert [parameter.requires_grad for parameter in base.parameters()] == trained
    assert detach(base) is base


def test_beams_and_sampling_run_and_copies_of_a_row_are_rows(model):
    assert write(model, BATCH, num_beams=3).shape[0] == len(BATCH)
    beams = write(model, BATCH, num_beams=3, num_return_sequences=2)
    assert beams.shape[0] == 2 * len(BATCH)
    torch.manual_seed(0)
    sampled = write(model, BATCH, do_sample=True, num_return_sequences=2)
    assert sampled.shape[0] == 2 * len(BATCH)


def test_beams_score_as_the_whole_text_does(model):
    ids = encode(model, PROMPT)
    out = model.generate(
        ids,
        attention_mask=ids * 0 + 1,
        num_beams=4,
        do_sample=False,
        max_new_tokens=8,
        length_penalty=0.0,
        output_scores=True,
        return_dict_in_generate=True,
    )
    logs = model(out.sequences).logits.log_softmax(-1)[0, ids.shape[1] - 1 : -1]
    new = out.sequences[0, ids.shape[1] :]
    assert out.sequences_scores[0].item() == pytest.approx(
        logs.gather(1, new[:, None]).sum().item(), abs=1e-3
    )


def test_the_loss_is_that_of_the_logits(model):
    ids = encode(model, PROMPT)
    out = model(ids, labels=ids)
    logs = out.logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
    near(out.loss, -logs.mean())
    as_tuple = model(ids, labels=ids, return_dict=False)
    assert torch.equal(as_tuple[0], out.loss) and torch.equal(as_tuple[1], out.logits)
    assert len(as_tuple) == 3  # and the cache


def test_hidden_states_come_back_only_where_they_are_asked_for(model):
    ids = encode(model, PROMPT)
    assert model(ids).hidden_states is None
    assert len(model(ids, output_hidden_states=True).hidden_states) == 3


def test_what_it_can_not_run_is_refused(model, tokenizer):
    ids = encode(model, PROMPT)
    with pytest.raises(ValueError, match="input_ids; got none"):
        model(inputs_embeds=torch.zeros(1, 2, 32))
    static = transformers.StaticCache(config=model.config, max_cache_len=64)
    with pytest.raises(ValueError, match="DynamicCache; got StaticCache"):
        model(ids, past_key_values=static)
    foreign = transformers.DynamicCache(config=model.config)
    make_base(tokenizer)(ids, past_key_values=foreign)
    with pytest.raises(ValueError, match="from its first token on; got"):
        model(ids[:, :1], past_key_values=foreign)
