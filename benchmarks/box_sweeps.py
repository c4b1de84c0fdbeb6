"""Jacobi sweeps on one box, the subdomain solver of multipreconditioned CG, compared with Chen's printed times.

    python -m benchmarks box_sweeps [--output FOLDER] [--quick]

A box of (N - 1)^2 unknowns, constant coefficients, N = 100 and 250. A few thousand sweeps are timed, rounds
interleaved; figures are medians, ratios are medians of those within a round. On the CPU: plain and blocked sweeps, and
a loop over both directions as numba compiles it. On CUDA, where CuPy has a device: plain, blocked and persistent. The
paper makes 5 N^2 sweeps; `seconds, per sweep x 5 N^2` is the measured time of a sweep times that number, not a
measurement of so many. Bytes are those of plain sweeps, each array counted once per sweep: the rate of a kernel that
keeps them in a cache exceeds that of memory. Operations are 6 per unknown and sweep; their peak is measured on the CPU,
by fused multiply-adds on registers, and is that of the data sheet's formula on a GPU.
"""

from __future__ import annotations

import functools
import importlib
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.block import found, waited
from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.compiler.words import entries_of_line, line_at, minus_product, put_line, shared, spread, threads
from workbench.jit.compiled import kernel
from workbench.jit.threads import cores, launch

SIDES = (100, 250)
SWEEPS = {"cpu": 4000, "cuda": 20_000}
"""Sweeps of one timing."""
PRINTED_CPU = {100: 5.556259, 250: 216.126253}
"""Seconds of 5 N^2 sequential sweeps: Chen, Table 2, CPU_Time."""
PRINTED_GPU = {100: 0.069518, 250: 1.379961}
"""The same on the paper's GPU, the faster of its kernels for each N: Fig. 6 (persistent), Table 2 (GPU_Time)."""
CHAINS, STEPS = 8, 2_000_000
"""Independent sums, and fused multiply-adds of each, in the measurement of the peak."""
LANES = {"float32": 128, "float64": 64}
"""Fused multiply-adds of a multiprocessor per clock on a GPU for computing (A100, H100, H200)."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    rounds, share = (2, 20) if quick else (9, 1)
    cases = {
        f"{name}, N = {side}, {precision}": partial(of_device, name, side, precision, rounds, SWEEPS[name] // share)
        for name in SWEEPS
        if found(name)
        for side in SIDES
        for precision in ("float32", "float64", "mixed")
    }
    return attempts(cases)


def of_device(name: str, side: int, precision: str, rounds: int, sweeps: int) -> dict[str, Any]:
    """All kernels of a device on one box."""
    device = devices.device(name)
    kernels = ("plain", "blocked") if name == "cpu" else ("plain", "blocked", "persistent")
    contestants: dict[str, Callable[[], Any]] = {}
    for form in kernels:
        operator = device.box_sweeps([(side - 1, side - 1)], 4.0, -1.0, -1.0, sweeps, precision, form)
        dtype = np.dtype(np.float32 if precision == "float32" else np.float64)
        r, z = device.array(np.ones((side - 1) ** 2), dtype), device.zeros((side - 1) ** 2, dtype)
        contestants[form] = waited(device, partial(operator.apply, r, z))
    inner = "float64" if precision == "float64" else "float32"
    if name == "cpu":
        contestants["numba's loop"] = partial(two_loops, side, np.dtype(inner), sweeps)
    seconds = interleaved(contestants, rounds)
    peak = cpu_peak(np.dtype(inner)) if name == "cpu" else gpu_peak(inner)
    table = {form: row(seconds[form], side, inner, sweeps, peak) for form in contestants}
    best, reference = kernels[-1], "numba's loop" if name == "cpu" else "plain"
    printed = (PRINTED_CPU if name == "cpu" else PRINTED_GPU)[side]
    return table | {
        f"{reference} / {best}": median_ratio(seconds[reference], seconds[best]),
        "printed seconds": printed,
        f"printed / {best}": printed / table[best]["seconds, per sweep x 5 N^2"],
        "peak_GFLOP_per_s": 1e-9 * peak,
    }


def row(times: list[float], side: int, inner: str, sweeps: int, peak: float) -> dict[str, float]:
    """The figures of one kernel."""
    sweep = statistics.median(times) / sweeps
    unknowns = (side - 1) ** 2
    return {
        "us_per_sweep": 1e6 * sweep,
        "counted_GB_per_s": 1e-9 * 3 * np.dtype(inner).itemsize * unknowns / sweep,
        "GFLOP_per_s": 1e-9 * 6 * unknowns / sweep,
        "share_of_peak": 6 * unknowns / sweep / peak,
        "seconds, per sweep x 5 N^2": 5 * side**2 * sweep,
    }


def two_loops(side: int, dtype: np.dtype, sweeps: int) -> None:
    """The sweeps as a user of numba writes them, on one core."""
    z, following, r = (np.zeros((side + 1, side + 1), dtype) for _ in range(3))
    r[1:-1, 1:-1] = 1
    _loops_of_numba()(following, z, r, dtype.type(0.25), dtype.type(-1), dtype.type(-1), sweeps)


@functools.cache
def _loops_of_numba() -> Callable[..., None]:
    from numba import njit

    return njit(_two_loops)


def _two_loops(following, z, r, inverse, west, south, sweeps):
    rows, width = r.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, width - 1):
                following[i, j] = inverse * (
                    r[i, j] - west * z[i, j - 1] - west * z[i, j + 1] - south * z[i - 1, j] - south * z[i + 1, j]
                )
        following, z = z, following


def cpu_peak(dtype: np.dtype) -> float:
    """Operations per second of fused multiply-adds in registers on all cores: the best of five."""
    room = np.full(1024 * cores(), 1e-3, dtype)
    width, best = 64 // dtype.itemsize, np.inf
    for _ in range(6):
        begun = time.perf_counter()
        launch(1 << 20, _multiply_add, room, cores(), STEPS)
        best = min(best, time.perf_counter() - begun)
    return 2 * CHAINS * STEPS * width * cores() / best


@kernel()
def _multiply_add(taken, room, count, steps):
    for thread in threads(taken):
        for k in shared(taken, thread, count):
            at, width = 1024 * k, entries_of_line(room)
            factor = spread(room, 0.5)
            a, b, c, d = line_at(room, at), line_at(room, at + width), line_at(room, at), line_at(room, at + width)
            e, f, g, h = line_at(room, at), line_at(room, at + width), line_at(room, at), line_at(room, at + width)
            for _ in range(steps):
                a, b = minus_product(factor, a, factor), minus_product(factor, b, factor)
                c, d = minus_product(a, c, factor), minus_product(b, d, factor)
                e, f = minus_product(factor, e, factor), minus_product(factor, f, factor)
                g, h = minus_product(e, g, factor), minus_product(f, h, factor)
            put_line(room, at, minus_product(minus_product(c, d, factor), g, h))


def gpu_peak(inner: str) -> float:
    """Two operations per lane and clock on every multiprocessor."""
    attributes = importlib.import_module("cupy").cuda.Device().attributes
    return 2 * LANES[inner] * attributes["MultiProcessorCount"] * 1e3 * attributes["ClockRate"]
