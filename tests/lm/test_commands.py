"""From no texts to a block, by the commands."""

from typer.testing import CliRunner

from arithmix.cli import app
from arithmix.lm.loading import load
from arithmix.lm.model import attach
from arithmix.lm.reader import Reader


def test_sums_are_written_and_a_block_is_trained_on_them(base, tokenizer, tmp_path):
    base.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    texts, block = tmp_path / "sums.txt", tmp_path / "block"
    done = CliRunner().invoke(app, ["lm", "sums", str(texts), "--count", "20"])
    assert done.exit_code == 0, done.output
    assert len(texts.read_text().split("\n\n")) == 20
    command = ["lm", "train", str(texts), "--out", str(block), "--model", str(tmp_path / "base")]
    done = CliRunner().invoke(app, [*command, "--epochs", "1"])
    assert done.exit_code == 0, done.output
    reader = Reader.from_pretrained(block)
    assert reader.config.layers == (1,)
    assert attach(*load(tmp_path / "base"), reader).trace("no number").numbers == ()
