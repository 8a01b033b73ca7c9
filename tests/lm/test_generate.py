"""What a model that computes writes is the same however it is run."""

import pytest
import torch

from arithmix.lm.model import attach

from .digits import make_base
from .readers import last_two
from .running import BATCH, LONG, PROMPT, encode

BIG = 123456789012345678901234567891, 987654321098765432109876543211


def write(model, texts, **settings):
    given = model.tokenizer(texts, return_tensors="pt", padding=True)
    settings = {"do_sample": False, "max_new_tokens": 12, **settings}
    return model.generate(
        input_ids=given.input_ids, attention_mask=given.attention_mask, **settings
    )[:, given.input_ids.shape[1] :]


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


def test_guessing_ahead_from_the_prompt_writes_the_same(model):
    text = "x 12 y 30 = 360 z x 12 y 30 = 360 z x 12 y"
    greedy = write(model, [text], max_new_tokens=24)
    assert torch.equal(write(model, [text], max_new_tokens=24, prompt_lookup_num_tokens=4), greedy)


def test_a_base_in_half_precision_computes_as_exactly(tokenizer):
    model = attach(make_base(tokenizer).bfloat16(), tokenizer, last_two())
    x, y = BIG
    made = write(model, [f"a {x} b {y} = "], max_new_tokens=60)
    assert tokenizer.decode(made[0]) == str(x * y)
    assert model(encode(model, LONG)).logits.dtype == torch.bfloat16


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
