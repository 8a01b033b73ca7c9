"""A conversation by the command, with a tiny model."""

import pytest
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm import opening
from arithmix.lm.model import attach
from arithmix.lm.talk import Talk

from .test_evaluate import make_block

TEMPLATE = "{% for m in messages %}[{{ m.role }}] {{ m.content }}\n{% endfor %}[assistant] 12 or"


@pytest.fixture
def folders(base, tokenizer, tmp_path):
    base.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    make_block().save_pretrained(tmp_path / "block")
    return ["--model", str(tmp_path / "base"), "--block", str(tmp_path / "block")]


def chat(*words, lines=None):
    given = "\n".join(lines) + "\n" if lines is not None else None
    done = CliRunner().invoke(app, ["lm", "chat", *words, "--tokens", "6"], input=given)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_prompt_is_answered_once(folders, base, tokenizer):
    said = chat("12 and 30 =", *folders, "--plain")
    expected = Talk(attach(base, tokenizer, make_block()), tokenizer, 6).answer("12 and 30 =")
    assert said == expected + "\n"


def test_lines_of_a_pipe_are_a_conversation(folders):
    lines = ["/why", "12 and 30 =", "/why", "/base", "12 and 30 =", "/why", "/base", "/new"]
    said = chat(*folders, lines=[*lines, "/nonsense", "/quit", "never read"])
    parts = (
        "There is no answer yet.",
        "12.00 = 12, a copy  (",
        "The block is off.",
        "The last answer is the base's own: nothing was computed.",
        "The block is on.",
        "The conversation is forgotten.",
        "There is no /nonsense here: /why explains",
    )
    places = [said.find(part) for part in parts]
    assert places == sorted(places) and places[0] == 0, said


def test_the_end_of_the_input_ends_it(folders):
    assert chat(*folders, lines=[]) == ""


def test_turned_off_it_is_the_base_and_what_was_said_counts(base, tokenizer):
    plain = Talk(base, tokenizer, 6)
    first, second = plain.answer("12 and 30 ="), plain.answer("more")
    fresh = Talk(base, tokenizer, 6)
    assert fresh.answer("more") != second
    with pytest.raises(ValueError, match="there is no block to turn on"):
        fresh.turn_on(True)
    computing = Talk(attach(base, tokenizer, make_block()), tokenizer, 6)
    computing.turn_on(False)
    assert [computing.answer("12 and 30 ="), computing.answer("more")] == [first, second]
    assert computing.trace is None
    computing.turn_on(True)
    computing.answer("12 and 30 =")
    assert computing.trace.text[computing.start :] == computing.said[-1]["content"]


def test_pieces_are_told_as_they_come_and_the_template_is_used(base, tokenizer):
    pieces, talk = [], Talk(base, tokenizer, 6)
    tokenizer.chat_template = TEMPLATE
    try:
        answer = talk.answer("so 30", pieces.append)
        [ids] = talk._encode(talk.said[:1]).tolist()
    finally:
        tokenizer.chat_template = None
    assert "".join(pieces) == answer
    assert tokenizer.decode(ids) == "[user] so 30\n[assistant] 12 or"


def test_a_conversation_that_is_too_long_is_one_sentence(base, tokenizer):
    with pytest.raises(ValueError, match=r"has 510 tokens, and the model reads 512.* /new begins"):
        Talk(base, tokenizer, 6).answer("a" * 510)


def test_a_package_without_a_block_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(opening, "SHIPPED", tmp_path)
    done = CliRunner().invoke(app, ["lm", "chat", "hello"])
    assert "no block came with this package" in str(done.exception)
