"""Who writes the numbers: a block and a vocabulary turn what was read into logits."""

from collections import OrderedDict
from collections.abc import Iterator
from decimal import Decimal

import torch
from torch import Tensor

from .candidates import think
from .logits import Outlook, begin, go_on, outlook
from .notes import Notes
from .reader import Reader
from .reading import Operand, Reading
from .vocabulary import Vocabulary

SEEN = 3100
"""Tokens before a place that are looked at for numbers: more than the characters that are."""
KEPT = 256
"""Outlooks that are kept, since each token of a number asks for the one where it began."""
ENDINGS = tuple("0123456789., -")
"""What a number that is not finished may end in."""


class Author:
    """Puts what programs foretell into a base's logits.

    Args:
        block: The reader that thinks of programs.
        vocabulary: The tokens that they are written with.
    """

    def __init__(self, block: Reader, vocabulary: Vocabulary):
        self.block, self.vocabulary = block, vocabulary
        self.outlooks: OrderedDict[tuple[str, bytes], Outlook | None] = OrderedDict()
        self.constants = [Operand(text, Decimal(text)) for text in block.config.constants]

    @torch.no_grad()
    def mix(self, notes: Notes, places: list[int], logits: Tensor) -> Tensor:
        """The base's logits after the tokens at `places`, with what the programs say in them."""
        changed: dict[tuple[int, int], Tensor] = {}
        if places:
            column = {place: j for j, place in enumerate(places)}
            first = min(places)
            near = first == notes.ids.shape[1] - 1
            for i, opened in enumerate(self.open_places(notes, first)):
                row = Row(self, notes, i, first, near)
                for place, new in row.changes(opened, logits[i], column):
                    changed[i, column[place]] = new
        if not changed:
            return logits
        logits = logits.clone()
        for (i, j), new in changed.items():
            logits[i, j] = new
        return logits

    @torch.no_grad()
    def open_places(self, notes: Notes, first: int = 0) -> list[list[int]]:
        """The places of each text after which programs may have more than the threshold."""
        gate = self.block.gate(self.block.ask(notes.read[:, first:]))[..., 0]
        opened = (-gate.expm1() >= self.block.config.threshold) & (notes.ids[:, first:] >= 0)
        return [[first + i for i in row.nonzero()[:, 0].tolist()] for row in opened.cpu()]

    @torch.no_grad()
    def outlook(
        self, notes: Notes, row: int, reading: Reading, place: int, skipped: int = 0
    ) -> Outlook | None:
        """What programs foretell after a token of a text; None where the base is left alone.

        Args:
            notes: What is known of the batch.
            row: Which text.
            reading: That text, without its first `skipped` tokens.
            place: The token, counted in the reading.
            skipped: How many tokens of the notes the reading lacks.
        """
        block, read = self.block, notes.read[row]
        q = block.ask(read[None, place + skipped])
        key = (reading.text[: reading.ends[place]], q.cpu().float().numpy().tobytes())
        if key in self.outlooks:
            return self.outlooks[key]
        seen = None
        operands = reading.operands(place, block.config.memory)
        gate = block.gate(q)[0]
        if operands and -gate[0].expm1() >= block.config.threshold:
            last = torch.tensor([operand.last + skipped for operand in operands])
            there = torch.ones(1, len(last), dtype=torch.bool, device=q.device)
            slots = block.slots(read[None, last], read[None, last + 1], there)
            programs = think(block, q, gate, slots, operands + self.constants)
            seen = outlook(programs, block.style(q)[0].exp().tolist())
            if seen and max(seen.values.values()) < block.config.threshold:
                seen = None
        self.outlooks[key] = seen
        if len(self.outlooks) > KEPT:
            self.outlooks.popitem(last=False)
        return seen


class Row:
    """One text of a batch, of which the logits from a token on are wanted.

    Args:
        author: Who writes.
        notes: What is known of the batch.
        index: Which text.
        first: The first token whose logits are wanted.
        near: Whether it is enough to look at the last tokens, as in generation.
    """

    def __init__(self, author: Author, notes: Notes, index: int, first: int, near: bool):
        self.author, self.notes, self.index, self.first = author, notes, index, first
        self.skipped = max(0, notes.ids.shape[1] - SEEN) if near else 0

    def changes(
        self, opened: list[int], logits: Tensor, column: dict[int, int]
    ) -> Iterator[tuple[int, Tensor]]:
        """The places whose logits change, with the new ones; a later word on a place counts."""
        ids = self.notes.ids[self.index]
        texts = self.author.vocabulary.texts
        # What ends as a number does may be part of one that began before.
        last = int(ids[self.first])
        inside = 0 <= last < len(texts) and texts[last].endswith(ENDINGS)
        if not opened and not inside:
            return
        pieces = self.author.vocabulary.text(ids[self.skipped :].tolist())
        reading = Reading(pieces)
        start = reading.begun(self.first - self.skipped) + self.skipped - 1
        earlier = [start] if self.skipped <= start < self.first else []
        now: dict[int, Tensor] = {}
        for place in earlier + opened:
            for where, new in self._after(reading, place - self.skipped, logits, column, now):
                now[where] = new
                yield where, new

    def _after(
        self,
        reading: Reading,
        place: int,
        logits: Tensor,
        column: dict[int, int],
        now: dict[int, Tensor],
    ) -> Iterator[tuple[int, Tensor]]:
        """The changes that a number after a token makes, there and inside the number."""
        author, skipped = self.author, self.skipped
        ways = reading.opens(place)
        if not ways:
            return
        seen = author.outlook(self.notes, self.index, reading, place, skipped)
        if seen is None:
            return
        before = reading.text[: reading.ends[place]][-1:]

        def old(where: int) -> Tensor:
            return now.get(where, logits[column[where]])

        if place + skipped in column:
            where = place + skipped
            yield where, begin(seen, old(where), ways, before, author.vocabulary)
        # Where the first token wanted is inside the number, all before it are.
        end = max(place + 1, self.first - skipped)
        while end < len(reading.pieces) and reading.begun(end) == place + 1:
            where, way = end + skipped, reading.way(place + 1)
            if where in column and way in ways:
                written = tuple(
                    self.notes.ids[self.index, place + 1 + skipped : where + 1].tolist()
                )
                logs = self.notes.logs[self.index, place + skipped : where]
                yield where, go_on(seen, written, way, before, logs, old(where), author.vocabulary)
            end += 1
