"""CG of PETSc for many right-hand sides by KSPMatSolve, which solves them one after another with KSPCG.

Rows are distributed over MPI ranks.
"""

from __future__ import annotations

import ctypes
import glob
import json
import sys
import time
from pathlib import Path

import numpy as np

# Debian's path file follows a link that only PETSc's -dev package brings.
sys.path += glob.glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages")
from petsc4py import PETSc

WORLD = PETSc.COMM_WORLD
MAPS = Path("/proc/self/maps")
# petsc4py offers KSPMatSolve from 3.19 on; the library that it has loaded has it for long.
PETSC = ctypes.CDLL(next(line.split()[-1] for line in MAPS.read_text().splitlines() if "libpetsc" in line))


def solve(job: dict) -> dict:
    """Seconds of the solve, in each round; the rows of each rank go to a file."""
    matrix, B = np.load(job["matrix"]), np.load(job["B"])
    size, s = B.shape
    low, high = (size * (WORLD.rank + k) // WORLD.size for k in (0, 1))
    starts = matrix["indptr"][low : high + 1]
    inside = slice(starts[0], starts[-1])
    part = (starts - starts[0]).astype("i4"), matrix["indices"][inside].astype("i4"), matrix["data"][inside]
    A = PETSc.Mat().createAIJ(((high - low, size),) * 2, csr=part, comm=WORLD)
    right, X = (PETSc.Mat().createDense(((high - low, size), (None, s)), comm=WORLD) for _ in range(2))
    right.setUp()
    X.setUp()
    right.getDenseArray()[:] = B[low:high]
    right.assemble()
    X.assemble()
    ksp = PETSc.KSP().create(WORLD)
    ksp.setType("cg")
    ksp.getPC().setType(PETSc.PC.Type.JACOBI)
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    ksp.setOperators(A)
    ksp.setTolerances(rtol=job["rtol"], atol=1e-300, max_it=100_000)
    ksp.setUp()
    seconds = []
    for _ in range(job["rounds"]):
        WORLD.barrier()
        begun = time.perf_counter()
        if PETSC.KSPMatSolve(*(ctypes.c_void_p(each.handle) for each in (ksp, right, X))):
            raise RuntimeError("KSPMatSolve failed")
        WORLD.barrier()
        seconds.append(time.perf_counter() - begun)
    np.save(f"{job['answer']}{WORLD.rank}.npy", X.getDenseArray())
    WORLD.barrier()
    return {"about": {"version": ".".join(map(str, PETSc.Sys.getVersion())), "ranks": WORLD.size}, "seconds": seconds}


if __name__ == "__main__" and len(sys.argv) > 1:
    reply = solve(json.loads(sys.argv[1]))
    if WORLD.rank == 0:
        print(json.dumps(reply))
