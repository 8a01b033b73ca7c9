"""From a task to its landscape; many of them in processes side by side."""

import multiprocessing
import os
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.spatial import KDTree

from ..tasks import Task
from .arrays import REACH, Landscape
from .frozen import Frozen, along_the_gate
from .paths import STARTS, STEPS, Paths, train
from .stationary import Scouted, scout, search, solution
from .surface import Surface

O1 = np.linspace(-2, 2, 121)
GATE = np.linspace(0, 1, 61)


@dataclass(frozen=True)
class Ground:
    """What there is of a landscape without any training."""

    loss: np.ndarray
    frozen: Frozen
    scouted: Scouted


def ground(task: Task) -> Ground:
    """Compute the loss in the plane O0 = 1 and along the gate, and scout for stationary points."""
    surface = Surface(task)
    gate, o1 = np.meshgrid(GATE, O1, indexing="ij")
    loss = surface.values(np.stack([np.ones_like(o1), o1, gate], -1))
    return Ground(loss, along_the_gate(surface, solution(surface)[:2]), scout(surface))


def landscape(task: Task, below: Ground, paths: Paths) -> Landscape:
    """Put together a task's surface, its stationary points and its trainings."""
    surface, frozen = Surface(task), below.frozen
    exact = solution(surface)
    end = paths.path[:, -1]
    points, plane = search(surface, end, below.scouted)
    nearest, apart = _nearest(end, points.place)
    return Landscape(
        cell=np.array([task.operation, task.range]),
        o1=O1,
        g=GATE,
        loss=below.loss,
        pattern=np.array(exact[:2]),
        frozen_g=frozen.g,
        frozen_loss=frozen.loss,
        frozen_minima=frozen.minima,
        frozen_convex_g=np.array(frozen.convex_g),
        frozen_convex_logit=np.array(frozen.convex_logit),
        point=points.point,
        point_kind=points.kind,
        point_rest=points.rest,
        point_loss=points.loss,
        point_slope=points.slope,
        point_eigenvalues=points.eigenvalues,
        place=points.place,
        place_point=points.place_point,
        plane_point=plane.point[:, 1:],
        plane_kind=plane.kind,
        plane_loss=plane.loss,
        path_step=paths.step,
        path=paths.path,
        path_loss=surface.values(paths.path),
        path_start=np.array(list(STARTS)),
        path_seed=paths.seed,
        path_solved=np.abs(end - exact).max(1) < REACH,
        path_point=points.place_point[nearest],
        path_distance=apart,
        test_end=paths.test,
        test_solved=np.abs(paths.test - exact).max(1) < REACH,
        test_distance=_nearest(paths.test, points.place)[1],
        chance=np.array((_nearest(_anywhere(), points.place)[1] < REACH).mean()),
    )


def _nearest(end: np.ndarray, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest place to each end, and how far it is."""
    apart, nearest = KDTree(place).query(end, p=np.inf)
    return nearest, apart


def _anywhere() -> np.ndarray:
    """Places drawn evenly from selectors between -2 and 2 and all gates."""
    return np.random.default_rng(0).uniform([-2, -2, 0], [2, 2, 1], (2000, 3))


def landscapes(
    tasks: Sequence[Task], pictures: dict[Task, Path] | None = None, steps: int = STEPS
) -> Iterator[Landscape]:
    """Make landscapes, and pictures of them where `pictures` says, as they are finished."""
    pictures = pictures or {}
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    workers = min(cores or 1, len(tasks))
    if workers == 1:
        for task, paths in zip(tasks, train(tasks, steps), strict=True):
            yield _one(task, ground(task), paths, pictures.get(task))
        return
    # The ranges over zero take longest, so they go first.
    order = sorted(tasks, key=lambda task: task.range != "sym")
    shares = [order[place::workers] for place in range(workers)]
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, spawn, _begin) as pool:
        try:
            # One process compiles for all, while the others do what needs no training.
            trained = {pool.submit(train, shares[0], steps): shares[0]}
            grounds = {task: pool.submit(ground, task) for task in order}
            trained |= {pool.submit(train, share, steps): share for share in shares[1:]}
            made = [
                pool.submit(_one, task, grounds[task].result(), paths, pictures.get(task))
                for future in as_completed(trained)
                for task, paths in zip(trained[future], future.result(), strict=True)
            ]
            for future in as_completed(made):
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    """What a process does first: one thread is its share, and an interrupt is its parent's."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _one(task: Task, below: Ground, paths: Paths, picture: Path | None) -> Landscape:
    made = landscape(task, below, paths)
    if picture is not None:
        if picture.suffix == ".html":
            from .interactive import draw
        else:
            from .picture import draw
        draw(made, picture)
    return made
