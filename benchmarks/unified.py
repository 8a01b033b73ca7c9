"""What the unified unit solves beyond the nine ranges, in how many steps, and what it costs.

    python benchmarks/unified.py [solve|cost|control] [--device cuda] [--inputs 2,10] [--steps 1000]

A member counts as solved if its decided structure is the one that made the targets: it then
computes them exactly everywhere. Every training is the unit's one recipe, from its one start.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from arithmix.measure.stats import wilson
from arithmix.table import Table, write
from arithmix.tasks import OPERATIONS, RANGES
from arithmix.units._structures import Structures
from arithmix.units.unified import DECIDED, Unified

SEEDS = 25
FOUR = tuple(OPERATIONS)
Draw = Callable[[torch.Generator, tuple[int, int, int]], Tensor]
"""Inputs `members batch in` in float64."""


def uniform(source: torch.Generator, shape: tuple[int, ...]) -> Tensor:
    return torch.rand(shape, generator=source, dtype=torch.float64, device=source.device)


def nine_ranges(source: torch.Generator, shape: tuple[int, int, int]) -> Tensor:
    """Each member in one of the benchmark's ranges, in turn."""
    bounds = torch.tensor([r.train for r in RANGES.values()], dtype=torch.float64)
    mine = bounds[torch.arange(shape[0]) % len(RANGES)].to(source.device)
    low, high = mine[:, :, None, None].unbind(1)
    return low + (high - low) * uniform(source, shape)


def near_zero(source: torch.Generator, shape: tuple[int, int, int]) -> Tensor:
    """Down to zero from 1, 0.1, ... or 0.0001, by the member."""
    high = 10.0 ** -(torch.arange(shape[0], device=source.device, dtype=torch.float64) % 5)
    return high[:, None, None] * (1 - uniform(source, shape))


def opposite(source: torch.Generator, shape: tuple[int, int, int]) -> Tensor:
    """Inputs in [1, 2], every other one negative."""
    sign = 1 - 2.0 * (torch.arange(shape[-1], device=source.device) % 2)
    return sign * (1 + uniform(source, shape))


def normal(source: torch.Generator, shape: tuple[int, ...]) -> Tensor:
    return torch.randn(shape, generator=source, dtype=torch.float64, device=source.device)


@dataclass(frozen=True)
class Cell:
    """One line of the table."""

    name: str
    draw: Draw
    operations: tuple[str, ...] = FOUR
    noise: float = 0.0
    """Standard deviation of what is added to the targets, as a part of their root mean square."""
    batch: int = 128
    members: int = 9 * SEEDS
    """Of each operation."""


CELLS = (
    Cell("nine ranges, no noise", nine_ranges),
    Cell("division alone, nine ranges", nine_ranges, ("div",)),
    Cell("division near zero, a / b", near_zero, ("div",)),
    Cell("division near zero, 1 / a", near_zero, ("inverse",)),
    Cell("mixed signs, uniform in [-2, 2]", lambda s, shape: 4 * uniform(s, shape) - 2),
    Cell("mixed signs, [1, 2] and [-2, -1]", opposite),
    Cell("normal", normal),
    Cell("exponential", lambda s, shape: -torch.log1p(-uniform(s, shape))),
    Cell("Benford, 10^[0, 1]", lambda s, shape: 10 ** uniform(s, shape)),
    Cell("log-uniform, 10^[-3, 3]", lambda s, shape: 10 ** (6 * uniform(s, shape) - 3)),
    Cell("nine ranges, noise 0.1%", nine_ranges, noise=1e-3),
    Cell("nine ranges, noise 1%", nine_ranges, noise=1e-2),
    Cell("nine ranges, noise 10%", nine_ranges, noise=1e-1),
    Cell("nine ranges, batch 8", nine_ranges, batch=8),
)


@dataclass(frozen=True)
class Training:
    """What became of the members of a cell."""

    solved: Tensor
    said: list[str]
    asked: list[str]
    chosen: Tensor
    """The step from which the right structure was the best one for good."""
    decided: Tensor
    """The step from which it had more than 0.99 of the probability for good."""


def target(operation: str, a: Tensor, b: Tensor) -> Tensor:
    return 1 / a if operation == "inverse" else OPERATIONS[operation].apply(a, b)


def formula(operation: str, i: int, j: int) -> str:
    if operation == "inverse":
        return f"1 / x{i}"
    if operation in ("add", "mul"):
        i, j = sorted((i, j))
    return f"x{i} {OPERATIONS[operation].symbol} x{j}"


