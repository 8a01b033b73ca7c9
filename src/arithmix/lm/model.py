"""A transformers model that computes: `attach` a reader, and use the model as before.

`forward(...).logits` has the computed digits in it, so `generate()`, beams, sampling, batches and
whatever scores a text by its logits see them. What the reader needs of the tokens so far lies in
the key/value cache, as one more layer: its keys are states and log-probabilities, its values the
token ids. So it is reordered, selected and cropped with the rest; without a cache it is made anew.

    model, tokenizer = load()
    attach(model, tokenizer, Reader.from_pretrained("block"))
    asked = tokenizer("123456 * 654321 =", return_tensors="pt")
    model.generate(**asked, max_new_tokens=20)
    model.trace("123456 * 654321 = 80779853376")
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .kinds import WRITTEN, Alphabet, begun, numbers, opens
from .load import base
from .plan import Plan, Program, Row, begin, go_on, make_plan
from .reader import Reader


@dataclass(frozen=True)
class Computed:
    """A number of a text that a program foretold.

    Args:
        text: The number.
        start: The place of its first digit, counted in tokens; operands have such places too.
        program: The likeliest program with this value.
        probability: Of all programs with this value, before the number was written.
        runner_up: The likeliest program with another value, if any.
    """

    text: str
    start: int
    program: Program
    probability: float
    runner_up: Program | None


class Computing:
    """What `attach` puts before a model's own class."""

    block: Reader
    alphabet: Alphabet
    tokenizer: Any

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
        notes, ids = self._notes(input_ids, attention_mask, out)
        if out.past_key_values is not None:
            notes, ids = _remember(out.past_key_values, len(out.hidden_states) - 1, notes, ids)
        rows = self._rows(notes, ids)
        length = input_ids.shape[1]
        places = torch.arange(length)[_kept(logits_to_keep)] + len(rows[0].kinds) - length
        out.logits = self._mix(rows, places.tolist(), out.logits)
        if labels is not None:
            model: Any = self
            size = model.config.get_text_config().vocab_size
            out.loss = model.loss_function(out.logits, labels, vocab_size=size, **kwargs)
        if not output_hidden_states:
            out.hidden_states = None
        return out.to_tuple() if return_dict is False else out

    def trace(self, text: str | Tensor) -> list[Computed]:
        """The numbers of a text that were more likely computed than written by the base.

        Args:
            text: The text, or its token ids of shape (seq,) or (1, seq).
        """
        model: Any = self
        ids = self.tokenizer(text, return_tensors="pt").input_ids if isinstance(text, str) else text
        ids = ids.reshape(1, -1).to(model.device)
        if not ids.numel():
            return []
        with torch.no_grad():
            notes = model(ids, use_cache=True).past_key_values.layers[-1]
        row = self._rows(notes.keys, notes.values)[0]
        starts = begun(row.kinds)
        found = []
        for number in numbers(row.kinds, len(row.kinds)):
            plan = self._plan(row, starts, starts[number.end])
            if plan is None:
                continue
            programs = sorted(plan.programs, key=lambda p: p.probability, reverse=True)
            right = [p for p in programs if p.value == number.text]
            other = next((p for p in programs if p.value != number.text), None)
            mass = sum(p.probability for p in right)
            if mass > plan.base:
                found.append(Computed(number.text, number.start, right[0], mass, other))
        return found

    def _notes(self, ids: Tensor, mask: Tensor | None, out: Any) -> tuple[Tensor, Tensor]:
        """What a reader needs of new tokens, of the shapes (batch, 1, seq, ...) of a cache."""
        model: Any = self
        states = [out.hidden_states[layer] for layer in self.block.config.layers]
        logits = out.logits
        if logits.shape[1] != ids.shape[1]:
            logits = model.get_output_embeddings()(out.hidden_states[-1])
        logs = logits.float()[..., self.written] - logits.float().logsumexp(-1, keepdim=True)
        if mask is not None and mask.dim() == 2:
            ids = ids.masked_fill(mask[:, -ids.shape[1] :] == 0, -1)
        notes = torch.cat([*states, logs], -1).float()
        # Ids as float32, which is exact below 2^24, because a cache has one dtype.
        return notes.unsqueeze(1), ids[:, None, :, None].float()

    def _rows(self, notes: Tensor, ids: Tensor) -> list[Row]:
        """The texts of a batch, from their first tokens on."""
        states, logs = notes[:, 0].tensor_split([-len(WRITTEN)], -1)
        spelled = map(self.alphabet.spell, ids[:, 0, :, 0].long().tolist())
        return [Row(*row) for row in zip(spelled, states, logs, strict=True)]

    def _mix(self, rows: list[Row], places: list[int], logits: Tensor) -> Tensor:
        """The base's logits after the tokens at `places`, with what the plans say in them."""
        changed = []
        for i, row in enumerate(rows):
            starts = begun(row.kinds)
            for j, place in enumerate(places):
                old = new = logits[i, j]
                start = starts[place]
                if start >= 0 and (plan := self._plan(row, starts, start)):
                    written = row.kinds[start : place + 1]
                    new = go_on(plan, written, row.logs[start - 1 : place], new, self.written)
                ways = opens(row.kinds, starts, place)
                if ways and (plan := make_plan(self.block, row, place)):
                    new = begin(plan, new, self.written, ways)
                if new is not old:
                    changed.append((i, j, new))
        if changed:
            logits = logits.clone()
            for i, j, new in changed:
                logits[i, j] = new
        return logits

    def _plan(self, row: Row, starts: list[int], start: int) -> Plan | None:
        """The plan where the number that begins at `start` began, if it began where one may."""
        ways = opens(row.kinds, starts, start - 1) if start > 0 else []
        way = "spaced" if row.kinds[start] in " m" else "tight"
        return make_plan(self.block, row, start - 1) if way in ways else None

    @property
    def written(self) -> list[int]:
        """The token of each kind in `WRITTEN`."""
        return [self.alphabet.ids[kind] for kind in WRITTEN]


def attach(model: Any, tokenizer: Any, block: Reader) -> Any:
    """Make `model` one that computes, in place, and return it.

    Its weights stay the base's, frozen, and are saved without the block, which has a
    `save_pretrained` of its own.

    Args:
        model: A causal language model of transformers.
        tokenizer: Its tokenizer, which writes each digit as a token.
        block: A reader of this model's states.

    Raises:
        ValueError: The tokenizer is of another kind, or the block was trained with another base.
    """
    alphabet = Alphabet(tokenizer)
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
    vars(model).update(block=block.to(model.device), alphabet=alphabet, tokenizer=tokenizer)
    return model


def _remember(cache: Any, layer: int, new: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
    """Put new tokens into the cache's layer beyond the base's, and get all that are in it."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    if not isinstance(cache, DynamicCache):
        raise ValueError(f"a model that computes keeps a DynamicCache; got {type(cache).__name__}")
    if len(cache.layers) == layer:
        cache.layers.append(DynamicLayer())
    keys, values = cache.update(new, seen, layer)
    if keys.shape[-2] != cache.get_seq_length():
        raise ValueError(
            f"the cache must be filled by the model that computes from its first token on; "
            f"got {cache.get_seq_length()} tokens, {keys.shape[-2]} of them so"
        )
    return keys, values


def _kept(logits_to_keep: int | Tensor) -> Any:
    if isinstance(logits_to_keep, int):
        return slice(-logits_to_keep, None) if logits_to_keep else slice(None)
    return logits_to_keep.cpu()
