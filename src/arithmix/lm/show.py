"""A trace to look at: a text with its computed numbers marked, and how each was computed."""

from collections.abc import Iterator
from html import escape

from rich.text import Text

from .trace import Computed, Formula, Trace

COPIED, COMPUTED = "dim underline", "bold underline cyan"
AROUND = 16
"""Characters that are shown on each side of an operand."""


def as_rich(trace: Trace, start: int = 0) -> Text:
    """A text, from a character on, for a terminal: computed numbers stand out, copies are dim."""
    text = Text(trace.text[start:])
    for number in _after(trace, start):
        style = COPIED if number.program.is_copy else COMPUTED
        text.stylize(style, number.start - start, number.end - start)
    return text


def as_html(trace: Trace) -> str:
    """A text as a fragment of a page: hovering over a marked number says how it was computed."""
    pieces, at = [], 0
    for number in trace:
        kind = "copied" if number.program.is_copy else "computed"
        pieces.append(escape(trace.text[at : number.start]))
        pieces.append(
            f'<mark class="{kind}" title="{escape(formula(number))}">'
            f"{escape(trace.text[number.start : number.end])}</mark>"
        )
        at = number.end
    pieces.append(escape(trace.text[at:]))
    return f'<p class="traced" style="white-space:pre-wrap">{"".join(pieces)}</p>'


def explain(trace: Trace, start: int = 0) -> list[str]:
    """Lines for each number from a character on: its formula, and where its operands stand."""
    lines = []
    for number in _after(trace, start):
        lines.append(formula(number))
        lines += [f"    {line}" for line in places(number.program, trace.text)]
    return lines


def formula(number: Computed) -> str:
    """How a number was computed, how sure that was, and what would have come next.

    >>> product = Formula("6 * 7", "42", (), 0.9)
    >>> formula(Computed("42", 0, 2, product, 0.999, Formula("6 + 7", "13", (), 0.0005)))
    '42 = 6 * 7  (99.9%; next 6 + 7, 0.05%)'
    """
    program = number.program
    how = f"{program.text}, a copy" if program.is_copy else program.text
    other = number.runner_up
    rest = f"; next {other.text}, {percent(other.probability)}" if other else ""
    return f"{number.text} = {how}  ({percent(number.probability)}{rest})"


def places(program: Formula, text: str) -> list[str]:
    """Where each operand stands: its first character, counted from 0, and what is around it."""
    said = []
    for operand in program.operands:
        if operand.start < 0:
            said.append(f"{operand.text} is a constant")
            continue
        around = text[max(0, operand.start - AROUND) : operand.end + AROUND]
        said.append(f"{operand.text} at {operand.start}: {' '.join(around.split())}")
    return list(dict.fromkeys(said))


def percent(share: float) -> str:
    """A probability as one reads it.

    >>> percent(0.5), percent(0.99999), percent(0.000001), percent(1)
    ('50%', '>99.9%', '<0.01%', '100%')
    """
    if 0.9995 <= share < 1:
        return ">99.9%"
    return "<0.01%" if 0 < share < 1e-4 else f"{100 * share:.3g}%"


def _after(trace: Trace, start: int) -> Iterator[Computed]:
    return (number for number in trace if number.start >= start)
