"""Tables, and the four ways to write one."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from .names import choose

Cells = Sequence[str]


@dataclass(frozen=True)
class Table:
    """A title, a header, rows of text, and a note."""

    title: str
    header: Cells
    rows: Sequence[Cells]
    note: str = ""


def write(tables: Sequence[Table], form: str, console: Console) -> None:
    """Write tables to the console, in the terminal's own form or as text to paste."""
    if choose(form, FORMS, "format") == "terminal":
        for table in tables:
            _draw(table, console)
        return
    if form == "csv":
        console.file.write(_csv(tables))
        return
    console.file.write("\n".join(FORMS[form](table) for table in tables))


def _draw(table: Table, console: Console) -> None:
    # As text: a unit's name may hold brackets, which rich would read as markup.
    caption = Text(table.note) if table.note else None
    drawn = RichTable(title=Text(table.title), title_justify="left", caption=caption)
    drawn.caption_justify = "left"
    for i, name in enumerate(table.header):
        numbers = all(row[i][:1].isdigit() or row[i] == "-" for row in table.rows)
        drawn.add_column(Text(name), justify="right" if i and numbers else "left")
    for row in table.rows:
        drawn.add_row(*map(Text, row))
    # Records and pipes want whole lines; a terminal of fewer columns wraps them itself.
    console.print(drawn, markup=False, highlight=False)


def _markdown(table: Table) -> str:
    def line(cells: Cells) -> str:
        return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"

    rule = "|" + "|".join(["---", *["---:"] * (len(table.header) - 1)]) + "|"
    lines = [f"**{table.title}**", "", line(table.header), rule, *map(line, table.rows)]
    return "\n".join([*lines, "", *([table.note, ""] if table.note else [])])


def _latex(table: Table) -> str:
    def line(cells: Cells) -> str:
        return "  " + " & ".join(_tex(cell) for cell in cells) + r" \\"

    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{_tex(table.title)}{'. ' + _tex(table.note) if table.note else ''}}}",
            # As wide as the text at most.
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{l{'r' * (len(table.header) - 1)}}}",
            r"\toprule",
            line(table.header),
            r"\midrule",
            *map(line, table.rows),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
            "",
        ]
    )


def _csv(tables: Sequence[Table]) -> str:
    """One table as it is; several as one with a line for each of their cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if len(tables) == 1:
        writer.writerows([tables[0].header, *tables[0].rows])
        return text.getvalue()
    writer.writerow(["table", "row", "column", "value"])
    for table in tables:
        for first, *cells in table.rows:
            for column, cell in zip(_distinct(table.header)[1:], cells, strict=True):
                writer.writerow([table.title, first, column, cell])
    return text.getvalue()


def _distinct(header: Cells) -> list[str]:
    """The columns' names; one that recurs, as `paper`, is named with the column it stands beside.

    >>> _distinct(["range", "add", "paper", "sub", "paper"])
    ['range', 'add', 'add paper', 'sub', 'sub paper']
    """
    names, beside = [], ""
    for name in header:
        recurs = list(header).count(name) > 1
        beside = beside if recurs else name
        names.append(f"{beside} {name}" if recurs and beside else name)
    return names


def _tex(text: str) -> str:
    return text.translate(TEX)


TEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "≠": r"$\neq$",
        "×": r"$\times$",
        "÷": r"$\div$",
        "−": "$-$",
        "…": r"\ldots{}",
        "∞": r"$\infty$",
    }
)
FORMS = {"terminal": _markdown, "markdown": _markdown, "latex": _latex, "csv": _markdown}
"""The forms; the terminal's and CSV are not made table by table."""
