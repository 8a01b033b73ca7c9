"""What the shipped block is trained on: sums, talk and documentation."""

import json
import random

from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm.corpus import documentation, draw_sample
from arithmix.lm.texts import read


def test_every_kind_is_drawn_and_the_same_seed_draws_the_same():
    first, second = ([draw_sample(random.Random(seed)) for seed in range(200)] for _ in range(2))
    assert first == second
    assert {tuple(sample) for sample in first} == {("text",), ("user", "assistant")}
    assert any(sample.get("text") in documentation() for sample in first)


def test_talk_is_written_as_the_chat_template_says(tmp_path):
    path = tmp_path / "sums.jsonl"
    done = CliRunner().invoke(app, ["lm", "sums", str(path), "--count", "60"])
    assert done.exit_code == 0, done.output
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    texts = read(path)
    assert [text.chat for text in texts] == ["user" in line for line in lines]

    class Template:
        chat_template = "any"

        def apply_chat_template(self, says, tokenize):
            assert not tokenize
            return "|".join(f"{said['role']}:{said['content']}" for said in says)

    talk = next(text for text in texts if text.chat)
    line = next(line for line in lines if "user" in line)
    assert talk.rendered(Template()) == f"user:{line['user']}|assistant:{line['assistant']}"
    assert talk.rendered(None) == f"{line['user']}\n{line['assistant']}".rstrip()
