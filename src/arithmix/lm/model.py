"""A transformers model that computes: `attach` a block, and use the model as before.

`forward(...).logits` has the computed digits in it, so `generate()`, beams, sampling, batches and
whatever scores a text by its logits see them. What the block needs of the tokens so far lies in the
key/value cache, as more layers: those of its own attention, and one with what it has read, the
base's log-probabilities of digits, and the token ids. So it is reordered, selected and cropped with
the rest; without a cache it is made anew.

    model, tokenizer = load()
    attach(model, tokenizer)
    asked = tokenizer("123456 * 654321 =", return_tensors="pt")
    model.generate(**asked, max_new_tokens=20)
    model.trace("123456 * 654321 = 80779853376")
"""

from collections import OrderedDict
from decimal import Decimal
from typing import Any

import torch
from torch import Tensor

from .candidates import Program, think
from .load import base
from .logits import Outlook, begin, go_on, outlook
from .reader import Reader, positions_and_mask
from .reading import Operand, Reading
from .trace import Computed, Formula, Trace
from .vocabulary import Vocabulary
from .writing import forms

SEEN = 3100
"""Tokens before a place that are looked at for numbers: more than the characters that are."""
KEPT = 256
"""Outlooks that are kept, since each token of a number asks for the one where it began."""


class Notes:
    """What a block knows of the tokens so far, of one batch.

    Args:
        read: What it has read at each token.
        logs: The base's log-probabilities, after each, of the tokens that numbers are written with.
        ids: The tokens; -1 for padding.
    """

    def __init__(self, read: Tensor, logs: Tensor, ids: Tensor):
        self.read, self.logs, self.ids = read, logs, ids


