"""Discover: an arithmetic program from examples alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .distribution import log_likelihood_loss, train
from .execute import execute
from .plan import Plan
from .search import Level, Search, entries, evaluate, linear, plans

BUDGET = 2 * 2**30
SURVIVORS = 512
COMPARED = 64
LISTED = 10
EXACT = 1e-11


@dataclass(frozen=True)
class Candidate:
    """A program that may be behind the examples."""

    plan: Plan
    probability: float
    error: float
    """On held-out rows: the root mean square of the error over that of the answers."""

    @property
    def expression(self) -> str:
        """The program as a formula."""
        text = self.plan.expression()
        if all(name.isidentifier() for name in self.plan.names):
            text = Plan.from_expression(text, self.plan.names).expression()
        return text


class Discover:
    """Finds the arithmetic program that turns the columns of X into y.

    All programs of up to `depth` steps are held in one distribution, which is trained by gradient
    on their expected loss; where they are too many for the budget, those a beam has kept.

    Args:
        depth: The largest number of steps, each + - * or / of two columns or results.
        constants: Numbers that a program may use.
        holdout: The share of the rows that no program sees before it is judged.
        budget: Bytes that the programs may take before a beam is needed.
        seed: Which rows are held out.
        device: Where to compute.

    >>> x = np.random.default_rng(0).uniform(1, 2, (200, 3))
    >>> found = Discover().fit(x, x[:, 0] / (x[:, 1] + x[:, 2]))
    >>> found.expression_
    'x0 / (x1 + x2)'
    >>> found.predict(np.array([[6.0, 1.0, 2.0]]))
    array([2.])
    """

    plan_: Plan
    expression_: str
    error_: float
    probability_: float
    candidates_: list[Candidate]
    searched_: str

    def __init__(
        self,
        depth: int = 3,
        *,
        constants: Sequence[float] = (),
        holdout: float = 0.25,
        budget: int = BUDGET,
        seed: int = 0,
        device: str = "cpu",
    ) -> None:
        if depth < 1:
            raise ValueError(f"depth must be 1 at least; got {depth}")
        if not 0 < holdout < 1:
            raise ValueError(f"holdout is a share of the rows between 0 and 1; got {holdout}")
        self.depth = depth
        self.constants = tuple(float(value) for value in constants)
        self.holdout = holdout
        self.budget = budget
        self.seed = seed
        self.device = device

    def fit(self, X: Any, y: Any, names: Sequence[str] | None = None) -> "Discover":
        """Find the program; `names` are those of the columns, a data frame's own if it has any."""
        if names is None and hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
        x, answers = _numbers(X, 2), _numbers(y, 1)
        if len(x) != len(answers) or len(x) < 4:
            raise ValueError(
                f"X and y need the same number of rows, four at least; "
                f"got {len(x)} and {len(answers)}"
            )
        names = tuple(names) if names is not None else tuple(f"x{i}" for i in range(x.shape[1]))
        if len(names) != x.shape[1]:
            raise ValueError(f"X has {x.shape[1]} columns; got {len(names)} names")
        order = torch.randperm(len(x), generator=torch.Generator().manual_seed(self.seed))
        x, answers = x[order].to(self.device), answers[order].to(self.device)
        held = min(max(1, round(self.holdout * len(x))), len(x) - 2)
        search = _Posterior(x, answers, held, names, self)
        self.candidates_, self.searched_ = search.run()
        first = self.candidates_[0]
        self.plan_, self.expression_ = first.plan, first.expression
        self.error_, self.probability_ = first.error, first.probability
        return self

    def predict(self, X: Any) -> np.ndarray:
        """What the program makes of the rows of X."""
        return execute(self.plan_, _numbers(X, 2).to(self.device)).cpu().numpy()

    def score(self, X: Any, y: Any) -> float:
        """The coefficient of determination, R^2, of the prediction."""
        y = np.asarray(y, dtype=float)
        rest, spread = np.square(y - self.predict(X)).sum(), np.square(y - y.mean()).sum()
        return float(1 - rest / spread) if spread else float(rest == 0)


