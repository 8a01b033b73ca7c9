"""Tiny models, and tokenizers that write digits as the large ones do, made on the spot."""

import string

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())
# Of Llama 3, shortened: digits in groups of up to three, a space before a number apart.
WORDS = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def make_tokenizer(kind="single"):
    """A tokenizer by how it writes digits: "single", "grouped", "merged" or "marked"."""
    return {"single": _single, "grouped": _grouped, "merged": _merged, "marked": _marked}[kind]()


def _single():
    """Digit by digit, as SmolLM2."""
    return _finish(
        [("Ġ", "-")],
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Digits(individual_digits=True),
                pre_tokenizers.ByteLevel(add_prefix_space=False),
            ]
        ),
    )


def _grouped():
    """Up to three digits in a token, as Llama 3."""
    ten = string.digits
    pairs = [(a, b) for a in ten for b in ten]
    triples = [(a + b, c) for a in ten for b in ten for c in ten]
    return _finish(
        [("Ġ", "-"), *pairs, *triples],
        pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(Regex(WORDS), "isolated"),
                pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
            ]
        ),
    )


def _merged():
    """Some groups of digits, some with the space before them, as GPT-2."""
    merges = [("Ġ", "-"), ("1", "2"), ("3", "4"), ("34", "5"), ("0", "0"), ("9", "9")]
    merges += [("Ġ", "12"), ("Ġ", "345"), ("Ġ", "7"), ("Ġ", "1"), ("i", "s"), ("Ġ", "is")]
    return _finish(merges, pre_tokenizers.ByteLevel(add_prefix_space=False))


def _marked():
    """A mark for each space and before the text, as SentencePiece."""
    pieces = ["<unk>", "▁", *string.printable[:94], "\n", "▁-", "▁a", "▁is", "is"]
    vocab = {text: i for i, text in enumerate([*pieces, "<pad>"])}
    merges = [("▁", "-"), ("▁", "a"), ("i", "s"), ("▁", "is")]
    whole = Tokenizer(models.BPE(vocab=vocab, merges=merges, unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(), pre_tokenizers.Digits(individual_digits=True)]
    )
    whole.decoder = decoders.Metaspace()
    return _fast(whole, unk_token="<unk>")


def _finish(merges, splitter):
    vocab = {text: i for i, text in enumerate([*LETTERS, *map("".join, merges), "<pad>"])}
    whole = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    whole.pre_tokenizer = splitter
    whole.decoder = decoders.ByteLevel()
    return _fast(whole)


def _fast(whole, **special):
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=whole, pad_token="<pad>", **special
    )
    made.padding_side = "left"
    return made


def make_base(tokenizer, seed=0, longest=512):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        config = transformers.LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=longest,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=None,
            eos_token_id=None,
        )
        return transformers.LlamaForCausalLM(config).eval()
