"""A tokenizer's tokens as text, and numbers spelled with them."""

import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from arithmix.lm.vocabulary import Vocabulary

from .digits import make_tokenizer

KINDS = ("single", "grouped", "merged", "marked")
VOCABULARIES = {kind: Vocabulary(make_tokenizer(kind)) for kind in KINDS}
NUMBERS = st.one_of(
    st.integers().map(str),
    st.integers(0, 10**9).map("{:,}".format),
    st.decimals(-(10**6), 10**6, places=2).map("{:.2f}".format),
)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(text=NUMBERS, space=st.booleans(), before=st.sampled_from(["is", "=", "(", "so\n"]))
def test_a_number_is_spelled_as_the_tokenizer_writes_it(kind, text, space, before):
    vocabulary = VOCABULARIES[kind]
    form = " " * space + text
    if before == "is" and not space:
        return  # "is5" is no number
    head, whole = vocabulary.encode(before), vocabulary.encode(before + form)
    assert whole[: len(head)] == head
    assert vocabulary.spell(before, form) == tuple(whole[len(head) :])


@pytest.mark.parametrize("kind", KINDS)
@given(st.text("0123456789 -.,=ab\n"))
def test_the_texts_of_tokens_joined_are_the_text(kind, text):
    vocabulary = VOCABULARIES[kind]
    joined = "".join(vocabulary.text(vocabulary.encode(text)))
    # SentencePiece puts a space before a text.
    assert joined.removeprefix(" ") == text.removeprefix(" ")


def test_the_groups_of_digits_are_those_of_the_models_named():
    pieces = {
        kind: [vocabulary.texts[i] for i in vocabulary.spell("=", " 1234500")]
        for kind, vocabulary in VOCABULARIES.items()
    }
    assert pieces == {
        "single": [" ", *"1234500"],
        "grouped": [" ", "123", "450", "0"],
        "merged": [" 12", "345", "00"],
        "marked": [" ", *"1234500"],
    }


def test_letters_of_several_tokens_belong_to_the_last_of_them():
    vocabulary = VOCABULARIES["single"]
    ids = vocabulary.encode("é 🙂1")
    pieces = vocabulary.text(ids)
    assert pieces == ["", "é", " ", "", "", "", "🙂", "1"]
    for end in range(len(ids)):
        assert vocabulary.text(ids[:end]) == pieces[:end]


def test_bytes_that_are_no_letter_are_shown_as_such_and_end_nothing():
    vocabulary = VOCABULARIES["single"]
    half = vocabulary.encode("é")[:1]
    assert "".join(vocabulary.text([*half, *vocabulary.encode("12")])).endswith("12")
    assert len("".join(vocabulary.text(half * 9))) >= 2


def test_ids_that_are_no_token_have_no_text():
    for vocabulary in VOCABULARIES.values():
        assert vocabulary.text([-1, len(vocabulary.texts), 10**6]) == ["", "", ""]
        ids = torch.tensor([[-1, 10**6, *vocabulary.encode("=12")]])
        assert vocabulary.goes_on(ids).shape == ids.shape


@pytest.mark.parametrize("kind", KINDS)
def test_what_goes_on_with_a_number_begins_with_a_digit_after_one(kind):
    vocabulary = VOCABULARIES[kind]
    ids = vocabulary.encode("a 12345 6.78 -9")
    pieces = vocabulary.text(ids)
    expected = [
        i > 0 and pieces[i][:1].isdigit() and pieces[i - 1][-1:].isdigit() for i in range(len(ids))
    ]
    assert vocabulary.goes_on(torch.tensor([ids]))[0].tolist() == expected
    assert any(expected)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_begins_with_one_token_of_its_way(kind):
    vocabulary = VOCABULARIES[kind]
    assert not set(vocabulary.starts["spaced"]) & set(vocabulary.starts["tight"])
    for text in ("5", "-5", "12", "-345", "1,234.50"):
        for way, form in (("spaced", " " + text), ("tight", text)):
            ids = vocabulary.spell("=", form)
            assert vocabulary.index[ids[0]] in vocabulary.starts[way]


@pytest.mark.parametrize("words", [["=", "one", "two"], ["one", "two"], ["=", *"012345678"]])
def test_a_tokenizer_without_digits_is_refused(words):
    vocab = {text: i for i, text in enumerate([*words, "<unk>"])}
    whole = Tokenizer(models.WordLevel(vocab=vocab, unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=whole, unk_token="<unk>")
    with pytest.raises(ValueError, match=r"^the tokenizer can't write the digits [\d ]*9$"):
        Vocabulary(fast)
