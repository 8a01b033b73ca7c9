"""Numbers in tokens: located, and written after what stands already."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm import Style, continuation, find, locate, write
from arithmix.lm.tokens import HuggingFace, Place, remaining

from .tokenizers import DIGITS, FAITHFUL, LEFT, MERGED, REST, RIGHT, Pieces, Spaced

TOKENIZERS = st.sampled_from(list(FAITHFUL.values()))
PREFIXES = st.sampled_from(
    ["", "so it is", "3+4=", "He has 5 and", "is $", "(", "Total:\n", "5 -", "minus", "x ="]
)


@settings(deadline=None)
@given(TOKENIZERS, PREFIXES, st.integers(), st.sampled_from(["", ","]), st.integers(0, 20))
def test_prefix_and_continuation_make_the_text(tokenizer, prefix, value, separator, held):
    text = " " + write(value, Style(separator=separator))
    ids = tokenizer.encode(prefix + text[:held])
    more = continuation(tokenizer, ids, text)
    assert tokenizer.decode(ids + more) == prefix + text
    assert find(tokenizer.decode(ids + more))[-1].value == value


@settings(deadline=None)
@given(TOKENIZERS, st.text(alphabet="0123456789 -+=.,$ax\n"), st.integers(), st.booleans())
def test_a_continuation_is_right_or_none(tokenizer, prefix, value, space):
    ids = tokenizer.encode(prefix)
    more = continuation(tokenizer, ids, " " * space + str(value))
    if more is not None:
        whole = tokenizer.decode(ids + more)
        last = find(whole)[-1]
        assert whole.startswith(prefix)
        assert (last.value, last.role, last.end) == (value, "value", len(whole))


@pytest.mark.parametrize(
    ("tokenizer", "prefix", "text", "pieces"),
    [
        (DIGITS, "it is", " 125", [" ", "1", "2", "5"]),
        (DIGITS, "it is ", " 125", ["1", "2", "5"]),
        (DIGITS, "it is 1", " 125", ["2", "5"]),
        (DIGITS, "it is 125", " 125", []),
        (LEFT, "it is ", "12345", ["123", "45"]),
        (LEFT, "it is 123", "12345", ["45"]),
        (LEFT, "it is 12", "12345", ["345"]),
        (RIGHT, "it is ", "12345", ["12", "345"]),
        (RIGHT, "it is 12", "12345", ["345"]),
        (RIGHT, "it is 1", "12345", ["2", "345"]),
        (MERGED, "it is", " 125", [" 125"]),
        (MERGED, "it is ", " 125", ["125"]),
        (MERGED, "it is", " 1345", [" 1", "345"]),
        (LEFT, "=", "-1,234", ["-", "1", ",", "234"]),
        (LEFT, "= -1,", " -1,234", ["234"]),
    ],
)
def test_the_tokens_are_those_the_tokenizer_would_use(tokenizer, prefix, text, pieces):
    more = continuation(tokenizer, tokenizer.encode(prefix), text)
    assert [tokenizer.decode([token]) for token in more] == pieces


@pytest.mark.parametrize(
    ("prefix", "text"),
    [
        ("it is", "125"),  # is125
        ("it is 3", "125"),  # 3125
        ("it is 126", "125"),
        ("it is 1250", "125"),
        ("GPT-", "5"),
        ("v1.2.", "3"),
        ("2024-05-", "06"),
        ("at 12:", "30"),
        ("1,", "234"),
        ("7 ", "-5"),  # 7 -5 subtracts
        ("it is 0.", "5"),
    ],
)
def test_where_a_number_cannot_stand_none_is_written(prefix, text):
    assert remaining(prefix, text) is None
    assert continuation(DIGITS, DIGITS.encode(prefix), text) is None


def test_a_tokenizer_that_loses_text_gets_none():
    tokenizer = Spaced(rf"\d|{REST}")
    assert continuation(tokenizer, tokenizer.encode("it is"), " 125") is None


@pytest.mark.parametrize("text", ["", "abc", "1 2", "GPT-7", "5 apples", "a 5"])
def test_only_a_number_is_written(text):
    with pytest.raises(ValueError, match="one number is written; got "):
        remaining("it is ", text)


@settings(deadline=None)
@given(TOKENIZERS, st.text(alphabet="0123456789 -+=.,$ax\n"))
def test_places_hold_their_numbers(tokenizer, text):
    offsets = Pieces.offsets(tokenizer, text)
    numbers = find(text)
    for number, place in zip(numbers, locate(numbers, offsets), strict=True):
        touched = range(place.token_start, place.token_end)
        for token, (start, end) in enumerate(offsets):
            assert (token in touched) == (start < number.end and end > number.start)
            assert (token in place.inside) == (start >= number.start and end <= number.end)


def test_a_token_with_the_space_touches_the_number_and_is_not_inside():
    text = "it is 125."
    assert locate(find(text), MERGED.offsets(text)) == [Place(2, 3, range(0))]
    assert locate(find(text), DIGITS.offsets(text)) == [Place(3, 6, range(3, 6))]


def test_tokens_without_characters_and_letters_of_many_tokens_are_counted():
    offsets = [(0, 0), (0, 1), (0, 1), (1, 2), (1, 2), (0, 0)]
    assert locate(find("４２"), offsets) == [Place(1, 5, range(1, 5))]


def test_a_number_that_was_cut_off_has_no_tokens():
    assert locate(find("a 5"), [(0, 1)]) == [Place(0, 0, range(0))]


class Fast:
    """As much of Hugging Face's interface as is used."""

    def __call__(self, text, add_special_tokens, return_offsets_mapping):
        assert not add_special_tokens and return_offsets_mapping
        return {"offset_mapping": DIGITS.offsets(text)}

    def encode(self, text, add_special_tokens):
        assert not add_special_tokens
        return DIGITS.encode(text)

    def decode(self, ids, clean_up_tokenization_spaces):
        assert not clean_up_tokenization_spaces
        return DIGITS.decode(ids)


def test_a_tokenizer_of_hugging_face_is_adapted():
    tokenizer = HuggingFace(Fast())
    ids = tokenizer.encode("it is")
    assert tokenizer.decode(continuation(tokenizer, ids, " 125")) == " 125"
    assert locate(find("a 5"), tokenizer.offsets("a 5")) == [Place(2, 3, range(2, 3))]
