"""With a cache, step by step or in parts, the logits are those of the whole text."""

import pytest
import torch
import transformers

from arithmix.lm import notes

from .digits import make_base
from .running import LONG, PROMPT, encode, near


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


def test_a_prompt_read_in_parts_is_read_as_a_whole(any_model, monkeypatch):
    ids = encode(any_model, LONG)
    whole = any_model(ids).logits
    monkeypatch.setattr(notes, "PART", 7)
    for use_cache in (True, False):
        near(any_model(ids, use_cache=use_cache).logits, whole)
        near(any_model(ids, use_cache=use_cache, logits_to_keep=1).logits, whole[:, -1:])


def test_a_cache_cropped_inside_a_number_of_the_prompt_goes_on(model):
    ids = encode(model, "x 12 y 30 = 360 z x 7 y 8 is")
    cache = transformers.DynamicCache(config=model.config)
    model(ids, past_key_values=cache, logits_to_keep=1)
    cache.crop(-len("60 z x 7 y 8 is"))
    again = model(ids[:, cache.get_seq_length() :], past_key_values=cache).logits
    assert again.isfinite().all()
    near(again[:, -1], model(ids).logits[:, -1])


def test_a_cropped_cache_goes_on_as_if_nothing_had_been_there(model):
    ids = encode(model, "x 12 y 30 = 360 z")
    cache = transformers.DynamicCache(config=model.config)
    model(ids, past_key_values=cache)
    cache.crop(-4)
    again = model(ids[:, -4:], past_key_values=cache).logits
    near(again, model(ids).logits[:, -4:])


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
