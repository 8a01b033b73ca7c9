"""`arithmix lm eval`."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from ...table import write
from .._options import console, need, print_line
from ._options import Block, Model

SAY_SECONDS = 10.0


def eval_(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Texts: plain, .jsonl, .json or .csv.")
    ],
    block: Block = None,
    model: Model = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Only the first so many texts of each file.")
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="How sure the block must be; its own if left out."),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also write solutions and compare the final numbers.")
    ] = False,
    tokens: Annotated[int, typer.Option(min=1, help="The most tokens of a solution.")] = 200,
    batch: Annotated[int, typer.Option(min=1, help="Texts that are run at once.")] = 16,
    out: Annotated[
        Path | None, typer.Option("--json", help="A file for all that was found.")
    ] = None,
) -> None:
    """Measure how well numbers in texts are foretold, with the block and without."""
    need("transformers", "lm")
    from ...lm.texts import read

    texts = [text for path in files for text in read(path)[:count]]
    from ...lm.beside import beside, calibration, fired
    from ...lm.block import SHIPPED
    from ...lm.evaluate import evaluate
    from ...lm.kept import sha256
    from ...lm.opening import block_of, open_model

    opened, tokenizer = open_model(model, block)
    reader = block_of(opened)
    if reader and threshold is not None:
        reader.config = replace(reader.config, threshold=threshold)
    found = evaluate(
        opened,
        tokenizer,
        reader,
        texts,
        answers=answers,
        tokens=tokens,
        batch=batch,
        files=[(path.name, sha256(path)) for path in files],
        name=Path(block).name if block else SHIPPED.name,
        tell=_Told(),
    )
    tables = [beside(found), *([calibration(found)] if found.fired else [])]
    write(tables, "terminal", console())
    if reader:
        print_line(fired(found))
    if out:
        found.save(out)
        print_line(f"all of it is in {out}; `arithmix report --lm {out}` shows it")


class _Told:
    """Says on standard error, every few seconds, how far an evaluation is."""

    def __init__(self) -> None:
        self.notes = Console(stderr=True)
        self.said = time.monotonic()

    def __call__(self, what: str, done: int, texts: int) -> None:
        if time.monotonic() - self.said >= SAY_SECONDS:
            self.notes.print(f"{what}: {done} of {texts} texts", markup=False, highlight=False)
            self.said = time.monotonic()
