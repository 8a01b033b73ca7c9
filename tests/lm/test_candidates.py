"""The programs thought of in use have the probabilities that training gave them."""

from collections import defaultdict
from itertools import product

import numpy as np
import pytest
import torch

from arithmix.lm import candidates
from arithmix.lm.candidates import Expression, think
from arithmix.lm.mixture import score, stack
from arithmix.lm.programs import OPERATIONS, WINDOW, Found
from arithmix.lm.reading import Operand
from arithmix.lm.samples import NOTHING, Sample, Target

from .readers import random_reader

CONSTANTS = ("2", "10")
GATE = (0.1, -0.2, 0.3, 0.2, -0.1)


class Case:
    """A text of random states with some numbers in it, read by a random reader."""

    def __init__(self, numbers, memory, seed=0):
        self.numbers, draw = numbers, torch.Generator().manual_seed(seed)
        self.reader = random_reader(GATE, seed, memory=memory, constants=CONSTANTS)
        for parameter in (self.reader.used, self.reader.goal, self.reader.result_of):
            parameter.data.normal_(generator=draw)
        self.last = tuple(range(1, 1 + 2 * numbers, 2))
        length = 2 * numbers + 3
        self.states = torch.randn(length, 64, generator=draw).half()
        self.digit = torch.rand(length, generator=draw) < 0.2
        self.place = length - 1

    def think(self):
        read = self.reader.read(self.states[None], self.digit[None])
        q = self.reader.ask(read[:, self.place])
        ends = torch.tensor(self.last)
        there = torch.ones(1, self.numbers, dtype=torch.bool)
        slots = self.reader.slots(read[:, ends], read[:, ends + 1], there)
        names = [f"x{i}" for i in range(self.numbers)] + [f"c{text}" for text in CONSTANTS]
        operands = [Operand(name, 1) for name in names]
        found = think(self.reader, q, self.reader.gate(q)[0], slots, operands)
        return [(program.expression.text, program.probability) for program in found]

    def score(self, kind, programs):
        """What training says of each of some programs, as probabilities."""
        rows = [np.array([program], dtype=np.int64) for program in programs]
        founds = [Found(**{**vars(NOTHING), kind: row}) for row in rows]
        shape = ((True,) * 4, False, (0, 0))
        targets = [Target(self.place, 0.0, self.last, found, *shape) for found in founds]
        sample = Sample((0,) * len(self.states), self.digit, self.states, targets)
        batch = stack([sample], self.reader.config.memory, len(CONSTANTS))
        expert = 1 + ["copies", "ones", "twos", "threes"].index(kind)
        with torch.no_grad():
            scores = score(self.reader, batch)
        return (scores.gate[:, expert] + scores.experts[:, expert - 1]).exp().tolist()


def steps(slots, constants=0):
    """Every step: + and * in the text's order, - and / on two of them, not on two constants."""
    return [
        (op, a, b)
        for op, a, b in product(range(4), range(slots), range(slots))
        if min(a, b) < slots - constants and (a <= b if op in (0, 2) else a != b)
    ]


def ongoing(slots):
    """Every step that goes on with a result: (operation, side, slot)."""
    return [(op, side, c) for op, side, c in product(range(4), (0, 1), slots) if side <= op % 2]


def told(op, a, b):
    return f"({a} {OPERATIONS[op]} {b})"


def then(result, op, side, other):
    return told(op, *((result, other) if side == 0 else (other, result)))


def two(names, op, a, b, op2, side, c):
    return then(told(op, names[a], names[b]), op2, side, names[c])


def three(names, op, a, b, alone, op2, c, d, op3, side, e):
    first = told(op, names[a], names[b])
    if alone:
        return then(first, op3, side, told(op2, names[c], names[d]))
    return then(then(first, op2, c, names[d]), op3, side, names[e])