def train(cell: Cell, inputs: int, device: str, steps: int, seed: int = 0) -> Training:
    """Train all members of a cell side by side; the operands are two inputs drawn for each."""
    source = torch.Generator(device).manual_seed(seed)
    operations = [operation for operation in cell.operations for _ in range(cell.members)]
    shape = (len(operations), cell.batch, inputs)
    places = torch.rand(shape[0], inputs, generator=torch.Generator().manual_seed(seed)).argsort(-1)
    structures = Structures(inputs)
    valid = structures.valid(torch.device("cpu")).nonzero()[:, 0].tolist()
    numbers = {structures.text(number): number for number in valid}
    operands = places[:, :2].tolist()
    asked = [formula(o, i, j) for o, (i, j) in zip(operations, operands, strict=True)]
    right = torch.tensor([numbers[text] for text in asked], device=device)
    index = places[:, None, :2].expand(-1, cell.batch, -1).to(device)
    unit = Unified(inputs, 1, population=(shape[0],), device=device).train()
    optimiser = torch.optim.Adam(unit.parameters(), lr=Unified.recipe("any").rate)
    best, chosen, decided = (torch.zeros_like(right) for _ in range(3))
    for step in range(1, steps + 1):
        x = cell.draw(source, shape)
        parts = x.gather(-1, index).split(cell.members)
        y = torch.cat(
            [target(o, *p.unbind(-1)) for o, p in zip(cell.operations, parts, strict=True)]
        )
        if cell.noise:
            y = y + cell.noise * y.square().mean(-1, keepdim=True).sqrt() * normal(source, y.shape)
        optimiser.zero_grad()
        unit.loss(x.float(), y.float()[:, :, None]).sum().backward()
        optimiser.step()
        unit.project()
        best = unit.logits[:, 0].argmax(-1)
        chosen[best != right] = step
        decided[(best != right) | (unit.sparsity() >= 1 - DECIDED)] = step
    said = [structures.text(number) for number in best.tolist()]
    return Training((decided < steps).cpu(), said, asked, chosen.cpu() + 1, decided.cpu() + 1)


def solve(inputs: list[int], device: str, steps: int) -> Table:
    rows, wrong = [], []
    for n in inputs:
        for cell in CELLS if n < 100 else CELLS[:1]:
            cell = cell if n < 100 else replace(cell, members=45)
            found = train(cell, n, device, steps if n < 100 else min(steps, 100))
            solved, trials = int(found.solved.sum()), len(found.solved)
            low, high = wilson(solved, trials)
            at = [f"{np.median(t[found.solved]):.0f}" for t in (found.chosen, found.decided)]
            last = f"{int(found.decided[found.solved].max())}"
            share = f"{100 * solved / trials:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
            rows.append([cell.name, str(n), f"{solved}/{trials}", share, *at, last])
            print(*rows[-1], sep=" | ", flush=True)
            pairs = zip(found.asked, found.said, found.solved.tolist(), strict=True)
            wrong += [f"{asked} read as {said}" for asked, said, fine in pairs if not fine]
    note = (
        "percent with Wilson's 95% interval; steps until the right structure is the best for good, "
        f"and until it has 0.99 of the probability for good, medians and the last. {len(wrong)} "
        f"not solved: {'; '.join(wrong[:8])}"
    )
    header = ["cell", "inputs", "solved", "percent", "chosen at", "decided at", "last"]
    return Table("What the unified unit solves", header, rows, note)


CONTROLS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "x0**x1": torch.pow,
    "max(x0, x1)": torch.maximum,
    "x0 * x0 + x1": lambda a, b: a * a + b,
    "1.23 * x0": lambda a, b: 1.23 * a,
    "x0 * x1 (in its table)": torch.mul,
}


def control(steps: int) -> Table:
    rows = []
    for name, function in CONTROLS.items():
        unit = Unified(2, 1).train()
        optimiser = torch.optim.Adam(unit.parameters(), lr=Unified.recipe("any").rate)
        source = torch.Generator().manual_seed(0)
        for _ in range(steps):
            x = 1 + torch.rand(128, 2, generator=source)
            optimiser.zero_grad()
            unit.loss(x, function(x[:, :1], x[:, 1:])).backward()
            optimiser.step()
            unit.project()
        x = 1 + torch.rand(10_000, 2, generator=source)
        y = function(x[:, :1], x[:, 1:])
        error = (unit.harden()(x) - y).square().mean() / y.square().mean()
        rows.append([name, unit.expression(), f"{error.item():.2e}"])
    header = ["target", "what the unit says", "scale-free loss"]
    return Table("Targets outside its table, inputs in [1, 2]", header, rows)


def cost(device: str) -> Table:
    rows = []
    for n in (2, 10, 100, 1000):
        unit = Unified(n, 1, device=device).train()
        optimiser = torch.optim.Adam(unit.parameters(), lr=Unified.recipe("any").rate)
        source = torch.Generator(device).manual_seed(0)
        x = (1 + uniform(source, (128, n))).float()
        times = []
        for _ in range(30 if n < 1000 else 6):
            wait(device)
            began = time.perf_counter()
            optimiser.zero_grad()
            unit.loss(x, x[:, :1] / x[:, 1:2]).backward()
            optimiser.step()
            unit.project()
            wait(device)
            times.append(time.perf_counter() - began)
        count = int(Structures(n).valid(torch.device("cpu")).sum())
        rows.append([str(n), f"{count:,}", f"{1e3 * np.median(times[2:]):.2f}"])
    name = torch.cuda.get_device_name() if device == "cuda" else "cpu"
    where = f"{name}, {torch.get_num_threads()} threads"
    title = f"One step of one member, batch 128, not compiled ({where})"
    return Table(title, ["inputs", "structures", "ms"], rows)


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "part", nargs="?", default="all", choices=("all", "solve", "cost", "control")
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--inputs", default="2,10,100")
    parser.add_argument("--steps", type=int, default=Unified.recipe("any").steps)
    options = parser.parse_args()
    tables = []
    if options.part in ("all", "cost"):
        tables.append(cost(options.device))
    if options.part in ("all", "control"):
        tables.append(control(options.steps))
    if options.part in ("all", "solve"):
        inputs = [int(word) for word in options.inputs.split(",")]
        tables.append(solve(inputs, options.device, options.steps))
    write(tables, "markdown", Console())


if __name__ == "__main__":
    main()
