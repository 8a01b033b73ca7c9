"""Jobs in processes of their own: one thread each on a CPU, several on one GPU.

A process that shares its cores with nobody's barriers is not held up by a busy neighbour, and
compiling, which is most of the work on a GPU, goes on in all of them at once.
"""

import multiprocessing
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from .job import Event, Job, Worker

SMALL = 200
"""Members below which starting processes takes longer than it saves."""
GPU_PROCESSES = 8
GPU_BYTES = 8 * 2**30
PATIENCE = 10.0
"""Seconds that a process without work has to end by itself."""

Handle = Callable[[Job, Event | None], None]
"""Told of each event of a job; None when the job is done."""


def how_many(jobs: Sequence[Job], device: torch.device) -> int:
    """How many processes are worth their start; 1 is this one alone."""
    if sum(len(job.asked) for job in jobs) < SMALL:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        fitting = min(GPU_PROCESSES, (cores or 1) // 2, free // GPU_BYTES)
        return max(1, min(len(jobs), fitting))
    return cores or 1


def work(jobs: Sequence[Job], processes: int, handle: Handle) -> None:
    """Do all jobs, longest first, and hand every event over in this process."""
    order = sorted(jobs, key=lambda job: -len(job.asked) * job.steps)
    if processes == 1:
        _alone(order, handle)
    else:
        _together(order, min(processes, len(order)), handle)


def _alone(jobs: Sequence[Job], handle: Handle) -> None:
    worker = Worker()
    try:
        with _one_thread():
            for job in jobs:
                worker.do(job, lambda event, job=job: handle(job, event))
                handle(job, None)
    finally:
        worker.close()


def _together(jobs: list[Job], processes: int, handle: Handle) -> None:
    context = multiprocessing.get_context("spawn")
    threads = max(1, (os.cpu_count() or 1) // processes)
    at_work: dict[Connection, Any] = {}
    doing: dict[Connection, Job] = {}
    waiting = list(reversed(jobs))
    try:
        for _ in range(processes):
            here, there = context.Pipe()
            process = context.Process(target=_serve, args=(there, threads), daemon=True)
            process.start()
            there.close()
            at_work[here] = process
            doing[here] = waiting.pop()
            here.send(doing[here])
        while doing:
            for pipe in wait(list(doing)):
                assert isinstance(pipe, Connection)
                try:
                    event = pipe.recv()
                except (EOFError, OSError):
                    at_work[pipe].join()
                    code = at_work[pipe].exitcode
                    raise ValueError(
                        f"the process that trained {doing[pipe].name} ended with code {code}, "
                        f"perhaps for want of memory; run the same command again to go on"
                    ) from None
                if isinstance(event, Exception):
                    raise event
                handle(doing[pipe], event)
                if event is None:
                    del doing[pipe]
                    if waiting:
                        doing[pipe] = waiting.pop()
                        pipe.send(doing[pipe])
                    else:
                        pipe.close()  # which the process takes as its end
        for process in at_work.values():
            process.join(PATIENCE)
    finally:
        for process in at_work.values():
            process.kill()


def _serve(pipe: Connection, compile_threads: int) -> None:
    """What a process does: jobs, until it is ended or left alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent takes it and ends this process
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = str(compile_threads)
    parent = multiprocessing.parent_process()
    assert parent is not None
    sentinel = parent.sentinel
    threading.Thread(target=lambda: (wait([sentinel]), os._exit(1)), daemon=True).start()
    worker = Worker()
    try:
        with _one_thread():
            while True:
                worker.do(pipe.recv(), pipe.send)
                pipe.send(None)
    except EOFError:
        worker.close()
    except ValueError as error:
        pipe.send(ValueError(str(error)))
    except BaseException as error:
        # A fault of ours: the parent shows where, as it would if it had happened there.
        told = "".join(traceback.format_exception(error))
        pipe.send(RuntimeError(f"a process failed:\n{told}"))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch use one thread, so that no number depends on how many cores there are.

    What its compiler warns of is its own affair and is not shown.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"torch\.")
            yield
    finally:
        torch.set_num_threads(before)
