"""How sure a block must be before it touches the logits: a threshold from held-out texts."""

from collections.abc import Sequence

import torch

from .author import Author
from .notes import Notes
from .reading import Reading
from .samples import Sample
from .trace import foretold

PRECISION = 0.96
"""Of the numbers at which a block fires, so many are to be right."""
LOWEST = 0.1


@torch.no_grad()
def fires(author: Author, samples: Sequence[Sample]) -> list[tuple[float, bool]]:
    """The probability of the likeliest value at each target, and whether it stands there."""
    block = author.block
    device = next(block.parameters()).device
    found = []
    for sample in samples:
        if not sample.targets:
            continue
        read = block.read(sample.states[None].to(device), sample.digit[None].to(device))
        ids = torch.tensor([sample.ids], device=device)
        notes = Notes(read, read[..., :0], ids)
        reading = Reading(author.vocabulary.text(sample.ids))
        for target in sample.targets:
            seen = author.outlook(notes, 0, reading, target.place)
            span = reading.number_after(target.place)
            number = foretold(reading.text, seen, *span) if seen and span else None
            if number:
                found.append((number.probability, number.right))
    return found


def threshold(found: Sequence[tuple[float, bool]]) -> float:
    """The lowest probability from which on `PRECISION` of the values are right.

    >>> threshold([(0.3, False), (0.6, True), (0.9, True)])
    0.6
    """
    best, right = 1.0, 0
    for count, (probability, is_right) in enumerate(sorted(found, reverse=True), 1):
        right += is_right
        if right / count >= PRECISION:
            best = probability
    return max(LOWEST, min(best, 1.0))
