"""Run the tests: first, on all cores, those that spend their time compiling; then, alone, those that watch the clock.

    run_tests.py PATH ... [-- ARGUMENTS OF PYTEST]

Without a path all tests run, those in the browser last.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARING = ("analysis", "contracts", "deflation", "devices", "operators", "papers", "preconditioners", "solvers")
"""Folders of tests that bear company: none of them looks at a clock, or counts the memory or the threads in use."""
LAST = "browser"
MOST = 4
"""Processes at most: each compiles what it needs, and takes half a gigabyte."""
NO_TESTS = 5
"""What pytest says when it finds no test, as in the part that `-k` leaves nothing of."""


def main(words: Sequence[str]) -> int:
    """Run both parts, whatever the first one says; returns the exit status of the first part that fails."""
    paths, arguments = split(words)
    together = [path for path in paths if shares(path)]
    alone = [path for path in paths if path not in together]
    codes = []
    if together:
        processes = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
        spread = ["-n", str(processes), "--dist", "worksteal"] if processes > 1 else []
        codes.append(pytest([*spread, *together, *arguments]))
    if alone:
        codes.append(pytest([*alone, *arguments]))
    wrong = [code for code in codes if code not in (0, NO_TESTS)]
    return wrong[0] if wrong else min(codes)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths before `--`, in the order in which they are to run, and what follows it."""
    words = list(words)
    end = words.index("--") if "--" in words else len(words)
    return words[:end] or everything(), words[end + 1 :]


def everything() -> list[str]:
    """All files and folders of tests, those in the browser last."""
    tests = ROOT / "tests"
    found = [
        path for path in tests.iterdir() if path.match("test_*.py") or (path.is_dir() and path.name[0] not in "_.")
    ]
    return [str(path.relative_to(ROOT)) for path in sorted(found, key=lambda path: (path.name == LAST, path.name))]


def shares(path: str) -> bool:
    """Whether the tests at a path may run beside others."""
    parts = (ROOT / path.partition("::")[0]).resolve().relative_to(ROOT).parts
    return len(parts) > 1 and parts[0] == "tests" and parts[1] in SHARING


def pytest(arguments: Sequence[str]) -> int:
    """Run pytest in this environment and return its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
