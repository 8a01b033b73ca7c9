"""Sums in words: each is right, can be read, and is in wordings of its part alone."""

import random
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm import find, trees
from arithmix.lm.programs import OPERATIONS
from arithmix.lm.sums import (
    Sum,
    chat,
    draw_aside,
    draw_story,
    draw_story2,
    draw_sum,
    draw_text,
    draw_tree,
)
from arithmix.lm.wordings import fill, places, wordings

DRAWS = [draw_sum, draw_tree, draw_story, draw_story2]
BY_OPERATION = {"expressions": (60, 10), "commands": (12, 4), "stories": (60, 12)}
OTHERS = {
    "frames": (80, 16),
    "command_frames": (20, 5),
    "stories2": (40, 10),
    "leads": (15, 5),
    "asides": (150, 40),
}
LISTS = [
    *((kind, op, least) for kind, least in BY_OPERATION.items() for op in OPERATIONS),
    *((kind, None, least) for kind, least in OTHERS.items()),
]


def number(text):
    return Fraction(Decimal(text.replace(",", "")))


def by_python(formula):
    """What Python makes of a formula of fractions."""
    return eval(re.sub(r"\d+(\.\d+)?", r"Fraction('\g<0>')", formula))


def operands(one):
    """The numbers of a formula; those of two are signed."""
    if one.operation in OPERATIONS:
        return {number(text) for text in one.formula.split(f" {one.operation} ")}
    return {number(text) for text in re.findall(r"\d+(?:\.\d+)?", one.formula)}


def plain(wording):
    """A wording without what tells two of them apart only to the eye."""
    parts = wording.values() if isinstance(wording, dict) else wording
    text = wording if isinstance(wording, str) else " ".join(parts)
    return " ".join(text.lower().rstrip(".?:").split())


@pytest.mark.parametrize("kind, operation, least", LISTS)
def test_wordings_are_many_and_those_held_out_are_others(kind, operation, least):
    parts = [wordings(kind, held_out, operation) for held_out in (False, True)]
    assert [len(part) >= count for part, count in zip(parts, least, strict=True)] == [True, True]
    assert all(len(set(map(str, part))) == len(part) for part in parts)
    assert not set(map(plain, parts[0])) & set(map(plain, parts[1]))


def test_trees_keep_to_their_part_too():
    def said(held_out):
        for op in OPERATIONS:
            yield from wordings("expressions", held_out, op)
            yield from wordings("commands", held_out, op)
        for parts in (trees.PHRASES, trees.CHAINS, trees.COMMANDS, trees.STEPS, trees.LISTS):
            for texts in parts[held_out].values():
                yield from [texts] if isinstance(texts, str) else texts

    def same(text):
        return plain(re.sub(r"\{[ablr]\}", "_", text))

    assert not {*map(same, said(True))} & {*map(same, said(False))}


@pytest.mark.parametrize("held_out", [False, True])
def test_every_wording_has_its_places(held_out):
    for op in OPERATIONS:
        for text in wordings("expressions", held_out, op) + wordings("commands", held_out, op):
            assert sorted(places(text)) == ["a", "b"]
            said = fill(text, {"a": "417", "b": "35"})
            assert {one.value for one in find(f"It is {said} .")} == {417, 35}, said
        for question, lead in wordings("stories", held_out, op):
            assert sorted(set(places(question)) - {"n"}) == ["a", "b"] and not places(lead)
            said = fill(question, {"a": "417", "b": "35", "n": "9"})
            assert {417, 35} <= {one.value for one in find(said) if one.role == "value"}, said
    for question, lead in wordings("frames", held_out) + wordings("command_frames", held_out):
        assert "e" in places(question + lead) and {*places(question + lead)} <= {"e", "f"}
    for story in wordings("stories2", held_out):
        letters = set(re.findall("[a-d]", story["value"]))
        assert set(places(story["text"])) == letters and not places(story["lead"])


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("draw", DRAWS)
def test_answers_are_right_and_can_be_read(draw, held_out):
    rng = random.Random(7)
    for _ in range(500):
        one = draw(rng, held_out=held_out)
        assert by_python(one.formula) == number(one.answer), one
        *before, last = find(one.text)
        assert last.role == "value" and last.value == number(one.answer), one
        assert operands(one) <= {n.value for n in before if n.role == "value"}, one
        assert one.text == one.text.strip() and "\n\n" not in one.text
        assert not re.search(r"\{[a-z]\}", one.text)
        user, reply = chat(one)
        assert user and user in one.prompt and one.prompt.rstrip("\n").endswith(reply)


