"""The layers of a reader: causal attention that skips the digits inside numbers."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


class Layer(nn.Module):
    """A causal layer of attention and a perceptron, each behind a norm."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def project(
        self, x: Float[Tensor, "batch seq width"], positions: Int[Tensor, "batch seq"]
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, each of the shape (batch, heads, seq, size)."""
        parts = self.qkv(self.attention_norm(x)).unflatten(-1, (3, self.heads, -1))
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        return rotate(q, positions), rotate(k, positions), v

    def finish(self, x: Tensor, q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        """The layer's output, where `mask` says which keys a query sees."""
        seen = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None])
        x = x + self.out(seen.transpose(1, 2).flatten(-2))
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def positions_and_mask(
    digit: Bool[Tensor, "batch seq"], there: Bool[Tensor, "batch seq"] | None, new: int
) -> tuple[Int[Tensor, "batch new"], Bool[Tensor, "batch new seq"]]:
    """The positions of the last `new` tokens, and which tokens each of them sees.

    A digit that another follows is seen by itself alone, and does not count.
    """
    length = digit.shape[1]
    positions = (~digit).cumsum(-1)[:, -new:]
    place = torch.arange(length, device=digit.device)
    mask = place <= place[-new:, None]
    followed = nn.functional.pad(digit[:, 1:], (0, 1))
    mask = mask & ~(followed[:, None] & (place < place[-new:, None]))
    if there is not None:
        mask = mask & there[:, None]
    # A token of padding sees itself, so that nothing is divided by zero.
    return positions, mask | (place == place[-new:, None])


def rotate(x: Float[Tensor, "batch heads seq size"], positions: Tensor) -> Tensor:
    """Keys or queries turned by their positions, so that only distances count."""
    half = x.shape[-1] // 2
    rates = 1000.0 ** (-torch.arange(half, device=x.device) / half)
    angles = positions[:, None, :, None] * rates
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], -1)
