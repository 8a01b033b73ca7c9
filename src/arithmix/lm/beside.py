"""An evaluation as tables, the base beside the block. No torch."""

from ..measure.stats import wilson
from ..table import Table
from .evaluation import Evaluation
from .show import percent

GROUPS = {"all": "all numbers", "after =": "after an equals sign", "fired": "where programs fired"}


def beside(found: Evaluation) -> Table:
    """Nats and how often each number is right, and final answers, by base and block."""
    rows = []
    for group, name in GROUPS.items():
        base, block = found.base[group], found.with_block.get(group)
        if group == "fired" and not block:
            continue
        n = base.numbers
        rows.append(
            [
                name,
                f"{n}",
                f"{base.nats:.3f}" if n else "-",
                f"{block.nats:.3f}" if block and n else "-",
                rate(base.right, n),
                rate(block.right, n) if block else "-",
            ]
        )
    if asked := found.answers:
        with_block = rate(asked.block, asked.texts) if asked.block >= 0 else "-"
        rows.append(
            ["final answers", f"{asked.texts}", "-", "-", rate(asked.base, asked.texts), with_block]
        )
    texts = "text" if found.texts == 1 else "texts"
    skipped = f"; {asked.skipped} texts have no answer" if asked and asked.skipped else ""
    return Table(
        f"{found.model[0] or 'The model'} on {found.texts} {texts}",
        ["", "n", "base nats", "block nats", "base right %", "block right %"],
        rows,
        "nats: minus the log-probability of a number, on average; in brackets Wilson's 95% "
        f"interval{skipped}",
    )


def fired(found: Evaluation) -> str:
    """How often programs fired, how often they were right, and how well they knew it."""
    if not found.fired:
        return "Programs fired at no number."
    return (
        f"Programs fired at {found.fired} numbers and were right at {found.fired_right}: "
        f"{rate(found.fired_right, found.fired)} percent. Their expected calibration error is "
        f"{percent(found.calibration_error)}."
    )


def calibration(found: Evaluation) -> Table:
    """The bins in which programs fired: the probability that they gave, and the share right."""
    rows = [
        [
            f"{100 * one.low:.0f} to {100 * one.high:.0f}",
            f"{one.count}",
            f"{100 * one.probability:.1f}",
            rate(one.right, one.count),
        ]
        for one in found.bins
        if one.count
    ]
    header = ["probability %", "n", "mean probability %", "right %"]
    return Table("Where programs fired", header, rows)


def rate(right: int, n: int) -> str:
    """A share in percent with its interval, as `88.9 [84, 92]`."""
    if not n:
        return "-"
    low, high = wilson(right, n)
    share = f"{100 * right / n:.1f}" if 0 < right < n else f"{100 * right / n:.0f}"
    return f"{share} [{100 * low:.0f}, {100 * high:.0f}]"
