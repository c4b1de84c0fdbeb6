"""Memory of a process that solves many different configurations, with an empty kernel cache.

    python -m benchmarks kernel_memory [--quick] [--output FOLDER]

300 configurations (--quick: 60): methods, preconditioners, deflation and problems drawn at random with a fixed seed,
and every fifth an in-memory matrix in one of four precisions. They are solved in a separate process, whose resident
memory is read after importing, after the first solve, and after every tenth.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

SOLVERS = ("cg", "cg3", "cgcg", "fcg", "gropp", "pipecg", "lanczos-cg", "pipe-pr-cg", "pipecg-rr", "pr-cg", "sd")
LEVEL_ONE = (
    "none",
    "jacobi",
    "neumann:1",
    "neumann:2",
    "neumann:4",
    "chebyshev",
    "ic",
    "block-ic",
    "mic",
    "ssor",
    "fsai",
)
DEFLATION = ("none", "stripes", "blocks:2", "eigenvectors:2")
VARIANTS = ("def1", "def2", "a-def1", "a-def2", "bnn", "ad")
PROBLEMS = ("two-layer", "bubbles-2d", "poisson5", "poisson7", "poisson27")
PRECISIONS = ("float32", "float64", "complex64", "complex128")
EVERY = 10
SEED = 1


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    with tempfile.TemporaryDirectory() as folder:
        return measured(60 if quick else 300, folder)


def measured(count: int, cache: str) -> dict[str, Any]:
    """Megabytes of a process that solves `count` configurations with its kernels kept in the folder `cache`."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.kernel_memory", str(count)],
        env=os.environ | {"WORKBENCH_CACHE": cache},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def configurations(count: int) -> list[dict[str, str]]:
    """Distinct configurations, the same for every caller; those of a smaller count are the first of a larger one."""
    import random

    chance = random.Random(SEED)
    found: list[dict[str, str]] = []
    while len(found) < count:
        chosen = {
            "solver": chance.choice(SOLVERS),
            "preconditioner": chance.choice(LEVEL_ONE),
            "deflation": chance.choice(DEFLATION),
            "variant": chance.choice(VARIANTS),
            "problem": chance.choice(PROBLEMS),
        }
        if len(found) % 5 == 4:
            chosen |= {"problem": chance.choice(PRECISIONS), "deflation": chance.choice(("none", "labels"))}
        if chosen["deflation"] == "none":
            chosen["variant"] = "def1"
        if chosen not in found:
            found.append(chosen)
    return found


def _solve(problem: str, deflation: str, **blocks: str) -> bool:
    """Solve one and return whether that went without an error. Some combinations are refused."""
    import numpy as np
    from scipy import sparse

    from workbench.errors import InputError
    from workbench.run import Run, Stopping, configure, run_through, solve

    stopping = {"rtol": 1e-4, "maxiter": 30}
    try:
        if problem not in PRECISIONS:
            n = 16 if problem in ("two-layer", "poisson5") else 17 if problem == "bubbles-2d" else 8
            run_through(Run(configure(problem, n=n, deflation=deflation, stopping=Stopping(**stopping), **blocks)))
            return True
        line = sparse.diags_array([-np.ones(19), 2.1 * np.ones(20), -np.ones(19)], offsets=[-1, 0, 1])
        A = sparse.csr_array(sparse.kron(line, sparse.eye_array(20)) + sparse.kron(sparse.eye_array(20), line))
        labels = np.arange(400) // 50 if deflation == "labels" else "none"
        blocks["M"] = blocks.pop("preconditioner")
        if deflation == "none":
            del blocks["variant"]
        solve(A.astype(problem), np.ones(400, problem), deflation=labels, **stopping, **blocks)
    except InputError:
        return False
    return True


def _main(count: int) -> None:
    import psutil

    import workbench.run  # noqa: F401

    process = psutil.Process()
    megabytes = [process.memory_info().rss / 1e6]
    solved = 0
    for place, chosen in enumerate(configurations(count)):
        solved += _solve(**chosen)
        if place == 0 or place % EVERY == EVERY - 1:
            megabytes.append(process.memory_info().rss / 1e6)
            print(f"{place + 1:4} configurations, {solved} solved: {megabytes[-1]:.0f} MB", file=sys.stderr, flush=True)
    kernels = len(os.listdir(os.path.join(os.environ["WORKBENCH_CACHE"], "machine-code")))
    print(
        json.dumps(
            {
                "configurations": count,
                "solved": solved,
                "kernels": kernels,
                "after_import_MB": megabytes[0],
                "after_first_MB": megabytes[1],
                "every_tenth_MB": megabytes[2:],
                "grown_MB": max(megabytes) - megabytes[0],
            }
        )
    )


if __name__ == "__main__":
    _main(int(sys.argv[1]))
