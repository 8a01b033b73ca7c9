"""A language model from scratch: both arms begin alike and have the likelihood of the text."""

import json
import random
import re

import pytest
import torch
from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm.model import attach
from arithmix.lm.pretrain import pretrain, split
from arithmix.lm.scratch import make_model, make_tokenizer

SETTINGS = {"steps": 3, "width": 64, "depth": 2, "every": 3}


@pytest.fixture(scope="module")
def texts():
    rng = random.Random(0)
    pairs = [(rng.randint(2, 99), rng.randint(2, 99)) for _ in range(60)]
    return [f"He has {x} and gets {y}, so he has {x + y} now." for x, y in pairs]


@pytest.fixture(scope="module")
def words(texts):
    return make_tokenizer(texts, 400)


def test_the_same_seed_gives_the_same_curve_and_another_does_not(texts, words):
    def curve(seed, block):
        return pretrain(texts[:50], texts[50:], words, block=block, seed=seed, **SETTINGS).curve

    for block in (False, True):
        assert curve(0, block) == curve(0, block)
        assert curve(0, block) != curve(1, block)


def test_without_a_block_words_and_numbers_cost_what_the_model_says(texts, words):
    trained = pretrain(texts[:50], texts[50:], words, block=False, **SETTINGS)
    point = trained.curve[-1]
    assert point.numbers == point.alone
    assert point.programs == 0
    nats = tokens = numbers = 0
    for text in texts[50:]:
        ids = torch.tensor([[*words.encode(text), words.eos_token_id]])
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            logs = trained.model(ids).logits[0, :-1].float().log_softmax(-1)
        nats -= logs.gather(1, ids[0, 1:, None]).sum().item()
        counted = re.findall(r"\d+", text)[1:]  # the first has no number before it
        numbers += len(counted)
        tokens += ids.shape[1] - 1 - sum(1 + len(number) for number in counted)
    whole = point.words * tokens + point.numbers * numbers
    assert whole == pytest.approx(nats, rel=2e-2)


def test_a_block_from_the_first_step_can_be_attached(texts, words):
    trained = pretrain(texts[:50], texts[50:], words, block=True, **SETTINGS)
    assert 0 < trained.curve[-1].programs < 1
    model = attach(trained.model, words, trained.block)
    ids = torch.tensor([words.encode("He has 3 and gets 4, so he has")])
    assert torch.isfinite(model(ids).logits).all()


def test_both_arms_start_from_the_same_weights(words):
    first, second = (make_model(words, 64, 2, seed=3).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_texts_are_split_by_what_they_say(texts):
    known, held_out = split(texts)
    assert sorted(known + held_out) == sorted(texts)
    assert split(texts[::-1])[1] == held_out[::-1]


def test_the_command_writes_both_arms_and_does_not_repeat_them(texts, tmp_path):
    file, out = tmp_path / "texts.txt", tmp_path / "curves.jsonl"
    file.write_text("\n\n".join(texts), encoding="utf-8")
    command = ["lm", "pretrain", str(file), "--out", str(out), "--steps", "1", "--width", "64"]
    command += ["--depth", "2", "--seeds", "0", "--device", "cpu"]
    for _ in range(2):
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["asked"]["block"] for row in rows] == [False, True]
    assert rows[0]["curve"][0]["step"] == 1
