"""Is a block silent on ordinary text? Documentation, and sentences with numbers nothing computes.

python benchmarks/lm_silent.py [TEXTS]

Documentation is what installed packages say of themselves. Numbers are those with a number before
them; a false fire is a number that programs foretold, with more weight than the base, and wrongly.
"""

import math
import random
import sys
from importlib.metadata import distributions
from typing import Any

import torch

from arithmix.lm.model import attach, detach
from arithmix.lm.numbers import find
from arithmix.lm.opening import open_model
from arithmix.lm.sums import draw_aside

LENGTH = 1500


def documentation(count: int) -> list[str]:
    """The beginnings of what packages say of themselves."""
    found = {d.name: (d.read_text("METADATA") or "").partition("\n\n")[2] for d in distributions()}
    texts = [found[name][:LENGTH] for name in sorted(found)]
    return [text for text in texts if len(text) == LENGTH][:count]


@torch.no_grad()
def nats(model: Any, ids: torch.Tensor) -> tuple[float, torch.Tensor]:
    """The nats of a text's tokens, and its logits."""
    logits = model(ids).logits
    logs = logits[0, :-1].log_softmax(-1)
    return -logs.gather(1, ids[0, 1:, None]).sum().item(), logits


def main(count: int = 60) -> None:
    model, tokenizer = open_model()
    block = model.author.block
    rng = random.Random(0)
    asides = [" ".join(draw_aside(rng, held_out=True) for _ in range(4)) for _ in range(count)]
    for name, texts in (("documentation", documentation(count)), ("asides", asides)):
        numbers = fires = wrong = tokens = same = 0
        plain = mixed = 0.0
        for text in texts:
            ids = tokenizer(text, return_tensors="pt").input_ids
            attach(model, tokenizer, block)
            foretold = model.foretold(ids)
            cost, logits = nats(model, ids)
            mixed += cost
            cost, own = nats(detach(model).requires_grad_(False), ids)
            plain += cost
            same += int((logits == own).all(-1).sum())
            tokens += ids.shape[1]
            numbers += max(0, len(find(text)) - 1)
            fires += len(foretold)
            wrong += sum(not one.right for one in foretold)
        more = math.exp((mixed - plain) / tokens) - 1
        print(
            f"{name}: {len(texts)} texts, {tokens} tokens, {same} with the base's logits bit for "
            f"bit; {numbers} numbers, {fires} fires, {wrong} of them false; "
            f"perplexity {100 * more:+.3f}%",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
