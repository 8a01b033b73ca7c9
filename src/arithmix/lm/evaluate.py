"""How well a language model foretells the numbers of texts, with a block and without."""

import hashlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from .answering import count_right
from .evaluation import Answers, Evaluation, Score, binned
from .loading import base as base_of
from .model import attach, detach
from .readable import readable
from .reader import Reader
from .scoring import Row, Scored, make_row, score
from .texts import Text
from .trace import Foretold, Trace
from .vocabulary import Vocabulary
from .words import count_words

EXAMPLES = 8
Tell = Callable[[str, int, int], None]
"""Is told what is being done, how many texts are done and how many there are."""


def evaluate(
    model: Any,
    tokenizer: Any,
    block: Reader | None,
    texts: Sequence[Text],
    *,
    answers: bool = False,
    tokens: int = 200,
    batch: int = 16,
    files: Sequence[tuple[str, str]] = (),
    name: str = "",
    tell: Tell = lambda what, done, texts: None,
) -> Evaluation:
    """Score the numbers of texts by the base alone and by the base with a block.

    A number counts if another stands before it; where a text has a solution, only there. The block
    stays attached to the model; one that was before is taken off.

    Args:
        model: A causal language model of transformers.
        tokenizer: Its tokenizer.
        block: A reader of this model's states; None for the base alone.
        texts: From `texts.read`.
        answers: Whether to write solutions, greedily, and compare their final numbers.
        tokens: The most tokens of such a solution.
        batch: Texts that are run at once.
        files: The texts' files with their SHA-256, to be kept with what was found.
        name: The block's, to be kept too.
        tell: Is told how far it is.

    Raises:
        ValueError: There are no texts, or the block does not fit the model.
    """
    if not texts:
        raise ValueError("an evaluation needs one text at least; got none")
    began = time.monotonic()
    vocabulary = Vocabulary(tokenizer)
    rows = [make_row(text, tokenizer, vocabulary, _limit(model)) for text in texts]
    base = base_of(detach(model))
    plain, right = _run(model, tokenizer, rows, texts, answers, tokens, batch, "base", tell)
    with_block: list[list[Scored]] = []
    right_with = -1
    traces: list[Trace] = []
    foretold: list[list[Foretold]] = [[] for _ in rows]
    if block is not None:
        attach(model, tokenizer, block)
        for i, row in enumerate(rows):
            ids = torch.tensor(row.ids)
            foretold[i] = [one for one in model.foretold(ids) if one.start >= row.begin]
            found = _part(model.trace(ids), row.begin)
            traces.append(readable(found, row.ids, vocabulary.text(row.ids), tokenizer))
            tell("programs", i + 1, len(rows))
        with_block, right_with = _run(
            model, tokenizer, rows, texts, answers, tokens, batch, "block", tell
        )
    fired = [one for those in foretold for one in those]
    asked = sum(text.answer is not None for text in texts)
    return Evaluation(
        model=(base.name, base.hash),
        block=(name, block_hash(block)) if block else None,
        files=tuple(files),
        texts=len(texts),
        base=_scores(rows, plain, foretold),
        with_block=_scores(rows, with_block, foretold) if with_block else {},
        fired=len(fired),
        fired_right=sum(one.right for one in fired),
        bins=binned([(one.probability, one.right) for one in fired]),
        answers=Answers(asked, len(texts) - asked, right, right_with) if answers else None,
        words=count_words(traces),
        examples=tuple(trace for trace in traces if _is_example(trace))[:EXAMPLES],
        seconds=time.monotonic() - began,
    )


def block_hash(block: Reader) -> str:
    """A hash over a block's parameters, the same before it is saved and after."""
    digest = hashlib.sha256()
    for name, weight in sorted(block.state_dict().items()):
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        digest.update(weight.detach().cpu().half().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _run(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Row],
    texts: Sequence[Text],
    answers: bool,
    tokens: int,
    batch: int,
    name: str,
    tell: Tell,
) -> tuple[list[list[Scored]], int]:
    scored = score(model, rows, batch, lambda done: tell(f"numbers, {name}", done, len(rows)))
    if not answers:
        return scored, -1
    return scored, count_right(
        model, tokenizer, texts, tokens, batch, lambda done, n: tell(f"answers, {name}", done, n)
    )


def _scores(
    rows: Sequence[Row], scored: Sequence[Sequence[Scored]], fired: Sequence[Sequence[Foretold]]
) -> dict[str, Score]:
    groups: dict[str, list[Scored]] = {"all": [], "after =": [], "fired": []}
    for row, those, programs in zip(rows, scored, fired, strict=True):
        for number, one in zip(row.numbers, those, strict=True):
            groups["all"].append(one)
            if number.after_equals:
                groups["after ="].append(one)
            if any(f.start < number.end and number.start < f.end for f in programs):
                groups["fired"].append(one)
    return {
        name: Score(len(those), _mean([one.nats for one in those]), sum(o.right for o in those))
        for name, those in groups.items()
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _part(trace: Trace, begin: int) -> Trace:
    return Trace(trace.text, tuple(number for number in trace if number.start >= begin))


def _is_example(trace: Trace) -> bool:
    return any(not number.program.is_copy for number in trace)


def _limit(model: Any) -> int:
    return getattr(model.config.get_text_config(), "max_position_embeddings", None) or 10**9
