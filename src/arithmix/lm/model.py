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

from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from .author import Author
from .block import SHIPPED
from .loading import base
from .notes import Notes, take_notes
from .reader import Reader
from .reading import Reading
from .trace import Foretold, Trace, computed, foretold
from .vocabulary import Vocabulary


class Computing:
    """What `attach` puts before a model's own class."""

    author: Author
    tokenizer: Any
    thawed: list[Tensor]

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
        notes = self._notes(input_ids, attention_mask, out, logits_to_keep)
        length = input_ids.shape[1]
        places = torch.arange(length)[_kept(logits_to_keep)] + notes.ids.shape[1] - length
        out.logits = self.author.mix(notes, places.tolist(), out.logits)
        if labels is not None:
            model: Any = self
            size = model.config.get_text_config().vocab_size
            out.loss = model.loss_function(out.logits, labels, vocab_size=size, **kwargs)
        if not output_hidden_states:
            out.hidden_states = None
        # Anew, since as a tuple an output has its parts in the order they were set.
        out = type(out)(**{field.name: getattr(out, field.name) for field in fields(out)})
        return out.to_tuple() if return_dict is False else out

    def trace(self, text: str | Tensor) -> Trace:
        """The numbers of a text that were more likely computed than written by the base.

        Args:
            text: The text, or its token ids of shape (seq,) or (1, seq).
        """
        whole, places = self._look_back(text)
        found = [computed(whole.text, *place) for place in places]
        return Trace(whole.text, tuple(number for number in found if number))

    def foretold(self, text: str | Tensor) -> list[Foretold]:
        """Every number of a text at which programs outweighed the base, right or wrong."""
        whole, places = self._look_back(text)
        found = [foretold(whole.text, *place) for place in places]
        return [number for number in found if number]

    @torch.no_grad()
    def _look_back(self, text: str | Tensor) -> tuple[Reading, list[tuple[Any, int, int]]]:
        """A text, and what programs foretold at each finished number, with its characters."""
        model: Any = self
        ids = self.tokenizer(text, return_tensors="pt").input_ids if isinstance(text, str) else text
        ids = ids.reshape(1, -1).long().to(model.device)
        reading = Reading(self.author.vocabulary.text(ids[0].tolist()))
        if not ids.numel():
            return reading, []
        own: Any = super()
        out = own.forward(input_ids=ids, output_hidden_states=True, use_cache=False)
        notes = self._notes(ids, None, out)
        found = []
        for place in self.author.open_places(notes)[0]:
            if span := reading.number_after(place):
                seen = self.author.outlook(notes, 0, reading, place)
                found += [(seen, *span)] if seen else []
        return reading, found

    def _notes(self, ids: Tensor, mask: Tensor | None, out: Any, kept: int | Tensor = 0) -> Notes:
        model: Any = self
        logits, new = out.logits, ids.shape[1]
        if logits.shape[1] != new:
            # Of a prompt, the base's word is needed on a number that is not finished, if any.
            last = isinstance(kept, int) and kept == 1
            some = self.author.vocabulary.unfinished(ids) + 1 if last else new
            if some > 1:
                logits = model.get_output_embeddings()(out.hidden_states[-1][:, -some:])
        return take_notes(self.author.block, self.author.vocabulary, ids, mask, out, logits)


def attach(model: Any, tokenizer: Any, block: Reader | None = None) -> Any:
    """Make `model` one that computes, in place, and return it.

    Its weights stay the base's, frozen, and are saved without the block, which has a
    `save_pretrained` of its own.

    Args:
        model: A causal language model of transformers.
        tokenizer: Its tokenizer.
        block: A reader of this model's states; the one for the default model if left out.

    Raises:
        ValueError: The tokenizer can't write digits, or the block was trained with another base.
    """
    block = block or Reader.from_pretrained(SHIPPED)
    wanted, got = block.config.base, base(model)
    if wanted and wanted[1] != got.hash:
        raise ValueError(
            f"the block reads the states of {wanted[0]!r} with the hash {wanted[1][:16]}; "
            f"got {got.name!r} with {got.hash[:16]}"
        )
    vocabulary = Vocabulary(tokenizer)
    kind = type(model)
    if not issubclass(kind, Computing):
        # Of the same name, which is what the model's files say it is.
        model.__class__ = type(kind.__name__, (Computing, kind), {})
        vars(model)["thawed"] = [weight for weight in model.parameters() if weight.requires_grad]
    model.requires_grad_(False)
    # Not as a submodule, so that the model's own state stays that of its base.
    vars(model).update(
        author=Author(block.to(model.device).eval(), vocabulary), tokenizer=tokenizer
    )
    return model


def detach(model: Any) -> Any:
    """Make a model that computes its base again, in place, and return it."""
    if isinstance(model, Computing):
        model.__class__ = type(model).__mro__[2]
        for weight in model.thawed:
            weight.requires_grad_()
        del model.author, model.tokenizer, model.thawed
    return model


def _kept(logits_to_keep: int | Tensor) -> Any:
    if isinstance(logits_to_keep, int):
        return slice(-logits_to_keep, None) if logits_to_keep else slice(None)
    return logits_to_keep.cpu()
