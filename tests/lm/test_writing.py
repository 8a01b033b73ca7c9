"""Values written as numbers of a text are."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm import Style, find, write
from arithmix.lm.exact import to_decimal

STYLES = st.builds(
    Style,
    separator=st.sampled_from(["", ",", "'", "’", " ", "\u00a0", "\u2009", "\u202f", "٬"]),
    decimals=st.integers(0, 5),
    point=st.sampled_from(".٫"),
    bare=st.booleans(),
    minus=st.sampled_from(["-", "−", "-$", "−€ "]),
    plus=st.sampled_from(["", "$", "€ "]),
    exponent=st.sampled_from(["", "", "e", "E"]),
    zero=st.sampled_from("0０٠०"),
)
VALUES = st.one_of(
    st.integers(),
    st.integers(-(10**40), 10**40),
    st.decimals(allow_nan=False, allow_infinity=False, places=7),
    st.decimals(-1000, 1000, places=2),
    st.builds(Fraction, st.integers(), st.sampled_from([1, 2, 5, 16, 125, 10**9])),
)


@settings(deadline=None)
@given(VALUES, STYLES)
def test_what_is_written_is_read_back_exactly(value, style):
    text = write(value, style)
    [number] = find(text)
    assert Fraction(number.value) == Fraction(value)
    assert (number.role, number.end) == ("value", len(text))


@settings(deadline=None)
@given(VALUES, STYLES)
def test_a_value_written_as_it_was_written_stays(value, style):
    text = write(value, style)
    [number] = find(text)
    assert write(number.value, number) == text[number.start :]


@pytest.mark.parametrize(
    ("value", "like", "text"),
    [
        (5, "3.50", "5.00"),
        (Decimal("5.2500"), "3.50", "5.25"),
        (Decimal("5.255"), "3.50", "5.255"),
        (Decimal("2.50"), "7", "2.5"),
        (Decimal("5.00"), "7", "5"),
        (Fraction(3, 4), "7", "0.75"),
        (Decimal("0.25"), ".5", ".25"),
        (Decimal("1.25"), ".5", "1.25"),
        (1234567, "1,000", "1,234,567"),
        (123, "1,000", "123"),
        (1234567, "10000", "1234567"),
        (1234567, "1 234 567", "1 234 567"),
        (12045, "5 000", "12 045"),
        (12345, "5 000", "12345"),
        (-7, "5", "-7"),
        (-7, "−5", "−7"),
        (-7, "-$5", "-$7"),
        (7, "-$5", "$7"),
        (7, "$5", "7"),
        (7, "+5", "7"),
        (0, "-5", "0"),
        (Decimal("-0"), "5", "0"),
        (1500, "6.7e-11", "1.5e3"),
        (Decimal("0.015"), "6.7E5", "1.5E-2"),
        (0, "6.7e-11", "0e0"),
        (12, "٣٫٥", "١٢٫٠"),
    ],
)
def test_a_value_takes_the_style_of_a_number(value, like, text):
    assert write(value, find(like)[0]) == text


def test_what_has_no_end_or_is_too_long_is_not_written():
    for value in (Fraction(1, 3), Fraction(-22, 7), 10**100_000, Decimal("1e100000")):
        assert write(value, Style()) is None


def test_a_long_number_is_written_whole():
    value = 7 * 10**9_999 + 3
    assert write(value, Style()) == "7" + "0" * 9_998 + "3"
    assert write(value, Style(separator=",")).replace(",", "") == "7" + "0" * 9_998 + "3"
    assert find(write(-value, Style(decimals=2)))[0].value == -value


def test_a_float_is_refused():
    with pytest.raises(ValueError, match=r"finite int, Decimal or Fraction; got 0\.5"):
        write(0.5, Style())
    assert to_decimal(Fraction(1, 2)) == Decimal("0.5")
