"""The search for programs finds what trying all of them finds."""

from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arithmix.lm.programs import MOST, OPERATIONS, WINDOW, as_float, search

CONSTANTS = (2, 10)
VALUES = st.lists(st.integers(1, 40), min_size=1, max_size=4)


def step(op, a, b):
    """The exact value of a step, or None."""
    if a is None or b is None or (OPERATIONS[op] == "/" and b == 0):
        return None
    return (a + b, a - b, a * b, a / b if b else None)[op]


def then(result, op, side, other):
    return step(op, *((result, other) if side == 0 else (other, result)))


def steps(slots, numbers):
    """Every step on slots of which the first are numbers: what the module says of them."""
    return [
        (op, a, b)
        for op, a, b in product(range(4), range(slots), range(slots))
        if min(a, b) < numbers and (a <= b if OPERATIONS[op] in "+*" else a != b)
    ]


def ongoing(slots):
    return [
        (op, side, c)
        for op, side, c in product(range(4), (0, 1), slots)
        if side == 0 or OPERATIONS[op] in "-/"
    ]


def every_two(slots, numbers):
    """Two steps with their values; nothing is computed with a zero."""
    for s, t in product(steps(len(slots), numbers), ongoing(range(len(slots)))):
        first, other = step(s[0], slots[s[1]], slots[s[2]]), slots[t[2]]
        if first and other:
            yield (*s, *t), then(first, t[0], t[1], other)


def every_three(values):
    first = [(s, step(s[0], values[s[1]], values[s[2]])) for s in steps(len(values), len(values))]
    first = [(s, value) for s, value in first if value]
    more = ongoing(range(len(values)))
    for (s, value), t in product(first, more):
        second = then(value, t[0], t[1], values[t[2]])
        for u in more if second and values[t[2]] else ():
            if values[u[2]]:
                yield (*s, 0, *t, *u), then(second, u[0], u[1], values[u[2]])
    for (s, x), (t, y) in product(first, first):
        for u in ongoing([-1]):
            yield (*s, 1, *t, *u), then(x, u[0], u[1], y)


def burden(used, numbers):
    """How much of a program is likely chance: its constants, and numbers used again."""
    used = [slot for slot in used if slot >= 0]
    return sum(slot >= numbers for slot in used) + len(used) - len(set(used))


def likeliest(programs, numbers, places):
    burdens = [burden([row[i] for i in places(row)], numbers) for row in programs]
    limit = 2 if min(burdens, default=0) else 0
    return {row for row, load in zip(programs, burdens, strict=True) if load <= limit}


def places_of_three(row):
    return (1, 2, 5, 6) if row[3] else (1, 2, 6, 9)


def found_by(values, target):
    return search(np.array(values, float), np.array(CONSTANTS, float), float(target))


def rows(array):
    return {tuple(row) for row in array.tolist()}


@settings(deadline=None, max_examples=60)
@given(VALUES, st.integers(1, 60))
def test_the_programs_found_are_those_that_compute_the_target(values, target):
    found, numbers = found_by(values, target), len(values)
    slots = [Fraction(x) for x in (*values, *CONSTANTS)]
    assert found.copies.tolist() == [i for i, x in enumerate(values) if x == target]
    ones = {s for s in steps(len(slots), numbers) if step(s[0], slots[s[1]], slots[s[2]]) == target}
    assert rows(found.ones) == ones
    # A longer program is chance where a shorter one without a constant does.
    if len(found.copies) or any(max(a, b) < numbers for _, a, b in ones):
        assert not len(found.twos) and not len(found.threes)
        return
    twos = [row for row, value in every_two(slots, numbers) if value == target]
    kept = likeliest(twos, numbers, lambda row: (1, 2, 5))
    assert rows(found.twos) == kept if len(kept) <= MOST else rows(found.twos) <= kept
    assert len(found.twos) == min(len(kept), MOST)
    free = any(burden([row[i] for i in (1, 2, 5)], numbers) == 0 for row in kept)
    threes = [row for row, value in every_three(slots[:numbers]) if value == target and not free]
    kept = likeliest(threes, numbers, places_of_three)
    assert rows(found.threes) <= kept
    assert len(found.threes) == min(len(kept), MOST)


@pytest.mark.parametrize(
    ("values", "target", "kind", "formula"),
    [
        ([3, 4, 50], 38, "twos", "50 - 3 * 4"),
        ([9, 8, 2.5], 42.5, "twos", "(9 + 8) * 2.5"),
        ([3, 5, 7, 11], 92, "threes", "3 * 5 + 7 * 11"),
        ([17, 3, 5, 1000], 930, "threes", "1000 - (17 - 3) * 5"),
    ],
)
def test_what_a_story_computes_is_among_the_programs(values, target, kind, formula):
    found = getattr(found_by(values, target), kind)
    exact = [Fraction(str(x)) for x in (*values, *CONSTANTS)]
    every = every_two(exact, len(values)) if kind == "twos" else every_three(exact[: len(values)])
    table = {row: value for row, value in every}
    assert len(found), formula
    assert all(table[tuple(row)] == Fraction(str(target)) for row in found.tolist())


def test_programs_of_three_steps_count_slots_among_the_last_numbers():
    values = [1000 + i for i in range(4)] + [307, 503, 7, 11, 13, 1709]
    target = 307 * 503 - 7 * 1709
    found = found_by(values, target)
    window = [Fraction(x) for x in values[-WINDOW:]]
    assert rows(found.threes) & {(2, 0, 1, 1, 2, 2, 5, 1, 0, -1)}
    table = dict(every_three(window))
    assert all(table[tuple(row)] == target for row in found.threes.tolist())


def test_no_more_are_kept_than_said_and_the_likeliest_come_first():
    found = found_by([6, 6, 6, 6, 6, 6], 11)
    for programs in (found.twos, found.threes):
        assert 0 < len(programs) <= MOST
    loads = [burden([row[i] for i in (1, 2, 5)], 6) for row in found.twos.tolist()]
    assert loads == sorted(loads)


@pytest.mark.parametrize("huge", [10**400, -(10**400), Decimal("1e400"), Decimal("-1e5000")])
def test_what_is_too_large_for_the_search_is_found_by_nothing(huge):
    assert np.isnan(as_float(huge))
    found = found_by([5, as_float(huge), 3], as_float(huge))
    assert not any(map(len, (found.copies, found.ones, found.twos, found.threes)))
    assert rows(found_by([5, as_float(huge), 3], 8).ones) >= {(0, 0, 2)}


def test_nothing_divides_by_zero():
    found = found_by([0, 0, 5], 5)
    assert found.copies.tolist() == [2]
    assert (0, 0, 2) in rows(found.ones)
    assert not any(op == OPERATIONS.index("/") and b < 2 for op, _, b in rows(found.ones))
