"""What a block is made with, and how it is kept: numbers as safetensors, the rest as JSON."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent / "smollm2"
"""The block for the default model, which comes with the package."""


@dataclass(frozen=True)
class Config:
    """What a reader is made with.

    Args:
        width: Numbers in one state of the base.
        layers: Which of the base's states are read: 0 is the embedding, 1 the first layer's.
        size: Width of the reader's own layers.
        depth: How many it has.
        heads: Heads of attention in each.
        rank: Numbers in a key.
        memory: How many of the numbers before a place are read, the last ones.
        steps: Steps of the longest program.
        constants: Numbers that programs may use though no text has them.
        threshold: Where no value has so much probability, the base is left alone.
        dropout: Share of the states that is left out in training.
        base: The name and the hash of the base; another one is refused. Any will do if it is ().
    """

    width: int
    layers: tuple[int, ...]
    size: int = 256
    depth: int = 3
    heads: int = 4
    rank: int = 96
    memory: int = 20
    steps: int = 3
    constants: tuple[str, ...] = ("1", "2", "3", "7", "10", "12", "60", "100")
    threshold: float = 0.5
    dropout: float = 0.3
    base: tuple[str, ...] = ()


def save(folder: str | Path, config: Config, state: dict[str, Any]) -> None:
    """Write a block into a folder, its numbers in half precision."""
    from safetensors.torch import save_file

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save_file(
        {name: tensor.half().contiguous() for name, tensor in state.items()},
        folder / "block.safetensors",
    )
    text = json.dumps(asdict(config), indent=2) + "\n"
    (folder / "block.json").write_text(text, encoding="utf-8")


def load(folder: str | Path) -> tuple[Config, dict[str, Any]]:
    """What `save` wrote.

    Raises:
        ValueError: The folder holds no block, or one that can't be read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    folder = Path(folder)
    if not (folder / "block.json").is_file():
        raise ValueError(f"a saved block has a file block.json; got {folder} without it")
    try:
        entries = json.loads((folder / "block.json").read_text(encoding="utf-8"))
        for key in ("layers", "constants", "base"):
            entries[key] = tuple(entries[key])
        config = Config(**entries)
        state = load_file(folder / "block.safetensors")
    except (OSError, ValueError, TypeError, KeyError, SafetensorError) as error:
        raise ValueError(f"the block in {folder} can't be read: {error}") from error
    return config, {name: tensor.float() for name, tensor in state.items()}
