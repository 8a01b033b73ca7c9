"""What an evaluation says of a tiny model is what can be computed by hand."""

import json
from dataclasses import replace

import pytest
import torch
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm.answering import final_number, is_same, solve
from arithmix.lm.evaluate import block_hash, evaluate
from arithmix.lm.evaluation import Evaluation, binned
from arithmix.lm.model import attach
from arithmix.lm.reader import Config, Reader
from arithmix.lm.reading import Operand
from arithmix.lm.texts import Text
from arithmix.lm.trace import Computed, Formula, Trace
from arithmix.lm.words import count_words, telling

TEXTS = [
    Text("Ann has 12 pens and 30 caps.\n", "In all 12 + 30 = 42 things, or $ 42.", "42"),
    Text("no number"),
    Text("7 nuts and 5 nuts are 12."),
    Text("2 x 3 =", " 6", "6"),
]


def make_block(seed=0):
    """A random reader that always prefers programs, and copies most of all."""
    config = Config(width=32, layers=(1, 2), size=16, depth=1, heads=2, rank=8, threshold=0.01)
    block = Reader(config, torch.Generator().manual_seed(seed))
    block.gate_head.bias.data[:2] = torch.tensor([-20.0, 3.0])
    return block.eval()


@pytest.fixture(scope="module")
def found(tokenizer):
    from .digits import make_base

    return evaluate(make_base(tokenizer), tokenizer, make_block(), TEXTS, answers=True, tokens=4)


def by_hand(model, tokenizer, text, start, end):
    """A number's nats and whether it is the likeliest; the tokenizer has a token per character."""
    ids = tokenizer(text, return_tensors="pt").input_ids
    with torch.no_grad():
        logs = model(ids).logits[0].log_softmax(-1)
    wanted = [(i - 1, int(ids[0, i])) for i in range(start, end)]
    nats = -sum(logs[i, token].item() for i, token in wanted)
    return nats, all(int(logs[i].argmax()) == token for i, token in wanted)


# The numbers that count: in solutions, or everywhere; each after another.
PLACES = [(0, "12"), (0, "30"), (0, "42 "), (0, "42."), (2, "5"), (2, "12"), (3, "6")]


def test_both_columns_are_the_models_own(found, base, tokenizer):
    def column(model):
        numbers = []
        for which, number in PLACES:
            text = TEXTS[which].whole
            start = text.rindex(number)
            numbers.append(by_hand(model, tokenizer, text, start, start + len(number.rstrip(" ."))))
        return numbers

    for got, numbers in (
        (found.base, column(base)),
        (found.with_block, column(attach(base, tokenizer, make_block()))),
    ):
        assert got["all"].numbers == len(PLACES)
        mean = sum(nats for nats, _ in numbers) / len(numbers)
        assert got["all"].nats == pytest.approx(mean, rel=1e-5)
        assert got["all"].right == sum(right for _, right in numbers)
        assert got["after ="].numbers == 2  # "= 42" and "= 6"
        mean = (numbers[2][0] + numbers[6][0]) / 2
        assert got["after ="].nats == pytest.approx(mean, rel=1e-5)


def test_a_batch_is_what_its_texts_are_alone(found, base, tokenizer):
    alone = evaluate(base, tokenizer, make_block(), TEXTS, answers=True, tokens=4, batch=1)
    for side in ("base", "with_block"):
        for group, score in getattr(alone, side).items():
            other = getattr(found, side)[group]
            assert (score.numbers, score.right) == (other.numbers, other.right)
            assert score.nats == pytest.approx(other.nats, rel=1e-5)
    assert replace(alone, seconds=0, base={}, with_block={}) == replace(
        found, seconds=0, base={}, with_block={}
    )


def test_programs_that_fire_are_counted(found):
    assert 0 < found.fired <= len(PLACES)
    assert found.base["fired"].numbers == found.fired == sum(one.count for one in found.bins)
    assert found.fired_right == sum(one.right for one in found.bins)
    assert found.answers.texts == found.answers.skipped == 2


def test_without_a_block_there_is_one_column(base, tokenizer):
    alone = evaluate(attach(base, tokenizer, make_block()), tokenizer, None, TEXTS)
    assert (alone.with_block, alone.block, alone.answers) == ({}, None, None)
    assert not hasattr(base, "author")


