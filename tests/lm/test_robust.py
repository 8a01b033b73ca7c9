"""Whatever the text: right or silent, finite, and in no more time than its length takes."""

import pytest
import torch

from arithmix.lm.exact import MOST_DIGITS
from arithmix.lm.model import attach
from arithmix.lm.reading import LONGEST

from .digits import make_base, make_tokenizer
from .readers import last_two, random_reader

ODD = {
    "nothing": "",
    "a space": " ",
    "a minus": "-",
    "a newline": "\n",
    "no number": "no number at all",
    "one number": "7",
    "ends inside a number": "a 12 b 30 is 3",
    "ends after a point": "a 12 b 30 is 3.",
    "ends in a space": "a 12 b 30 is ",
    "ends in a minus": "a 12 b 30 is -",
    "ends in a comma": "a 12 b 30 is 1,",
    "division by zero": "a 5 b 0 is",
    "arabic digits": "عدد ١٢ و ٣٠ يساوي ٣٦٠ = ",
    "wide digits": "ａ １２ × ３０ ＝",
    "from right to left": "יש 12 ספרים ו-30 עטים = 42 \u200f-5\u200f",
    "emoji": "🙂 12 👩‍👩‍👧 30 = 🎉 42",
    "half a letter": "a 12 b 30 é"[:-1] + "\ufffd is",
    "signs": "1,2,3.4.5 (-6)--7 8 - - 9 +-$5%",
    "exponents": "1e5 2E-300 1e99999 3e 4e+",
    "special": "<pad> 12 <pad> 30 is",
    "superscripts": "5² x 3³ ½ Ⅻ is",
    "null": "a\x00 12 b\x00 30 is",
}


@pytest.fixture(scope="module", params=["single", "grouped", "merged", "marked"])
def model(request):
    tokenizer = make_tokenizer(request.param)
    return attach(make_base(tokenizer, longest=16_384), tokenizer, random_reader())


@pytest.fixture(scope="module")
def exact():
    """A model that writes the product of the last two numbers."""
    tokenizer = make_tokenizer()
    return attach(make_base(tokenizer, longest=16_384), tokenizer, last_two())


def ids_of(model, text):
    return model.tokenizer(text, return_tensors="pt").input_ids.long().reshape(1, -1)


def written(model, text, count):
    """What a model writes after a text."""
    ids = ids_of(model, text)
    made = model.generate(ids, attention_mask=ids * 0 + 1, max_new_tokens=count, do_sample=False)
    return model.tokenizer.decode(made[0, ids.shape[1] :])


@pytest.mark.parametrize("name", ODD)
def test_odd_texts_are_no_trouble(model, name):
    ids = ids_of(model, ODD[name])
    model.trace(ODD[name])
    model.foretold(ODD[name])
    if not ids.numel():
        return
    assert model(ids).logits.isfinite().all()
    out = model.generate(ids, attention_mask=ids * 0 + 1, max_new_tokens=5, do_sample=False)
    assert model(out).logits.isfinite().all()


def test_every_token_is_no_trouble_after_numbers(model):
    ids = ids_of(model, "a 12 b 30 is")
    every = torch.arange(len(model.author.vocabulary.texts))
    for some in every.split(64):
        rows = torch.cat([ids.expand(len(some), -1), some[:, None]], 1)
        assert model(rows).logits.isfinite().all()


def test_ids_beyond_the_tokenizers_are_passed_over(exact):
    tokenizer = make_tokenizer()
    base = make_base(tokenizer)
    base.resize_token_embeddings(len(tokenizer) + 70)
    model = attach(base, tokenizer, last_two())
    ids = torch.cat([torch.tensor([[len(tokenizer) + 69]]), ids_of(exact, "a 12 b 30 is 360")], 1)
    assert model(ids).logits.isfinite().all()
    assert [found.text for found in model.trace(ids)] == ["360"]
    beyond = torch.full((1, 9), len(tokenizer) + 3)
    assert model(beyond).logits.isfinite().all()


def test_an_empty_prompt_has_no_numbers(model):
    assert len(model.trace("")) == 0
    assert model.foretold("") == []
    assert len(model.trace(torch.zeros(1, 0))) == 0


@pytest.mark.parametrize("prompt", ["a 12 b 30 is ", "a 12 b 30 is 3", "a 12 b 30 =36"])
def test_a_number_that_was_begun_is_finished(exact, prompt):
    rest = "360"[len(prompt.split("is")[-1].split("=")[-1].strip()) :]
    assert written(exact, prompt, 4)[: len(rest)] == rest


def test_a_begun_number_that_is_another_one_is_left_to_the_base(exact):
    ids = ids_of(exact, "a 12 b 30 is 41")
    assert torch.equal(exact(ids).logits[:, -1], of_base(exact, ids)[:, -1])


def test_a_minus_that_was_begun_is_finished(exact):
    assert written(exact, "a 12 b (-30) is -", 3) == "360"


def test_division_by_zero_is_left_to_the_base():
    tokenizer = make_tokenizer()
    model = attach(make_base(tokenizer), tokenizer, last_two("/"))
    ids = ids_of(model, "a 12 b 0 is")
    assert torch.equal(model(ids).logits, of_base(model, ids))
    assert [found.text for found in model.trace("a 12 b 5 is 2.4.")] == ["2.4"]


def test_thousands_of_numbers_take_their_time_and_no_more():
    tokenizer = make_tokenizer("merged")
    model = attach(make_base(tokenizer, longest=16_384), tokenizer, last_two())
    text = " 7," * 4000 + " 12 b 30 is"
    assert not torch.equal(
        model(ids_of(model, text), logits_to_keep=1).logits,
        of_base(model, ids_of(model, text))[:, -1:],
    )
    assert model.trace(f"{text} 360.")[-1].program.text == "12 * 30"


def test_numbers_far_back_are_read_the_same_in_one_step_and_in_two(exact):
    text = "a 5" + " wxyz" * 300 + " a 12 b 30 c" + " wxyz" * 500
    ids = ids_of(exact, f"{text} is")
    one, two = (exact(ids, logits_to_keep=count).logits[:, -1] for count in (1, 2))
    torch.testing.assert_close(one, two, atol=1e-4, rtol=1e-4)
    assert not torch.allclose(one, of_base(exact, ids)[:, -1], atol=1e-3)


def test_a_number_of_ten_thousand_digits_is_passed_over(exact):
    text = f"a {'7' * 10_000} and after so many digits there are 12 b 30 is "
    assert written(exact, text, 3) == "360"
    assert [found.text for found in exact.trace(f"{text}360.")] == ["360"]
    assert len(exact.trace(f"a 12 b {'7' * 10_000} is 5.")) == 0


def test_the_longest_numbers_are_written_exactly(exact):
    x, y = int("9" * (LONGEST // 2 - 1)), int("8" * (LONGEST // 2 - 1))
    ids = ids_of(exact, f"a {x} b {y} is {x * y}.")
    with torch.no_grad():
        likeliest = exact(ids).logits[0].argmax(-1)
    answer = len(str(x * y))
    assert torch.equal(likeliest[-answer - 2 : -2], ids[0, -answer - 1 : -1])


def test_what_has_too_many_digits_is_left_to_the_base(exact):
    for x in ("9" * (LONGEST - 1), f"1e{MOST_DIGITS - 9}", "1e999999"):
        ids = ids_of(exact, f"a {x} b {x} is")
        assert torch.equal(exact(ids).logits[:, -1], of_base(exact, ids)[:, -1])


def of_base(model, ids):
    with torch.no_grad():
        return type(model).__mro__[2].forward(model, ids).logits
