"""Member-steps per second of the engine and of its plain twin, in one run on one machine.

    python benchmarks/engine.py [--device cuda] [--full]

Prints how the engine grows with the population, the ratio to the twin at 900 members, with --full
the time of 900 members over all 50 000 steps with every row examined, and the peak memory.
"""

import argparse
import resource
import time

import torch

from arithmix.bench import reference
from arithmix.bench.engine import train
from arithmix.bench.runner import Runner
from arithmix.bench.step import begin, make_update
from arithmix.bench.streams import Streams
from arithmix.measure.rulers import PRIMER
from arithmix.tasks import OPERATIONS, RANGES, Task
from arithmix.units._population import Population
from arithmix.units._spec import parse

SIZES = (1, 9, 90, 900, 1800, 9000)


def study(members: int, device: str):
    """The first `members` of the paper's grid, with as many seeds as that takes."""
    spec = parse("dmu")
    seeds = range(-(-members // 36))
    grid = [(Task(o, r), seed) for seed in seeds for o in OPERATIONS for r in RANGES][:members]
    units = [spec.build(2, t.operation, s, dtype=torch.float32) for t, s in grid]
    streams = Streams(list(seeds), 2, 128, torch.device(device))
    return units, [t for t, _ in grid], [s for _, s in grid], spec.recipe("add", 2), streams


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def engine_rate(members: int, device: str, steps: int) -> float:
    units, tasks, seeds, recipe, streams = study(members, device)
    population = Population(units)
    runner = Runner(make_update(population, recipe, tasks), recipe, streams, compiled=True)
    live = begin(population, tasks, seeds, streams)
    runner.run(live, 0, steps, record=False)  # compiles, and draws ahead
    wait(device)
    began = time.perf_counter()
    runner.run(live, steps, steps, record=False)
    wait(device)
    seconds = time.perf_counter() - began
    streams.close()
    return members * steps / seconds


def twin_rate(steps: int) -> float:
    spec = parse("dmu")
    unit = spec.build(2, "mul", 0, dtype=torch.float32)
    reference.train(unit, Task("mul", "sym"), 0, spec.recipe("mul", 2), 50)
    began = time.perf_counter()
    reference.train(unit, Task("mul", "sym"), 0, spec.recipe("mul", 2), steps)
    return steps / (time.perf_counter() - began)


def full_seconds(device: str) -> tuple[float, float]:
    """All 50 000 steps of the paper's 900 members, after and with compilation."""
    units, tasks, seeds, recipe, streams = study(900, device)
    marks = [time.perf_counter()]
    for _ in train(
        units,
        tasks,
        seeds,
        recipe,
        PRIMER,
        streams=streams,
        compiled=True,
        watch=lambda step, live: marks.append(time.perf_counter()),
    ):
        pass
    streams.close()
    # The first thousand steps compile; the others are as many as that, forty-nine times.
    after = (marks[-1] - marks[1]) * 50 / 49
    return after, marks[-1] - marks[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--full", action="store_true")
    options = parser.parse_args()
    name = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    print(f"torch {torch.__version__}, {name}, {torch.get_num_threads()} threads")
    twin = twin_rate(1000)
    print(f"{'plain twin':>12}: {twin:12.0f} member-steps/s, {1e3 / twin:.3f} ms a step")
    for members in SIZES:
        rate = engine_rate(members, options.device, options.steps)
        step = 1e3 * members / rate
        print(
            f"{members:>12}: {rate:12.0f} member-steps/s, {step:.3f} ms a step, {rate / twin:.0f}x"
        )
    if options.full:
        after, total = full_seconds(options.device)
        print(f"900 members, 50 000 steps: {after:.1f} s after compilation, {total:.1f} s with it")
    if options.device == "cuda":
        print(f"peak device memory: {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB")
    print(f"peak memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