def test_numbers_are_of_all_kinds_and_at_most_five_digits():
    rng = random.Random(1)
    made = [draw_sum(rng) for _ in range(1000)]
    assert all(len(re.sub(r"\D", "", n)) <= 5 for one in made for n in one.formula.split())
    for pattern in (r"\d,\d{3}", r"\$\d", r"\d\.\d", r"-\d"):
        assert 20 < sum(bool(re.search(pattern, one.text)) for one in made) < 500
    tight = [draw_sum(rng, "+", decimals=True, negatives=True).formula for _ in range(50)]
    assert all("." in formula and "-" in formula for formula in tight)


@pytest.mark.parametrize("digits", [(1, 1), (3, 2), (2, 3), (100, 100)])
def test_whole_numbers_have_the_digits_asked_for(digits):
    rng = random.Random(0)
    for op in OPERATIONS:
        for _ in range(20):
            one = draw_sum(rng, op, digits, held_out=True)
            x, y = one.formula.split(f" {op} ")
            found = [len(one.answer), len(y)] if op == "/" else [len(x), len(y)]
            assert sorted(found) == sorted(digits) if op == "-" else found == list(digits)
            assert by_python(one.formula) == number(one.answer)
            assert op != "-" or not one.answer.startswith("-")


def test_a_tree_has_the_operands_and_digits_asked_for():
    rng = random.Random(2)
    for count in (3, 4, 5):
        for _ in range(50):
            found = re.findall(r"\d+", draw_tree(rng, count, digits=12).formula)
            assert len(found) == count and sum(len(text) == 12 for text in found) >= 1


def test_a_frame_and_an_expression_can_be_given():
    one = draw_sum(random.Random(0), "*", (2, 2), frame=("", "{e} ="), expression="{a} * {b}")
    assert one.prompt == one.formula + " =" and chat(one) == (one.prompt, "")


def test_a_question_and_its_answer_are_joined_as_one_writes():
    assert Sum("What is 1 + 1?", "It is $", "2", "+", "1 + 1").text == "What is 1 + 1? It is $2"
    assert Sum("What is 1 + 1?", "\n", "2", "+", "1 + 1").text == "What is 1 + 1?\n2"
    assert Sum("What is 1 + 1?", "", "2", "+", "1 + 1").text == "What is 1 + 1? 2"


def test_texts_are_drawn_from_what_is_passed_alone():
    for draw in (*DRAWS, draw_aside, draw_text):
        assert [draw(random.Random(5)) for _ in range(2)] == [draw(random.Random(5))] * 2
    rng = random.Random(3)
    for held_out in (False, True):
        texts = [draw_text(rng, held_out) for _ in range(500)]
        asides = [draw_aside(rng, held_out) for _ in range(500)]
        assert not any(re.search(r"\{[abcdefnmyk]\}|\n\n", text) for text in texts + asides)


def test_held_out_wordings_are_written_on_demand(tmp_path):
    out = tmp_path / "sums.txt"
    done = CliRunner().invoke(app, ["lm", "sums", str(out), "--count", "30", "--held-out"])
    assert done.exit_code == 0, done.output
    assert len(out.read_text().split("\n\n")) == 30
    assert " plus " not in out.read_text()
