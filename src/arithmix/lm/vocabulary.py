"""A tokenizer's tokens as text, and those of them that numbers are written with.

Works for tokenizers that write digit by digit and for those that write digits in groups.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor

ANCHORS = ("=", "\n", "(", "a")
"""Texts that tokenizers keep apart from a number after them."""
BROKEN = "\ufffd"
"""What decodes from a part of a letter."""
LETTER = 4
"""Bytes of the longest letter."""
PIECE = re.compile(r" ?-?[0-9][0-9.,]*|[ ]?-|[ .,]", re.ASCII)


class Vocabulary:
    """The tokens of a tokenizer.

    Args:
        tokenizer: One of transformers' tokenizers.

    Raises:
        ValueError: It has no tokens for digits.
    """

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        # After another token, since some tokenizers drop the space before the first.
        head = (tokenizer.encode("=", add_special_tokens=False) or [0])[-1]
        size = len(tokenizer)
        alone = self._decode([[head]])[0]
        texts = self._decode([[head, i] for i in range(size)])
        self.texts = [text.removeprefix(alone) for text in texts]
        special = set(tokenizer.all_special_ids)
        self.written = [
            i
            for i, text in enumerate(self.texts)
            if i not in special and (PIECE.fullmatch(text) or text[:1] in set("0123456789"))
        ]
        """Tokens that can be part of a number, or go on with one."""
        found = [self.texts[i] for i in self.written]
        self.digit = [text[:1].isdigit() for text in found]
        self.starts = {
            "spaced": [i for i, text in enumerate(found) if text[:1] == " "],
            "tight": [i for i, text in enumerate(found) if text[:1].isdigit() or text[:1] == "-"],
        }
        """How a number begins, with a space and without: tokens by their place in `written`."""
        self.index = {token: i for i, token in enumerate(self.written)}
        self.begins_digit = torch.tensor([text[:1].isdigit() for text in self.texts])
        self.ends_digit = torch.tensor([text[-1:].isdigit() for text in self.texts])
        if missing := [d for d in "0123456789" if self.spell("=", f" {d}") is None]:
            raise ValueError(f"the tokenizer can't write the digits {' '.join(missing)}")

    def _decode(self, ids: list[list[int]]) -> list[str]:
        return self.tokenizer.batch_decode(
            ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )

    def goes_on(self, ids: Int[Tensor, "batch seq"]) -> Bool[Tensor, "batch seq"]:
        """Which tokens go on with a number: they begin with a digit after one that ends in one."""
        known = (ids >= 0) & (ids < len(self.texts))
        safe = torch.where(known, ids, 0)
        first = self.begins_digit.to(ids.device)[safe] & known
        last = self.ends_digit.to(ids.device)[safe] & known
        return first & torch.nn.functional.pad(last[:, :-1], (1, 0))

    def unfinished(self, ids: Int[Tensor, "batch seq"]) -> int:
        """How many of the last tokens may be part of a number, in the text that has most of them.

        Never all of them, since some token stands before a number.
        """
        part = torch.isin(ids, torch.tensor(self.written, device=ids.device))
        return min(int(part.flip(1).cumprod(1).sum(1).max()), ids.shape[1] - 1)

    def text(self, ids: Sequence[int]) -> list[str]:
        """The text of each token; padding, which is below 0, has none.

        Where a letter takes several tokens, the last of them has it and the others have none.
        """
        pieces = [self.texts[i] if 0 <= i < len(self.texts) else "" for i in ids]
        if BROKEN not in "".join(pieces):
            return pieces
        run: list[int] = []
        for place, token in enumerate(ids):
            if BROKEN not in pieces[place]:
                run = []
                continue
            run.append(token)
            text = self._decode([run])[0]
            if len(run) < LETTER and text.endswith(BROKEN):
                pieces[place] = ""
            else:
                pieces[place], run = text, []
        return pieces

    def spell(self, before: str, form: str) -> tuple[int, ...] | None:
        """The tokens that write a number after a text that ends as `before` does.

        Args:
            before: Its last character is enough.
            form: The number, with a space in front if there is to be one.

        Returns:
            The tokens, or None where the tokenizer would join the number with what stands before.
        """
        return self._spell(before[-1:] if before[-1:] in ANCHORS else "", form)

    @lru_cache(maxsize=100_000)  # noqa: B019 - a vocabulary lives as long as its model
    def _spell(self, last: str, form: str) -> tuple[int, ...] | None:
        for anchor in (last, *ANCHORS) if last else ANCHORS:
            head, whole = self.encode(anchor), self.encode(anchor + form)
            ids = whole[len(head) :]
            fits = whole[: len(head)] == head and all(i in self.index for i in ids)
            if fits and "".join(self.texts[i] for i in ids) == form:
                return tuple(ids)
        return None

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without any that only mark its start or end."""
        return self.tokenizer.encode(text, add_special_tokens=False)
