import io

import pytest
from rich.console import Console

from arithmix.table import Table, write

ODD = Table(
    "Success of my[bold]", ["unit", "a|b"], [["[red]x[/red]", "1_000"], ["50%", "-"]], "a & b"
)


def written(form):
    text = io.StringIO()
    write([ODD], form, Console(file=text, width=100))
    return text.getvalue()


def test_names_are_text_and_never_markup():
    for form in ("terminal", "markdown", "csv"):
        assert "[red]x[/red]" in written(form)
        assert "my[bold]" in written(form)


def test_signs_of_markdown_and_latex_are_escaped():
    assert r"a\|b" in written("markdown")
    latex = written("latex")
    assert r"1\_000" in latex and r"50\%" in latex and r"a \& b" in latex


def test_an_unknown_form_offers_the_nearest():
    with pytest.raises(ValueError, match="did you mean markdown"):
        written("markdwn")
