"""Solutions that a language model writes by itself, and the final numbers in them."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import torch

from .numbers import find
from .texts import Text


def count_right(
    model: Any,
    tokenizer: Any,
    texts: Sequence[Text],
    tokens: int,
    batch: int,
    tell: Callable[[int, int], None],
) -> int:
    """Of how many texts with an answer the greedily written solution ends with that answer."""
    asked = sorted((text for text in texts if text.answer is not None), key=lambda t: len(t.prompt))
    right = 0
    for at in range(0, len(asked), batch):
        chosen = asked[at : at + batch]
        written = solve(model, tokenizer, [text.prompt for text in chosen], tokens)
        for text, solution in zip(chosen, written, strict=True):
            assert text.answer is not None
            right += is_same(final_number(solution), final_number(text.answer))
        tell(min(at + batch, len(asked)), len(asked))
    return right


@torch.no_grad()
def solve(model: Any, tokenizer: Any, prompts: Sequence[str], tokens: int) -> list[str]:
    """What a model writes after each prompt, without chance, until its end or so many tokens."""
    end = tokenizer.eos_token_id
    given = [tokenizer(prompt).input_ids for prompt in prompts]
    given = [ids[:-1] if ids[-1:] == [end] else ids for ids in given]
    length = max(map(len, given))
    fill = next((i for i in (tokenizer.pad_token_id, end) if i is not None), 0)
    ids = torch.full((len(given), length), fill)
    mask = torch.zeros_like(ids)
    for row, those in enumerate(given):
        ids[row, length - len(those) :] = torch.tensor(those)
        mask[row, length - len(those) :] = 1
    made = model.generate(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        **greedy(tokens, fill),
    )
    return tokenizer.batch_decode(made[:, length:], skip_special_tokens=True)


def greedy(tokens: int, fill: int) -> dict[str, Any]:
    """What `generate` is told so that it takes the likeliest token each time."""
    # What only sampling uses is unset, or transformers would warn that it is not used.
    unused = dict.fromkeys(("temperature", "top_p", "top_k"))
    return {"do_sample": False, "max_new_tokens": tokens, "pad_token_id": fill, **unused}


def final_number(solution: str) -> int | Decimal | None:
    """The number after the last ####, or else the last number of all.

    >>> final_number("3 + 4 = 7 nuts.#### 7 of 9"), final_number("3 + 4 = 7."), final_number("no")
    (7, 7, None)
    """
    _, mark, tail = solution.rpartition("####")
    after = [number.value for number in find(tail) if number.role == "value"]
    if mark and after:
        return after[0]
    every = [number.value for number in find(solution) if number.role == "value"]
    return every[-1] if every else None


def is_same(one: int | Decimal | None, other: int | Decimal | None) -> bool:
    """Whether two numbers are equal, up to what is cut off from one that does not end."""
    if one is None or other is None:
        return False
    a, b = Decimal(one), Decimal(other)
    return abs(a - b) <= Decimal("1e-6") * max(abs(b), Decimal(1))
