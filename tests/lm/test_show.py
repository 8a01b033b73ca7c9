"""A trace as a terminal and a page show it."""

import subprocess
import sys
from html.parser import HTMLParser

from arithmix.lm.readable import readable
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
        '    6 at 3: <b>6</b> & "7" give',
        '    7 at 12: <b>6</b> & "7" give 42, not 6',
        "6 = 6, a copy  (60%)",
        '    6 at 3: <b>6</b> & "7" give',
    ]
    assert explain(TRACE, 24) == explain(TRACE)[3:]
    [*_, places] = explain(Trace(TEXT, (Computed("42", 20, 22, constant, 0.9, None),)))
    assert places == "    7 is a constant"


def test_showing_needs_no_torch():
    program = "import sys, arithmix.lm.show; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "False", done.stderr


def test_a_sign_of_several_tokens_is_whole_again(tokenizer):
    text = "… 9 ÷ 3 is 3 ÷"
    ids = tokenizer(text).input_ids
    pieces = [tokenizer.decode([token]) for token in ids]
    seen = "".join(pieces)
    assert seen != text

    def place(number, at):
        return at, at + len(number)

    nine, three = place("9", seen.index("9")), place("3", seen.index("3"))
    operands = (Operand("9", 9, *nine), Operand("3", 3, *three))
    program = Formula("9 / 3", "3", operands, 0.9)
    other = Formula("9 * 7", "63", (operands[0], Operand("7", 7)), 0.1)
    number = Computed("3", *place("3", seen.rindex("3")), program, 0.9, other)
    [moved] = found = readable(Trace(seen, (number,)), ids, pieces, tokenizer)
    assert found.text == text
    assert (moved.start, moved.end) == place("3", text.rindex("3"))
    assert [(one.start, one.end) for one in moved.program.operands] == [(2, 3), (6, 7)]
    assert [one.start for one in moved.runner_up.operands] == [2, -1]
