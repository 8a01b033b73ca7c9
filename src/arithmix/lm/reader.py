r"""The reader: from a language model's states to a distribution over programs.

The state before a number asks, the states at the numbers before it answer:

    gate = softmax(G q)
    copy(i) = c(q) k_i
    step(i, op, j) = l_op(q) k_i + r_op(q) k_j + b_op(q)

with q the query and k_i the key of the i-th number before the place, or of a constant. A key is
made of the state at the number's last digit and of the one after it, which has seen what kind of
thing was counted, and of how many numbers stand between it and the place.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from .programs import OPERATIONS


@dataclass(frozen=True)
class Config:
    """What a reader is made with.

    Args:
        width: Numbers in one state of the base.
        layers: Which of the base's states are read: 0 is the embedding, 1 the first layer's.
        rank: Numbers in a query and in a key.
        memory: How many of the numbers before a place are read, the last ones.
        constants: Numbers that programs may use though no text has them.
        threshold: Where copy and one step together have less probability, the base is left alone.
        base: The name and the hash of the base; another one is refused. Any will do if it is ().
    """

    width: int
    layers: tuple[int, ...]
    rank: int = 128
    memory: int = 6
    constants: tuple[str, ...] = ("1", "2", "100")
    threshold: float = 0.1
    base: tuple[str, ...] = ()


class Reader(nn.Module):
    """A gate over base, copy and one step, and the probabilities of the programs.

    Args:
        config: What it is made with.
        generator: Where the parameters are drawn from, and in training what is left out; torch's
            default generator if None.
    """

    def __init__(self, config: Config, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.noise = generator
        states, rank, ops = config.width * len(config.layers), config.rank, len(OPERATIONS)

        def draw(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, generator=generator) * shape[-1] ** -0.5)

        self.query = draw(rank, states)
        self.query_bias = nn.Parameter(torch.zeros(rank))
        self.key = draw(rank, 2 * states)
        self.gate_weight = nn.Parameter(torch.zeros(3, rank))
        self.gate_bias = nn.Parameter(torch.zeros(3))
        self.copy = draw(rank, rank)
        self.left = draw(ops, rank, rank)
        self.right = draw(ops, rank, rank)
        self.operation = draw(ops, rank)
        self.recency = nn.Parameter(torch.zeros(config.memory, rank))
        self.constant = draw(len(config.constants), rank)

    def ask(self, states: Float[Tensor, "*batch states"]) -> Float[Tensor, "*batch rank"]:
        """The queries of states."""
        return nn.functional.gelu(self._level(states) @ self.query.mT + self.query_bias)

    def gate(self, query: Float[Tensor, "*batch rank"]) -> Float[Tensor, "*batch 3"]:
        """Log-probabilities of base, copy and one step."""
        return (query @ self.gate_weight.mT + self.gate_bias).log_softmax(-1)

    def programs(
        self,
        query: Float[Tensor, "batch rank"],
        numbers: Float[Tensor, "batch numbers two states"],
        missing: Bool[Tensor, "batch numbers"],
    ) -> tuple[Float[Tensor, "batch numbers"], Float[Tensor, "batch programs"]]:
        """Log-probabilities of the copies, and of the one-step programs in the order of `one_step`.

        Args:
            query: From `ask`.
            numbers: The states at each number's last digit and after it; the last number last.
            missing: Where a row has fewer numbers than the batch is wide: its first ones.
        """
        batch, count = missing.shape
        levelled = self._level(numbers).flatten(-2)
        recency = self.recency[:count].flip(0)
        keys = nn.functional.gelu(levelled @ self.key.mT + recency)
        keys = torch.cat([keys, self.constant.expand(batch, -1, -1)], 1)
        scale = keys.shape[-1] ** -0.5
        copies = torch.einsum("br,rs,bns->bn", query, self.copy, keys[:, :count]) * scale
        left = torch.einsum("br,ors,bns->bon", query, self.left, keys) * scale
        right = torch.einsum("br,ors,bns->bon", query, self.right, keys) * scale
        steps = left.unsqueeze(-1) + right.unsqueeze(-2)  # batch operation left right
        steps = steps + (query @ self.operation.mT)[..., None, None]
        unknown = nn.functional.pad(missing, (0, len(self.constant)))
        constant = torch.arange(keys.shape[1], device=keys.device) >= count
        no_program = unknown[:, :, None] | unknown[:, None, :] | (constant[:, None] & constant)
        # Finite, so that masses that are left out stay numbers in what is computed with them.
        steps = steps.masked_fill(no_program.unsqueeze(1), -1e4)
        return (
            copies.masked_fill(missing, -1e4).log_softmax(-1),
            steps.flatten(1).log_softmax(-1),
        )

    def _level(self, states: Float[Tensor, "*batch states"]) -> Float[Tensor, "*batch states"]:
        """States with each layer's brought to mean 0 and variance 1."""
        width = self.config.width
        chunks = states.to(self.query.dtype).unflatten(-1, (-1, width))
        levelled = nn.functional.layer_norm(chunks, (width,)).flatten(-2)
        if not self.training:
            return levelled
        # Half are left out: wordings that were never trained are then read better.
        kept = torch.rand(levelled.shape, generator=self.noise, device=levelled.device) < 0.5
        return 2 * levelled * kept

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the reader, without its base, into a folder: its numbers and how it was made."""
        from safetensors.torch import save_file

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.state_dict(), folder / "block.safetensors")
        text = json.dumps(asdict(self.config), indent=2) + "\n"
        (folder / "block.json").write_text(text, encoding="utf-8")

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> "Reader":
        """Read a reader that `save_pretrained` wrote.

        Raises:
            FileNotFoundError: The folder holds none.
        """
        from safetensors.torch import load_file

        folder = Path(folder)
        if not (folder / "block.json").is_file():
            raise FileNotFoundError(f"a saved block has a file block.json; got {folder} without it")
        entries = json.loads((folder / "block.json").read_text(encoding="utf-8"))
        for key in ("layers", "constants", "base"):
            entries[key] = tuple(entries[key])
        reader = cls(Config(**entries))
        reader.load_state_dict(load_file(folder / "block.safetensors"))
        return reader.eval()
