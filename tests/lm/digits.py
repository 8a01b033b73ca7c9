"""A tiny model and a tiny tokenizer that writes each digit as a token, made on the spot."""

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers


def make_tokenizer():
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {text: i for i, text in enumerate([*letters, "Ġ-", "<pad>"])}
    whole = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "-")]))
    whole.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    whole.decoder = decoders.ByteLevel()
    made = transformers.PreTrainedTokenizerFast(tokenizer_object=whole, pad_token="<pad>")
    made.padding_side = "left"
    return made


def make_base(tokenizer, seed=0):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=512,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=None,
        )
        return transformers.LlamaForCausalLM(config).eval()
