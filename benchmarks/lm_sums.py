"""How many sums a language model gets right, with a block and without, and what it costs.

python benchmarks/lm_sums.py [PER_CELL] [BLOCK|none] [SEED]

Greedy `generate()`, in wordings that training did not have unless it says "A op B ="; the first
number that is written must be the answer to the last digit.
"""

import random
import re
import sys
import time
from typing import Any

from arithmix.lm.opening import open_model
from arithmix.lm.sums import draw_story, draw_sum, draw_tree

SMALL = [(a, b) for a in (1, 2, 3) for b in (1, 2, 3)]
LARGE = [(5, 5), (8, 8), (12, 12), (3, 12), (12, 3)]
BATCH = 64
FORMULA: dict[str, Any] = {"frame": ("", "{e} =")}


def sums(rng: random.Random, cell: int):
    """Each kind of sums: its name, the tokens an answer may need, and the sums."""
    drawn = range(cell)
    for op in "+-*/":
        plain: Any = {**FORMULA, "expression": "{a} " + op + " {b}"}
        yield (
            f"A {op} B =, 1 to 3 digits",
            14,
            [draw_sum(rng, op, d, True, **plain) for d in SMALL for _ in drawn],
        )
    for op in "+-*/":
        yield f"{op}, 1 to 3 digits", 20, [draw_sum(rng, op, d, True) for d in SMALL for _ in drawn]
    for op in "+-*/":
        yield (
            f"{op}, 3 to 12 digits",
            40,
            [draw_sum(rng, op, d, True) for d in LARGE for _ in drawn],
        )
    for op in "+-*/":
        yield (
            f"{op}, decimals",
            24,
            [draw_sum(rng, op, held_out=True, decimals=True) for _ in range(3 * cell)],
        )
    for op in "+-*/":
        yield (
            f"{op}, negative",
            24,
            [draw_sum(rng, op, held_out=True, negatives=True) for _ in range(3 * cell)],
        )
    for op in "+-*":
        yield (
            f"{op}, 100 digits",
            230,
            [
                draw_sum(rng, op, (100, 100), True, **FORMULA, expression="{a} " + op + " {b}")
                for _ in range(cell)
            ],
        )
    for operands in (2, 3, 4):
        draw = [
            draw_sum(rng, held_out=True) if operands == 2 else draw_tree(rng, operands, True)
            for _ in range(4 * cell)
        ]
        yield f"trees of {operands} operands", 24, draw
    yield "stories of one step", 20, [draw_story(rng, True) for _ in range(4 * cell)]


def wrong(model: Any, tokenizer: Any, batch: list, room: int) -> list[tuple[str, str, str]]:
    """The sums whose first written number is not the answer: prompt, answer, what was written."""
    # Where nothing leads to a number, a model may write what it likes.
    prompts = [one.prompt if one.lead.strip() else f"{one.prompt}\nAnswer:" for one in batch]
    given = tokenizer(prompts, return_tensors="pt", padding=True)
    made = model.generate(**given, do_sample=False, max_new_tokens=room)
    found = []
    for one, prompt, ids in zip(batch, prompts, made, strict=True):
        text = tokenizer.decode(ids[given.input_ids.shape[1] :], skip_special_tokens=True)
        number = re.search(r"-?\$?\d[\d,]*(\.\d+)?", text)
        written = number[0].rstrip(",").replace(",", "").replace("$", "") if number else ""
        if written.removesuffix(".00") != one.answer.replace(",", "").removesuffix(".00"):
            found.append((prompt, one.answer, text))
    return found


def main(cell: int = 10, block: str | None = None, seed: int = 0) -> None:
    model, tokenizer = open_model(None, block)
    tokenizer.padding_side = "left"
    rng = random.Random(seed)
    for name, room, drawn in sums(rng, cell):
        start = time.perf_counter()
        drawn.sort(key=lambda one: len(one.prompt))
        missed = []
        for first in range(0, len(drawn), BATCH):
            missed += wrong(model, tokenizer, drawn[first : first + BATCH], room)
        took = time.perf_counter() - start
        print(f"{name}: {len(drawn) - len(missed)} of {len(drawn)}, {took:.0f} s", flush=True)
        for prompt, answer, text in missed[:3]:
            print(f"    {prompt!r} -> {text!r}, not {answer}")


if __name__ == "__main__":
    given: list[Any] = [int(x) if x.isdigit() else x for x in sys.argv[1:]]
    main(*given)
