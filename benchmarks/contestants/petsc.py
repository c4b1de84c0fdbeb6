"""Pipelined CG and CG of PETSc by petsc4py, rows distributed over MPI ranks."""

from __future__ import annotations

import glob
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from job import Solve, play
from poisson import poisson7_rows

# Debian's path file follows a link that only PETSc's -dev package brings.
sys.path += glob.glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages")
from petsc4py import PETSc

WORLD = PETSc.COMM_WORLD


def set_up(n: int, b: np.ndarray) -> dict[str, Solve]:
    """Both methods on one AIJ matrix."""
    matrix = PETSc.Mat().create(WORLD)
    matrix.setSizes(b.size)
    matrix.setType(PETSc.Mat.Type.AIJ)
    matrix.setUp()
    low, high = matrix.getOwnershipRange()
    matrix = PETSc.Mat().createAIJ(((high - low, b.size),) * 2, csr=poisson7_rows(n, low, high), comm=WORLD)
    x, right = matrix.createVecs()
    right.setArray(b[low:high])
    return {method: solver(method, matrix, right, x) for method in ("pipecg", "cg")}


def solver(method: str, matrix: PETSc.Mat, b: PETSc.Vec, x: PETSc.Vec) -> Solve:
    """With norm ||r||, as ours and Ginkgo's; PETSc's default is the preconditioned norm."""
    ksp = PETSc.KSP().create(WORLD)
    ksp.setType(method)
    ksp.getPC().setType(PETSc.PC.Type.JACOBI)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setOperators(matrix)
    ksp.setUp()

    def solve(rtol: float, most: int) -> tuple[float, int, Callable[[], np.ndarray]]:
        ksp.setTolerances(rtol=rtol, atol=1e-300, max_it=most)
        WORLD.barrier()
        begun = time.perf_counter()
        ksp.solve(b, x)
        WORLD.barrier()
        return time.perf_counter() - begun, ksp.getIterationNumber(), lambda: whole(x)

    return solve


def whole(x: PETSc.Vec) -> np.ndarray:
    """All of x on rank 0, nothing on the others."""
    scatter, gathered = PETSc.Scatter.toZero(x)
    scatter.scatter(x, gathered)
    return gathered.getArray().copy()


def blas() -> str:
    """The BLAS library that computes dot products, if the system reports it; Debian's plain libblas is slow."""
    maps = Path("/proc/self/maps")
    found = re.search(r"[^/\n]*blas[^/\n]*\.so[^/\n]*", maps.read_text()) if maps.exists() else None
    return found.group() if found else "unknown"


if __name__ == "__main__":
    version = ".".join(map(str, PETSc.Sys.getVersion()))
    play({"version": version, "ranks": WORLD.size, "BLAS": blas()}, set_up, speaks=WORLD.rank == 0)
