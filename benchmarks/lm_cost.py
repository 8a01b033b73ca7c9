"""What a block costs: the time a token of `generate()` takes with it and without, in one run.

python benchmarks/lm_cost.py [TOKENS]
"""

import sys
import time
from typing import Any

from arithmix.lm.model import attach, detach
from arithmix.lm.opening import open_model

PROMPTS = {
    "prose": "Write a short story about a dog.\n",
    "sums": "12 + 7 = 19\n3 * 14 = 42\n100 - 58 = 42\n9 * 9 =",
}


def seconds(model: Any, tokenizer: Any, prompt: str, batch: int, tokens: int) -> float:
    """Seconds a token of a batch takes, the best of three."""
    given = tokenizer([prompt] * batch, return_tensors="pt", padding=True)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        model.generate(**given, do_sample=False, max_new_tokens=tokens, min_new_tokens=tokens)
        best = min(best, (time.perf_counter() - start) / tokens)
    return best


def main(tokens: int = 40) -> None:
    model, tokenizer = open_model()
    block = model.author.block
    for name, prompt in PROMPTS.items():
        for batch in (1, 32):
            with_block = seconds(attach(model, tokenizer, block), tokenizer, prompt, batch, tokens)
            base = seconds(detach(model), tokenizer, prompt, batch, tokens)
            print(
                f"{name}, batch {batch}: {base * 1e3:.1f} ms a token, with a block "
                f"{with_block * 1e3:.1f} ms, {with_block / base:.2f} times",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
