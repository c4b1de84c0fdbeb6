"""Block vectors: products, Gram matrices and whole iterations for many right-hand sides, against NumPy, SciPy, CuPy.

    python -m benchmarks block [--output FOLDER] [--quick]

On the CPU, and on CUDA where CuPy has a device; partial sums added on the device and on the host also on OpenCL.
Seconds are wall-clock, the device's work being waited for; rounds are interleaved, figures are medians, ratios are
medians of those within a round. Bytes are counted, each block vector once: `share` is their rate over that of a triad
on the CPU, and of a copy of 512 MiB on a GPU, measured in the same rounds.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse.linalg as scipy_linalg
from scipy import sparse

from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.settings import HOST, ON_DEVICE

ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)
"""Criteria that no run of the benchmark meets."""
SIZE = 250_000
"""Rows of the matrix with about 100 entries each."""
BANDS = 50
"""Diagonals on each side of the matrix with about 100 entries per row."""
COLUMNS = (1, 4, 16, 32)
ITERATIONS = 5
"""Iterations of one timing."""
MORE_ON_GPU = 5
"""Times as many iterations in a timing on a GPU, fewer than which are too short; with many times more, the diagonally
dominant matrix is solved to underflow."""
WIDTHS = (1, 4, 16)
"""Columns where the second stage of reductions is compared."""
GRIDS = {"cpu": 96, "cuda": 128}
"""Side of the grids in three dimensions."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    rounds = 2 if quick else 7
    return {
        **{name: of_device(name, rounds, quick=quick) for name in ("cpu", "cuda") if found(name)},
        "second stage of reductions": {
            name: attempts(
                {f"s = {s}": partial(reductions, name, rounds, 10_000 if quick else SIZE, s) for s in WIDTHS}
            )
            for name in ("opencl", "cuda")
            if found(name)
        },
    }


def found(name: str) -> bool:
    """Whether the device is here."""
    try:
        devices.device(name)
    except InputError:
        return False
    return True


def of_device(name: str, rounds: int, *, quick: bool) -> dict[str, Any]:
    """All figures of one device."""
    size = 20_000 if quick else SIZE
    matrix = banded(size)
    cases = {f"A X, 101 entries per row, s = {s}": partial(product, name, matrix, s, rounds) for s in COLUMNS}
    cases |= {f"X^H Y, s = {s}": partial(gram, name, 4 * size, s, rounds) for s in (4, 16)}
    cases["an iteration, s = 16"] = partial(iterations, name, matrix, rounds, 12 if quick else GRIDS[name])
    return attempts({f"{name}: {case}": measure for case, measure in cases.items()})