@dataclass
class _Posterior:
    """The distribution over all programs, given the rows after the `held` first."""

    x: Tensor
    y: Tensor
    held: int
    names: tuple[str, ...]
    asked: Discover

    def run(self) -> tuple[list[Candidate], str]:
        """The programs of highest probability, and what was searched."""
        constants = self.x.new_tensor(self.asked.constants)
        self.columns = torch.cat([self.x, constants.expand(len(self.x), -1)], 1)
        levels = self._levels()
        losses = torch.cat([level.losses for level in levels])
        start = torch.cat([torch.full_like(v.losses, -math.log(len(v.losses))) for v in levels])
        logits = train(start, losses, self.looked / 2)
        kept = logits.topk(min(SURVIVORS, len(logits))).indices.sort().values
        values, codes = self._values(levels, kept)
        y = self.y[self.held :]
        logits = train(start[kept], log_likelihood_loss(values[:, self.held :], y), len(y) / 2)
        order = logits.argsort(descending=True, stable=True)[:COMPARED]
        found = self._merged(values[order], logits.softmax(0)[order], [codes[i] for i in order])
        return found, self._said(levels)

    def _levels(self) -> list[Level]:
        """All programs by their steps, up to those that are exact."""
        train_rows = slice(self.held, None)
        x, y = self.columns[train_rows], self.y[train_rows]
        # A look at some rows of all programs; the best are then held against all rows.
        self.looked = min(len(y), 64 if plans(x.shape[1], self.asked.depth) < 1e7 else 32)
        search = Search(x[: self.looked], y[: self.looked], self.asked.depth, self.asked.budget)
        levels: list[Level] = []
        for level in search.levels():
            levels.append(level)
            if level.losses.min() < 2 * math.log(EXACT):
                values, _ = self._values([level], level.losses.argmin()[None])
                error = (values[0, train_rows] - y).abs().max()
                if error <= EXACT * y.abs().max():
                    break
        return levels

    def _values(self, levels: list[Level], index: Tensor) -> tuple[Tensor, list[list[int]]]:
        """What programs compute on all rows, and their steps; `index` is in rising order.

        A column as it is has the one step -1 - its place.
        """
        values, codes, first = [], [], 0
        for level in levels:
            own = index[(index >= first) & (index < first + len(level.losses))] - first
            if level.depth:
                values.append(evaluate(level.codes[own], self.columns))
                codes += level.codes[own].tolist()
            else:
                values.append(self.columns.T[own])
                codes += [[-1 - i] for i in own.tolist()]
            first += len(level.losses)
        return torch.cat(values), codes

    def _merged(self, values: Tensor, p: Tensor, codes: list[list[int]]) -> list[Candidate]:
        """Programs that compute the same are one, the shortest, and share their probability."""
        some = values[:, :COMPARED]
        gap = (some[:, None] - some).abs() - 1e-9 * some.abs()
        same = (gap.amax(-1) <= 1e-12 * some.abs().amax(1)).tolist()
        groups: list[list[int]] = []
        for i in range(len(codes)):
            home = next((group for group in groups if same[i][group[0]]), None)
            groups.append([i]) if home is None else home.append(i)
        y = self.y[: self.held]
        error = (values[:, : self.held] - y).square().mean(1).sqrt()
        error = error / y.square().mean().sqrt().clamp(min=1e-300)
        found = []
        for group in sorted(groups, key=lambda group: -float(p[group].sum()))[:LISTED]:
            shortest = min(group, key=lambda i: len(codes[i]))
            share = min(1.0, float(p[group].sum()))
            found.append(Candidate(self._plan(codes[shortest]), share, float(error[shortest])))
        return found

    def _plan(self, codes: list[int]) -> Plan:
        inputs = self.columns.shape[1]
        o, g = torch.zeros(len(codes), inputs + len(codes)), torch.ones(len(codes))
        for n, code in enumerate(codes):
            if code < 0:
                o[n, -1 - code] = 1
                continue
            for slot, entry in entries(code, inputs + n).items():
                o[n, slot] = entry
            g[n] = float(linear(code))
        return Plan(o, g, names=self.names, constants=self.asked.constants, hard=True)

    def _said(self, levels: list[Level]) -> str:
        depth, inputs = levels[-1].depth, self.columns.shape[1]
        if depth == 0:
            return "the columns as they are; no step was needed"
        total = sum(plans(inputs, d) for d in range(1, depth + 1))
        distinct = sum(len(level.losses) for level in levels)
        of = f"{total:,} plans of up to {depth} step{'s' if depth > 1 else ''}".replace(",", " ")
        seen = f"{distinct:,} different programs".replace(",", " ")
        if levels[-1].beam:
            return f"a beam over {seen} of {of}"
        early = "; no deeper one was needed" if depth < self.asked.depth else ""
        return f"exactly all {of}, {seen}{early}"


def _numbers(values: Any, axes: int) -> Tensor:
    array = torch.as_tensor(np.asarray(values, dtype=np.float64))
    if array.dim() != axes:
        what = "a table, rows by columns" if axes == 2 else "a list of numbers"
        raise ValueError(f"{'X' if axes == 2 else 'y'} must be {what}; its shape is {array.shape}")
    if not array.isfinite().all():
        raise ValueError(f"{'X' if axes == 2 else 'y'} has an entry that is not a finite number")
    return array
