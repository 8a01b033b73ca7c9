"""A language model of two layers with random weights, as a GGUF file inside a wheel."""

import zipfile

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, quantize
from tokenizers.pre_tokenizers import ByteLevel

from arithmix.lm.kept import Source, sha256

WIDTH, HEADS, HEAD, FORWARD, LAYERS = 64, 4, 16, 96, 2
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOKENS = SPECIAL + sorted(ByteLevel.alphabet()) + ["Ġ=", "Ġ+"]


def write_gguf(path):
    draw = np.random.default_rng(0)
    file = GGUFWriter(path, "llama")
    file.add_name("tiny")
    file.add_block_count(LAYERS)
    file.add_context_length(128)
    file.add_embedding_length(WIDTH)
    file.add_feed_forward_length(FORWARD)
    file.add_head_count(HEADS)
    file.add_head_count_kv(HEADS // 2)
    file.add_rope_dimension_count(HEAD)
    file.add_rope_freq_base(10_000.0)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_vocab_size(len(TOKENS))
    file.add_tokenizer_model("gpt2")
    file.add_token_list(TOKENS)
    file.add_token_types([3] * len(SPECIAL) + [1] * (len(TOKENS) - len(SPECIAL)))
    file.add_token_merges(["Ġ =", "Ġ +"])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    file.add_pad_token_id(2)

    def add(name, *shape):
        weight = draw.normal(size=shape).astype(np.float32)
        if len(shape) == 1:
            file.add_tensor(name, weight)
        else:
            kind = GGMLQuantizationType.Q4_1
            file.add_tensor(name, quantize(weight, kind), raw_dtype=kind)

    add("token_embd.weight", len(TOKENS), WIDTH)
    add("output_norm.weight", WIDTH)
    for layer in range(LAYERS):
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
        add(f"blk.{layer}.attn_q.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.attn_k.weight", WIDTH // 2, WIDTH)
        add(f"blk.{layer}.attn_v.weight", WIDTH // 2, WIDTH)
        add(f"blk.{layer}.attn_output.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", FORWARD, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", FORWARD, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, FORWARD)
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


def write_wheel(gguf, path):
    """Put a GGUF file into a wheel, and say where it comes from."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.write(gguf, f"tiny/{gguf.name}")
    return source(path)


def source(wheel):
    return Source("Tiny", "tiny==1.0", sha256(wheel), "CC0-1.0", room=1_000_000)
