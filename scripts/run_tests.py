"""Run the tests: in parallel those that do not measure time, folder by folder; then, one by one, those that do.

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
    ("devices",),
    ("analysis", "deflation", "lines", "operators", "papers", "preconditioners", "run", "solvers"),
    ("cli", "figures", "files", "live", "notebooks", "problems", "recording"),
)
"""Folders whose tests run in parallel, each group in separate processes: OpenCL's compiler does not return memory."""
LAST = "browser"
"""Run in parallel too, each process with its own servers and browser."""
MOST = 4
"""Maximum of processes: each takes some hundreds of megabytes, and has a process that compiles kernels."""
NO_TESTS = 5
"""Exit status of pytest if it finds no test, as in a part from which `-k` selects nothing."""


def main(words: Sequence[str]) -> int:
    """Run all parts even if one fails; returns the exit status of the first part that fails."""
    paths, arguments = split(words)
    processes = min(MOST, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    spread = ["-n", str(processes), "--dist", "worksteal"] if processes > 1 else []
    parts = [[path for path in paths if folder(path) in group] for group in GROUPS]
    alone = [path for path in paths if folder(path) != LAST and not any(path in part for part in parts)]
    last = [path for path in paths if folder(path) == LAST]
    calls = [[*spread, *part] for part in parts if part]
    calls += [alone] if alone else []
    calls += [[*spread, *last]] if last else []
    codes = [pytest([*call, *arguments]) for call in calls]
    wrong = [code for code in codes if code not in (0, NO_TESTS)]
    return wrong[0] if wrong else min(codes)


def split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paths before `--`, in the order in which they run, and the arguments after it."""
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


def folder(path: str) -> str:
    """The folder of tests that contains a path, empty if there is none."""
    parts = (ROOT / path.partition("::")[0]).resolve().relative_to(ROOT).parts
    return parts[1] if len(parts) > 1 and parts[0] == "tests" else ""


def pytest(arguments: Sequence[str]) -> int:
    """Run pytest in this environment and return its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
