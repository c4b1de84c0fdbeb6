"""A class on one server: students who open a lesson at once, answer, race, load the page again, and leave.

    python -m benchmarks classroom [--quick] [--week] [--output FOLDER]

A server is started as docs/teaching.md says, and 30 simulated students (--quick: 4) have each of lessons 1, 4 and 7
(--quick: 1): all open it at the same moment, give a wrong and a right answer to its exercises, start its race, cut
their connection and connect again, load the page again, and leave. They speak HTTP and websockets as a page does, and
draw nothing. One more opens each lesson at the same moment in Chromium, on the same cores, and goes through it at their
own pace: reads to the end, answers, races, loads the page again and leaves. WORKBENCH_CLASS_ROUNDS repeats all of it on
the same server: the memory after each round shows whether it grows. WORKBENCH_CLASS_STUDENTS is another number of
simulated students.

--week is five days: the server is started again each morning while the pages of the day before are still open, every
fifth student leaves without a word, as a laptop that is closed does, and the time until such a page is ended is
compressed from half an hour to `AWAY` seconds.

Seconds: median, 95th percentile and worst. cpu_seconds: of the server and its kernels. server: seconds of the server on
a core, and seconds for which it was ready and other processes had the cores. memory_mb: proportional share (PSS) of the
server and its kernels. browser: seconds of the student in Chromium. orphans: processes that are left when the server
has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import socket
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from pathlib import Path
from typing import Any

from tornado.httpclient import HTTPClientError

from benchmarks.classroom.in_browser import BrowserStudent, Seconds, browser
from benchmarks.classroom.processes import Processes, left_over, load
from benchmarks.classroom.student import Student
from benchmarks.common import report
from benchmarks.live_view.lab import lab_tools
from workbench.errors import error_message

STUDENTS, QUICK_STUDENTS = 30, 4
NUMBER, ROUNDS = "WORKBENCH_CLASS_STUDENTS", "WORKBENCH_CLASS_ROUNDS"
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
DAYS = 5
AWAY = 20
"""Seconds for which a page that is away is kept in a compressed week."""


def figures(*, quick: bool = False, week: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    students = int(os.environ.get(NUMBER, QUICK_STUDENTS if quick else STUDENTS))
    taught = _week(students) if week else _day(students, [*ANSWERS][: 1 if quick else None])
    return {"students": students, **taught, "load": round(load(), 1)}


def _day(students: int, lessons: Sequence[str]) -> dict[str, Any]:
    """Rounds of lessons on one server."""
    with tempfile.TemporaryDirectory() as made:
        with _served(Path(made)) as (url, found):
            before = found.megabytes()
            rounds = [
                asyncio.run(_round(url, found, lessons, students)) for _ in range(int(os.environ.get(ROUNDS, "1")))
            ]
            processes = found.alive()
        return {"memory_mb_before": before, "rounds": rounds, "orphans": left_over(processes)}


def _week(students: int) -> dict[str, Any]:
    """Days, each with a server of its own at the same address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    culling = (f"--PageKernels.cull_idle_timeout={AWAY}", "--MappingKernelManager.cull_interval=5")
    days: list[dict[str, Any]] = []
    yesterday: list[Student] = []
    with tempfile.TemporaryDirectory() as made:
        for day in range(DAYS):
            folder = Path(made) / f"day{day}"
            folder.mkdir()
            with _served(folder, *culling, port=port) as (url, found):
                before = found.megabytes()
                taught, yesterday = asyncio.run(_weekday(url, found, [*ANSWERS][day % 2], students, yesterday))
                processes = found.alive()
            days.append({"memory_mb_before": before, **taught, "orphans": left_over(processes)})
            report(f"day {day + 1}", days[-1])
    return {"days": days}


@contextlib.contextmanager
def _served(folder: Path, *options: str, port: int | None = None) -> Generator[tuple[str, Processes]]:
    """A server in a folder, once it is idle."""
    with lab_tools().voila_server(folder, *OPTIONS, *options, port=port) as url:
        found = Processes(folder)
        found.wait_until_idle()
        yield url, found


