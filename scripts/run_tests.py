"""Run the tests in parallel, folder by folder; no test measures time, so that none needs the machine to itself.

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
GROUPS = (
    ("contracts",),
    ("devices/accelerator",),
    ("devices",),
    ("analysis", "deflation", "lines", "operators", "papers", "preconditioners", "run", "solvers"),
    ("live",),
)
"""Folders whose tests run together, each group in separate processes: OpenCL's compiler does not return memory. A
folder within another is named before it. All other tests are one more group."""
LAST = "browser"
"""A group of its own at the end; each process has its own servers and browser."""
MOST = 4
"""Maximum of processes: each takes some hundreds of megabytes, and has a process that compiles kernels."""
NO_TESTS = 5
"""Exit status of pytest if it finds no test, as in a part from which `-k` selects nothing."""


def main(words: Sequence[str]) -> int:
    """Run all parts even if one fails; returns the exit status of the first part that fails."""
    paths, arguments = split(words)
    processes = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    spread = ["-n", str(processes), "--dist", "worksteal"] if processes > 1 else []
    parts: list[list[str]] = [[] for _ in (*GROUPS, "others", LAST)]
    for path in paths:
        parts[group(path)].append(path)
    codes = [pytest([*spread, *part, *arguments]) for part in parts if part]
    wrong = [code for code in codes if code not in (0, NO_TESTS)]
    return wrong[0] if wrong else min(codes)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths before `--`, in the order in which they run, and the arguments after it."""
    words = list(words)
    end = words.index("--") if "--" in words else len(words)
    return words[:end] or everything(), words[end + 1 :]


def everything() -> list[str]:
    """All files and folders of tests, those in the browser last; the content of a folder that has a group within it."""
    tests = ROOT / "tests"
    shared = {name.partition("/")[0] for names in GROUPS for name in names if "/" in name}
    found: list[Path] = []
    for path in tests.iterdir():
        found += path.iterdir() if path.name in shared else [path]
    found = [path for path in found if path.match("test_*.py") or (path.is_dir() and path.name[0] not in "_.")]
    return [str(path.relative_to(ROOT)) for path in sorted(found, key=lambda path: (path.name == LAST, path))]


def within(path: str) -> str:
    """A path relative to the folder of tests, empty if it is elsewhere."""
    full = (ROOT / path.partition("::")[0]).resolve()
    return full.relative_to(ROOT / "tests").as_posix() if full.is_relative_to(ROOT / "tests") else ""


def group(path: str) -> int:
    """The place of a path's group among all groups: those of `GROUPS`, the others, and the browser's."""
    own = within(path)
    if is_in(own, LAST):
        return len(GROUPS) + 1
    return next((place for place, names in enumerate(GROUPS) if any(is_in(own, name) for name in names)), len(GROUPS))


def is_in(path: str, folder: str) -> bool:
    """Whether a path is a folder or lies in it."""
    return path == folder or path.startswith(f"{folder}/")


def pytest(arguments: Sequence[str]) -> int:
    """Run pytest in this environment and return its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