def threes(slots):
    every = range(slots)
    first, more = steps(slots), ongoing(every)
    chains = [(*s, 0, *t, *u) for s, t, u in product(first, more, more)]
    return chains + [(*s, 1, *t, *u) for s, t, u in product(first, first, ongoing([-1]))]


@pytest.fixture
def thorough(monkeypatch):
    """No program is too unlikely, and each is called by its full name."""
    monkeypatch.setattr(candidates, "NEGLIGIBLE", 0.0)
    monkeypatch.setattr(candidates, "BEAM", 10**6)
    monkeypatch.setattr(candidates, "MOST", 10**9)
    monkeypatch.setattr(
        candidates,
        "combine",
        lambda op, a, b: Expression(f"({a.text} {op} {b.text})", 1, ()),
    )


def compare(case, kind, programs, names):
    """Both sides agree on every program of a kind; programs of one name are taken together."""
    found, expected = defaultdict(float), defaultdict(float)
    for name, probability in case.think():
        found[name] += probability
    for name, probability in zip(names, case.score(kind, programs), strict=True):
        expected[name] += probability
    assert expected.keys() <= found.keys()
    for name, probability in expected.items():
        assert found[name] == pytest.approx(probability, rel=1e-3, abs=1e-9), name
    return sum(expected.values())


@pytest.mark.parametrize(("numbers", "memory"), [(3, 3), (3, 5), (1, 4)])
def test_every_program_has_the_probability_it_was_trained_with(thorough, numbers, memory):
    case = Case(numbers, memory)
    slots = numbers + len(CONSTANTS)
    names = [f"x{i}" for i in range(numbers)] + [f"c{text}" for text in CONSTANTS]
    ones = steps(slots, len(CONSTANTS))
    twos = [(*s, *t) for s, t in product(ones, ongoing(range(slots)))]
    long = threes(numbers)
    gate = torch.tensor(GATE).softmax(0).tolist()
    told_ones = [told(op, names[a], names[b]) for op, a, b in ones]
    # The masses of all programs of a kind are the gate's.
    assert compare(case, "ones", ones, told_ones) == pytest.approx(gate[2], rel=1e-3)
    mass = compare(case, "twos", twos, [two(names, *row) for row in twos])
    assert mass == pytest.approx(gate[3], rel=1e-3)
    mass = compare(case, "threes", long, [three(names, *row) for row in long])
    assert mass == pytest.approx(gate[4], rel=1e-3)
    assert sum(mass for _, mass in case.think()) == pytest.approx(1 - gate[0], rel=1e-3)


def test_copies_have_the_probability_they_were_trained_with(thorough):
    case = Case(3, 5)
    found = dict(case.think())
    probabilities = [batch for i in range(3) for batch in case.score("copies", [i])]
    assert [found[f"x{i}"] for i in range(3)] == pytest.approx(probabilities, rel=1e-3)


def test_programs_of_three_steps_use_the_last_numbers_alone(thorough, monkeypatch):
    monkeypatch.setattr(candidates, "BEAM", 300)
    case = Case(WINDOW + 2, WINDOW + 3)
    names = [f"x{i}" for i in range(2, WINDOW + 2)]
    found = [name for name, _ in case.think() if name.count("(") == 3]
    assert found
    assert not any(missing in name for name in found for missing in ("x0", "x1", "c"))
    likely = dict(case.think())
    rows = [row for row in threes(3) if not row[3]][::29]
    rows = [tuple(x + 3 if i in (1, 2, 6, 9) else x for i, x in enumerate(row)) for row in rows]
    checked = 0
    for row, mass in zip(rows, case.score("threes", rows), strict=True):
        if (name := three(names, *row)) in likely:
            assert likely[name] == pytest.approx(mass, rel=1e-3)
            checked += 1
    assert checked > 20


def test_unlikely_programs_are_left_out_and_the_others_keep_their_probability():
    case = Case(4, 6)
    every = case.think()
    assert every and all(mass > candidates.NEGLIGIBLE for _, mass in every)
    assert sum(mass for _, mass in every) < 1
