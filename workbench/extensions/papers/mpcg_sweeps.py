"""Chen: seconds of Jacobi sweeps on one box, measured here and modelled on the paper's machines."""

from __future__ import annotations

import dataclasses
import functools
import statistics
import time

import numpy as np

from workbench import devices
from workbench.extensions.papers.printed import printed_in
from workbench.machines.profile import Profile, profile

printed = functools.partial(printed_in, "mpcg")
GPU = "gtx1060"
SWEEPS = 400
"""Jacobi sweeps of one measurement."""
ROUNDS = 5
FLOAT32 = 4
"""Bytes of a number; the paper's sweeps are in single precision."""
WORDS = {True: 3, False: 5}
"""Numbers per point and Jacobi sweep: r, the old and the new z; A and B unless they are constant."""


def sweeps_of(n: int) -> int:
    """Jacobi sweeps of the paper on a box of n x n points: 5 n^2."""
    return printed()["claims"]["sweeps_per_unknown"] * n * n


def sweep_seconds(n: int, sweeps: int, device: str = "cpu", *, constant: bool = True, kernel: str = "auto") -> float:
    """Seconds of Jacobi sweeps on n x n points in single precision: the median of `ROUNDS` measurements of `SWEEPS` of
    them, times sweeps / SWEEPS. constant: three numbers for all coefficients instead of three arrays."""
    where = devices.device(device)
    dtype, size = np.dtype(np.float32), n * n
    numbers = (4.0, -1.0, -1.0) if constant else bands(n)
    operator = where.box_sweeps([(n, n)], *numbers, SWEEPS, "float32", kernel)
    r, z = where.array(np.ones(size), dtype), where.zeros(size, dtype)
    found = []
    # The first round is left out.
    for _ in range(1 + ROUNDS):
        where.synchronize()
        begun = time.perf_counter()
        operator.apply(r, z)
        where.synchronize()
        found.append(time.perf_counter() - begun)
    return statistics.median(found[1:]) * sweeps / SWEEPS


@dataclasses.dataclass(frozen=True)
class Sweeps:
    """The seconds of the paper's sweeps on n x n points; see `sweep_seconds`."""

    n: int
    device: str = "cpu"
    constant: bool = True
    kernel: str = "auto"

    def __call__(self) -> float:
        return sweep_seconds(self.n, sweeps_of(self.n), self.device, constant=self.constant, kernel=self.kernel)


def bands(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The coefficients of the 5-point Laplacian at every point."""
    west, south = np.full((n, n), -1.0), np.full((n, n), -1.0)
    west[:, 0] = south[0] = 0
    return np.full(n * n, 4.0), west.ravel(), south.ravel()


def modelled_gpu(n: int, *, constant: bool, where: Profile | None = None) -> float:
    """Seconds of 5 n^2 Jacobi sweeps on the paper's GPU, or another: in each a launch, and its arrays over the
    bandwidth."""
    where = where or profile(GPU)
    data = WORDS[constant] * FLOAT32 * n * n
    return sweeps_of(n) * (where.required("launch_latency").value + data / where.bandwidth.value)


def point_seconds(table: str) -> float:
    """Seconds that the paper's sequential program takes for a point in a Jacobi sweep: the mean of a table's lines."""
    return statistics.mean(cpu / (sweeps_of(n) * n * n) for n, cpu, *_ in printed()[table]["rows"])


def modelled_cpu(n: int, table: str) -> float:
    """Seconds of 5 n^2 Jacobi sweeps of the paper's sequential program, in proportion to their points."""
    return sweeps_of(n) * n * n * point_seconds(table)
