"""The three hybrid schedules, compared with pipelined CG and CG on the accelerator alone, over sizes.

    python -m benchmarks.hybrid [--device cuda] [--problems poisson7 ...] [--sizes 16 32 ...] [--output FOLDER]

All matrices are in CSR form. Rows and columns are scaled at random and M = I: an iteration costs the same as with
Jacobi on the constant diagonal before scaling, and no method converges before it has been measured. Times are
microseconds per iteration, medians over interleaved rounds of new runs, each measured after as many iterations as CUDA
needs to record its graphs. `hidden` is the fraction of the time of all copies, in a traced run, in which cores or
accelerator computed. `fused=no` and `merged=no` switch off what Tiwari and Vadhiyar (2021) optimize in section V-B,
`halves=no` copies only what the other side reads. `chosen` is the choice of solver hybrid.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import interleaved, publish
from workbench import devices
from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.records import hidden_fraction
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem

SIZES = {"poisson7": (16, 32, 64, 101, 159), "poisson27": (16, 32, 64, 101), "poisson125": (16, 32, 64)}
"""Unknowns per side: N from 4e3 to 4e6, and at most some 30 million non-zeros."""
LARGEST_ON_CORES = 64
"""Unknowns per side if the accelerator is the processor itself, which is for tests."""
ALONE = ("cg", "pipecg")
SCHEDULES = ("hybrid1", "hybrid2", "hybrid3")
SWITCHES = ("fused=no", "merged=no")
LESS_COPIED = "hybrid3:halves=no"
EVERY = 10
"""Check interval of an accelerator that works alone."""
WARM_UP, MEASURED = 3 * EVERY, 2 * EVERY
ROUNDS = 3
TRACED = 10
SPREAD = 1.5


def figures(device: str = "", problems: tuple[str, ...] = (), sizes: tuple[int, ...] = ()) -> dict[str, Any]:
    """What is printed; by default on CUDA where it is, else on OpenCL."""
    try:
        device = device or ("cuda" if "cuda" in devices.names() else "opencl")
        title = devices.device(device).runtime.title
    except InputError as sentence:
        return {"not run": str(sentence)}
    chunked = devices.device(device).layout.chunked
    usual = {name: [n for n in many if n <= LARGEST_ON_CORES or not chunked] for name, many in SIZES.items()}
    chosen = {name: sizes or usual[name] for name in problems or SIZES}
    rows = [row(device, name, n) for name, many in chosen.items() for n in many]
    return {"device": device, "title": title, "rows": rows}


def row(device: str, name: str, n: int) -> dict[str, Any]:
    """All methods on one matrix."""
    assembled = configure(name, {"n": n}).problem.assemble()
    system = LinearSystem(Matrix(scaled(assembled.operator.to_csr())), assembled.b)
    made: dict[str, Any] = {"problem": name, "n": n, "N": system.operator.shape[0], "nnz": system.operator.nnz}
    made["us"] = seconds_of(device, system, (*ALONE, *SCHEDULES, LESS_COPIED), ROUNDS)
    single = [f"{schedule}:{switch}" for schedule in SCHEDULES for switch in SWITCHES]
    made["us"] |= seconds_of(device, system, tuple(single), ROUNDS)
    made["hidden"] = {schedule: hidden(device, system, schedule) for schedule in (*SCHEDULES, LESS_COPIED)}
    third = Run(configuration(device, "hybrid3"), system)
    made["decomposition"] = third.result().provenance["notes"]
    made["chosen"] = Run(configuration(device, "hybrid"), system).result().provenance["notes"]
    return made


def scaled(matrix: sparse.csr_array) -> sparse.csr_array:
    """D A D with D random over SPREAD orders of magnitude, in place."""
    factors = 10 ** (SPREAD * np.random.default_rng(0).random(matrix.indptr.size - 1))
    matrix.data *= np.repeat(factors, np.diff(matrix.indptr))
    matrix.data *= factors[matrix.indices]
    return matrix


def configuration(device: str, solver: str, maxiter: int = 10**7) -> Any:
    stopping = Stopping(rtol=1e-300, maxiter=maxiter, stagnation=10**9, check_every=EVERY)
    choices = {"solver": solver, "preconditioner": "none", "device": device, "rhs": "random"}
    return configure(InMemoryProblem(), **choices, stopping=stopping)


def seconds_of(device: str, system: LinearSystem, solvers: tuple[str, ...], rounds: int) -> dict[str, Any]:
    """Microseconds per iteration by solver, the median over rounds; a sentence for what cannot run."""
    found: dict[str, list[float]] = {solver: [] for solver in solvers}
    refused: dict[str, str] = {}

    def measure(solver: str) -> None:
        try:
            found[solver].append(iteration_seconds(Run(configuration(device, solver), system)))
        except (InputError, RuntimeError) as sentence:
            refused[solver] = str(sentence)

    interleaved({solver: lambda solver=solver: measure(solver) for solver in solvers}, rounds)
    # The first round compiles.
    medians = {solver: 1e6 * statistics.median(times[1:]) for solver, times in found.items() if len(times) > 1}
    return {**medians, **refused}


def iteration_seconds(run: Run) -> float:
    """Seconds of an iteration in the steady state."""
    _step_to(run, WARM_UP)
    seconds, made = run.iteration_seconds, run.iterations
    _step_to(run, WARM_UP + MEASURED)
    return (run.iteration_seconds - seconds) / (run.iterations - made)


def _step_to(run: Run, iterations: int) -> None:
    while run.iterations < iterations:
        if not run.step():
            raise RuntimeError(f"ended at iteration {run.iterations}: {run.detail}")


def hidden(device: str, system: LinearSystem, solver: str) -> float | None:
    trace = run_through(Run(configuration(device, solver, TRACED), system, trace=True)).trace
    assert trace is not None
    return hidden_fraction(trace)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.hybrid", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="", help="opencl or cuda, with a number or name behind a colon")
    parser.add_argument("--problems", nargs="*", default=[], choices=tuple(SIZES), help="by default all")
    parser.add_argument("--sizes", nargs="*", default=[], type=int, metavar="N", help="unknowns a side")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="also write hybrid.json here")
    chosen = parser.parse_args()
    publish("hybrid", figures(chosen.device, tuple(chosen.problems), tuple(chosen.sizes)), chosen.output)


if __name__ == "__main__":
    main()
