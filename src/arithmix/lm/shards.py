"""Samples kept on disk, a file for some texts, so that a training that was stopped can go on.

Plain arrays in safetensors: no pickle, and what is half written is never taken for whole.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..files import whole
from .programs import Found
from .samples import Sample, Target

TEXTS = 500
"""Texts in a file."""
KINDS = ("copies", "ones", "twos", "threes")


def kept(
    folder: Path,
    texts: Sequence[str],
    settings: dict[str, Any],
    make: Callable[[Sequence[str]], Iterator[Sample]],
    say: Callable[[int, int], None] = lambda done, of: None,
) -> list[Sample]:
    """The samples of texts: those on disk, and the others made and put there.

    Args:
        folder: Where they are kept.
        texts: The texts.
        settings: What else they depend on; samples made under others are made anew.
        make: Makes the samples of some texts.
        say: Is told how many texts are done, of how many.
    """
    folder.mkdir(parents=True, exist_ok=True)
    samples: list[Sample] = []
    # Texts of like length are together, since the base reads them padded to the longest.
    ordered = sorted(texts, key=len)
    for first in range(0, len(ordered), TEXTS):
        some = ordered[first : first + TEXTS]
        facts = json.dumps([settings, some], sort_keys=True).encode()
        path = folder / f"{hashlib.sha256(facts).hexdigest()[:24]}.safetensors"
        if path.is_file():
            samples += read(path)
        else:
            made = list(make(some))
            write(path, made)
            samples += made
        say(min(first + TEXTS, len(ordered)), len(ordered))
    return samples


def write(path: Path, samples: Sequence[Sample]) -> None:
    """Write samples to a file, whole or not at all."""
    from safetensors.torch import save_file

    targets = [(i, target) for i, sample in enumerate(samples) for target in sample.targets]
    tensors = {
        "ids": torch.tensor([token for sample in samples for token in sample.ids]),
        "lengths": torch.tensor([len(sample.ids) for sample in samples]),
        "digit": torch.cat([sample.digit for sample in samples]),
        "states": torch.cat([sample.states for sample in samples]),
        "target": torch.tensor(
            [(i, t.place, *t.tokens, t.sign, len(t.last), *t.styles) for i, t in targets],
            dtype=torch.long,
        ).view(-1, 10),
        "lm": torch.tensor([target.lm for _, target in targets], dtype=torch.float64),
        "last": torch.tensor([token for _, t in targets for token in t.last], dtype=torch.long),
    }
    for kind in KINDS:
        found = [getattr(target.found, kind) for _, target in targets]
        rows = [part[:, None] if kind == "copies" else part for part in found]
        tensors[kind] = torch.from_numpy(np.concatenate(rows)) if rows else torch.zeros(0, 1).long()
        tensors[f"{kind}_count"] = torch.tensor([len(part) for part in found], dtype=torch.long)
    with whole(path) as part:
        save_file(tensors, part)


def read(path: Path) -> list[Sample]:
    """What `write` wrote."""
    from safetensors.torch import load_file

    tensors = load_file(path)
    lengths = tensors["lengths"].tolist()
    ids, digit, states = (tensors[key].split(lengths) for key in ("ids", "digit", "states"))
    rows = tensors["target"].tolist()
    last = tensors["last"].split([row[5] for row in rows]) if rows else ()
    found = _found(tensors)
    lm = tensors["lm"].tolist()
    targets: list[list[Target]] = [[] for _ in lengths]
    for row, tokens, programs, log in zip(rows, last, found, lm, strict=True):
        targets[row[0]].append(
            Target(
                place=row[1],
                lm=log,
                last=tuple(tokens.tolist()),
                found=programs,
                styles=tuple(map(bool, row[6:])),
                sign=bool(row[4]),
                tokens=(row[2], row[3]),
            )
        )
    return [
        Sample(tuple(i.tolist()), d, s, t)
        for i, d, s, t in zip(ids, digit, states, targets, strict=True)
    ]


def _found(tensors: dict[str, Tensor]) -> list[Found]:
    parts = []
    for kind in KINDS:
        counts = tensors[f"{kind}_count"].tolist()
        flat = tensors[kind].numpy()
        pieces = np.split(flat, np.cumsum(counts)[:-1]) if counts else []
        parts.append([piece[:, 0] for piece in pieces] if kind == "copies" else pieces)
    return [Found(*group) for group in zip(*parts, strict=True)]
