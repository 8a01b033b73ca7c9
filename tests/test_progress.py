import io

import pytest
from rich.console import Console

from arithmix.progress import Progress


def shown(terminal):
    text, now = io.StringIO(), [0.0]
    console = Console(file=text, force_terminal=terminal, width=150)
    progress = Progress(console, clock=lambda: now[0])
    progress.begin("dmu", [("dmu add", 10, 4000), ("dmu sub", 5, 1000)])
    for step, before, live in ((1000, 10, 8), (2000, 8, 2), (4000, 2, 0)):
        now[0] += 10.0
        progress.solve(before - live)
        progress.advance(0, step, live)
    progress.advance(1, 1000, 0)
    progress.close()
    return text.getvalue(), progress


def test_a_pipe_gets_plain_lines():
    text, progress = shown(terminal=False)
    lines = text.splitlines()
    assert "\x1b" not in text and len(lines) == 3
    # What goes before the first steps is mostly compiling and tells nothing of the pace.
    assert lines[0] == "dmu: 2/15 solved, 8 of dmu add at 1000"
    # Then 8 members made 1000 steps in 10 s, so 2 x 2000 and 5 x 1000 take at most 11 s more.
    assert lines[1].endswith("2 of dmu add at 2000, 800 member-steps/s, at most 0:00:11 left")
    assert progress.fraction == 1.0


def test_an_hour_of_compiling_does_not_make_an_hour_of_training():
    now = [0.0]
    progress = Progress(Console(file=io.StringIO()), clock=lambda: now[0])
    progress.begin("dmu", [("dmu add", 100, 50_000)])
    for step, at in ((1000, 3600.0), (2000, 3601.0), (3000, 3602.0)):
        now[0] = at
        progress.advance(0, step, 100)
    assert progress.text.endswith("100 thousand member-steps/s, at most 0:00:47 left")


def test_a_terminal_gets_a_bar():
    text, _ = shown(terminal=True)
    assert "\x1b" in text and "10/15 solved" in text


def test_quiet_says_nothing():
    text = io.StringIO()
    progress = Progress(Console(file=text), quiet=True)
    progress.begin("dmu", [("dmu add", 1, 10)])
    progress.advance(0, 10, 0)
    progress.say("a word")
    assert text.getvalue() == ""


def test_an_interrupt_is_raised_at_the_next_advance():
    progress = Progress(Console(file=io.StringIO()), interrupted=True)
    progress.begin("dmu", [("dmu add", 1, 10)])
    with pytest.raises(KeyboardInterrupt):
        progress.advance(0, 10, 0)


@pytest.mark.parametrize("terminal", [True, False])
def test_names_are_text_and_never_emoji_or_markup(terminal):
    text = io.StringIO()
    progress = Progress(Console(file=text, force_terminal=terminal, width=120))
    progress.begin("m:rocket:", [("m:rocket: dmu[red]", 2, 10)])
    progress.advance(0, 5, 2)
    progress.say("u:lock: [bold]")
    progress.close()
    assert "u:lock: [bold]" in text.getvalue()
    assert "\N{ROCKET}" not in text.getvalue()
