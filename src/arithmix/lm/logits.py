"""What is written next where a number may begin, or has begun: base and programs, mixed.

A program writes its value's tokens one by one and then says "no further digit". While a number is
half written, base and programs are weighed by how well each has foretold what stands already, so
that the product over a number's tokens is the mixture of `mixture.py`.
"""

import math
from collections import defaultdict
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from .candidates import Program
from .exact import Exact
from .reading import is_long
from .vocabulary import Vocabulary
from .writing import forms


@dataclass(frozen=True)
class Outlook:
    """What may be written at a place: the base's weight, and that of each text of a number."""

    base: float
    texts: dict[str, float]
    values: dict[Exact, float]
    programs: list[Program]


def outlook(programs: list[Program], styles: list[float]) -> Outlook | None:
    """The programs of a place with their values written, each in four styles; None for none.

    Args:
        programs: From `think`.
        styles: The probability of each style, in the order of `forms`.
    """
    values: dict[Exact, float] = defaultdict(float)
    texts: dict[str, float] = defaultdict(float)
    kept = []
    written: dict[Exact, list[str | None]] = {}
    for program in programs:
        value = program.expression.value
        if is_long(value):
            continue
        if value not in written:
            written[value] = forms(value)
        plain = written[value][0]
        if plain is None:
            continue
        kept.append(program)
        values[value] += program.probability
        for text, style in zip(written[value], styles, strict=True):
            assert text is not None
            texts[text] += program.probability * style
    if not kept:
        return None
    kept.sort(key=lambda program: -program.probability)
    return Outlook(max(0.0, 1 - sum(values.values())), dict(texts), dict(values), kept)


def spelled(
    seen: Outlook, way: str, before: str, vocabulary: Vocabulary
) -> tuple[float, dict[tuple[int, ...], float]]:
    """The tokens of each text with its weight, and the base's weight with what can't be spelled."""
    base, found = seen.base, {}
    for text, mass in seen.texts.items():
        tokens = vocabulary.spell(before, " " + text if way == "spaced" else text)
        if tokens is None:
            base += mass
        else:
            found[tokens] = found.get(tokens, 0.0) + mass
    return base, found


def begin(
    seen: Outlook,
    logits: Float[Tensor, " vocab"],
    ways: tuple[str, ...],
    before: str,
    vocabulary: Vocabulary,
) -> Float[Tensor, " vocab"]:
    """Logits after a token where a number may begin in `ways`, of "spaced" and "tight".

    How likely a number is, and whether a space comes first, is the base's to say; which number it
    is, the programs'. Tokens that begin no number keep their logits.
    """
    level, base = _probabilities(logits, vocabulary)
    mixed = list(base)
    for way in ways:
        starts = vocabulary.starts[way]
        mass = sum(base[i] for i in starts)
        weight, found = spelled(seen, way, before, vocabulary)
        for i in starts:
            mixed[i] = weight * base[i]
        for tokens, share in found.items():
            mixed[vocabulary.index[tokens[0]]] += mass * share
    return _write(logits.clone(), level, mixed, vocabulary)


def go_on(
    seen: Outlook,
    written: tuple[int, ...],
    way: str,
    before: str,
    logs: Float[Tensor, "tokens written"],
    logits: Float[Tensor, " vocab"],
    vocabulary: Vocabulary,
) -> Float[Tensor, " vocab"]:
    """Logits inside a number that stands there as far as `written`.

    Args:
        seen: The outlook where it began.
        written: Its tokens so far, at least one.
        way: How it began.
        before: The text before it, or its end.
        logs: The base's log-probabilities before each of them; nothing is done where they are NaN.
        logits: The base's logits after the last.
        vocabulary: The tokenizer's tokens.
    """
    index = [vocabulary.index.get(token, -1) for token in written]
    if min(index) < 0:
        return logits
    weight, found = spelled(seen, way, before, vocabulary)
    said = logs[torch.arange(len(index)), index].double().sum().item()
    if math.isnan(said):
        return logits
    begun = logs[0].double().exp().tolist()
    weight *= math.exp(said) / max(sum(begun[i] for i in vocabulary.starts[way]), 1e-30)

    going: dict[int, float] = defaultdict(float)
    done = 0.0
    for tokens, mass in found.items():
        if tokens == written:
            done += mass
        elif tokens[: len(written)] == written:
            going[vocabulary.index[tokens[len(written)]]] += mass
        elif tokens == written[:-1] and vocabulary.texts[written[-1]] in ".,":
            # It said "no digit", and a point came, which may be the end of a sentence.
            foretold = logs[-1].double().exp().tolist()
            done += mass * foretold[index[-1]] / _no_digit(foretold, vocabulary)
    total = weight + done + sum(going.values())
    if total == weight:
        return logits
    level, base = _probabilities(logits, vocabulary)
    others = (weight + done / _no_digit(base, vocabulary)) / total
    mixed = [
        p * (weight / total if digit else others) + going[i] / total
        for i, (p, digit) in enumerate(zip(base, vocabulary.digit, strict=True))
    ]
    moved = logits + torch.tensor(others).clamp_min(1e-30).log().to(logits)
    return _write(moved, level, mixed, vocabulary)


def _no_digit(base: list[float], vocabulary: Vocabulary) -> float:
    digits = sum(p for p, digit in zip(base, vocabulary.digit, strict=True) if digit)
    return max(1 - digits, 1e-9)


def _probabilities(logits: Tensor, vocabulary: Vocabulary) -> tuple[float, list[float]]:
    """The logarithm of the sum of all tokens, and the probabilities of those numbers may have."""
    level = logits.double().logsumexp(-1)
    return level.item(), (logits[vocabulary.written].double() - level).exp().tolist()


def _write(logits: Tensor, level: float, mixed: list[float], vocabulary: Vocabulary) -> Tensor:
    chosen = torch.tensor(mixed, dtype=torch.float64)
    logits[vocabulary.written] = (chosen.clamp_min(1e-30).log() + level).to(logits)
    return logits