async def _round(url: str, processes: Processes, lessons: Sequence[str], students: int) -> dict[str, Any]:
    """All lessons, one after another."""
    found: dict[str, Any] = {}
    async with browser() as chromium, _watched(processes):
        for name in lessons:
            one = BrowserStudent(chromium, url, name)
            async with asyncio.TaskGroup() as both:
                going = both.create_task(_in_browser(one, name))
                found[name], there = await _lesson(url, processes, name, students)
            found[name]["browser"] = going.result()
            found[name]["errors"] += one.errors
            await _all(found[name]["errors"], [one.leave for one in there])
            report(name, found[name])
        found["not_ended"] = await processes.until_closed(60)
    found["memory_mb_after"] = processes.megabytes()
    report("round", {name: found[name] for name in ("not_ended", "memory_mb_after")})
    return found


async def _in_browser(one: BrowserStudent, name: str) -> Seconds:
    """Seconds of the student in Chromium; what went wrong is one of its errors."""
    try:
        return await one.through(ANSWERS[name], races=name == RACING)
    except Exception as error:
        one.errors.append(error_message(error, "the student in Chromium"))
        return {}


async def _weekday(
    url: str, processes: Processes, name: str, students: int, yesterday: Sequence[Student]
) -> tuple[dict[str, Any], list[Student]]:
    """A lesson of a day; returns its figures, and students whose pages are open when the server ends.

    pages_of_yesterday: how many were answered that their kernel has ended, as all must be.
    """
    async with _watched(processes):
        gone = [await _is_gone(one) for one in yesterday]
        found, there = await _lesson(url, processes, name, students)
        silent = there[::5]
        await _all(found["errors"], [one.leave for one in there if one not in silent])
        await _all(found["errors"], [functools.partial(one.leave, politely=False) for one in silent])
        found["not_ended"] = await processes.until_closed(AWAY + 60)
        found |= {"pages_of_yesterday": [sum(gone), len(gone)], "memory_mb_after": processes.megabytes()}
        staying = [Student(url, name) for _ in silent]
        await _all(found["errors"], [one.open for one in staying])
    return found, staying


async def _is_gone(one: Student) -> bool:
    """True if the server answers that a kernel has ended."""
    try:
        await one.connect()
    except HTTPClientError as refused:
        return refused.code == 404
    return False


async def _lesson(url: str, processes: Processes, name: str, students: int) -> tuple[dict[str, Any], list[Student]]:
    """A lesson of all students, who have loaded the page again at its end."""
    errors: list[str] = []
    cpu, (on_core, queued) = processes.cpu_seconds, processes.server_seconds
    there = [Student(url, name) for _ in range(students)]
    opened = await _all(errors, [one.open for one in there])
    now_on_core, now_queued = processes.server_seconds
    found: dict[str, Any] = {
        "open": _spread(opened),
        "open_cpu_seconds": round(processes.cpu_seconds - cpu, 1),
        "open_server": {"on_core": round(now_on_core - on_core, 1), "ready_without": round(now_queued - queued, 1)},
        "memory_mb": processes.megabytes(),
    }
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
    found["cpu_seconds"] = round(processes.cpu_seconds - cpu, 1)
    return {**found, "errors": errors}, again


async def _answered(one: Student, number: int, answer: str) -> float:
    return (await one.answer(number, answer))[0]


async def _cut(one: Student) -> float:
    """Cut the connection and connect again."""
    begun = time.monotonic()
    await one.leave(politely=False)
    await one.connect()
    return time.monotonic() - begun


@contextlib.asynccontextmanager
async def _watched(processes: Processes) -> AsyncGenerator[None]:
    """Processes are looked at meanwhile."""
    watching = asyncio.ensure_future(processes.watch())
    try:
        yield
    finally:
        watching.cancel()


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
