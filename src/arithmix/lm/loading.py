"""A language model and its tokenizer, ready to use: plain float32 modules of transformers.

Weights are read as data only: no pickled file is opened and no code comes with a model.
"""

import hashlib
import re
from pathlib import Path
from typing import NamedTuple

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from .kept import SMOLLM2, cache, damage

SAMPLE = 256


class Base(NamedTuple):
    """Which model something was trained for."""

    name: str
    hash: str


def load(where: str | Path | None = None) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a model in float32, and its tokenizer.

    Args:
        where: A folder, a GGUF file or a name on the model hub; the default model if left out.
            Only a name on the hub uses the network.

    Raises:
        ValueError: There is no such model, or it can't be read, in one sentence.
    """
    if where is None:
        return _read(_default())
    path = Path(where)
    if path.is_file() and path.suffix == ".gguf":
        return read_gguf(path)
    if path.is_dir():
        return _read(path)
    if path.exists():
        raise ValueError(f"a model is a folder or a .gguf file; got {where}")
    if isinstance(where, Path) or not re.fullmatch(r"[\w-][\w.-]*(/[\w.-]+)?(?<!\.gguf)", where):
        raise ValueError(f"there is no model at {where}")
    return _read(where, online=True)


def read_gguf(path: Path) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load a GGUF file, its blocks unpacked to float32. The default model's takes 20 s."""
    model, tokenizer = _read(path.parent, gguf=path.name)
    model.config.name_or_path = path.stem
    return model, tokenizer


def base(model: PreTrainedModel) -> Base:
    """A model's name, and a hash over 256 values of each of its parameters.

    Training changes it, as does another precision; the device does not.
    """
    digest = hashlib.sha256()
    for name, weight in model.named_parameters():
        digest.update(f"{name} {tuple(weight.shape)} {weight.dtype}".encode())
        flat = weight.detach().flatten()
        some = flat[:: max(1, flat.numel() // SAMPLE)].float().cpu().numpy()
        digest.update(some.astype("<f4").tobytes())
    return Base(Path(model.config.name_or_path or "").name, digest.hexdigest())


def _default() -> Path:
    folder = cache() / SMOLLM2.name
    if not folder.exists():
        raise ValueError("the language model is not here yet; `arithmix lm fetch` gets it")
    if found := damage(folder):
        raise ValueError(f"{folder} is damaged: {found}; `arithmix lm fetch` makes it again")
    return folder


def _read(
    where: str | Path, *, gguf: str | None = None, online: bool = False
) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    which = {"trust_remote_code": False, "local_files_only": not online, "gguf_file": gguf}
    # Unless told so, transformers may keep GGUF blocks, and then the model can't be trained.
    blocks = GgufConfig(dequantize=True) if gguf else None
    path = Path(where, gguf or "")
    try:
        model, info = AutoModelForCausalLM.from_pretrained(
            where,
            dtype=torch.float32,
            use_safetensors=True,
            quantization_config=blocks,
            output_loading_info=True,
            **which,
        )
        tokenizer = AutoTokenizer.from_pretrained(where, **which)
    except Exception as error:  # of a damaged file, readers raise whatever they stumble over
        reason = str(error).strip().partition("\n")[0]
        raise ValueError(f"{path} can't be loaded: {reason}") from error
    if missing := info["missing_keys"]:  # transformers has filled them with random numbers
        raise ValueError(f"{path} can't be loaded: it has no {min(missing)}")
    assert tokenizer is not None
    return model, tokenizer
