"""Which programs come back from examples: every one of a depth, or a sample of them.

Examples are drawn from U[1, 2) and the answer is judged on U[2, 6), where it must agree with the
truth to nine digits.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..measure.stats import wilson
from ..table import Table
from .descent import descend
from .discover import Discover
from .execute import execute
from .search import OPERATIONS, Search, evaluate, oldest_equal

EXAMPLES = 1000
LEAST_SECONDS = 1.0
Predict = Callable[[Tensor], Tensor]
Method = Callable[[Tensor, Tensor, int, float], Predict]
"""From examples, a depth and seconds that may be spent, a function that predicts."""


@dataclass(frozen=True)
class Case:
    """Programs of one kind: the steps of each, and the noise on the answers."""

    name: str
    inputs: int
    depth: int
    programs: tuple[tuple[int, ...], ...]
    noise: float = 0.0


def distribution(x: Tensor, y: Tensor, depth: int, seconds: float) -> Predict:
    """The distribution over all programs of three steps or `depth`; it takes the time it takes."""
    plan = Discover(max(3, depth), device=x.device.type).fit(x.cpu(), y.cpu()).plan_
    return lambda values: execute(plan, values)


def soft_plans(x: Tensor, y: Tensor, depth: int, seconds: float) -> Predict:
    """Gradient descent on soft plans of the right depth, for as long as it may."""
    plan = descend(x, y, depth, seconds)
    return lambda values: execute(plan, values)


METHODS: dict[str, Method] = {"distribution": distribution, "soft plans": soft_plans}


def different(inputs: int, depth: int) -> Tensor:
    """The steps of every program that no shorter one and no other of its depth equals."""
    draw = torch.Generator().manual_seed(0)
    x = 1 + torch.rand(16, inputs, generator=draw, dtype=torch.float64)
    values, codes = [], []
    for level in Search(x, x[:, 0], depth, 2**33).levels():
        chunks = level.codes.split(2**16)
        values += [evaluate(chunk, x) for chunk in chunks] if level.depth else [x.T]
        codes = level.codes
    every = torch.cat(values)
    first = oldest_equal(every) == torch.arange(len(every))
    plain = every.isfinite().all(1) & (every.abs().amax(1) > 1e-6) & (every.std(1) > 1e-6)
    return codes[(first & plain)[-len(codes) :]]


def balanced(codes: Sequence[int], inputs: int) -> bool:
    """Whether the last step joins two results that stand side by side."""
    last = len(codes) - 1
    slots = inputs + last
    pair = torch.triu_indices(slots, slots, 1)[:, codes[-1] // OPERATIONS].tolist()
    before = torch.triu_indices(slots - 1, slots - 1, 1)[:, codes[-2] // OPERATIONS].tolist()
    return min(pair) >= inputs and max(before) < slots - 2


def cases(count: int, deep: int, noise: float, seed: int = 0) -> Iterator[Case]:
    """Programs of one step, of two, `count` of three and `deep` of four; again with noise."""
    draw = torch.Generator().manual_seed(seed)

    def sample(programs: list[tuple[int, ...]], size: int) -> tuple[tuple[int, ...], ...]:
        order = torch.randperm(len(programs), generator=draw)[:size].tolist()
        return tuple(programs[i] for i in order)

    found = {d: [tuple(c) for c in different(4, d).tolist()] for d in (1, 2, 3)}
    sides = [[c for c in found[3] if balanced(c, 4) == side] for side in (True, False)]
    easy = [
        ("1 step", 1, sample(found[1], 2 * count)),
        ("2 steps", 2, sample(found[2], 2 * count)),
        ("3 steps, balanced", 3, sample(sides[0], count // 2)),
        ("3 steps, unbalanced", 3, sample(sides[1], count - count // 2)),
    ]
    for name, depth, programs in easy:
        yield Case(name, 4, depth, programs)
    if deep:
        programs = [tuple(c) for c in different(5, 4).tolist()]
        yield Case("4 steps, 5 inputs", 5, 4, sample(programs, deep))
    if noise:
        for name, depth, programs in easy:
            yield Case(f"{name}, {noise:.0%} noise", 4, depth, programs, noise)


def examples(
    case: Case, which: int, device: str, seed: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Rows to learn from, with their answers, and rows to be judged on."""
    draw = torch.Generator().manual_seed(1_000_000 * seed + which)
    x = 1 + torch.rand(EXAMPLES, case.inputs, generator=draw, dtype=torch.float64)
    far = 2 + 4 * torch.rand(EXAMPLES, case.inputs, generator=draw, dtype=torch.float64)
    codes = torch.tensor([case.programs[which]])
    noise = torch.randn(EXAMPLES, generator=draw, dtype=torch.float64)
    y = evaluate(codes, x)[0] * (1 + case.noise * noise)
    return x.to(device), y.to(device), far.to(device), evaluate(codes, far)[0].to(device)


def agrees(predicted: Tensor, true: Tensor) -> bool:
    """Whether two lists of numbers are the same to nine digits, but for cancellation."""
    gap = (predicted - true).abs()
    return bool((gap <= 1e-9 * true.abs() + 1e-13 * true.abs().max()).all())


def recover(
    count: int = 500,
    deep: int = 100,
    noise: float = 0.01,
    others: int = 20,
    methods: dict[str, Method] | None = None,
    device: str = "cpu",
    seed: int = 0,
    say: Callable[[str], None] = lambda text: None,
) -> Table:
    """Programs recovered by each method, with intervals and seconds per program.

    Args:
        count: Programs of three steps, half of them balanced. Of the 36 of one step and the 568 of
            two twice as many are tried, so from 284 on all of them.
        deep: Programs of four steps over five inputs.
        noise: The noise in the second half, as a share of the answer.
        others: How many programs of each kind the methods after the first try. They may spend as
            long as the first took, or a second if that was less.
        methods: What to compare; the distribution and soft plans if None.
        device: Where to compute.
        seed: Which programs are drawn, and which examples.
        say: What to do with a line on each row of the table.
    """
    methods = METHODS if methods is None else methods
    lines = []
    for case in cases(count, deep, noise, seed):
        seconds = LEAST_SECONDS
        for place, (name, method) in enumerate(methods.items()):
            tried = len(case.programs) if not place else min(others, len(case.programs))
            solved, took = 0, []
            for which in range(tried):
                x, y, far, true = examples(case, which, device, seed)
                began = time.perf_counter()
                predict = method(x, y, case.depth, seconds)
                took.append(time.perf_counter() - began)
                solved += agrees(predict(far), true)
            if not tried:
                continue
            low, high = wilson(solved, tried)
            mean = sum(took) / tried
            seconds = max(seconds, mean) if not place else seconds
            interval = f"{100 * solved / tried:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
            lines.append([case.name, name, f"{solved}/{tried}", interval, f"{mean:.2f}"])
            say(" | ".join(lines[-1]))
    note = (
        f"{EXAMPLES} examples from U[1, 2), judged on U[2, 6) to nine digits; Wilson's 95% "
        f"interval; all but the first method have {LEAST_SECONDS:.0f} s at least"
    )
    header = ["programs", "method", "recovered", "percent", "seconds each"]
    return Table("Programs recovered from examples", header, lines, note)
