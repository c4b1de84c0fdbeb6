"""The job of every contestant: solve once for the answer, or solve twice for the time.

A job is one JSON argument: n, the file of b, and either a folder for answers or two numbers of iterations. Without one
a contestant only describes itself. The reply is one line of JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RTOL, MOST = 1e-8, 2000
UNREACHABLE = 1e-30
"""A tolerance that is never met, so that all iterations are made, each with its norm as in a real solve."""

Solve = Callable[[float, int], tuple[float, int, Callable[[], np.ndarray]]]
"""Maps rtol and the maximum of iterations to seconds, iterations made, and a function that fetches x, shape (N,)."""


def play(about: dict[str, Any], set_up: Callable[[int, np.ndarray], dict[str, Solve]], speaks: bool = True) -> None:
    """Do the job. `set_up` builds the methods by name from n and b; of several processes one replies."""
    reply: dict[str, Any] = {"about": about}
    if len(sys.argv) > 1:
        job = json.loads(sys.argv[1])
        methods = set_up(job["n"], np.load(job["b"]))
        for name, solve in methods.items():
            if "answers" in job:
                _, iterations, x = solve(RTOL, MOST)
                found = x()
                if speaks:
                    np.save(Path(job["answers"]) / f"{name}.npy", found)
                reply[name] = iterations
            else:
                reply[name] = seconds_of_an_iteration(solve, *job["iterations"])
    if speaks:
        print(json.dumps(reply), flush=True)


def seconds_of_an_iteration(solve: Solve, few: int, many: int) -> float:
    """The time of a long solve minus that of a short one, so that all but iterating cancels. The first solve warms
    up."""
    solve(UNREACHABLE, few)
    (short, made_few, _), (long, made_many, _) = solve(UNREACHABLE, few), solve(UNREACHABLE, many)
    # PETSc's pipecg makes one iteration more than requested, in both solves.
    if made_many - made_few != many - few or made_few not in (few, few + 1):
        raise RuntimeError(f"asked for {few} and {many} iterations, made {made_few} and {made_many}")
    return (long - short) / (many - few)