class Computing:
    """What `attach` puts before a model's own class."""

    block: Reader
    vocabulary: Vocabulary
    tokenizer: Any
    outlooks: OrderedDict[tuple[str, bytes], Outlook | None]

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Any = None,
        inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        logits_to_keep: int | Tensor = 0,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        **kwargs: Any,
    ) -> Any:
        """As the base's, with computed numbers in the logits, and in the loss of `labels`."""
        if input_ids is None:
            raise ValueError("a model that computes reads input_ids; got none")
        own: Any = super()
        out = own.forward(
            input_ids=input_ids,
            attention_mask=attention_mask,
            position_ids=position_ids,
            past_key_values=past_key_values,
            use_cache=use_cache,
            logits_to_keep=logits_to_keep,
            output_hidden_states=True,
            return_dict=True,
            **kwargs,
        )
        notes = self._take_notes(input_ids, attention_mask, out)
        length = input_ids.shape[1]
        places = torch.arange(length)[_kept(logits_to_keep)] + notes.ids.shape[1] - length
        out.logits = self._mix(notes, places.tolist(), out.logits)
        if labels is not None:
            model: Any = self
            size = model.config.get_text_config().vocab_size
            out.loss = model.loss_function(out.logits, labels, vocab_size=size, **kwargs)
        if not output_hidden_states:
            out.hidden_states = None
        return out.to_tuple() if return_dict is False else out

    @torch.no_grad()
    def trace(self, text: str | Tensor) -> Trace:
        """The numbers of a text that were more likely computed than written by the base.

        Args:
            text: The text, or its token ids of shape (seq,) or (1, seq).
        """
        model: Any = self
        ids = self.tokenizer(text, return_tensors="pt").input_ids if isinstance(text, str) else text
        ids = ids.reshape(1, -1).to(model.device)
        if not ids.numel():
            return Trace("", ())
        own: Any = super()
        out = own.forward(input_ids=ids, output_hidden_states=True, use_cache=False)
        notes = self._take_notes(ids, None, out)
        reading = Reading(self.vocabulary.text(ids[0].tolist()))
        found = []
        for place in self._open(notes, range(ids.shape[1]))[0]:
            written = self._written(reading, place)
            seen = self._outlook(notes, 0, reading, place) if written else None
            if seen is not None and written:
                computed = _computed(seen, reading, *written)
                found += [computed] if computed else []
        return Trace(reading.text, tuple(found))

    def _written(self, reading: Reading, place: int) -> tuple[int, int] | None:
        """The characters of the number that stands after a place, if one does and is finished."""
        end = place + 1
        while end < len(reading.pieces) and reading.begun(end) == place + 1:
            end += 1
        if end == place + 1 or reading.way(place + 1) not in reading.opens(place):
            return None
        start, stop = reading.ends[place], reading.ends[end - 1]
        text = reading.text[start:stop]
        stop -= len(text) - len(text.rstrip(".,"))
        return start + len(text) - len(text.lstrip()), stop

    @torch.no_grad()
    def _take_notes(self, ids: Tensor, mask: Tensor | None, out: Any) -> Notes:
        """Read new tokens; what is known of them and of those before."""
        model: Any = self
        block = self.block
        states = torch.cat([out.hidden_states[layer] for layer in block.config.layers], -1)
        logits = out.logits
        if logits.shape[1] != ids.shape[1]:
            logits = model.get_output_embeddings()(out.hidden_states[-1])
        logits = logits.float()
        logs = logits[..., self.vocabulary.written] - logits.logsumexp(-1, keepdim=True)
        if mask is not None and mask.dim() == 2:
            ids = ids.masked_fill(mask[:, -ids.shape[1] :] == 0, -1)
        cache = _Extra(out.past_key_values, len(out.hidden_states) - 1)
        # Ids as float32, which is exact below 2^24, because a cache has one dtype.
        known = cache.put(0, ids[:, None, :, None].float(), logs[:, None])
        every, logs = known[0][:, 0, :, 0].long(), known[1][:, 0]
        positions, sight = positions_and_mask(
            self.vocabulary.goes_on(every), every >= 0, ids.shape[1]
        )
        x = block.take_in(states)
        for i, layer in enumerate(block.layers):
            q, k, v = layer.project(x, positions)
            k, v = cache.put(1 + i, k, v)
            x = layer.finish(x, q, k, v, sight)
        read = block.leave(x)[:, None]
        read, _ = cache.put(1 + len(block.layers), read, read[..., :1])
        return Notes(read[:, 0], logs, every)

    @torch.no_grad()
    def _open(self, notes: Notes, places: range) -> list[list[int]]:
        """The places of each text after which programs may have more than the threshold."""
        read = notes.read[:, places.start : places.stop]
        gate = self.block.gate(self.block.ask(read))[..., 0]
        there = notes.ids[:, places.start : places.stop] >= 0
        opened = (-gate.expm1() >= self.block.config.threshold) & there
        return [[places.start + i for i in row.nonzero()[:, 0].tolist()] for row in opened.cpu()]

    @torch.no_grad()
    def _mix(self, notes: Notes, places: list[int], logits: Tensor) -> Tensor:
        """The base's logits after the tokens at `places`, with what the programs say in them."""
        if not places:
            return logits
        changed: dict[tuple[int, int], Tensor] = {}
        first, length = places[0], notes.ids.shape[1]
        at = {place: j for j, place in enumerate(places)}
        opened = self._open(notes, range(first, length))
        for i, row in enumerate(opened):
            # What ends as a number does may be part of one that began before.
            ids = notes.ids[i, max(0, length - SEEN) :] if len(places) == 1 else notes.ids[i]
            skipped = length - len(ids)
            inside = self.vocabulary.texts[int(ids[first - skipped])][-1:] in tuple(
                "0123456789., -"
            )
            if not row and not (inside and int(ids[first - skipped]) >= 0):
                continue
            reading = Reading(self.vocabulary.text(ids.tolist()))
            start = reading.begun(first - skipped) + skipped
            earlier = [start - 1] if skipped < start <= first else []
            for place in [p for p in earlier if p not in row] + row:
                ways = reading.opens(place - skipped)
                seen = self._outlook(notes, i, reading, place - skipped, skipped) if ways else None
                if seen is None:
                    continue
                before = reading.text[: reading.ends[place - skipped]][-1:]
                if place in at:
                    key = (i, at[place])
                    old = changed.get(key, logits[i, at[place]])
                    changed[key] = begin(seen, old, ways, before, self.vocabulary)
                end = place + 1
                while end < length and reading.begun(end - skipped) == place + 1 - skipped:
                    way = reading.way(place + 1 - skipped)
                    if end in at and way in ways:
                        key = (i, at[end])
                        old = changed.get(key, logits[i, at[end]])
                        written = tuple(notes.ids[i, place + 1 : end + 1].tolist())
                        logs = notes.logs[i, place:end]
                        changed[key] = go_on(seen, written, way, before, logs, old, self.vocabulary)
                    end += 1
        if changed:
            logits = logits.clone()
            for (i, j), new in changed.items():
                logits[i, j] = new
        return logits

    @torch.no_grad()
    def _outlook(
        self, notes: Notes, row: int, reading: Reading, place: int, skipped: int = 0
    ) -> Outlook | None:
        """What programs foretell after a token of a text; None where the base is left alone."""
        block, read = self.block, notes.read[row]
        q = block.ask(read[None, place + skipped])
        key = (reading.text[: reading.ends[place]], q.cpu().float().numpy().tobytes())
        if key in self.outlooks:
            return self.outlooks[key]
        gate = block.gate(q)[0]
        seen = None
        if -gate[0].expm1() >= block.config.threshold:
            operands = reading.operands(place, block.config.memory)
            if operands:
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

    @property
    def constants(self) -> list[Operand]:
        """The numbers that programs may use though no text has them."""
        return [Operand(text, Decimal(text)) for text in self.block.config.constants]


