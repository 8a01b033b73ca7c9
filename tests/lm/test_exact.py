"""Exact arithmetic: the same as that of fractions, in the simplest kind of number."""

import sys
import time
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm import compute
from arithmix.lm.exact import OPERATIONS, to_decimal, to_int

NUMBERS = st.one_of(
    st.integers(),
    st.decimals(allow_nan=False, allow_infinity=False, places=4),
    st.fractions(max_denominator=1000),
)


@settings(deadline=None)
@given(st.sampled_from(sorted(OPERATIONS)), NUMBERS, NUMBERS)
def test_a_result_is_that_of_fractions(operation, a, b):
    if operation in "/÷" and not b:
        assert compute(operation, a, b) is None
        return
    with localcontext() as context:
        context.prec = 2  # nothing may depend on it
        result = compute(operation, a, b)
    assert Fraction(result) == OPERATIONS[operation](Fraction(a), Fraction(b))
    if Fraction(result).denominator == 1:
        assert isinstance(result, int)
    elif to_decimal(result) is not None:
        assert isinstance(result, Decimal)


@pytest.mark.parametrize(
    ("operation", "a", "b", "result"),
    [
        ("+", 2, 3, 5),
        ("−", 2, 3, -1),
        ("×", Decimal("1.5"), 4, 6),
        ("÷", 1, 8, Decimal("0.125")),
        ("/", 10, 3, Fraction(10, 3)),
        ("/", Decimal("0.3"), Decimal("0.1"), 3),
        ("*", Fraction(1, 3), 3, 1),
        ("/", 0, 5, 0),
        ("/", 5, Decimal("0.00"), None),
    ],
)
def test_results_are_simple(operation, a, b, result):
    assert compute(operation, a, b) == result
    assert type(compute(operation, a, b)) is type(result)


def test_too_long_a_result_is_none_at_once():
    start = time.perf_counter()
    for operation, a, b in (
        ("*", 10**60_000, 10**60_000),
        ("+", 10**100_000 - 1, 1),
        ("+", Decimal("1e999999"), 1),
        ("/", Decimal("1e-999999"), 7),
        ("+", Fraction(1, 7**100_000), Fraction(1, 3**100_000)),
        ("-", 10**200_000, 10**200_000),
    ):
        assert compute(operation, a, b) is None
    assert time.perf_counter() - start < 5


def test_what_is_no_operation_or_no_exact_number_is_refused():
    with pytest.raises(ValueError, match=r"one of \+ - .*; got '\^'"):
        compute("^", 1, 2)
    for wrong in (0.5, "1", None, Decimal("nan"), Decimal("inf")):
        with pytest.raises(ValueError, match="finite int, Decimal or Fraction; got "):
            compute("+", 1, wrong)


@settings(deadline=None)
@given(st.integers(-(10**6000), 10**6000))
def test_long_integers_go_to_decimals_and_back(value):
    decimal = to_decimal(value)
    assert int(decimal) == value
    assert to_int(f"{decimal.copy_abs():f}") == abs(value)


def test_the_limit_of_the_interpreter_is_left_alone():
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert to_int("9" * 20_000) == 10**20_000 - 1
        assert f"{to_decimal(10**20_000 - 1):f}" == "9" * 20_000
    finally:
        sys.set_int_max_str_digits(limit)
