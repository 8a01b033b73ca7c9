"""The study `recover` with other symbolic regressors beside it, where they are installed.

    python benchmarks/recover.py [--count 40] [--others 10]

gplearn evolves formulas; it gets + - * / and the time that `recover` gives, in generations. Nothing
of the package needs it.
"""

import argparse
import time
from importlib.util import find_spec

import numpy as np
import torch
from rich.console import Console
from torch import Tensor

from arithmix.dag.recover import METHODS, Method, Predict, recover
from arithmix.table import write


def gplearn(x: Tensor, y: Tensor, depth: int, seconds: float) -> Predict:
    from gplearn.genetic import SymbolicRegressor  # pyrefly: ignore[missing-import]

    began = time.perf_counter()
    regressor = SymbolicRegressor(
        population_size=500,
        generations=1,
        function_set=("add", "sub", "mul", "div"),
        const_range=None,
        init_depth=(1, depth),
        parsimony_coefficient=1e-4,
        metric="mse",
        warm_start=True,
        random_state=0,
    )
    given, answers = x.cpu().numpy(), y.cpu().numpy()
    best = np.inf
    while best > 1e-20 and (time.perf_counter() - began < seconds or best == np.inf):
        regressor.fit(given, answers)
        best = float(np.square(regressor.predict(given) - answers).mean())
        regressor.set_params(generations=regressor.generations + 1)
    return lambda values: torch.as_tensor(regressor.predict(values.cpu().numpy())).to(values)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--deep", type=int, default=10)
    parser.add_argument("--others", type=int, default=10)
    options = parser.parse_args()
    methods: dict[str, Method] = dict(METHODS)
    if find_spec("gplearn"):
        methods["gplearn"] = gplearn
    else:
        print("gplearn is not installed, so it is left out")
    table = recover(options.count, options.deep, 0.01, options.others, methods, say=print)
    write([table], "terminal", Console(width=140))


if __name__ == "__main__":
    main()
