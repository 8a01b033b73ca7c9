"""What a block knows of the tokens so far, and where it is kept: in the key/value cache.

The block's own layers are more layers of that cache, beyond the base's; so they are reordered,
selected and cropped with the rest. Without a cache they are made anew.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from .layers import Layer, positions_and_mask
from .reader import Reader
from .vocabulary import Vocabulary

PART = 1024
"""Tokens that are read in one go."""


class Notes(NamedTuple):
    """What is known of a batch of texts.

    Args:
        read: What the block has read at each token.
        logs: The base's log-probabilities, after each, of the tokens that numbers are written with;
            NaN where they were not computed.
        ids: The tokens; -1 for padding.
    """

    read: Float[Tensor, "batch seq width"]
    logs: Float[Tensor, "batch seq written"]
    ids: Int[Tensor, "batch seq"]


@torch.no_grad()
def take_notes(
    block: Reader,
    vocabulary: Vocabulary,
    ids: Int[Tensor, "batch new"],
    mask: Tensor | None,
    out: Any,
    logits: Float[Tensor, "batch some vocab"],
) -> Notes:
    """Read new tokens; what is known of them and of those before.

    Args:
        block: Who reads.
        vocabulary: The tokenizer's tokens.
        ids: The new tokens.
        mask: The attention mask, of two dimensions if it says what is padding.
        out: The base's output, with its hidden states and its cache, if any.
        logits: The base's logits at the last of the new tokens; those before are never asked for.
    """
    new = ids.shape[1]
    logits = logits.float()
    logs = logits[..., vocabulary.written] - logits.logsumexp(-1, keepdim=True)
    logs = nn.functional.pad(logs, (0, 0, new - logs.shape[1], 0), value=torch.nan)
    if mask is not None and mask.dim() == 2:
        ids = ids.masked_fill(mask[:, -new:] == 0, -1)
    states = torch.cat([out.hidden_states[layer] for layer in block.config.layers], -1)
    kept = _Layers(out.past_key_values, len(out.hidden_states) - 1, new)
    # In parts, since what a token sees takes memory for each two tokens.
    parts = zip(ids.split(PART, 1), logs.split(PART, 1), states.split(PART, 1), strict=True)
    *earlier, last = [_Part(*part) for part in parts]
    for part in earlier:
        _read(block, vocabulary, part, kept)
    return _read(block, vocabulary, last, kept)


class _Part(NamedTuple):
    ids: Tensor
    logs: Tensor
    states: Tensor


def _read(block: Reader, vocabulary: Vocabulary, part: _Part, kept: "_Layers") -> Notes:
    # Ids as float32, which is exact below 2^24, because a layer has one dtype.
    known = kept.put(0, part.ids[:, None, :, None].float(), part.logs[:, None])
    ids, logs = known[0][:, 0, :, 0].long(), known[1][:, 0]
    positions, sight = positions_and_mask(vocabulary.goes_on(ids), ids >= 0, part.ids.shape[1])
    x = block.take_in(part.states)
    for i, layer in enumerate(block.layers):
        assert isinstance(layer, Layer)
        q, k, v = layer.project(x, positions)
        x = layer.finish(x, q, *kept.put(1 + i, k, v), sight)
    read = block.leave(x)[:, None]
    read, _ = kept.put(1 + len(block.layers), read, read[..., :1])
    return Notes(read[:, 0], logs, ids)


class _Layers:
    """The layers of a cache beyond the base's; without a cache they are kept here.

    Args:
        cache: The cache, in which the base has put its new tokens already.
        first: How many layers are the base's.
        new: How many tokens are new.
    """

    def __init__(self, cache: Any, first: int, new: int):
        from transformers import DynamicCache

        if cache is None:
            cache, first = DynamicCache(), 0
        elif not isinstance(cache, DynamicCache):
            raise ValueError(
                f"a model that computes keeps a DynamicCache; got {type(cache).__name__}"
            )
        else:
            before = cache.get_seq_length(first) if len(cache.layers) > first else 0
            if before + new != cache.get_seq_length():
                raise ValueError(
                    "the cache must be filled by the model that computes from its first token on; "
                    f"got {cache.get_seq_length()} tokens, {before + new} of them so"
                )
        self.cache, self.first = cache, first

    def put(self, layer: int, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Add new tokens to a layer, and get all that are in it."""
        from transformers.cache_utils import DynamicLayer

        if len(self.cache.layers) == self.first + layer:
            self.cache.layers.append(DynamicLayer())
        return self.cache.update(keys, values, self.first + layer)