def test_bins_and_their_error(found):
    bins = binned([(0.95, True), (1.0, True), (0.55, False), (0.05, False)])
    assert [one.count for one in bins] == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert (bins[9].right, bins[9].probability) == (2, pytest.approx(0.975))
    error = replace(found, bins=bins, fired=4).calibration_error
    assert error == pytest.approx((0.05 + 0.55 + 0.05) / 4)


def test_an_evaluation_is_read_as_it_was_written(found, tmp_path):
    six, seven = Operand("6", 6, 0, 1), Operand("0.7", 7)
    program = Formula("6 + 0.7", "6.7", (six, seven), 0.9)
    trace = Trace("6 … 6.7", (Computed("6.7", 4, 7, program, 0.9, None),))
    some = replace(found, examples=(trace, *found.examples[:7]), files=(("a", "b"),))
    some.save(tmp_path / "a.json")
    again = Evaluation.load(tmp_path / "a.json")
    assert replace(again, examples=()) == replace(some, examples=())
    assert again.examples[0].numbers[0].program == program
    (tmp_path / "a.json").write_text('{"kind": 1}')
    with pytest.raises(ValueError, match="is not what `arithmix lm eval --json` writes"):
        Evaluation.load(tmp_path / "a.json")


def test_a_block_has_the_same_hash_when_it_is_read_again(tmp_path):
    make_block().save_pretrained(tmp_path)
    assert block_hash(Reader.from_pretrained(tmp_path)) == block_hash(make_block())
    assert block_hash(make_block(1)) != block_hash(make_block())


def test_prompts_of_all_lengths_are_answered_as_if_alone(base, tokenizer):
    prompts = ["a", "a longer 12 prompt", "12"]
    together = solve(base, tokenizer, prompts, 5)
    assert together == [solve(base, tokenizer, [prompt], 5)[0] for prompt in prompts]


@pytest.mark.parametrize(
    ("solution", "number"), [("so 7 and 8.", 8), ("#### 7\nthen 9", 7), ("9 ####", 9), ("", None)]
)
def test_the_final_number(solution, number):
    assert final_number(solution) == number


def test_answers_are_compared_as_numbers():
    assert is_same(final_number("1,200.00"), final_number("1200"))
    assert is_same(final_number("0.3333333333"), final_number("0.3333333"))
    assert not is_same(final_number("12"), final_number("12.5"))
    assert not is_same(None, 5)


def test_words_are_counted_by_operation_once_for_a_number():
    def trace(sign, word):
        text = f"9 old things, 4 {word} {word} and so on and on and far and near it is 5"
        operands = (Operand("9", 9, 0, 1), Operand("4", 4, 14, 15))
        program = Formula(f"9 {sign} 4", "5", operands, 1.0)
        return Trace(text, (Computed("5", len(text) - 1, len(text), program, 1.0, None),))

    near = count_words([trace("-", "fewer")] * 6 + [trace("+", "more")] * 5)
    assert near["-"].numbers == 6 and near["-"].words["fewer"] == 6
    assert "far" in near["-"].words and "old" in near["-"].words
    assert [word for word, _, _ in telling(near, "-", most=1)] == ["fewer"]
    assert telling(near, "+", least=6) == []


def test_the_command_prints_a_table_and_writes_all(base, tokenizer, tmp_path):
    base.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    make_block().save_pretrained(tmp_path / "block")
    texts, out = tmp_path / "a.txt", tmp_path / "out.json"
    texts.write_text("\n\n".join(text.whole for text in TEXTS))
    command = ["lm", "eval", str(texts), "--model", str(tmp_path / "base"), "--json", str(out)]
    done = CliRunner().invoke(app, [*command, "--block", str(tmp_path / "block"), "--answers"])
    assert done.exit_code == 0, done.output
    assert "where programs fired" in done.output and "4 texts have no answer" in done.output
    written = json.loads(out.read_text())
    assert written["files"][0][0] == "a.txt" and len(written["files"][0][1]) == 64
    assert written["block"] == ["block", block_hash(make_block())]
    done = CliRunner().invoke(app, [*command, "--block", "none", "--count", "1"])
    assert done.exit_code == 0, done.output
    assert Evaluation.load(out).texts == 1
