"""On an NVIDIA GPU: every method compared with the CPU, and the speed of CG compared with CuPy's and Warp's.

    python -m benchmarks gpu [--output FOLDER]

Times are per iteration, by CUDA events around 200 iterations, after as many for warming up. Ours include the checks of
the norms at the adaptive check interval: one per 200 iterations, and more where these take longer than about 20 ms.
Other rows compare check intervals, by the host's clock. Each row is printed on standard error as it ends; one that
fails has its sentence instead. Our bandwidth is the bytes counted from the compiled lines over the time, as a share of
that of a large copy on the same device. CuPy's cg and Warp's cg get the assembled matrix in CSR form and a Jacobi
preconditioner, as their users would write it; if Warp is not installed its column says so. Ours runs on the stencil
and, in rows that say so, on the same CSR matrix.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.common import attempts, report
from workbench.errors import InputError, error_message
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.choices.in_memory import InMemoryProblem

ITERATIONS = 200
CHECK_EVERY = (None, 16, 50, 1000)
"""Iterations between two checks of the norms by the host; None is the device's adaptive choice."""
LOOKED_AT = (("poisson5", 128), ("poisson5", 512), ("poisson5", 1024), ("poisson5", 2048), ("poisson7", 128))
"""Problems, with n, on which the check intervals are compared."""
LOOKED_AT_SECONDS = 0.25
"""Seconds of one timing in that comparison."""
ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)
"""Criteria that no run of the benchmark meets."""
CG_CASES = (("poisson5", 1024), ("poisson5", 4096), ("poisson7", 256), ("poisson7", 512))
CSR_CASES = (("poisson5", 1024), ("poisson7", 256), ("poisson27", 128))
LARGEST_FOR_PEERS = 2**25
"""Unknowns up to which the other libraries get an assembled matrix."""
TWO_LEVEL = (
    ("neumann:2", "stripes", "inverse"),
    ("neumann:2", "stripes", "cholesky"),
    ("block-ic:8", "stripes", "inverse"),
)
"""Preconditioner, deflation and coarse solver of the two-level rows."""
FIRST_LEVELS = ("none", "jacobi", "neumann:1", "neumann:2", "neumann:5", "block-ic:2", "chebyshev", "fsai", "amg")
SECOND_LEVELS = ("none", "stripes", "blocks:4", "levelset:4", "ritz:5", "eigenvectors:4")
GRIDS = (("two-layer", 33), ("bubbles-3d", 17))
"""Problems, with odd n, on which all pairs of levels are compared with the CPU."""


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    try:
        cupy = importlib.import_module("cupy")
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return {"not run": f"no CUDA device with CuPy here: {error}"}
    assert count
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    copy = copy_bandwidth(cupy)
    return {
        "gpu": properties["name"].decode(),
        "cuda_runtime": cupy.cuda.runtime.runtimeGetVersion(),
        "cupy": cupy.__version__,
        "copy_GB_per_s": 1e-9 * copy,
        "against_the_cpu": against_the_cpu(),
        "check_every": rows({f"looks, {name} {n}": partial(check_every_row, cupy, name, n) for name, n in LOOKED_AT}),
        "cg": rows({f"cg, {name} {n}": partial(cg_row, cupy, name, n, copy) for name, n in CG_CASES}),
        "cg_csr": rows(
            {f"cg, {name} {n} as CSR": partial(cg_row, cupy, name, n, copy, as_csr=True) for name, n in CSR_CASES}
        ),
        "two_level_1024": rows(
            {" + ".join(levels): partial(two_level_row, cupy, *levels, copy) for levels in TWO_LEVEL}
        ),
    }


def rows(cases: dict[str, Callable[[], Any]]) -> list[Any]:
    """The figures of every case, or the case and why it failed."""
    return [row if "failed" not in row else {"case": case} | row for case, row in attempts(cases).items()]


def copy_bandwidth(cupy: Any) -> float:
    """Bytes per second, read and written, of a copy of 2 GiB on the device."""
    source, target = cupy.ones(2**28), cupy.empty(2**28)
    return 2 * source.nbytes / event_seconds(cupy, lambda: cupy.copyto(target, source), 20)