def banded(size: int) -> sparse.csr_array:
    """A symmetric, diagonally dominant matrix whose 100 random off-diagonals lie within 2000 of the diagonal."""
    rng = np.random.default_rng(0)
    offsets = np.sort(rng.choice(np.arange(1, min(2000, size // 2)), BANDS, replace=False))
    upper = [rng.uniform(-1, 0, size - offset) for offset in offsets]
    diagonals = [*upper, *upper, np.full(size, 2 * BANDS + 1.0)]
    return sparse.diags_array(diagonals, offsets=[*offsets, *(-offsets), 0], format="csr")


def product(name: str, matrix: sparse.csr_array, s: int, rounds: int) -> dict[str, Any]:
    """A X with the matrix in CSR form: microseconds, share of the bandwidth, and the peer's time over ours."""
    device = devices.device(name)
    X, out = blocks(device, matrix.shape[0], s, 2)
    ours = Matrix(matrix).bind(device).block(s)
    contestants = {"ours": waited(device, lambda: ours.apply(X, out)), "stream": stream(device)}
    if name == "cpu":
        contestants["peer"] = lambda: matrix @ X
    else:
        cupy = importlib.import_module("cupy")
        theirs = importlib.import_module("cupyx.scipy.sparse").csr_matrix(matrix)
        dense = cupy.asarray(device.to_host(X))
        contestants["peer"] = waited(cupy.cuda.Device(), lambda: theirs @ dense)
    return compared(contestants, ours.traffic, rounds)


def gram(name: str, size: int, s: int, rounds: int) -> dict[str, Any]:
    """X^H Y, as `product`."""
    device = devices.device(name)
    X, Y = blocks(device, size, s, 2)
    contestants: dict[str, Callable[[], Any]] = {"ours": device.block_algebra().gram(X, Y), "stream": stream(device)}
    if name == "cpu":
        contestants["peer"] = lambda: X.T @ Y
    else:
        cupy = importlib.import_module("cupy")
        left, right = cupy.asarray(device.to_host(X)), cupy.asarray(device.to_host(Y))
        contestants["peer"] = waited(cupy.cuda.Device(), lambda: left.T @ right)
    return compared(contestants, X.nbytes + Y.nbytes, rounds)


def iterations(name: str, matrix: sparse.csr_array, rounds: int, n: int) -> dict[str, Any]:
    """Times of an iteration of CG over that of a block method per right-hand side, s = 16, with Jacobi, by matrix.

    On the CPU also SciPy's CG over `pseudo-block-cg`.
    """
    systems = {"101 entries per row": Matrix(matrix)}
    for problem in ("poisson27", "poisson7"):
        operator = configure(problem, n=n).problem.assemble(0).operator
        systems[f"{problem} {n} as CSR"] = Matrix(operator.to_csr())
        if problem == "poisson7":
            systems[f"{problem} {n}, matrix-free"] = operator
    return {case: _iteration(name, operator, rounds) for case, operator in systems.items()}


def reductions(name: str, rounds: int, size: int, s: int) -> dict[str, float]:
    """Milliseconds of an iteration whose partial sums the device adds, and the host, and the latter over the former.

    With Jacobi on a matrix of 7 entries a row, by CG for s = 1, else by pseudo-block CG.
    """
    matrix = sparse.diags_array([-1.0] * 3 + [6.5] + [-1.0] * 3, offsets=range(-3, 4), shape=(size, size), format="csr")
    B = np.random.default_rng(0).standard_normal((size, s) if s > 1 else size)
    solver = "pseudo-block-cg" if s > 1 else "cg"
    runs = {
        where: Run(
            configure(InMemoryProblem(), device=name, stopping=ENDLESS, solver=solver, reduction=where),
            LinearSystem(Matrix(matrix), B),
        )
        for where in (ON_DEVICE, HOST)
    }
    seconds = interleaved({where: partial(_some, run, 1) for where, run in runs.items()}, rounds)
    ms = {f"{where}, ms": 1e3 * statistics.median(times) / ITERATIONS for where, times in seconds.items()}
    return {**ms, "host / device": median_ratio(seconds[HOST], seconds[ON_DEVICE])}


def _iteration(name: str, operator: Any, rounds: int) -> dict[str, float]:
    size, s = operator.shape[0], 16
    B = np.random.default_rng(0).standard_normal((size, s))
    chosen = partial(configure, InMemoryProblem(), device=name, stopping=ENDLESS)
    runs = {solver: Run(chosen(solver=solver), LinearSystem(operator, B)) for solver in ("pseudo-block-cg", "block-cg")}
    scale = 1 if name == "cpu" else MORE_ON_GPU
    runs["cg"] = Run(chosen(), LinearSystem(operator, B[:, 0].copy()))
    contestants: dict[str, Callable[[], Any]] = {solver: partial(_some, run, scale) for solver, run in runs.items()}
    if name == "cpu":
        csr, b = operator.to_csr(), B[:, 0]
        jacobi = sparse.diags_array(1 / csr.diagonal(), format="csr")
        contestants["scipy"] = lambda: scipy_linalg.cg(csr, b, rtol=1e-300, maxiter=ITERATIONS, M=jacobi)
    seconds = interleaved(contestants, rounds)
    ms = {what: 1e3 * statistics.median(times) / (ITERATIONS * scale) for what, times in seconds.items()}
    found = {f"{what}, ms": value for what, value in ms.items()}
    for solver in runs.keys() - {"cg"}:
        found[f"cg / {solver} per right-hand side"] = s * ms["cg"] / ms[solver]
    if name == "cpu":
        found["SciPy / pseudo-block-cg per right-hand side"] = s * ms["scipy"] / ms["pseudo-block-cg"]
    return found


def _some(run: Run, scale: int) -> None:
    until = run.history.count + ITERATIONS * scale
    while run.history.count < until:
        if not run.step(until - run.history.count):
            raise RuntimeError(f"the run ended after {run.history.count} iterations: {run.reason}")
    run.setup.device.synchronize()


def blocks(device: Any, size: int, s: int, count: int) -> list[Any]:
    """Random block vectors on the device."""
    rng = np.random.default_rng(0)
    return [device.array(rng.random((size, s)), np.dtype(float)) for _ in range(count)]


STREAMED = 2**30
"""Bytes that a triad or a copy moves."""


def stream(device: Any) -> Callable[[], None]:
    """A triad a = b + s c on the CPU, a copy on a GPU."""
    if device.name != "cpu":
        source, target = (device.zeros(STREAMED // 16, np.dtype(float)) for _ in range(2))
        return waited(device, lambda: device.assign(target, source))
    a, b, c = (device.zeros(STREAMED // 24, np.dtype(float)) for _ in range(3))
    triad = device.lines("a = b + s*c")
    return lambda: triad(a=a, b=b, c=c, s=3.0)


def waited(device: Any, work: Callable[[], Any]) -> Callable[[], None]:
    """The work, and waiting for it."""

    def run() -> None:
        work()
        device.synchronize()

    return run


def compared(contestants: dict[str, Callable[[], Any]], counted: int, rounds: int) -> dict[str, float]:
    """Microseconds of ours and the peer, the share of the bandwidth, and the peer's time over ours."""
    seconds = interleaved(contestants, rounds)
    rate = STREAMED / statistics.median(seconds["stream"])
    ours = statistics.median(seconds["ours"])
    return {
        "ours_us": 1e6 * ours,
        "peer_us": 1e6 * statistics.median(seconds["peer"]),
        "peer / ours": median_ratio(seconds["peer"], seconds["ours"]),
        "counted_GB_per_s": 1e-9 * counted / ours,
        "stream_GB_per_s": 1e-9 * rate,
        "share": counted / ours / rate,
    }
