"""From texts to a block on disk; after an interruption the same call goes on."""

import copy
import dataclasses
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from .author import Author
from .block import Config
from .calibrate import LOWEST, fires, threshold
from .loading import base
from .reader import Reader
from .samples import collect
from .shards import kept
from .train import Epoch, fit
from .vocabulary import Vocabulary

WORK = "work"
"""The folder inside a block's, for what is needed to go on; it goes when the block is there."""
JUDGED = 400
"""Held-out texts by which the threshold is set."""


def build(
    texts: Sequence[str],
    model: Any,
    tokenizer: Any,
    out: Path,
    *,
    epochs: int = 8,
    seed: int = 0,
    share: float = 0.05,
    layers: Sequence[int] | None = None,
    config: Config | None = None,
    reading: Callable[[int, int], None] = lambda done, of: None,
    trained: Callable[[int, int], None] = lambda done, of: None,
    say: Callable[[Epoch], None] = lambda epoch: None,
) -> Reader:
    """Train a block on plain texts and write it into a folder.

    Args:
        texts: Plain texts; those of `corpus`, or one's own.
        model: A causal language model of transformers, on the device to train on. Its weights
            stay as they are; on a CPU its states are computed in bfloat16.
        tokenizer: Its tokenizer.
        out: The folder for the block.
        epochs: How often each text is seen, at most.
        seed: Of the first parameters, of the order of texts, and of which are held out.
        share: How many of the texts are held out, to stop by and to set the threshold with.
        layers: Which states are read; those at a seventh, two fifths and two thirds of the depth
            if left out.
        config: Everything else; width, layers and base are set here.
        reading: Is told how many texts the base has read, of how many.
        trained: Is told how many batches of an epoch are done, of how many.
        say: Is told of each epoch.

    Raises:
        ValueError: No text has a number after another, or the folder has another training.
    """
    depth = model.config.get_text_config().num_hidden_layers
    usual = {max(1, round(depth * share)) for share in (2 / 15, 2 / 5, 2 / 3)}
    layers = tuple(layers or sorted(usual))
    width = model.config.get_text_config().hidden_size
    config = dataclasses.replace(
        config or Config(width, layers), width=width, layers=layers, base=tuple(base(model))
    )
    vocabulary = Vocabulary(tokenizer)
    work = out / WORK
    _check_same(work, [list(config.base), dataclasses.asdict(config), epochs, seed, share], texts)
    shuffled = random.Random(seed).sample(sorted(texts), len(texts))
    count = max(1, round(share * len(texts)))
    settings = {"base": config.base, "layers": layers, "memory": config.memory}
    settings |= {"constants": config.constants}
    fast = copy.deepcopy(model).bfloat16()
    samples = [
        kept(
            work / "states",
            part,
            settings,
            lambda some: collect(some, fast, vocabulary, layers, config.memory, config.constants),
            reading,
        )
        for part in (shuffled[count:], shuffled[:count])
    ]
    if not any(sample.targets for sample in samples[0]):
        raise ValueError(
            f"a block learns from numbers after numbers; got {len(texts)} texts without"
        )
    reader = Reader(config, torch.Generator().manual_seed(seed)).to(model.device)
    keep = work / "training.safetensors"
    fit(reader, *samples, epochs=epochs, seed=seed, keep=keep, trained=trained, say=say)
    reader.config = dataclasses.replace(config, threshold=LOWEST)
    some = samples[1][:: -(-len(samples[1]) // JUDGED)]
    found = fires(Author(reader, vocabulary), some)
    reader.config = dataclasses.replace(config, threshold=threshold(found))
    reader.save_pretrained(out)
    shutil.rmtree(work)
    return reader


def _check_same(work: Path, settings: list[Any], texts: Sequence[str]) -> None:
    """Refuse to go on with a training of other texts or other settings."""
    digest = hashlib.sha256(json.dumps([settings, sorted(texts)]).encode()).hexdigest()
    mark = work / "settings"
    work.mkdir(parents=True, exist_ok=True)
    if mark.is_file() and mark.read_text() != digest:
        raise ValueError(
            f"{work} has an unfinished training of other texts or settings; "
            "remove it or choose another folder"
        )
    mark.write_text(digest)
