"""One iteration of the block CG paper's method, in single precision: measured here, and modelled elsewhere."""

from __future__ import annotations

import dataclasses
import importlib
import math
import time

import numpy as np
from scipy.sparse import linalg

from workbench.costs.block_costs import step_calls
from workbench.machines.profile import Profile
from workbench.operators import ComplexSymmetricMatrix, Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure
from workbench.run.choices.in_memory import InMemoryProblem

ITERATIONS = 12
"""Iterations of one measurement; the first is left out."""
ENDLESS = Stopping(rtol=1e-300, maxiter=10**7, stagnation=10**9)
"""Criteria that no measurement meets."""


DOTS = 2
"""Dot products of an iteration, by the paper's Table II."""
WAIT = 0.6e-3
"""Seconds in which the paper's program waits for the device and launches kernels: what its 2080S takes for the three
smallest matrices, 0.59 to 0.65 ms."""
ADDITION = 0.8e-9
"""Seconds of an addition on the host, which waits for the one before: assumed, four cycles of 5 GHz."""
GROUP = 1
"""Work-items that leave one partial sum to the host: fitted to Figure 6, as the paper prints no work-group size."""


def host_sums(where: Profile, n: int, b: int, itemsize: int, group: int = GROUP) -> float:
    """Seconds of an iteration in which partial sums of dot products travel to the host and are added up there.

    There are n/group of them for each dot product and right-hand side.
    """
    count = DOTS * math.ceil(n / group) * b
    return count * (itemsize / where.required("to_host_bandwidth").value + ADDITION)


@dataclasses.dataclass(frozen=True)
class Iteration:
    """One iteration. seconds: the median of those measured. bytes, flops, passes: counted from the lines."""

    seconds: float
    bytes: int
    flops: int
    passes: int

    def modelled(self, where: Profile) -> float:
        """Seconds on another machine: bytes over its bandwidth, and a launch latency for each pass."""
        latency = 0.0 if where.launch_latency is None else where.launch_latency.value
        return self.bytes / where.bandwidth.value + self.passes * latency


def iteration(operator: Matrix, s: int, device: str = "cpu", solver: str = "") -> Iteration:
    """An iteration with s right-hand sides without a preconditioner, by default of the paper's recurrences."""
    B = right_hand_sides(operator, s)
    method = solver or ("cocg" if isinstance(operator, ComplexSymmetricMatrix) else "pseudo-block-cg")
    chosen = configure(
        InMemoryProblem(), solver=method, preconditioner="none", device=device, x0="zero", stopping=ENDLESS
    )
    run = Run(chosen, LinearSystem(operator, B))
    while run.history.count < ITERATIONS:
        run.step()
    called = step_calls(run)
    steps = np.diff(run.history["seconds"])[1:]
    return Iteration(
        seconds=float(np.median(steps)),
        bytes=sum(calls * program.bytes for program, calls in called),
        flops=sum(calls * program.flops for program, calls in called),
        passes=sum(calls * program.passes for program, calls in called),
    )


def scipy_seconds(operator: Matrix) -> float:
    """Seconds of an iteration of SciPy's CG with one right-hand side, also for a matrix that is not Hermitian."""
    times: list[float] = []
    b = right_hand_sides(operator, 1)[:, 0]
    linalg.cg(operator.csr, b, rtol=1e-30, maxiter=ITERATIONS, callback=lambda _: times.append(time.perf_counter()))
    return float(np.median(np.diff(times)))


def cupy_seconds(operator: Matrix) -> float:
    """Seconds of an iteration of CuPy's CG with one right-hand side. Raises ImportError without CuPy."""
    cupy = importlib.import_module("cupy")
    A = importlib.import_module("cupyx.scipy.sparse").csr_matrix(operator.csr)
    cg = importlib.import_module("cupyx.scipy.sparse.linalg").cg
    b = cupy.asarray(right_hand_sides(operator, 1)[:, 0])
    seconds = []
    for count in (1, 1 + ITERATIONS):
        cupy.cuda.Device().synchronize()
        begun = time.perf_counter()
        cg(A, b, rtol=1e-30, maxiter=count)
        cupy.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - begun)
    return (seconds[1] - seconds[0]) / ITERATIONS


def right_hand_sides(operator: Matrix, s: int) -> np.ndarray:
    """Random B, shape (N, s), in the precision of the matrix."""
    rng, shape = np.random.default_rng(0), (operator.shape[0], s)
    B: np.ndarray = rng.standard_normal(shape)
    if operator.dtype.kind == "c":
        B = B + 1j * rng.standard_normal(shape)
    return B.astype(operator.dtype)
