"""How many sums a language model gets right, with a block and without, and what it costs.

python benchmarks/lm_sums.py MODEL [BLOCK] [PER_CELL]
"""

import random
import re
import sys
import time
from itertools import product
from typing import Any

from arithmix.lm.load import load
from arithmix.lm.model import attach
from arithmix.lm.programs import OPERATIONS
from arithmix.lm.reader import Reader
from arithmix.lm.sums import draw_sum
from arithmix.lm.wordings import wordings

SMALL = list(product((1, 2, 3), repeat=2))
LARGE = [(5, 5), (8, 8), (12, 12)]
BATCH = 18


def prompts(kind, rng):
    """A function from operation and digits to a sum in wordings of a kind."""
    patterns: dict[str, Any] = {
        "A op B =": lambda op: {"frame": ("", "{e} ="), "expression": "{a} " + op + " {b}"},
        "new frames": lambda op: {"expression": rng.choice(wordings("expressions", operation=op))},
        "new frames and expressions": lambda op: {},
    }
    return lambda op, digits: draw_sum(rng, op, digits, True, **patterns[kind](op))


def right(model, tokenizer, sums, room):
    """How many of the first numbers that greedy `generate` writes are the answers."""
    count = 0
    sums = sorted(sums, key=lambda one: len(one.prompt))
    for first in range(0, len(sums), BATCH):
        batch = sums[first : first + BATCH]
        given = tokenizer([one.prompt for one in batch], return_tensors="pt", padding=True)
        made = model.generate(**given, do_sample=False, max_new_tokens=room)
        for one, ids in zip(batch, made, strict=True):
            text = tokenizer.decode(ids[given.input_ids.shape[1] :])
            found = re.search(r"-?\d[\d,]*(\.\d+)?", text)
            count += bool(found) and found[0].rstrip(",").replace(",", "") == one.answer
    return count


def main(where, block=None, cell=3):
    loaded: Any = load(where)
    model, tokenizer = loaded
    tokenizer.padding_side = "left"
    if block:
        attach(model, tokenizer, Reader.from_pretrained(block))
    rng = random.Random(0)
    for kind, sizes, room in (
        ("A op B =", SMALL, 9),
        ("A op B =", LARGE, 28),
        ("new frames", SMALL, 14),
        ("new frames and expressions", SMALL, 14),
    ):
        draw = prompts(kind, rng)
        for op in OPERATIONS:
            sums = [draw(op, digits) for digits in sizes for _ in range(cell)]
            done = right(model, tokenizer, sums, room)
            print(f"{kind}, {sizes[0]} to {sizes[-1]} digits, {op}: {done} of {len(sums)}")
    given = tokenizer("Write a short story about a dog.\n", return_tensors="pt")
    start = time.perf_counter()
    model.generate(**given, do_sample=False, max_new_tokens=60, min_new_tokens=60)
    print(f"{(time.perf_counter() - start) / 60 * 1e3:.1f} ms a token")


if __name__ == "__main__":
    main(sys.argv[1], *sys.argv[2:3], *map(int, sys.argv[3:4]))
