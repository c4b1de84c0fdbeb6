"""Run the tests in parallel, in parts; no test measures time, so that none needs the machine to itself.

    run_tests.py [--all] PATH ... [-- ARGUMENTS OF PYTEST]

Without a path the tests of all folders run, and in the browser one that goes through the whole page; with --all all in
the browser, and those marked as slow, which take long and rarely fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPTIMIZED = ("compiler", "contracts/test_accelerators.py", "devices", "kernel_language")
"""Tests of what OpenCL's compiler makes of kernels, and of every method with it: there it optimizes, as for users.
In other processes it does not (`tests/conftest.py`), which takes a third of the time."""
COMPILING = "contracts"
"""The other folder whose tests compile most kernels; in processes of its own, since OpenCL's compiler does not return
memory."""
LAST = "browser"
"""A part of its own at the end; each process has its own servers and browser."""
THROUGH = f"tests/{LAST}/test_workbench.py"
"""What of it runs without --all and without a path. Not among others: a process that has driven a browser runs no event
loop of another test."""
WAITING = 2
"""The part whose tests wait for servers, ranks and processes: on several cores it has a process more, since with one
for each core the cores rest for a third of its time."""
AGAIN = ("--reruns", "1", "-raR")
"""After the parts that compile a failed test runs once more, since pages, kernels, servers and ranks share the machine
with whatever else it does. It is listed with why it failed."""
MOST = 4
"""Maximum of processes of a part, but for the one more of `WAITING`: each takes some hundreds of megabytes, and has a
process that compiles kernels."""
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""By what the BLAS libraries of NumPy and SciPy learn how many threads to start."""
NO_TESTS = 5
"""Exit status of pytest if it finds no test, as in a part from which `-k` selects nothing."""


def main(words: Sequence[str]) -> int:
    """Run all parts even if one fails; returns the exit status of the first part that fails."""
    whole, words = words[:1] == ["--all"], [word for word in words if word != "--all"]
    paths, arguments = split(words)
    paths = paths or everything(whole=whole)
    processes = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    # Of several -m the last holds, so that the arguments may choose otherwise.
    options = [] if whole else ["-m", "not slow"]
    parts: list[list[str]] = [[], [], [], []]
    for path in paths:
        parts[part(path)].append(path)
    codes = [
        pytest([*in_parallel(number, processes), *options, *again(number), *paths, *arguments])
        for number, paths in enumerate(parts)
        if paths
    ]
    wrong = [code for code in codes if code not in (0, NO_TESTS)]
    return wrong[0] if wrong else min(codes)


def in_parallel(number: int, processes: int) -> list[str]:
    """The options of pytest for the processes of a part; none where one process runs all."""
    return ["-n", str(processes + (number == WAITING)), "--dist", "worksteal"] if processes > 1 else []


def again(number: int) -> tuple[str, ...]:
    """The options of pytest for a part whose failed tests run once more."""
    return AGAIN if number >= WAITING else ()


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths before `--`, and the arguments after it."""
    words = list(words)
    end = words.index("--") if "--" in words else len(words)
    return words[:end], words[end + 1 :]


def everything(*, whole: bool) -> list[str]:
    """All files and folders of tests, and each file of contracts; of the browser's all only if whole."""
    found = [path for path in (ROOT / "tests").iterdir() if path.match("test_*.py") or path.is_dir()]
    found += (ROOT / "tests" / COMPILING).glob("test_*.py")
    found.remove(ROOT / "tests" / COMPILING)
    paths = [str(path.relative_to(ROOT)) for path in sorted(found) if path.name[0] not in "_."]
    return [THROUGH if path == f"tests/{LAST}" and not whole else path for path in paths]


def part(path: str) -> int:
    """In which part a path runs: 0 to 3."""
    full = (ROOT / path.partition("::")[0]).resolve()
    if is_optimized(full):
        return 0
    below = full.relative_to(ROOT / "tests").parts if full.is_relative_to(ROOT / "tests") else ()
    folder = below[0] if below else ""
    return 1 if folder == COMPILING else 3 if folder == LAST else WAITING


def is_optimized(path: Path) -> bool:
    """True if OpenCL's compiler optimizes in the tests of a file or folder."""
    return any(path.resolve().is_relative_to(ROOT / "tests" / each) for each in OPTIMIZED)


def pytest(arguments: Sequence[str]) -> int:
    """Run pytest in this environment and return its exit status.

    Bytecode is written whatever PYTHONDONTWRITEBYTECODE says: without it each of some hundred processes compiles all
    modules that it imports, and each worker rewrites the assertions of all tests. BLAS keeps to one thread: the threads
    of several processes wait for each other's cores while they spin, and small dense references take ten times as long.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= dict.fromkeys(ONE_THREAD, "1")
    command = [sys.executable, "-m", "pytest", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
