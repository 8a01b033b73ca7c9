"""The model and the block that a command is asked for, with what is taken if it is not."""

from typing import Any

from .block import SHIPPED
from .loading import load
from .model import Computing, attach
from .reader import Reader

NONE = "none"
"""The word for no block at all."""


def open_model(model: str | None = None, block: str | None = None) -> tuple[Any, Any]:
    """A language model that computes, and its tokenizer.

    Args:
        model: A model's folder or name; the fetched one if left out.
        block: A block's folder; the shipped one if left out, and no block for "none".

    Raises:
        ValueError: One of them is not there, or they don't fit, in one sentence.
    """
    reader = _read(block)  # first, since a model takes seconds
    base, tokenizer = load(model)
    return (attach(base, tokenizer, reader) if reader else base), tokenizer


def block_of(model: Any) -> Reader | None:
    """The block that is attached to a model, if one is."""
    return model.author.block if isinstance(model, Computing) else None


def _read(block: str | None) -> Reader | None:
    if block == NONE:
        return None
    if block is None and not (SHIPPED / "block.json").is_file():
        raise ValueError(
            "no block came with this package; "
            "name a folder with one by --block, or --block none for the plain model"
        )
    return Reader.from_pretrained(SHIPPED if block is None else block)
