"""Plan-steps per second of `execute`, against the same formula written by hand in torch.

    python benchmarks/dag.py [--device cuda] [--dtype float64]

Soft and hard plans of (a + b) / (c * d) at batch 100 000, eager and compiled, forward and with
gradients, beside the functions alone that a soft plan has to compute; then how the compiled cost
grows with depth and with the batch.
"""

import argparse
import time
from collections.abc import Callable

import torch
from torch import Tensor

from arithmix.dag import Plan, execute

FORMULA = "(a + b) / (c * d)"
BATCH = 100_000


def hand(x: Tensor) -> Tensor:
    a, b, c, d = x.unbind(-1)
    return (a + b) / (c * d)


def functions(x: Tensor) -> Tensor:
    """The functions that a soft plan of FORMULA computes, of no matter what, and nothing else."""
    log, exp, expm1, cos = torch.log, torch.exp, torch.expm1, torch.cos
    steps = 3 * [log, exp, expm1, cos] + 2 * [log]  # the last step's sign needs no logarithm
    columns, total = x.unbind(-1), torch.zeros_like(x[..., 0])
    for n, function in enumerate(4 * [log] + steps):
        total = total + function(columns[n % 4] + 0.01 * n)
    return total


def chain(depth: int) -> Plan:
    """A plan of `depth` steps, each of the last result and an input in turn."""
    text = "a"
    for n in range(depth):
        text = f"({text}) {'+*-/'[n % 4]} {'bcd'[n % 3]}"
    return Plan.from_expression(text, "abcd")


def soft(plan: Plan, device: str, dtype: torch.dtype) -> Plan:
    gates = 0.05 + 0.9 * plan.G
    return Plan(0.9 * plan.O.to(device, dtype), gates.to(device, dtype), names=plan.names)


def seconds(run: Callable[[], object], device: str) -> float:
    """The least time of a call, over rounds of a fiftieth of a second each."""

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    for _ in range(3):
        run()
    wait()
    began = time.perf_counter()
    run()
    wait()
    calls = max(1, int(0.02 / (time.perf_counter() - began)))
    best = float("inf")
    for _ in range(25):
        began = time.perf_counter()
        for _ in range(calls):
            run()
        wait()
        best = min(best, (time.perf_counter() - began) / calls)
    return best


def captured(f: Callable[[Tensor], Tensor], x: Tensor, calls: int = 100) -> float:
    """The time of a call on a GPU alone: many of them in one CUDA graph."""
    f(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            f(x)
    return seconds(graph.replay, "cuda") / calls


def with_gradient(f: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], object]:
    x = x.clone().requires_grad_()
    return lambda: torch.autograd.grad(f(x).sum(), x)


def compiled(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    torch.compiler.reset()
    return torch.compile(f, fullgraph=True, dynamic=False)


def compare(device: str, dtype: torch.dtype) -> None:
    x = (torch.rand(BATCH, 4, dtype=dtype) + 1).to(device)
    hard = Plan.from_expression(FORMULA)
    mixed = soft(hard, device, dtype)
    forms: dict[str, Callable[[Tensor], Tensor]] = {
        "hand": hand,
        "hard": lambda x: execute(hard, x),
        "soft": lambda x: execute(mixed, x),
    }
    print(f"{FORMULA}, batch {BATCH}, {str(dtype).removeprefix('torch.')}: microseconds, x by hand")
    kinds = ("eager", "compiled", "eager + gradient", "compiled + gradient")
    base = dict.fromkeys(kinds, 0.0)
    for name, f in forms.items():
        cells = []
        for kind in kinds:
            g = compiled(f) if "compiled" in kind else f
            run = with_gradient(g, x) if "gradient" in kind else (lambda g=g: g(x))
            took = seconds(run, device)
            base[kind] = took if name == "hand" else base[kind]
            rate = BATCH * hard.depth / took
            cells.append(f"{kind} {1e6 * took:.0f} ({took / base[kind]:.2f}x, {rate:.2e} steps/s)")
        print(f"  {name}: " + "; ".join(cells))
    together = x.T.contiguous().T  # columns that lie together, which is faster
    alone = compiled(functions)
    took = seconds(lambda: alone(together), device)
    ratio = took / base["compiled"]
    print(f"  the functions of soft alone: compiled {1e6 * took:.0f} ({ratio:.2f}x)")
    if device == "cuda":
        on_device = {name: captured(compiled(f), x) for name, f in forms.items()}
        each = (f"{n} {1e6 * t:.2f} ({t / on_device['hand']:.2f}x)" for n, t in on_device.items())
        print(f"  compiled, without the launches that take most of that time: {', '.join(each)}")


def growth(device: str, dtype: torch.dtype) -> None:
    print("compiled forward, microseconds (per step)")
    for kind in ("hard", "soft"):
        for depth, batch in (
            *((depth, BATCH) for depth in (1, 2, 4, 8)),
            *((4, batch) for batch in (1_000, 10_000, 1_000_000)),
        ):
            plan = chain(depth) if kind == "hard" else soft(chain(depth), device, dtype)
            # Columns that lie together: of many steps on rows torch compiles no vector code (2.13).
            x = (torch.rand(4, batch, dtype=dtype) + 1).to(device).T
            run = compiled(lambda x, plan=plan: execute(plan, x))
            took = 1e6 * seconds(lambda run=run, x=x: run(x), device)
            print(
                f"  {kind}, {plan.depth} steps, batch {batch}: {took:.0f} ({took / plan.depth:.1f})"
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--dtype", default="float32", choices=("float32", "float64"))
    parser.add_argument("--no-growth", action="store_true", help="leave out depth and batch")
    options = parser.parse_args()
    name = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
    print(f"torch {torch.__version__}, {name}, {torch.get_num_threads()} threads")
    dtype = getattr(torch, options.dtype)
    compare(options.device, dtype)
    if not options.no_growth:
        growth(options.device, dtype)


if __name__ == "__main__":
    main()
