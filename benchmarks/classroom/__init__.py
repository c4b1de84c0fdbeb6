"""A class on one server: students who open a lesson at once, answer, race, load the page again, and leave.

    python -m benchmarks classroom [--quick] [--output FOLDER]

A server is started as docs/teaching.md says, and 30 simulated students (--quick: 4) have each of lessons 1, 4 and 7
(--quick: 1 and 4): all open it at the same moment, give a wrong and a right answer to its exercises, start its race,
cut their connection and connect again, load the page again, and leave; every fifth leaves without a word, as a laptop
that is closed does. They speak HTTP and websockets as a page does, and draw nothing. WORKBENCH_CLASS_ROUNDS repeats all
of it on the same server, as in a week of lessons: the memory of the server after each round shows whether it grows.

Seconds: median, 95th percentile and worst. cpu_seconds: of the server and its kernels. memory_mb: proportional share
(PSS) of the server and its kernels. orphans: processes that are left when the server has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.classroom.student import Student
from benchmarks.common import report
from benchmarks.live_view.lab import lab_tools
from workbench.errors import error_message

STUDENTS, QUICK_STUDENTS = 30, 4
ROUNDS = "WORKBENCH_CLASS_ROUNDS"
OPTIONS = (
    "--PageKernels.classroom=True",
    "--PageKernels.runs_at_once=2",
    "--PageKernels.run_seconds=60",
    "--PageKernels.most_unknowns=1000000",
)
ANSWERS = {
    "without-pain": ((0, "3"), (0, "9"), (1, "1"), (1, "-2.5"), (2, "10"), (2, "45")),
    "preconditioning": ((0, "1"), (0, "2.34"), (1, "jacobi"), (1, "neumann:3"), (2, "1"), (2, "9.25")),
    "many-at-once": ((0, "2"), (0, "3"), (1, "1")),
}
"""Exercises and answers of lessons: wrong ones, then right ones."""
RACING = "without-pain"
"""The lesson whose race all start."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    students = QUICK_STUDENTS if quick else STUDENTS
    lessons = [*ANSWERS][: 2 if quick else None]
    rounds = int(os.environ.get(ROUNDS, "1"))
    with tempfile.TemporaryDirectory() as made:
        with lab_tools().voila_server(Path(made), *OPTIONS) as url:
            server = _server(Path(made))
            _wait_until_idle(server)
            before = _megabytes(server)
            taught = [asyncio.run(_lessons(url, server, lessons, students)) for _ in range(rounds)]
            processes = server.children(recursive=True)
        left = [one.pid for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    return {
        "students": students,
        "memory_mb_before": before,
        "rounds": taught,
        "orphans": len(left),
        "load": os.getloadavg()[0],
    }


async def _lessons(url: str, server: psutil.Process, lessons: Sequence[str], students: int) -> dict[str, Any]:
    """One round: all lessons, one after another."""
    found: dict[str, Any] = {}
    for name in lessons:
        found[name] = await _lesson(url, server, name, students)
        report(name, found[name])
    await _until_closed(server)
    return {**found, "memory_mb_after": _megabytes(server)}


async def _lesson(url: str, server: psutil.Process, name: str, students: int) -> dict[str, Any]:
    """A lesson of all students."""
    errors: list[str] = []
    spent = _cpu_seconds(server)
    there = [Student(url, name) for _ in range(students)]
    opened = await _all(errors, [one.open for one in there])
    found: dict[str, Any] = {"open": _spread(opened), "open_cpu_seconds": round(_cpu_seconds(server) - spent, 1)}
    found["memory_mb"] = _megabytes(server)
    waits: list[float] = []
    for number, answer in ANSWERS[name]:
        waits += await _all(errors, [functools.partial(_answered, one, number, answer) for one in there])
    found["answers"] = _spread(waits)
    if name == RACING:
        found["race"] = _spread(await _all(errors, [one.race for one in there]))
    found["connect_again"] = _spread(await _all(errors, [functools.partial(_cut, one) for one in there]))
    again = [Student(url, name) for _ in there]
    await _all(errors, [one.leave for one in there])
    found["reload"] = _spread(await _all(errors, [one.open for one in again]))
    leaving = [functools.partial(one.leave, politely=k % 5 > 0) for k, one in enumerate(again)]
    await _all(errors, leaving)
    # Those that left without a word would be kept for half an hour.
    await _all(errors, [one.leave for one in again])
    found["cpu_seconds"] = round(_cpu_seconds(server) - spent, 1)
    return {**found, "errors": errors}


async def _answered(one: Student, number: int, answer: str) -> float:
    return (await one.answer(number, answer))[0]


async def _cut(one: Student) -> float:
    """Cut the connection and connect again."""
    begun = time.monotonic()
    await one.leave(politely=False)
    await one.connect()
    return time.monotonic() - begun


async def _all(errors: list[str], acts: Sequence[Callable[[], Awaitable[float | None]]]) -> list[float]:
    """Seconds of acts that begin together; those that fail are noted instead."""
    done = await asyncio.gather(*(act() for act in acts), return_exceptions=True)
    errors += [error_message(each, "a student") for each in done if isinstance(each, BaseException)]
    return [each for each in done if isinstance(each, float)]


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and worst; nothing of nothing."""
    if not seconds:
        return {}
    ordered = sorted(seconds)
    at = min(len(ordered) - 1, round(0.95 * (len(ordered) - 1)))
    return {
        "median": round(statistics.median(ordered), 3),
        "p95": round(ordered[at], 3),
        "worst": round(ordered[-1], 3),
    }


def _server(folder: Path) -> psutil.Process:
    """The server that runs in a folder."""
    return next(one for one in psutil.Process().children() if any(str(folder) in part for part in one.cmdline()))


def _family(server: psutil.Process) -> list[psutil.Process]:
    return [server, *server.children(recursive=True)]


def _cpu_seconds(server: psutil.Process) -> float:
    """Of the server, the kernels that it has, and those that have ended."""
    spent = sum(server.cpu_times()[:2])
    for one in _family(server)[1:]:
        with contextlib.suppress(psutil.Error):
            times = one.cpu_times()
            spent += times.user + times.system + times.children_user + times.children_system
    return spent


def _megabytes(server: psutil.Process) -> int:
    total = 0
    for one in _family(server):
        with contextlib.suppress(psutil.Error):
            total += one.memory_full_info().pss
    return round(total / 1e6)


def _wait_until_idle(server: psutil.Process) -> None:
    """A teacher opens the server before the class comes."""
    spent = -1.0
    while spent != (now := _cpu_seconds(server)):
        spent = now
        time.sleep(2)


async def _until_closed(server: psutil.Process) -> None:
    """Wait until the kernels of pages that were left have ended, a minute at most."""
    for _ in range(60):
        # The server of forks is the one that stays.
        if len(_family(server)) <= 3:
            return
        await asyncio.sleep(1)
