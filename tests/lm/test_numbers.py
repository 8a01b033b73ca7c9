"""Numbers found in texts: their values, places and styles."""

import string
import time
from decimal import Decimal, localcontext

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm import Style, find

from .texts import TEXTS

AWKWARD = st.text(st.sampled_from("0123456789" * 2 + " ,.'-−+$€%/:eExA_(#\n\u00a0½٣５א和\u200f"))

# Parted by bars.
PIECES = (
    "a.|1,|1,100,|1 100 |1.1|1-|-|a|a-|1:|+1 |1e|_|a1|$|1_|f:|a@|0x| |\n|\n1.|000 |1. |(1) "
    "|1 100 +|= 1 100 |1 100.1|s -1|1 x -"
)


def said(text):
    """The numbers of a text in one line: a value as it is, another as its role and its digits."""
    return " ".join(
        str(n.value) if n.role == "value" else f"{n.role}:{text[n.start : n.end]}"
        for n in find(text)
    )


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_the_numbers_of_a_text_are_these(text):
    assert said(text) == TEXTS[text]


@settings(deadline=None)
@given(AWKWARD)
def test_every_digit_is_in_one_number_and_every_number_has_digits(text):
    held = [i for n in find(text) for i in range(n.start, n.end)]
    assert held == sorted(set(held))
    assert {i for i, char in enumerate(text) if char.isdecimal()} <= set(held)
    assert all(any(map(str.isdecimal, text[n.start : n.end])) for n in find(text))


@settings(deadline=None)
@given(AWKWARD)
def test_a_line_is_read_by_itself(text):
    for line, more in (("3 apples.\n", 1), ("GPT-4 is new.\n", 1)):
        if text[:1] not in ("=", "+", "*"):
            alone = [(n.start, n.value, n.role) for n in find(text)]
            after = [(n.start - len(line), n.value, n.role) for n in find(line + text)[more:]]
            assert after == alone


@settings(deadline=None)
@given(st.integers())
def test_an_integer_is_read_as_it_is(value):
    [number] = find(f"so it is {value} here")
    assert (number.value, type(number.value)) == (value, int)


@settings(deadline=None)
@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_is_read_to_the_last_digit_whatever_the_context(value):
    text = f"{value:f}" if abs(value.adjusted()) < 50 else str(value)
    with localcontext() as context:
        context.prec = 1
        [number] = find(f"so it is {text} here")
    assert number.value == value


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("5", Style()),
        ("1,234", Style(separator=",")),
        ("1'234'567", Style(separator="'")),
        ("5 000", Style(separator=" ")),
        ("3.50", Style(decimals=2)),
        (".5", Style(decimals=1, bare=True)),
        ("-5", Style()),
        ("−5", Style(minus="−")),
        ("+5", Style()),
        ("-$5", Style(minus="-$", plus="$")),
        ("6.7e-11", Style(exponent="e")),
        ("٣٫٥", Style(decimals=1, point="٫", zero="٠")),
        ("４", Style(zero="０")),
    ],
)
def test_a_number_knows_how_it_is_written(text, style):
    [number] = find(text)
    assert number.style == style


@pytest.mark.parametrize(
    ("text", "currency", "percent"),
    [
        ("$5", "$", False),
        ("$ 5", "$", False),
        ("-$5", "$", False),
        ("$-5", "$", False),
        ("5 €", "€", False),
        ("5€", "€", False),
        ("12%", "", True),
        ("12 %", "", True),
        ("12٪", "", True),
        ("12", "", False),
    ],
)
def test_marks_stand_outside_the_number(text, currency, percent):
    [number] = find(text)
    assert (number.currency, number.percent) == (currency, percent)
    assert text[number.start : number.end].strip("-$") == str(abs(number.value))


def test_a_mark_belongs_to_one_number():
    assert [n.currency for n in find("5 $10 20€ 3")] == ["", "$", "€", ""]
    assert [n.percent for n in find("12 % 5 and 12% 5")] == [False, False, True, False]


@pytest.mark.parametrize("text", ["12", "a 12", "12.", "1,", "1,23", "12e", "12e-", "1.5", "x2"])
def test_a_number_at_the_end_is_open(text):
    assert find(text)[0].open


@pytest.mark.parametrize("text", ["12 ", "12 is", "12)", "12%", "12.\n", "12 e"])
def test_a_number_before_something_else_is_not_open(text):
    assert not find(text)[0].open


@settings(deadline=None)
@given(AWKWARD, st.integers(0, 30))
def test_only_the_open_numbers_of_a_cut_text_change_with_a_digit_more(text, cut):
    text = text[:cut]
    closed = [n for n in find(text) if not n.open and n.role == "value"]
    more = {n.start: n.value for n in find(text + "5")}
    for number in closed:
        if text[number.end :].isspace():
            assert more[number.start] == number.value


def test_ten_thousand_digits_take_milliseconds():
    digits = (string.digits[1:] * 1200)[:10_000]
    start = time.perf_counter()
    [number] = find(f"It is {digits}.")
    assert time.perf_counter() - start < 0.5
    assert number.value == int(Decimal(digits))


@pytest.mark.parametrize("piece", PIECES.split("|"))
def test_no_text_takes_more_than_linear_time(piece):
    start = time.perf_counter()
    find(piece * (100_000 // len(piece)) + "!")
    assert time.perf_counter() - start < 10  # quadratic time would be minutes
