r"""The reader: from a language model's states to a distribution over programs.

A small causal network beside the frozen model (two to three layers, a few hundred wide) reads the
states of some of its layers at every token. Where a number may come next, what it has read there
asks, and what it has read at the numbers before answers:

    gate = softmax(G q)                     base, copy, one step, two steps, three steps
    copy(i) = c(q) k_i
    step(i, op, j) = l_op(q) k_i + r_op(q) k_j + p_op(k_i, k_j) + b_op(q)

with q the query and k_i the key of the i-th number before the place, or of a constant. The result
of a step is a new number with a key of its own, and the query of the next step knows of it: so a
program of more steps is a sequence of such choices, each with probabilities that sum to one.

Digits inside a number are skipped: nothing attends to them and they take no position, so that a
number of a hundred digits is as far away as one of two.
"""

from pathlib import Path

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from .block import Config, load, save
from .layers import Layer, positions_and_mask
from .programs import OPERATIONS
from .slots import NEVER, State, Steps, normal, possible, windowed

OPS = len(OPERATIONS)


class Reader(nn.Module):
    """A gate over the base and the experts, and the probabilities of the programs.

    Args:
        config: What it is made with.
        generator: Where the parameters are drawn from; torch's default generator if None.
    """

    def __init__(self, config: Config, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        self.noise: torch.Generator | None = None
        width, rank = config.size, config.rank
        self.enter = nn.Linear(config.width * len(config.layers), width)
        self.layers = nn.ModuleList(Layer(width, config.heads) for _ in range(config.depth))
        self.leave = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.gate_head = nn.Linear(width, 2 + config.steps)
        self.style_head = nn.Linear(width, 4)
        self.key = nn.Linear(2 * width, rank)
        self.recency = nn.Parameter(torch.empty(config.memory, rank))
        self.constant = nn.Parameter(torch.empty(len(config.constants), rank))
        self.copy = nn.Linear(width, rank, bias=False)
        self.left = nn.Linear(width, OPS * rank, bias=False)
        self.right = nn.Linear(width, OPS * rank, bias=False)
        self.operation = nn.Linear(width, OPS)
        self.pair_left = nn.Parameter(torch.empty(OPS, rank, 32))
        self.pair_right = nn.Parameter(torch.empty(OPS, rank, 32))
        self.goal = nn.Parameter(torch.empty(config.steps, width))
        self.result = nn.Linear(2 * rank, rank)
        self.result_of = nn.Parameter(torch.empty(OPS, rank))
        self.used = nn.Parameter(torch.empty(rank))
        self.onward = nn.Linear(width + 3 * rank, width)
        self.reset_parameters(generator)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw every parameter anew."""
        for name, parameter in self.named_parameters():
            with torch.no_grad():
                if parameter.dim() == 1:
                    # Norms start as the identity, biases at zero.
                    is_norm = "norm" in name or "leave" in name
                    parameter.fill_(1.0 if is_norm and name.endswith("weight") else 0.0)
                else:
                    spread = parameter.shape[-1] ** -0.5 if "pair" not in name else 0.05
                    parameter.normal_(0, spread, generator=generator)
        with torch.no_grad():
            self.gate_head.weight.zero_()
            self.recency.mul_(0.1)

    def read(
        self,
        states: Float[Tensor, "batch seq states"],
        digit: Bool[Tensor, "batch seq"],
        there: Bool[Tensor, "batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq width"]:
        """What is read at every token of whole texts.

        Args:
            states: The base's states, one layer's after the other.
            digit: Which tokens go on with a number: a digit after a digit.
            there: Which tokens are no padding; all if left out.
        """
        x = self.take_in(states)
        positions, mask = positions_and_mask(digit, there, states.shape[1])
        for layer in self.layers:
            assert isinstance(layer, Layer)
            q, k, v = layer.project(x, positions)
            x = layer.finish(x, q, k, v, mask)
        return self.leave(x)

    def take_in(
        self, states: Float[Tensor, "batch seq states"]
    ) -> Float[Tensor, "batch seq width"]:
        """States with each layer's brought to mean 0 and variance 1, some left out in training."""
        width = self.config.width
        chunks = states.to(self.enter.weight.dtype).unflatten(-1, (-1, width))
        levelled = nn.functional.layer_norm(chunks, (width,)).flatten(-2)
        return self.enter(self._leave_out(levelled, self.config.dropout))

    def ask(self, read: Float[Tensor, "batch width"]) -> Float[Tensor, "batch width"]:
        """The queries of what has been read before numbers."""
        return self._leave_out(nn.functional.gelu(self.query(read)), 0.1)

    def gate(self, q: Float[Tensor, "batch width"]) -> Float[Tensor, "batch experts"]:
        """Log-probabilities of the base, a copy, and programs of one step, two and three."""
        return self.gate_head(q).log_softmax(-1)

    def style(self, q: Float[Tensor, "batch width"]) -> Float[Tensor, "batch 4"]:
        """Log-probabilities of how a value is written: plain, 1,234, 3.50 and 1,234.50."""
        return self.style_head(q).log_softmax(-1)

    def slots(
        self,
        ends: Float[Tensor, "batch numbers width"],
        after: Float[Tensor, "batch numbers width"],
        there: Bool[Tensor, "batch numbers"],
    ) -> Steps:
        """The keys of numbers, the last number last, and of the constants.

        Args:
            ends: What was read at each number's last token.
            after: What was read one token later, which has seen what is counted.
            there: Which are numbers; where a row has fewer than others its first are not.
        """
        count = there.shape[1]
        keys = self.key(torch.cat([ends, after], -1)) + self.recency[:count].flip(0)
        constants = self.constant.expand(len(keys), -1, -1)
        keys = nn.functional.gelu(torch.cat([keys, constants], 1))
        constant = torch.arange(keys.shape[1], device=keys.device) >= count
        there = nn.functional.pad(there, (0, len(self.constant)), value=True)
        return Steps(keys, there, constant)

    def copies(
        self, q: Float[Tensor, "batch width"], slots: Steps
    ) -> Float[Tensor, "batch numbers"]:
        """Log-probabilities of copying each number."""
        numbers = ~slots.constant
        keys, there = slots.keys[:, numbers], slots.there[:, numbers]
        logits = torch.einsum("br,bnr->bn", self.copy(q), keys) * self.config.rank**-0.5
        return logits.masked_fill(~there, NEVER).log_softmax(-1)

    def first(
        self, q: Float[Tensor, "batch width"], slots: Steps, steps: int
    ) -> tuple[Float[Tensor, "batch width"], Float[Tensor, "batch op left right"]]:
        """The query of a program of so many steps, and log-probabilities of its first."""
        q = q + self.goal[steps - 1]
        return q, normal(self.dense(q, slots))

    def first_of_three(self, q: Tensor, slots: Steps) -> tuple[Tensor, Steps, Tensor]:
        """As `first`, and the slots among which a program of three steps chooses."""
        slots = windowed(slots)
        q, logs = self.first(q, slots, 3)
        return q, slots, logs

    def after_first(
        self, q: Tensor, keys: Tensor, there: Tensor, op: Tensor, left: Tensor, right: Tensor
    ) -> "State":
        """What a program's second step is chosen with, where the first is known."""
        made, onward = self.combine(keys, op, left, right, q)
        return State(onward, self.mark(keys, left, right), there, made)

    def last_of_two(self, state: "State") -> Float[Tensor, "rows op 2 slots"]:
        """Log-probabilities of the steps that go on with the first one's result."""
        return normal(self.going_on(*state))

    def second_of_three(self, state: "State") -> tuple[Tensor, Tensor]:
        """Log-probabilities of steps that go on with the result, and of steps that stand alone."""
        goes = self.going_on(*state)
        none = torch.zeros(state.keys.shape[1], dtype=torch.bool, device=state.q.device)
        apart = self.dense(state.q, Steps(state.keys, state.there, none))
        both = torch.cat([goes.flatten(1), apart.flatten(1)], 1).log_softmax(-1)
        first, second = both.tensor_split([goes[0].numel()], 1)
        return first.view_as(goes), second.view_as(apart)

    def after_chain(self, state: "State", op: Tensor, side: Tensor, slot: Tensor) -> Tensor:
        """Log-probabilities of a third step that goes on with the second one's result."""
        keys = torch.cat([state.keys, state.result[:, None]], 1)
        last = torch.full_like(slot, keys.shape[1] - 1)
        left, right = torch.where(side == 0, last, slot), torch.where(side == 0, slot, last)
        made, onward = self.combine(keys, op, left, right, state.q)
        marked = self.mark(state.keys, slot, slot)
        return normal(self.going_on(onward, marked, state.there, made))

    def after_pair(self, state: "State", op: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """Log-probabilities of a third step on the results of two that stand alone."""
        made, onward = self.combine(state.keys, op, left, right, state.q)
        there = torch.ones(len(op), 1, dtype=torch.bool, device=op.device)
        return normal(self.going_on(onward, made[:, None], there, state.result))

    def mark(self, keys: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """Keys that say of two slots that they have been used."""
        slots = torch.arange(keys.shape[1], device=keys.device)
        used = (slots == left[:, None]) | (slots == right[:, None])
        return keys + used[..., None] * self.used

    def dense(self, q: Tensor, slots: Steps) -> Float[Tensor, "batch op left right"]:
        """Scores of all steps on numbers and constants; those that are no step are `NEVER`."""
        keys = slots.keys
        left, right, bias = self._sides(q)
        scale = self.config.rank**-0.5
        logits = torch.einsum("bor,bnr->bon", left, keys).unsqueeze(-1) * scale
        logits = logits + torch.einsum("bor,bnr->bon", right, keys).unsqueeze(-2) * scale
        a = torch.einsum("bnr,ors->bons", keys, self.pair_left)
        b = torch.einsum("bnr,ors->bons", keys, self.pair_right)
        logits = logits + a @ b.mT + bias[..., None, None]
        return logits.masked_fill(~possible(slots), NEVER)

    def combine(
        self, keys: Tensor, op: Int[Tensor, " rows"], left: Tensor, right: Tensor, q: Tensor
    ) -> tuple[Float[Tensor, "rows rank"], Float[Tensor, "rows width"]]:
        """The key of a step's result, and the query of the step after it.

        Args:
            keys: The keys that the step could choose among, (rows, slots, rank).
            op: The operation chosen.
            left: Which key is its left operand.
            right: Which its right.
            q: The query of this step.
        """
        rows = torch.arange(len(op), device=op.device)
        a, b = keys[rows, left], keys[rows, right]
        result = nn.functional.gelu(self.result(torch.cat([a, b], -1)) + self.result_of[op])
        onward = self.onward(torch.cat([q, a, b, result], -1))
        return result, q + nn.functional.gelu(onward)

    def going_on(
        self, q: Tensor, keys: Tensor, allowed: Tensor, result: Tensor
    ) -> Float[Tensor, "rows op 2 slots"]:
        """Scores of steps that use a result: as the left operand (0) or the right one (1)."""
        left, right, bias = self._sides(q)
        scale = self.config.rank**-0.5
        lr = torch.einsum("por,pr->po", left, result) * scale
        rr = torch.einsum("por,pr->po", right, result) * scale
        lx = torch.einsum("por,pnr->pon", left, keys) * scale
        rx = torch.einsum("por,pnr->pon", right, keys) * scale
        ax = torch.einsum("pnr,ors->pons", keys, self.pair_left)
        bx = torch.einsum("pnr,ors->pons", keys, self.pair_right)
        ar = torch.einsum("pr,ors->pos", result, self.pair_left)
        br = torch.einsum("pr,ors->pos", result, self.pair_right)
        first = lr[..., None] + rx + torch.einsum("pos,pons->pon", ar, bx)
        second = rr[..., None] + lx + torch.einsum("pos,pons->pon", br, ax)
        logits = torch.stack([first, second], 2) + bias[..., None, None]
        order = torch.ones(OPS, 2, dtype=torch.bool, device=q.device)
        order[[OPERATIONS.index("+"), OPERATIONS.index("*")], 1] = False
        return logits.masked_fill(~(order[..., None] & allowed[:, None, None]), NEVER)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the reader, without its base, into a folder: its numbers and how it was made."""
        save(folder, self.config, self.state_dict())

    @classmethod
    def from_pretrained(cls, folder: str | Path) -> "Reader":
        """Read a reader that `save_pretrained` wrote.

        Raises:
            ValueError: The folder holds none, or one that can't be read.
        """
        config, state = load(folder)
        reader = cls(config)
        try:
            reader.load_state_dict(state)
        except RuntimeError as error:
            raise ValueError(f"the block in {folder} does not fit its block.json") from error
        return reader.eval()

    def _leave_out(self, x: Tensor, share: float) -> Tensor:
        """In training some numbers are zero: wordings never trained are then read better."""
        if not self.training or not share:
            return x
        kept = torch.rand(x.shape, generator=self.noise, device=x.device) >= share
        return x * kept / (1 - share)

    def _sides(self, q: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        shape = (OPS, self.config.rank)
        return (
            self.left(q).unflatten(-1, shape),
            self.right(q).unflatten(-1, shape),
            self.operation(q),
        )