def event_seconds(cupy: Any, work: Callable[[], Any], repeats: int, rounds: int = 5) -> float:
    """Seconds of one call: the median of rounds, by events on the current stream."""
    work()
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    found = []
    for _ in range(rounds):
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        end.synchronize()
        found.append(1e-3 * cupy.cuda.get_elapsed_time(start, end) / repeats)
    return statistics.median(found)


def against_the_cpu() -> dict[str, Any]:
    """All pairs of levels on odd grids: the largest differences in iterations and solution from the CPU's."""
    pairs, most, farthest = 0, 0, 0.0
    refused: dict[str, str] = {}
    failed: dict[str, str] = {}
    for first, second, (name, n) in itertools.product(FIRST_LEVELS, SECOND_LEVELS, GRIDS):
        choices = {"preconditioner": first, "deflation": second, "stopping": Stopping(rtol=1e-10)}
        try:
            device = run_through(Run(configure(name, {"n": n}, device="cuda", **choices)))
            host = run_through(Run(configure(name, {"n": n}, **choices)))
        except InputError as sentence:
            refused[first] = str(sentence)
            continue
        # One failing pair must not lose the figures of the others.
        except Exception as error:
            failed[f"{first} + {second}, {name} {n}"] = error_message(error)
            report(f"{first} + {second}, {name} {n}", failed[f"{first} + {second}, {name} {n}"])
            continue
        report(f"{first} + {second}, {name} {n}", f"{device.iterations} iterations, on the CPU {host.iterations}")
        if device.converged != host.converged:
            failed[f"{first} + {second}, {name} {n}"] = f"{device.reason.name}, on the CPU {host.reason.name}"
            continue
        pairs += 1
        # Without a preconditioner there are hundreds of iterations more, and rounding affects their number.
        most = max(most, abs(device.iterations - host.iterations)) if first != "none" else most
        farthest = max(farthest, float(np.linalg.norm(device.x - host.x) / np.linalg.norm(host.x)))
    figures = {"pairs": pairs, "most_iterations_apart": most, "farthest_solution": farthest}
    return figures | {"refused": refused, "failed": failed}


def check_every_row(cupy: Any, name: str, n: int) -> dict[str, Any]:
    """Microseconds per iteration of Jacobi-CG for several check intervals, interleaved."""
    chosen = configure(name, {"n": n}, rhs="random", device="cuda")
    system = chosen.problem.assemble()
    found: dict[str, list[float]] = {}
    for every in CHECK_EVERY * 3:
        stopping = dataclasses.replace(ENDLESS, check_every=every)
        run = Run(dataclasses.replace(chosen, stopping=stopping), system)
        _iterate(cupy, run, LOOKED_AT_SECONDS)
        found.setdefault(str(every or "grows"), []).append(1e6 * _iterate(cupy, run, LOOKED_AT_SECONDS))
    return {"problem": f"{name} {n}", "us": {every: statistics.median(values) for every, values in found.items()}}


def _iterate(cupy: Any, run: Run, seconds: float) -> float:
    """Seconds per iteration, by the host's clock, over as many check intervals as fit into so many seconds."""
    before, begun = run.history.count, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        run.step()
    cupy.cuda.Device().synchronize()
    return (time.perf_counter() - begun) / (run.history.count - before)


def cg_row(cupy: Any, name: str, n: int, copy: float, *, as_csr: bool = False) -> dict[str, Any]:
    """One problem: microseconds per iteration of ours, of CuPy and of Warp."""
    chosen = configure(name, {"n": n}, rhs="random", device="cuda", stopping=ENDLESS)
    system = chosen.problem.assemble()
    if as_csr:
        system = LinearSystem(Matrix(system.operator.to_csr()), system.b)
        chosen = configure(InMemoryProblem(), rhs="random", device="cuda", stopping=ENDLESS)
    row: dict[str, Any] = {"problem": f"{name} {n}" + (" as CSR" if as_csr else ""), "N": system.operator.shape[0]}
    row |= ours(cupy, Run(chosen, system), copy)
    if system.operator.shape[0] <= LARGEST_FOR_PEERS:
        matrix = system.operator.to_csr()
        row["cupy_us"] = 1e6 * cupy_cg(cupy, matrix)
        row["times_faster_than_cupy"] = row["cupy_us"] / row["ours_us"]
        row |= warp_columns(matrix, row["ours_us"])
    return row


