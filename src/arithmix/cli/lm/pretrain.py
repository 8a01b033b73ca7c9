"""`arithmix lm pretrain`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .._options import find_device, need, print_line, seeds_of


def pretrain(
    texts: Annotated[list[Path], typer.Argument(help="Files of texts, as for lm train.")],
    out: Annotated[Path, typer.Option(help="The file for the curves, JSON lines.")] = Path(
        "pretrain.jsonl"
    ),
    steps: Annotated[int, typer.Option(min=1, help="Batches of about 4 000 tokens.")] = 2000,
    width: Annotated[int, typer.Option(min=64, help="Of the layers; a multiple of 64.")] = 384,
    depth: Annotated[int, typer.Option(min=2, help="How many layers.")] = 8,
    seeds: Annotated[str, typer.Option(help="As 0-2 or 0,5.")] = "0-2",
    device: Annotated[str, typer.Option(help="Where to train: auto, cpu or cuda.")] = "auto",
) -> None:
    """Train a small language model from scratch, with a block from the first step and without.

    Arms that are in the file already are not trained again.
    """
    need("transformers", "lm")
    from ...lm.pretrain import pretrain as train
    from ...lm.pretrain import split
    from ...lm.scratch import make_tokenizer
    from ...lm.texts import read

    if width % 64:
        raise ValueError(f"--width is a multiple of 64; got {width}")
    chosen, where = seeds_of(seeds), find_device(device)
    known, held_out = split([text.rendered(None) for path in texts for text in read(path)])
    tokenizer = make_tokenizer(known)
    done = _done(out)
    for seed in chosen:
        for block in (False, True):
            asked = {"seed": seed, "block": block, "steps": steps, "width": width, "depth": depth}
            if asked in done:
                continue
            name = f"seed {seed}, {'with' if block else 'without'} a block"
            made = train(
                known,
                held_out,
                tokenizer,
                block=block,
                steps=steps,
                seed=seed,
                width=width,
                depth=depth,
                device=where,
                say=lambda point, name=name: print_line(
                    f"{name}, step {point.step}: {point.words:.3f} nats a word token, "
                    f"{point.numbers:.3f} a number ({point.alone:.3f} by its layers alone)"
                ),
            )
            count = sum(parameter.numel() for parameter in made.model.parameters())
            row = {"asked": asked, "parameters": count, "curve": [vars(p) for p in made.curve]}
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    print_line(f"the curves are in {out}")


def _done(out: Path) -> list[dict]:
    """What was asked of the trainings that a file holds."""
    if not out.is_file():
        return []
    try:
        lines = out.read_text(encoding="utf-8").splitlines()
        return [json.loads(line)["asked"] for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{out} is no file of curves; choose another --out") from error
