"""A model that computes is the base with computed digits in its logits, however it is run."""

import pytest
import torch

from arithmix.lm.model import attach, detach
from arithmix.lm.reading import Reading

from .digits import make_base
from .readers import last_two, random_reader
from .running import BATCH, LONG, PROMPT, encode, near

CLOSED = (9.0, -9.0, -9.0, -9.0, -9.0)


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_batch_has_the_logits_of_its_rows(any_model, side):
    given = any_model.tokenizer(BATCH, return_tensors="pt", padding=True, padding_side=side)
    logits = any_model(**given).logits
    for row, there, prompt in zip(logits, given.attention_mask, BATCH, strict=True):
        near(row[there.bool()], any_model(encode(any_model, prompt)).logits[0])


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
    known = any_model._notes(ids, None, any_model(ids, use_cache=False, output_hidden_states=True))
    seen = any_model.author.outlook(known, 0, Reading(vocabulary.text(ids[0].tolist())), place)
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
