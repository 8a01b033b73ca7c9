"""A conversation with a language model that computes."""

from collections.abc import Callable
from typing import Any

import torch

from .answering import greedy
from .model import attach, detach
from .opening import block_of
from .readable import decode, readable
from .trace import Trace


class Talk:
    """A conversation, and what was computed in its last answer.

    Args:
        model: A causal language model of transformers, with a block attached or without.
        tokenizer: Its tokenizer; its chat template is used if it has one.
        tokens: The most tokens of an answer.
    """

    def __init__(self, model: Any, tokenizer: Any, tokens: int = 256):
        self.model, self.tokenizer, self.tokens = model, tokenizer, tokens
        self.block = block_of(model)
        self.computes = self.block is not None
        self.new()

    def new(self) -> None:
        """Forget the conversation."""
        self.said: list[dict[str, str]] = []
        self.trace: Trace | None = None
        self.start = 0
        """Where the last answer begins in the text of the trace."""

    def turn_on(self, computes: bool) -> None:
        """Attach the block, or take it off."""
        if computes and self.block is None:
            raise ValueError("there is no block to turn on; start with one by --block")
        self.computes = computes
        if computes:
            attach(self.model, self.tokenizer, self.block)
        else:
            detach(self.model)

    def answer(self, prompt: str, tell: Callable[[str], None] = lambda text: None) -> str:
        """The likeliest answer to a prompt, in the light of what was said before.

        Args:
            prompt: What the user says.
            tell: Is told each piece of the answer as it is written.

        Raises:
            ValueError: The conversation has become longer than the model can read.
        """
        said = [*self.said, {"role": "user", "content": prompt}]
        ids = self._encode(said).to(self.model.device)
        limit = getattr(self.model.config.get_text_config(), "max_position_embeddings", None)
        if limit and ids.shape[1] + self.tokens > limit:
            raise ValueError(
                f"the conversation has {ids.shape[1]} tokens, and the model reads {limit}, its "
                f"answer of up to {self.tokens} included; /new begins another"
            )
        fill = self.tokenizer.pad_token_id
        fill = fill if fill is not None else (self.tokenizer.eos_token_id or 0)
        with torch.no_grad():
            made = self.model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                streamer=_streamer(self.tokenizer, tell),
                **greedy(self.tokens, fill),
            )[0]
        text = self.tokenizer.decode(made[ids.shape[1] :], skip_special_tokens=True)
        self.said = [*said, {"role": "assistant", "content": text}]
        self._look_back(made, ids.shape[1])
        return text

    def _encode(self, said: list[dict[str, str]]) -> torch.Tensor:
        if self.tokenizer.chat_template:
            whole = self.tokenizer.apply_chat_template(
                said, add_generation_prompt=True, tokenize=False
            )
            # The template writes the marks itself.
            return self.tokenizer(whole, add_special_tokens=False, return_tensors="pt").input_ids
        # What is no chat model goes on with the text.
        whole = "\n".join(one["content"] for one in said)
        return self.tokenizer(whole, return_tensors="pt").input_ids

    def _look_back(self, made: torch.Tensor, given: int) -> None:
        """Find what was computed in an answer."""
        self.trace = None
        if not self.computes:
            return
        ids = made.tolist()
        while len(ids) > given and ids[-1] in self.tokenizer.all_special_ids:
            ids.pop()
        pieces = self.model.author.vocabulary.text(ids)
        self.trace = readable(self.model.trace(torch.tensor(ids)), ids, pieces, self.tokenizer)
        self.start = len(decode(self.tokenizer, ids[:given]))


def _streamer(tokenizer: Any, tell: Callable[[str], None]) -> Any:
    from transformers import TextStreamer

    class Streamer(TextStreamer):
        def on_finalized_text(self, text: str, stream_end: bool = False) -> None:
            tell(text)

    return Streamer(tokenizer, skip_prompt=True, skip_special_tokens=True)
