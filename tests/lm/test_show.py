"""A trace as a terminal and a page show it."""

import subprocess
import sys
from html.parser import HTMLParser

from arithmix.lm.reading import Operand
from arithmix.lm.show import as_html, as_rich, explain
from arithmix.lm.trace import Computed, Formula, Trace

TEXT = '<b>6</b> & "7" give 42, not 6.'
SIX, SEVEN = Operand("6", 6, 3, 4), Operand("7", 7, 12, 13)
PRODUCT = Formula("6 * 7", "42", (SIX, SEVEN), 0.99)
SUM = Formula("6 + 7", "13", (SIX, SEVEN), 0.0005)
COPY = Formula("6", "6", (SIX,), 0.6)
TRACE = Trace(
    TEXT, (Computed("42", 20, 22, PRODUCT, 0.999, SUM), Computed("6", 28, 29, COPY, 0.6, None))
)


class Marks(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.text, self.tags = "", []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_numbers_are_marked_where_they_stand():
    text = as_rich(TRACE)
    assert text.plain == TEXT
    marked = [(text.plain[span.start : span.end], str(span.style)) for span in text.spans]
    assert marked == [("42", "bold underline cyan"), ("6", "dim underline")]
    late = as_rich(TRACE, 24)
    assert (late.plain, [(s.start, s.end) for s in late.spans]) == (TEXT[24:], [(4, 5)])


def test_a_page_has_the_text_as_text():
    read = Marks(as_html(TRACE))
    assert read.text == TEXT
    assert [tag for tag, _ in read.tags] == ["p", "mark", "mark"]
    assert read.tags[1][1]["title"] == "42 = 6 * 7  (99.9%; next 6 + 7, 0.05%)"


def test_a_hover_text_cannot_leave_its_place():
    nasty = Formula('6"><img src=x>', "42", (SIX, SEVEN), 0.9)
    read = Marks(as_html(Trace(TEXT, (Computed("42", 20, 22, nasty, 0.9, None),))))
    assert [tag for tag, _ in read.tags] == ["p", "mark"]


def test_how_each_was_computed_with_its_operands_places():
    constant = Formula("6 * 7", "42", (SIX, Operand("7", 7)), 0.9)
    assert explain(TRACE) == [
        "42 = 6 * 7  (99.9%; next 6 + 7, 0.05%)",
        "    6 at 3, 7 at 12",
        "6 = 6, a copy  (60%)",
        "    6 at 3",
    ]
    assert explain(TRACE, 24) == explain(TRACE)[2:]
    [_, places] = explain(Trace(TEXT, (Computed("42", 20, 22, constant, 0.9, None),)))
    assert places == "    6 at 3, 7 a constant"


def test_showing_needs_no_torch():
    program = "import sys, arithmix.lm.show; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr
