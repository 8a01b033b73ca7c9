"""`arithmix lm chat`."""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from .._options import need
from ._options import Block, Model

if TYPE_CHECKING:
    from ...lm.talk import Talk

HELP = "/why explains the last answer's numbers, /base turns the block off and on, /new forgets, "
HELP += "/quit ends"


def chat(
    prompt: Annotated[
        str | None, typer.Argument(help="What to say; without it, a conversation begins.")
    ] = None,
    block: Block = None,
    model: Model = None,
    tokens: Annotated[int, typer.Option(min=1, help="The most tokens of an answer.")] = 256,
    plain: Annotated[bool, typer.Option("--plain", help="Show the bare answers only.")] = False,
) -> None:
    """Talk with a language model that computes, and see which numbers it computed."""
    need("transformers", "lm")
    from ...lm.opening import open_model
    from ...lm.talk import Talk

    room = _Room(Talk(*open_model(model, block), tokens), plain)
    try:
        if prompt is not None:
            room.answer(prompt)
            room.why(unasked=True)
        else:
            room.converse()
    except KeyboardInterrupt:
        room.console.print()


class _Room:
    """A terminal, or a pipe, in which one talks."""

    def __init__(self, talk: "Talk", plain: bool):
        self.talk, self.plain = talk, plain
        self.console = Console(highlight=False)

    def converse(self) -> None:
        """Answer line after line until there is no more, or the user has enough."""
        asks = sys.stdin.isatty()
        if asks:
            with suppress(ImportError):  # not everywhere; it lets one edit the line
                import readline  # noqa: F401 - gives input() a history
        if asks and not self.plain:
            self.say(f"{HELP}.")
        while True:
            try:
                line = input("> " if asks else "").strip()
            except EOFError:
                if asks:
                    self.console.print()
                break
            if line in ("/quit", "/exit"):
                break
            if line:
                self.take(line)

    def take(self, line: str) -> None:
        """Do what a line asks for."""
        commands = {"/why": self.why, "/base": self.toggle, "/new": self.forget}
        try:
            if line in commands:
                commands[line]()
            elif line.startswith("/"):
                self.say(f"There is no {line.split()[0]} here: {HELP}.")
            else:
                self.answer(line)
                self.count()
        except ValueError as error:  # the conversation goes on
            self.say(f"{error}.")

    def answer(self, prompt: str) -> None:
        """Show an answer as it is written, and once it is there, with its computed numbers marked.

        Where nothing can be marked it is printed just as it comes.
        """
        from ...lm.show import as_rich

        marks = self.console.is_terminal and not self.plain and self.talk.computes
        if not marks:
            self.talk.answer(prompt, lambda piece: self.console.print(piece, **AS_IS, end=""))
            self.console.print()
            return
        written = Text()
        # Taken away at the end, or a number would stand there twice.
        with Live(written, console=self.console, transient=True) as live:

            def tell(piece: str) -> None:
                written.append(piece)
                live.update(written)

            text = self.talk.answer(prompt, tell)
        trace = self.talk.trace
        shown = as_rich(trace, self.talk.start) if trace else Text(text)
        self.console.print(shown, soft_wrap=True)

    def count(self) -> None:
        """Say how many numbers were computed, where someone reads it."""
        numbers = self.numbers()
        if numbers and self.console.is_terminal and not self.plain:
            was = "number was" if numbers == 1 else "numbers were"
            self.say(f"{numbers} {was} computed; /why says how.")

    def numbers(self) -> int:
        """How many numbers of the last answer were computed or copied."""
        trace = self.talk.trace
        return sum(one.start >= self.talk.start for one in trace) if trace else 0

    def why(self, unasked: bool = False) -> None:
        """Explain the numbers of the last answer."""
        from ...lm.show import explain

        if unasked and (self.plain or not self.numbers()):
            return
        if not self.talk.said:
            self.say("There is no answer yet.")
        elif self.talk.trace is None:
            self.say("The last answer is the base's own: nothing was computed.")
        elif not self.numbers():
            self.say("No number of the last answer was computed.")
        else:
            for line in explain(self.talk.trace, self.talk.start):
                self.say(line)

    def toggle(self) -> None:
        """Turn the block off or on."""
        self.talk.turn_on(not self.talk.computes)
        self.say("The block is on." if self.talk.computes else "The block is off.")

    def forget(self) -> None:
        """Begin anew."""
        self.talk.new()
        self.say("The conversation is forgotten.")

    def say(self, text: str) -> None:
        """Print what is not the model's."""
        self.console.print(text, **AS_IS, style="dim")


AS_IS = {"markup": False, "highlight": False, "emoji": False, "soft_wrap": True}
