import csv
import io

import pytest
from rich.console import Console

from arithmix.table import Table, write

ODD = Table(
    "Success of my[bold]", ["unit", "a|b"], [["[red]x[/red]", "1_000"], ["50%", "-"]], "a & b"
)
SIGNS = Table("≠", ["a"], [[r"C:\new"], ["<b>"], ["{x}^2~"]])


def written(form):
    text = io.StringIO()
    write([ODD], form, Console(file=text, width=100))
    return text.getvalue()


def test_names_are_text_and_never_markup():
    for form in ("terminal", "markdown", "csv"):
        assert "[red]x[/red]" in written(form)
    for form in ("terminal", "markdown"):
        assert "my[bold]" in written(form)


def test_csv_is_one_table_however_many_are_written():
    assert list(csv.reader(io.StringIO(written("csv")))) == [ODD.header, *ODD.rows]
    text = io.StringIO()
    wide = Table("Wide", ["range", "add", "paper", "sub", "paper"], [["sym", "1", "2", "3", "4"]])
    write([ODD, wide], "csv", Console(file=text))
    lines = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert len(lines) == 2 + 4
    assert lines[0] == {
        "table": ODD.title,
        "row": "[red]x[/red]",
        "column": "a|b",
        "value": "1_000",
    }
    assert [line["column"] for line in lines[2:]] == ["add", "add paper", "sub", "sub paper"]


def test_signs_of_markdown_and_latex_are_escaped():
    assert r"a\|b" in written("markdown")
    latex = written("latex")
    assert r"1\_000" in latex and r"50\%" in latex and r"a \& b" in latex


def test_latex_reads_no_sign_of_a_name():
    text = io.StringIO()
    write([SIGNS], "latex", Console(file=text))
    for part in (r"$\neq$", r"C:\textbackslash{}new", r"\textless{}b\textgreater{}"):
        assert part in text.getvalue()
    assert r"\{x\}\textasciicircum{}2\textasciitilde{}" in text.getvalue()


def test_an_unknown_form_offers_the_nearest():
    with pytest.raises(ValueError, match="did you mean markdown"):
        written("markdwn")
