"""The solvers of boxes, as a worker of a cluster runs them."""

from __future__ import annotations

import platform
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import workbench
from workbench import devices
from workbench.preconditioners.schwarz.subdomain_factors import Subdomain
from workbench.preconditioners.schwarz.subdomain_method import SubdomainMethod

if TYPE_CHECKING:
    from workbench.preconditioners.schwarz.subdomain_solvers import SubdomainSolver


class Solved(NamedTuple):
    """The solutions of a worker's boxes, one after the other, and when they were begun and done by the worker's
    clock."""

    z: np.ndarray
    begun: float
    done: float


class Cost(NamedTuple):
    """Bytes and floating-point operations of one call of `solve`."""

    traffic: int
    flops: int


class SubdomainHolder:
    """The solvers of some boxes on the cores of a worker.

    Errors are returned, not raised: what is raised to the caller is then the loss of the worker.
    """

    def __init__(self) -> None:
        self._solvers: list[tuple[slice, SubdomainSolver]] = []
        self._size, self._dtype = 0, np.dtype(float)

    def factorize(self, method: SubdomainMethod, boxes: Sequence[Subdomain]) -> Cost | Exception:
        """Set up the solvers of these boxes."""
        try:
            device = devices.device("cpu")
            # Solvers that join boxes get one each, so that results do not depend on how boxes are spread over workers.
            groups = [[box] for box in boxes] if method.joins_boxes else [list(boxes)]
            ends = np.cumsum([0, *(sum(box.matrix.shape[0] for box in group) for group in groups)])
            self._size, self._dtype = int(ends[-1]), method.dtype
            parts = [slice(ends[place], ends[place + 1]) for place in range(len(groups))]
            self._solvers = [(part, method.solver_of(group, device)) for part, group in zip(parts, groups, strict=True)]
        except Exception as error:
            return error
        traffic = sum(solver.traffic for _, solver in self._solvers)
        return Cost(traffic, sum(solver.flops for _, solver in self._solvers))

    def solve(self, r: np.ndarray) -> Solved | Exception:
        """The solutions for r, box by box."""
        begun = time.perf_counter()
        try:
            # What arrives cannot be written to, and kernels are compiled for arrays that can.
            right, z = np.array(r), np.zeros(self._size, self._dtype)
            for part, solver in self._solvers:
                solver.apply(right[part], z[part])
        except Exception as error:
            return error
        return Solved(z, begun, time.perf_counter())

    async def clock(self) -> float:
        """The worker's clock. It is answered by the thread that receives messages, without another one."""
        return time.perf_counter()


def versions() -> dict[str, str]:
    """The versions on which a result depends."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"workbench": workbench.__version__, "Python": python, "NumPy": np.__version__}
