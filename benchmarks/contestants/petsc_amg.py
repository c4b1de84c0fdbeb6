"""CG of PETSc around a V-cycle of GAMG or of hypre's BoomerAMG, or with Jacobi; rows over MPI ranks."""

from __future__ import annotations

import glob
import json
import sys
import time

import numpy as np

# Debian's path file follows a link that only PETSc's -dev package brings.
sys.path += glob.glob("/usr/lib/petscdir/*/*/lib/python3/dist-packages")
from petsc4py import PETSc

WORLD = PETSc.COMM_WORLD
MOST = 500
"""Iterations, unless the job has another number."""
FIRST = {"hypre": PETSc.PC.Type.HYPRE, "gamg": PETSc.PC.Type.GAMG, "jacobi": PETSc.PC.Type.JACOBI}


def solve(job: dict) -> dict:
    """Setup and solve seconds of the named preconditioner; the solution's part of each rank goes to a file."""
    matrix, b = np.load(job["matrix"]), np.load(job["b"])
    size = b.size
    low, high = (size * (WORLD.rank + k) // WORLD.size for k in (0, 1))
    starts = matrix["indptr"][low : high + 1]
    inside = slice(starts[0], starts[-1])
    part = (starts - starts[0]).astype("i4"), matrix["indices"][inside].astype("i4"), matrix["data"][inside]
    A = PETSc.Mat().createAIJ(((high - low, size),) * 2, csr=part, comm=WORLD)
    x, right = A.createVecs()
    right.setArray(b[low:high])
    if job["singular"]:
        A.setNullSpace(PETSc.NullSpace().create(constant=True, comm=WORLD))
    WORLD.barrier()
    begun = time.perf_counter()
    ksp = PETSc.KSP().create(WORLD)
    ksp.setType("cg")
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    pc = ksp.getPC()
    pc.setType(FIRST[job["cycle"]])
    if job["cycle"] == "hypre":
        pc.setHYPREType("boomeramg")
    ksp.setOperators(A)
    ksp.setTolerances(rtol=job["rtol"], atol=1e-300, max_it=job.get("most", MOST))
    ksp.setUp()
    WORLD.barrier()
    ready = time.perf_counter()
    ksp.solve(right, x)
    WORLD.barrier()
    done = time.perf_counter()
    np.save(f"{job['answer']}{WORLD.rank}.npy", x.getArray())
    WORLD.barrier()
    about = {"version": ".".join(map(str, PETSc.Sys.getVersion())), "ranks": WORLD.size}
    return {
        "about": about,
        "iterations": ksp.getIterationNumber(),
        "setup_s": ready - begun,
        "iterate_s": done - ready,
    }


if __name__ == "__main__" and len(sys.argv) > 1:
    reply = solve(json.loads(sys.argv[1]))
    if WORLD.rank == 0:
        print(json.dumps(reply))