def _computed(seen: Outlook, reading: Reading, start: int, stop: int) -> Computed | None:
    """A number that stands in a text, if programs have foretold it rather than the base."""
    text = reading.text[start:stop]
    right = [p for p in seen.programs if text in forms(p.expression.value)]
    mass = sum(p.probability for p in right)
    if not right or mass <= seen.base:
        return None
    value = right[0].expression.value
    other = next((p for p in seen.programs if p.expression.value != value), None)
    return Computed(text, start, stop, _formula(right[0]), mass, _formula(other) if other else None)


def _formula(program: Program) -> Formula:
    expression = program.expression
    value = forms(expression.value)[0]
    assert value is not None
    return Formula(expression.text, value, expression.operands, program.probability)


def attach(model: Any, tokenizer: Any, block: Reader) -> Any:
    """Make `model` one that computes, in place, and return it.

    Its weights stay the base's, frozen, and are saved without the block, which has a
    `save_pretrained` of its own.

    Args:
        model: A causal language model of transformers.
        tokenizer: Its tokenizer.
        block: A reader of this model's states.

    Raises:
        ValueError: The tokenizer can't write digits, or the block was trained with another base.
    """
    vocabulary = Vocabulary(tokenizer)
    wanted, got = block.config.base, base(model)
    if wanted and wanted[1] != got.hash:
        raise ValueError(
            f"the block reads the states of {wanted[0]!r} with the hash {wanted[1][:16]}; "
            f"got {got.name!r} with {got.hash[:16]}"
        )
    kind = type(model)
    if not issubclass(kind, Computing):
        # Of the same name, which is what the model's files say it is.
        model.__class__ = type(kind.__name__, (Computing, kind), {})
    model.requires_grad_(False)
    # Not as a submodule, so that the model's own state stays that of its base.
    vars(model).update(
        block=block.to(model.device).eval(),
        vocabulary=vocabulary,
        tokenizer=tokenizer,
        outlooks=OrderedDict(),
    )
    return model


class _Extra:
    """The layers of a cache beyond the base's; without a cache nothing is kept."""

    def __init__(self, cache: Any, first: int):
        from transformers import DynamicCache

        if cache is not None and not isinstance(cache, DynamicCache):
            raise ValueError(
                f"a model that computes keeps a DynamicCache; got {type(cache).__name__}"
            )
        self.cache, self.first = cache, first

    def put(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new tokens to a layer, and get all that are in it."""
        from transformers.cache_utils import DynamicLayer

        if self.cache is None:
            return keys, values
        if len(self.cache.layers) == self.first + layer:
            self.cache.layers.append(DynamicLayer())
        keys, values = self.cache.update(keys, values, self.first + layer)
        if keys.shape[-2] != self.cache.get_seq_length():
            raise ValueError(
                f"the cache must be filled by the model that computes from its first token on; "
                f"got {self.cache.get_seq_length()} tokens, {keys.shape[-2]} of them so"
            )
        return keys, values


def _kept(logits_to_keep: int | Tensor) -> Any:
    if isinstance(logits_to_keep, int):
        return slice(-logits_to_keep, None) if logits_to_keep else slice(None)
    return logits_to_keep.cpu()