def two_level_row(cupy: Any, first: str, second: str, coarse: str, copy: float) -> dict[str, Any]:
    """The two-level paper's largest 2D problem: time of an iteration, and of a whole solve."""
    choices = {"preconditioner": first, "deflation": second, "coarse": coarse, "device": "cuda"}
    row = {"levels": f"{first} + {second} + {coarse}"}
    row |= ours(cupy, Run(configure("two-layer", n=1024, stopping=ENDLESS, **choices)), copy)
    run_through(Run(configure("two-layer", n=1024, **choices)))
    whole = run_through(Run(configure("two-layer", n=1024, **choices)))
    return row | {
        "iterations": whole.iterations,
        "setup_s": whole.setup_seconds,
        "iterating_s": whole.iteration_seconds,
    }


def ours(cupy: Any, run: Run, copy: float) -> dict[str, float]:
    """Microseconds per iteration, bytes of an iteration, and its bandwidth as a share of `copy` bytes per second."""

    def iterate() -> None:
        while run.history.count < until[-1]:
            run.step(until[-1] - run.history.count)
        until.append(until[-1] + ITERATIONS)

    run.step()
    until = [1 + ITERATIONS]
    seconds = event_seconds(cupy, iterate, 1) / ITERATIONS
    solver = run.configuration.solver
    (_, compiled) = run.workspace.lines(solver.start, solver.iterate)
    return {
        "ours_us": 1e6 * seconds,
        "counted_bytes": compiled.bytes,
        "share_of_copy": compiled.bytes / seconds / copy,
    }


def cupy_cg(cupy: Any, matrix: Any) -> float:
    """Seconds per iteration of cupyx.scipy.sparse.linalg.cg with Jacobi as a LinearOperator."""
    sparse = importlib.import_module("cupyx.scipy.sparse")
    linalg = importlib.import_module("cupyx.scipy.sparse.linalg")
    A = sparse.csr_matrix(matrix)
    inverse = 1 / A.diagonal()
    jacobi = linalg.LinearOperator(A.shape, matvec=lambda r: inverse * r, dtype=A.dtype)
    b = cupy.asarray(np.random.default_rng(0).random(A.shape[0]))

    def solve() -> None:
        linalg.cg(A, b, rtol=1e-30, maxiter=ITERATIONS, M=jacobi)

    return event_seconds(cupy, solve, 1, rounds=3) / ITERATIONS


def warp_columns(matrix: Any, ours_us: float) -> dict[str, Any]:
    """Microseconds per iteration of warp.optim.linear.cg with its diagonal preconditioner, checked every 50 iterations,
    and the ratio to ours."""
    try:
        warp = importlib.import_module("warp")
        linear = importlib.import_module("warp.optim.linear")
        bsr = importlib.import_module("warp.sparse")
    except ImportError as error:
        return {"warp": f"not installed ({error})"}
    entries = matrix.tocoo()
    arrays = [warp.array(part.astype(np.int32), device="cuda") for part in entries.coords]
    values = warp.array(entries.data, dtype=warp.float64, device="cuda")
    A = bsr.bsr_from_triplets(matrix.shape[0], matrix.shape[1], *arrays, values)
    b = warp.array(np.random.default_rng(0).random(matrix.shape[0]), dtype=warp.float64, device="cuda")
    M = linear.preconditioner(A, "diag")
    start, end = warp.Event(enable_timing=True), warp.Event(enable_timing=True)
    found = []
    for _ in range(4):
        x = warp.zeros_like(b)
        warp.record_event(start)
        linear.cg(A, b, x, tol=1e-30, atol=1e-300, maxiter=ITERATIONS, M=M, check_every=50)
        warp.record_event(end)
        warp.synchronize()
        found.append(1e3 * warp.get_event_elapsed_time(start, end) / ITERATIONS)
    microseconds = statistics.median(found[1:])
    return {"warp": warp.config.version, "warp_us": microseconds, "times_faster_than_warp": microseconds / ours_us}
