"""What an evaluation found, as data: written as JSON, and read again without torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from ..files import whole
from .reading import Operand
from .trace import Computed, Formula, Trace
from .words import Near

BINS = 10


@dataclass(frozen=True)
class Score:
    """How well numbers were foretold.

    Args:
        numbers: How many there were.
        nats: The mean of minus the log-probability of a number, all its tokens together.
        right: Of how many every token was the likeliest.
    """

    numbers: int
    nats: float
    right: int


@dataclass(frozen=True)
class Bin:
    """Numbers at which programs fired with a probability from `low` on and below `high`.

    Args:
        low: The bin's lower end.
        high: Its upper end; 1 belongs to the last bin.
        count: How many numbers.
        right: Of how many the value was the one that stands there.
        probability: The mean of what was foretold.
    """

    low: float
    high: float
    count: int
    right: int
    probability: float


@dataclass(frozen=True)
class Answers:
    """Final answers: of how many texts, and how many are right; -1 where there is no block."""

    texts: int
    skipped: int
    base: int
    block: int


@dataclass(frozen=True)
class Evaluation:
    """A language model on texts, the base beside the base with a block.

    Args:
        model: The base's name and hash.
        block: The block's name and hash; None for no block.
        files: The names of the texts' files, with their SHA-256.
        texts: How many texts.
        base: Scores of the base for "all" numbers, those "after =", and where programs "fired".
        with_block: The same with the block; empty without one.
        fired: At how many numbers programs outweighed the base.
        fired_right: How often their likeliest value was what stands there.
        bins: The numbers at which they fired, by probability.
        answers: Final answers, if they were asked for.
        words: The words near computed numbers, by operation.
        examples: Some texts with the numbers that were computed.
        seconds: How long it took.
    """

    model: tuple[str, str]
    block: tuple[str, str] | None
    files: tuple[tuple[str, str], ...]
    texts: int
    base: Mapping[str, Score]
    with_block: Mapping[str, Score]
    fired: int
    fired_right: int
    bins: tuple[Bin, ...]
    answers: Answers | None
    words: Mapping[str, Near]
    examples: tuple[Trace, ...]
    seconds: float

    @property
    def calibration_error(self) -> float:
        """The expected calibration error: how far share and probability are apart, on average."""
        apart = sum(abs(one.right - one.count * one.probability) for one in self.bins)
        return apart / max(self.fired, 1)

    def save(self, path: str | Path) -> None:
        """Write it as JSON."""
        found = {"kind": "arithmix lm eval", **asdict(self)}
        found["calibration_error"] = self.calibration_error
        with whole(Path(path)) as part:
            text = json.dumps(found, indent=1, default=str, ensure_ascii=False)
            part.write_text(text + "\n", encoding="utf-8")

    @staticmethod
    def load(path: str | Path) -> "Evaluation":
        """What `save` wrote.

        Raises:
            ValueError: The file can't be read or is something else, in one sentence.
        """
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            return _evaluation(found)
        except OSError as error:
            raise ValueError(f"{path} can't be read: {error.strerror}") from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            said = f"{path} is not what `arithmix lm eval --json` writes"
            raise ValueError(said) from error


def binned(fired: list[tuple[float, bool]]) -> tuple[Bin, ...]:
    """Ten bins of probabilities, and whether each was right."""
    bins = []
    for i in range(BINS):
        those = [one for one in fired if min(int(one[0] * BINS), BINS - 1) == i]
        mean = sum(p for p, _ in those) / max(len(those), 1)
        right = sum(hit for _, hit in those)
        bins.append(Bin(i / BINS, (i + 1) / BINS, len(those), right, mean))
    return tuple(bins)


def _evaluation(found: dict[str, Any]) -> Evaluation:
    del found["kind"], found["calibration_error"]
    for side in ("base", "with_block"):
        found[side] = {name: Score(**score) for name, score in found[side].items()}
    found["model"] = tuple(found["model"])
    found["block"] = tuple(found["block"]) if found["block"] else None
    found["files"] = tuple((name, digest) for name, digest in found["files"])
    found["bins"] = tuple(Bin(**one) for one in found["bins"])
    found["answers"] = Answers(**found["answers"]) if found["answers"] else None
    found["words"] = {sign: Near(**near) for sign, near in found["words"].items()}
    found["examples"] = tuple(_trace(one) for one in found["examples"])
    return Evaluation(**found)


def _trace(found: dict[str, Any]) -> Trace:
    numbers = []
    for one in found["numbers"]:
        other = one["runner_up"]
        one["program"] = _formula(one["program"])
        one["runner_up"] = _formula(other) if other else None
        numbers.append(Computed(**one))
    return Trace(found["text"], tuple(numbers))


def _formula(found: dict[str, Any]) -> Formula:
    operands = tuple(
        Operand(one["text"], Decimal(one["value"]), one["start"], one["end"])
        for one in found["operands"]
    )
    return Formula(found["text"], found["value"], operands, found["probability"])
