"""A tokenizer and a language model from scratch."""

from collections.abc import Sequence
from typing import Any

import torch


def make_tokenizer(texts: Sequence[str], size: int = 2048) -> Any:
    """A byte-level tokenizer that writes digit by digit, learned from texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=["<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>")


def make_model(tokenizer: Any, width: int, depth: int, seed: int) -> Any:
    """A Llama with weights drawn from a seed."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=8 * width // 3 // 32 * 32,
        num_hidden_layers=depth,
        num_attention_heads=width // 64,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    with torch.random.fork_rng():  # transformers draws from the global generator
        torch.random.manual_seed(seed)
        return LlamaForCausalLM(config)
