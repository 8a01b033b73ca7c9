r"""The mathematics of docstrings as LaTeX.

Docstrings are read in a terminal, so they write `w_ji`, `r_lin` and `clamp(x, 0, 1)` where LaTeX
needs `w_{ji}`, `r_{\text{lin}}` and `\text{clamp}(x, 0, 1)`. In an indented block four spaces or
more part what stands side by side; in prose a formula is known by its commands and indices.
"""

import re
from itertools import groupby

FUNCTIONS = {"clamp", "ln", "loss", "max", "mean", "min", "softmax"}
TAKES_WHAT_FOLLOWS = {r"\hat", r"\sqrt"}
TOKEN = re.compile(
    r"""(?P<option>\w+="\w+")
    |(?P<script>[_^](?:\{[^{}]*\}|\\[A-Za-z]+|-?\d+|[A-Za-z]+))
    |(?P<command>\\[A-Za-z]+)
    |(?P<word>[A-Za-z]{2,})
    |(?P<numbered>[A-Za-z]\d)
    |(?P<space>\ +)
    |(?P<other>.)""",
    re.VERBOSE,
)


def latex(text: str) -> str:
    r"""One formula as LaTeX.

    >>> print(latex(r"y_j = \sum_i clamp(w_ji, -1, 1) x_i"))
    y_{j} = \sum_{i} \text{clamp}(w_{ji}, -1, 1)\,x_{i}
    """
    # Of two subscripts the second is that of the exponent.
    text = re.sub(r"(_\w+?)\^(\w)_(\w+)", r"\1^{\2_\3}", text)
    done = "".join(_translated(match, text) for match in TOKEN.finditer(text))
    # Words bring their own spaces, and two of them are one text.
    done = done.replace(r" }\,", " }").replace(r"\,\text{ ", r"\text{ ")
    return done.replace(r" }\text{ ", " ").replace(" },", "},").strip()


def _translated(match: re.Match[str], text: str) -> str:
    kind, token = match.lastgroup, match.group()
    before, after = text[: match.start()], text[match.end() :]
    if kind == "option":
        return rf"\texttt{{{token}}}"
    if kind == "script":
        return token[0] + "{" + _script(token[1:].strip("{}")) + "}"
    if kind == "numbered":
        return f"{token[0]}_{{{token[1]}}}"
    if kind == "word":
        return _word(token, after)
    if kind == "space":
        return _space(before, after)
    return r"\sim " if token == "~" else token


def _script(inside: str) -> str:
    """An index or exponent: letters are indices if they are i, j and k, and a name if not."""
    if len(inside) > 1 and inside.isalpha() and not set(inside) <= set("ijk"):
        return rf"\text{{{inside}}}"
    return inside if inside.isalpha() else latex(inside)


def _word(word: str, after: str) -> str:
    if word == "in" and after.startswith(" ["):
        return r"\in"
    named = word in FUNCTIONS or re.match(r"[(_^]| =", after)
    return rf"\text{{{word}}}" if named else rf"\text{{ {word} }}"


def _space(before: str, after: str) -> str:
    """A thin space between factors; those around operators come by themselves."""
    command = re.search(r"\\[A-Za-z]+$", before)
    if command and command.group() in TAKES_WHAT_FOLLOWS:
        return " "
    word = re.match(r"[A-Za-z]{2,}", after)
    if word and word.group() == "in":
        return " "
    factors = re.search(r"[\w})\]|]$", before) and re.match(r"[\w\\(|]", after)
    large = re.search(r"\\(sum|prod)\S*$", before)
    return r"\," if factors and not large else " "


def block(text: str) -> str:
    """An indented block as displays: lines of as many columns are one of them."""
    lines = [line for line in text.splitlines() if line.strip()]
    indent = min(len(line) - len(line.lstrip()) for line in lines)
    rows = []
    for line in lines:
        cells = [latex(cell) for cell in re.split(r" {4,}", line.strip())]
        goes_on = len(line) - len(line.lstrip()) > indent
        rows.append([r"\qquad " * goes_on + cells[0], *cells[1:]])
    displays = []
    for columns, group in groupby(rows, len):
        inside = r" \\ ".join(" & ".join(cells) for cells in group)
        displays.append(rf"$$\begin{{array}}{{{'l' * columns}}} {inside} \end{{array}}$$")
    return "\n\n".join(displays)


FORMULA = re.compile(r"\\[A-Za-z]|(?<![A-Za-z0-9_])[A-Za-z][_^]\w|\d\^")
JOINS = re.compile(r"[=+*/<-]|\d+(\.\d+)?|[A-Za-z]\d|ln|[B-HJ-Zb-z]")
OPERATOR = re.compile(r"[=+*/<-]")


def prose(text: str) -> str:
    r"""Text with its formulas between dollar signs; code and addresses stay as they are.

    >>> print(prose(r"\lambda = 10 weighs |w_ji|, see `w_ji`."))
    $\lambda = 10$ weighs $|w_{ji}|$, see `w_ji`.
    """
    done: list[str] = []
    run: list[str] = []
    for word in re.findall(r"`[^`]*`\S*|\S+|\s+", text):
        core = word.strip("([").rstrip(".,;:)]")
        joins = FORMULA.search(word) or JOINS.fullmatch(core) or word.isspace()
        run.append(word)
        if not joins or not _is_plain(word) or word[-1] in ".,;:":
            done.append(_joined(run))
            run = []
    return "".join([*done, _joined(run)])


def _joined(run: list[str]) -> str:
    """The words of a run, what is a formula of them between dollar signs."""
    places = [i for i, word in enumerate(run) if FORMULA.search(word) and _is_plain(word)]
    if not places:
        return "".join(run)
    # Words and spaces alternate, so an operator and its operand are four places.
    first, last = places[0], places[-1]
    while first >= 4 and OPERATOR.fullmatch(run[first - 2]):
        first -= 4
    while last + 4 < len(run) and OPERATOR.fullmatch(run[last + 2]) and JOINS.match(run[last + 4]):
        last += 4
    if run[last] in TAKES_WHAT_FOLLOWS:
        last += 2
    formula = " ".join(word for word in run[first : last + 1] if not word.isspace())
    core = formula.rstrip(".,;:")
    tail = formula[len(core) :]
    if core.count(")") > core.count("("):
        core, tail = core[:-1], core[-1] + tail
    head = "(" if core.count("(") > core.count(")") else ""
    inside = latex(core.removeprefix(head))
    return "".join(run[:first]) + f"{head}${inside}${tail}" + "".join(run[last + 1 :])


def _is_plain(word: str) -> bool:
    """Neither code nor an address."""
    return not re.search(r'["`]|://', word)
