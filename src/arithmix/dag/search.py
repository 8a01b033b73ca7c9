r"""Every arithmetic program of a few steps, each function once, with what it loses on given rows.

A step takes two different slots and one of six operations, i + j, i * j, i - j, j - i, i / j and
j / i, so n inputs and d steps make \prod_k 6 C(n + k, 2) plans. Most of them say the same thing in
another order or have steps that nothing uses. So what grows here is a set of steps, whatever their
order, all of which can still be used: a step that nothing uses yet is a root, a step joins two
slots, and so s steps before the end there are at most s + 1 roots. A program has one root.

Sets are kept whole while the next step of all of them fits the budget; beyond it only the most
promising go on, a beam. The promise of a set is how well y, or ln|y|, is a linear function of two
of its slots, or of their logarithms: that is what a last step is, in one domain or the other.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

OPERATIONS = 6
TURNED = (0, 1, 3, 2, 5, 4)
"""Which operation on (j, i) each operation on (i, j) is."""
BYTES = 64
"""What a way to go on from a set takes in memory, about."""
CHUNK = 2**18
"""Numbers that are computed at once."""
WORST = 50.0
"""The log loss of what is not a number."""


def plans(inputs: int, depth: int) -> int:
    """How many plans of exactly `depth` steps there are.

    >>> plans(4, 3)
    194400
    """
    return math.prod(OPERATIONS * math.comb(inputs + k, 2) for k in range(depth))


def combine(
    a: Float[Tensor, "pairs rows"], b: Float[Tensor, "pairs rows"]
) -> Float[Tensor, "6 pairs rows"]:
    """All six operations on two tensors."""
    return torch.stack([a + b, a * b, a - b, b - a, a / b, b / a])


def evaluate(
    codes: Int[Tensor, "programs steps"], x: Float[Tensor, "rows inputs"]
) -> Float[Tensor, "programs rows"]:
    """What programs of one or more steps compute."""
    slots = list(x.T.expand(len(codes), -1, -1).unbind(1))
    for code in codes.unbind(1):
        i, j = torch.triu_indices(len(slots), len(slots), 1, device=x.device)[:, code // OPERATIONS]
        there = torch.stack(slots, 1)
        programs = torch.arange(len(codes), device=x.device)
        a, b = there[programs, i], there[programs, j]
        operation = (code % OPERATIONS)[:, None]
        # Signs and sides first, so that each operation is computed once.
        swapped = (operation == 3) | (operation == 5)
        a, b = torch.where(swapped, b, a), torch.where(swapped, a, b)
        total = a + torch.where(operation == 0, b, -b)
        product = torch.where(operation == 1, a * b, a / b)
        slots.append(torch.where((operation == 1) | (operation >= 4), product, total))
    return slots[-1]


def oldest_equal(values: Float[Tensor, "functions rows"]) -> Int[Tensor, " functions"]:
    """For each function the first that has the same values, up to rounding."""
    draw = torch.Generator().manual_seed(0)
    probe = torch.rand(values.shape[1], generator=draw, dtype=torch.float64).to(values.device)
    size = values.abs().amax(1).clamp(min=1e-300)
    # Equal functions have equal size and equal sums of their rows, but for rounding.
    key = (values / size[:, None]) @ probe + math.pi * size.log()
    key, order = key.nan_to_num(nan=torch.inf).sort()
    begins = torch.ones_like(order, dtype=torch.bool)
    begins[1:] = key[1:] - key[:-1] > 1e-10 * key[1:].abs().clamp(min=1.0)
    group = begins.cumsum(0) - 1
    oldest = torch.full((int(group[-1]) + 1,), len(values), device=values.device)
    oldest = oldest.scatter_reduce(0, group, order, "amin")
    return torch.empty_like(order).scatter(0, order, oldest[group])


def entries(code: int, slots: int) -> dict[int, int]:
    """The entries of O in a step with that code, among `slots` slots that are there."""
    operation, pair = code % OPERATIONS, code // OPERATIONS
    i, j = (int(k) for k in torch.triu_indices(slots, slots, 1)[:, pair])
    return {i: -1 if operation in (3, 5) else 1, j: -1 if operation in (2, 4) else 1}


def linear(code: int) -> bool:
    """Whether a step with that code adds or subtracts."""
    return code % OPERATIONS in (0, 2, 3)


@dataclass
class Target:
    """The answers, and how far from them a value is."""

    y: Float[Tensor, " rows"]

    def __post_init__(self) -> None:
        size = self.y.abs().median().clamp(min=1e-300)
        self.weight = 1 / (self.y.square() + size.square())
        self.weight /= self.weight.mean() * self.y.square().mean().clamp(min=1e-300)

    def loss(self, values: Float[Tensor, "*shape rows"]) -> Float[Tensor, "*shape"]:
        """The log of the scale-free squared error; rounding is no error."""
        error = ((values - self.y).square() * self.weight).mean(-1)
        return torch.nan_to_num((error + 1e-24).log(), nan=WORST, posinf=WORST).clamp(max=WORST)


@dataclass
class Sets:
    """Sets of steps."""

    nodes: Int[Tensor, "sets steps"]
    """The value of each step, as a row of the table of values."""
    codes: Int[Tensor, "sets steps"]
    """What each step does: 6 times its pair of slots, plus its operation."""
    roots: Bool[Tensor, "sets steps"]
    """Which steps nothing uses yet."""

    def __getitem__(self, index: Tensor) -> "Sets":
        return Sets(self.nodes[index], self.codes[index], self.roots[index])


@dataclass
class Level:
    """All programs with a number of steps."""

    depth: int
    losses: Float[Tensor, " programs"]
    codes: Int[Tensor, "programs steps"]
    beam: bool
    """Whether sets were left out on the way."""


@dataclass
class Search:
    """The programs over the columns of `x`, level by level.

    Args:
        x: The inputs, a column each; constants are columns too.
        y: The answers.
        depth: The largest number of steps.
        budget: Bytes that the next step of all sets may take.
    """

    x: Float[Tensor, "rows inputs"]
    y: Float[Tensor, " rows"]
    depth: int
    budget: int

    def __post_init__(self) -> None:
        self.inputs = self.x.shape[1]
        self.target = Target(self.y)
        self.values = self.x.T.contiguous()
        self.beam = False

    def levels(self) -> Iterator[Level]:
        """The programs of no step, which are the inputs, of one step, of two, ..."""
        none = torch.zeros(self.inputs, 0, dtype=torch.int64, device=self.x.device)
        yield Level(0, self.target.loss(self.values), none, False)
        empty = none[:1]
        sets = Sets(empty, empty, empty.bool())
        for depth in range(1, self.depth + 1):
            last = depth == self.depth
            sets = self._afford(sets, last)
            owner, pair, after = self._pairs(sets, 1 if last else self.depth - depth + 1)
            pairs, place = self._unique(sets, owner, pair)
            losses, fresh = self._evaluate(pairs, keep=not last)
            ends = after == 1
            yield self._programs(depth, sets, owner[ends], pair[ends], place[:, ends], losses)
            if not last:
                sets = self._grow(
                    sets, owner, pair, fresh[place[0][:, None], self._turned(place[1])]
                )

    def _slots(self, sets: Sets) -> Int[Tensor, "sets slots"]:
        first = torch.arange(self.inputs, device=self.x.device).expand(len(sets.nodes), -1)
        return torch.cat([first, sets.nodes], 1)

    def _pairs(self, sets: Sets, most: int) -> tuple[Tensor, Tensor, Tensor]:
        """Sets and pairs of their slots that leave at most so many roots, and how many."""
        count = self.inputs + sets.nodes.shape[1]
        i, j = torch.triu_indices(count, count, 1, device=self.x.device)
        open_ = torch.nn.functional.pad(sets.roots, (self.inputs, 0)).int()
        after = open_.sum(1, keepdim=True) - open_[:, i] - open_[:, j] + 1
        owner, pair = (after <= most).nonzero(as_tuple=True)
        return owner, pair, after[owner, pair]

    def _unique(self, sets: Sets, owner: Tensor, pair: Tensor) -> tuple[Tensor, Tensor]:
        """The different pairs of values; which of them each pair of slots is, and if turned."""
        slots = self._slots(sets)
        ends = torch.triu_indices(slots.shape[1], slots.shape[1], 1, device=self.x.device)
        i, j = slots[owner, ends[0][pair]], slots[owner, ends[1][pair]]
        low, high = torch.minimum(i, j), torch.maximum(i, j)
        keys, place = torch.unique(low * len(self.values) + high, return_inverse=True)
        pairs = torch.stack([keys // len(self.values), keys % len(self.values)])
        return pairs, torch.stack([place, (i > j).long()])

    def _turned(self, turned: Int[Tensor, " pairs"]) -> Int[Tensor, "pairs 6"]:
        """The operations on each pair of values that those on a pair of slots are, in order."""
        operations = torch.tensor([range(OPERATIONS), TURNED], device=self.x.device)
        return operations[turned]

    def _evaluate(
        self, pairs: Int[Tensor, "2 pairs"], keep: bool
    ) -> tuple[Float[Tensor, "pairs 6"], Int[Tensor, "pairs 6"]]:
        """Losses of all operations on pairs of values and, to keep, where the new values are."""
        losses, kept = [], []
        for chunk in pairs.split(max(1, CHUNK // (OPERATIONS * len(self.y))), 1):
            values = combine(self.values[chunk[0]], self.values[chunk[1]]).transpose(0, 1)
            losses.append(self.target.loss(values))
            if keep:
                kept.append(values.flatten(0, 1))
        place = torch.zeros(0, dtype=torch.int64, device=self.x.device)
        if keep:
            place = self._remember(torch.cat(kept)).unflatten(0, (-1, OPERATIONS))
        return torch.cat(losses), place

    def _remember(self, values: Float[Tensor, "new rows"]) -> Int[Tensor, " new"]:
        """Append values to the table, each once, and say where each is.

        What is zero or not a number has no place: -1.
        """
        everything = torch.cat([self.values, values])
        usable = everything.isfinite().all(1) & (everything.abs().amax(1) > 0)
        chosen = oldest_equal(everything)
        known = len(self.values)
        new = (chosen >= known) & (chosen == torch.arange(len(chosen), device=chosen.device))
        new &= usable
        place = torch.full_like(chosen, -1)
        place[:known] = torch.arange(known, device=chosen.device)
        place[new] = known + torch.arange(int(new.sum()), device=chosen.device)
        self.values = torch.cat([self.values, everything[new]])
        return torch.where(usable, place[chosen], -1)[known:]

    def _programs(
        self,
        depth: int,
        sets: Sets,
        owner: Tensor,
        pair: Tensor,
        place: Int[Tensor, "2 next"],
        losses: Float[Tensor, "pairs 6"],
    ) -> Level:
        """The programs that end here; of several ways to one pair of values the first."""
        first = torch.full((len(losses),), place.shape[1], device=place.device)
        index = torch.arange(place.shape[1], device=place.device)
        first = first.scatter_reduce(0, place[0], index, "amin")
        there = first < place.shape[1]
        first = first[there]
        code = pair[first][:, None] * OPERATIONS + self._turned(place[1][first])
        before = sets.codes[owner[first]][:, None].expand(-1, OPERATIONS, -1)
        codes = torch.cat([before, code[..., None]], -1).flatten(0, 1)
        return Level(depth, losses[there].flatten(), codes, self.beam)

    def _grow(
        self,
        sets: Sets,
        owner: Tensor,
        pair: Tensor,
        nodes: Int[Tensor, "next 6"],
    ) -> Sets:
        """The sets with one step more, each once."""
        which, operation = (nodes >= 0).nonzero(as_tuple=True)
        owner, pair, node = owner[which], pair[which], nodes[which, operation]
        count = self.inputs + sets.nodes.shape[1]
        ends = torch.triu_indices(count, count, 1, device=self.x.device)[:, pair] - self.inputs
        steps = torch.arange(count - self.inputs, device=self.x.device)
        used = (ends[0][:, None] == steps) | (ends[1][:, None] == steps)
        grown = Sets(
            torch.cat([sets.nodes[owner], node[:, None]], 1),
            torch.cat([sets.codes[owner], (pair * OPERATIONS + operation)[:, None]], 1),
            torch.nn.functional.pad(sets.roots[owner] & ~used, (0, 1), value=True),
        )
        # A sum of random numbers, one per step and another if it is a root, knows no order.
        draw = torch.Generator().manual_seed(1)
        tags = torch.randint(-(2**62), 2**62, (2, len(self.values)), generator=draw).to(
            self.x.device
        )
        key = (tags[0][grown.nodes] + tags[1][grown.nodes] * grown.roots).sum(1)
        key, order = key.sort(stable=True)
        begins = torch.ones_like(key, dtype=torch.bool)
        begins[1:] = key[1:] != key[:-1]
        return grown[order[begins].sort().values]

    def _afford(self, sets: Sets, last: bool) -> Sets:
        """As many sets as the budget has room for, the most promising of them."""
        pairs = math.comb(self.inputs + sets.nodes.shape[1], 2)
        # The last step makes no new sets.
        room = max(1, self.budget // (BYTES * pairs * (1 if last else OPERATIONS)))
        if len(sets.nodes) <= room:
            return sets
        self.beam = True
        return sets[self._promise(sets).topk(room).indices]

    def _promise(self, sets: Sets) -> Float[Tensor, " sets"]:
        """How much of y, or of ln|y|, two slots of a set explain together."""
        slots = self._slots(sets)
        roots = torch.nn.functional.pad(sets.roots, (self.inputs, 0))
        best = torch.full((len(slots),), -1.0, dtype=torch.float64, device=slots.device)
        domains = [(self.values, self.y)]
        domains += [
            (self.values.abs().clamp(min=1e-300).log(), self.y.abs().clamp(min=1e-300).log())
        ]
        for values, y in domains:
            values, y = _standard(values), _standard(y)
            own = values @ y
            for i in range(slots.shape[1]):
                for j in range(i):
                    a, b = slots[:, i], slots[:, j]
                    chunks = zip(a.split(CHUNK // len(y)), b.split(CHUNK // len(y)), strict=True)
                    mutual = torch.cat([(values[p] * values[q]).sum(1) for p, q in chunks])
                    both = own[a] ** 2 + own[b] ** 2 - 2 * own[a] * own[b] * mutual
                    share = both / (1 - mutual**2).clamp(min=1e-9)
                    open_ = roots[:, i] | roots[:, j]
                    best = torch.where(open_, torch.maximum(best, share), best)
        return best


def _standard(values: Tensor) -> Tensor:
    """Less the mean, and of length one."""
    values = values - values.mean(-1, keepdim=True)
    return values / values.norm(dim=-1, keepdim=True).clamp(min=1e-300)
