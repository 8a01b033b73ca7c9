"""A text of tokens: what is said of its beginning stays true as it grows."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm.reading import LONGEST, Reading, pending

from .digits import make_tokenizer
from .test_vocabulary import KINDS, VOCABULARIES

TEXTS = st.text("0123456789012345   --..,,axé$=\n", max_size=60)


def automaton(text):
    """Where the number began that a text leaves unfinished, or -1: from left to right."""
    space = sign = number = -1
    closed = False  # by a point or a comma, after which a digit goes on with the number
    before = ""
    for i, char in enumerate(text):
        if char.isdigit():
            if number < 0:
                number = sign if sign >= 0 else space if space >= 0 else i
            space, sign, closed = -1, -1, False
        elif char in ".," and number >= 0 and not closed:
            closed = True
        else:
            number, closed = -1, False
            if char == "-" and not before.isalnum():
                # A space that follows a digit may be the one of "7 - 5".
                sign, space = (space if space >= 0 else i), -1
            elif char == " " and not before.isdigit():
                sign, space = -1, i
            else:
                sign = space = -1
        before = char
    return next((start for start in (number, sign, space) if start >= 0), -1)


@settings(deadline=None, max_examples=500)
@given(TEXTS)
def test_an_unfinished_number_is_what_reading_from_left_to_right_finds(text):
    for end in range(len(text) + 1):
        assert pending(text, end) == automaton(text[:end])


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(text=TEXTS)
def test_what_a_beginning_says_stays_true(kind, text):
    vocabulary = VOCABULARIES[kind]
    pieces = vocabulary.text(vocabulary.encode(text))
    whole = Reading(pieces)
    for place in range(len(pieces)):
        part = Reading(pieces[: place + 1])
        assert part.begun(place) == whole.begun(place)
        assert part.opens(place) == whole.opens(place)
        assert part.operands(place, 6) == whole.operands(place, 6)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(text=TEXTS)
def test_operands_are_where_they_say_and_a_token_follows_them(kind, text):
    vocabulary = VOCABULARIES[kind]
    reading = Reading(vocabulary.text(vocabulary.encode(text)))
    for place in range(len(reading.pieces)):
        found = reading.operands(place, 3)
        assert len(found) <= 3
        assert found == reading.operands(place, 99)[-3:]
        for operand in found:
            assert reading.text[operand.start : operand.end] == operand.text
            assert reading.begins(operand.last) < operand.end <= reading.ends[operand.last]
            assert operand.last < place


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("so it is", ("spaced",)),
        ("=", ("spaced", "tight")),
        ("(", ("spaced", "tight")),
        ("is 12", ()),
        ("is 12.", ("spaced",)),
        ("is ", ()),
        ("is -", ()),
        ("7-", ("spaced",)),
        ("a\n", ("spaced", "tight")),
        ("$", ("spaced", "tight")),
    ],
)
def test_a_number_may_begin_in_these_ways(text, ways):
    reading = Reading(list(text))
    assert reading.opens(len(text) - 1) == ways


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("is 12.", "12"),
        ("is -12.50, then", "-12.50"),
        ("is 1,200 b", "1,200"),
        ("is 7", "7"),
        ("is - no", None),
        ("is it", None),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_the_number_after_a_token_is_without_what_ends_a_sentence(kind, text, number):
    tokenizer = make_tokenizer(kind)
    pieces = VOCABULARIES[kind].text(tokenizer.encode(text, add_special_tokens=False))
    reading = Reading(pieces)
    place = next(i for i, end in enumerate(reading.ends) if reading.text[:end].strip() == "is")
    span = reading.number_after(place)
    assert (span and reading.text[slice(*span)]) == number


def test_a_number_longer_than_any_is_not_read():
    long = "7" * (LONGEST + 1)
    reading = Reading(list(f"a 5 b {long} c"))
    assert [operand.text for operand in reading.operands(len(reading.pieces) - 1, 9)] == ["5"]
    assert pending("is " + "7" * 50_000, 50_003) == -1


def test_numbers_far_back_are_not_read_and_none_is_cut_in_two():
    text = "a 123456 b" + " word" * 590 + " 7 c"
    for size in range(40):
        padded = "x" * size + text
        reading = Reading(list(padded))
        assert {operand.value for operand in reading.operands(len(padded) - 1, 9)} <= {123456, 7}
