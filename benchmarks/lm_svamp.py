"""Word problems from answers alone: SVAMP by its protocol, on the frozen states of a small model.

python benchmarks/lm_svamp.py TRAIN.csv TEST.csv [SEEDS] [EPOCHS]

Train on MAWPS and ASDiv-A, test on SVAMP. No equation is read. Each problem is given twice, so that
what is read at the numbers of the second copy has seen the question.
"""

import dataclasses
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import torch

from arithmix.lm.author import Author
from arithmix.lm.block import Config
from arithmix.lm.exact import to_decimal
from arithmix.lm.loading import load
from arithmix.lm.notes import Notes
from arithmix.lm.reader import Reader
from arithmix.lm.reading import Reading
from arithmix.lm.samples import collect
from arithmix.lm.texts import read
from arithmix.lm.train import fit
from arithmix.lm.vocabulary import Vocabulary

LAYERS = (4, 12, 20)


def samples(path: Path, model: Any, vocabulary: Vocabulary, config: Config):
    """The problems as samples whose only target is the answer, and the answers in their order."""
    texts = {}
    for text in read(path):
        problem = text.prompt.strip()
        texts[f"{problem}\n{problem}\nThe answer is {text.answer}."] = text.answer
    found = list(collect(list(texts), model, vocabulary, LAYERS, config.memory, config.constants))
    answers = [texts["".join(vocabulary.text(sample.ids))] for sample in found]
    last = [dataclasses.replace(sample, targets=sample.targets[-1:]) for sample in found]
    return last, answers


@torch.no_grad()
def solved(reader: Reader, vocabulary: Vocabulary, tests, answers) -> int:
    """How many problems have their answer as the value that programs give most probability."""
    reader.config = dataclasses.replace(reader.config, threshold=0.0)
    author, count = Author(reader, vocabulary), 0
    for sample, answer in zip(tests, answers, strict=True):
        if not sample.targets:
            continue
        notes = Notes(
            reader.read(sample.states[None].float(), sample.digit[None]),
            torch.zeros(1, len(sample.ids), 0),
            torch.tensor([sample.ids]),
        )
        reading = Reading(vocabulary.text(sample.ids))
        seen = author.outlook(notes, 0, reading, sample.targets[0].place)
        if seen and seen.values:
            best = max(seen.values, key=seen.values.__getitem__)
            value = to_decimal(best)
            count += value is not None and abs(value - Decimal(answer)) < Decimal("0.0001")
    return count


def main(train: str, test: str, seeds: int = 3, epochs: int = 12) -> None:
    model, tokenizer = load()
    vocabulary = Vocabulary(tokenizer)
    start = time.perf_counter()
    config = Config(
        width=576, layers=LAYERS, memory=16, steps=3, dropout=0.5, constants=("1", "2", "100")
    )
    model = model.bfloat16()
    known, _ = samples(Path(train), model, vocabulary, config)
    tests, answers = samples(Path(test), model, vocabulary, config)
    print(f"{len(known)} and {len(tests)} problems read in {time.perf_counter() - start:.0f} s")
    for seed in range(seeds):
        start = time.perf_counter()
        generator = torch.Generator().manual_seed(seed)
        reader = Reader(config, generator)
        order = torch.randperm(len(known), generator=generator).tolist()
        held_out, rest = order[:200], order[200:]
        fit(
            reader,
            [known[i] for i in rest],
            [known[i] for i in held_out],
            epochs=epochs,
            rate=1e-3,
            seed=seed,
            say=lambda epoch: print(f"  {epoch}", flush=True),
        )
        count = solved(reader, vocabulary, tests, answers)
        took = time.perf_counter() - start
        print(f"seed {seed}: {count} of {len(tests)} problems, {took:.0f} s", flush=True)


if __name__ == "__main__":
    given: list[Any] = [*sys.argv[1:3], *map(int, sys.argv[3:5])]
    main(*given)
