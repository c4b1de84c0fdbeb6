"""CG of PETSc around a V-cycle of GAMG or of hypre's BoomerAMG, or with Jacobi; rows over MPI ranks.

A job is one JSON argument. matrix, b, answer: files of A, of b, and of each rank's part of x. cycle, rtol, most:
preconditioner and stopping. singular: A maps constants to zero. options: of PETSc, by name. near_null: the file of a
near null space, shape (N, m), or empty; node: unknowns of a node, which stay on one rank. Without an argument nothing
but PETSc is imported.
"""

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
    size, node = b.size, job.get("node", 1)
    low, high = (size // node * (WORLD.rank + k) // WORLD.size * node for k in (0, 1))
    starts = matrix["indptr"][low : high + 1]
    inside = slice(starts[0], starts[-1])
    part = (starts - starts[0]).astype("i4"), matrix["indices"][inside].astype("i4"), matrix["data"][inside]
    A = PETSc.Mat().createAIJ(((high - low, size),) * 2, bsize=node, csr=part, comm=WORLD)
    A.setOption(PETSc.Mat.Option.SPD, not job["singular"])
    x, right = A.createVecs()
    right.setArray(b[low:high])
    if job["singular"]:
        A.setNullSpace(PETSc.NullSpace().create(constant=True, comm=WORLD))
    if job.get("near_null"):
        A.setNearNullSpace(PETSc.NullSpace().create(vectors=orthonormal(A, np.load(job["near_null"])[low:high])))
    for name, value in job.get("options", {}).items():
        PETSc.Options()[name] = value
    WORLD.barrier()
    begun, used = time.perf_counter(), time.process_time()
    ksp = PETSc.KSP().create(WORLD)
    ksp.setType("cg")
    ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED)
    pc = ksp.getPC()
    pc.setType(FIRST[job["cycle"]])
    if job["cycle"] == "hypre":
        pc.setHYPREType("boomeramg")
    pc.setFromOptions()
    ksp.setOperators(A)
    ksp.setTolerances(rtol=job["rtol"], atol=1e-300, max_it=job.get("most", MOST))
    ksp.setUp()
    WORLD.barrier()
    ready = time.perf_counter()
    ksp.solve(right, x)
    WORLD.barrier()
    done, used = time.perf_counter(), time.process_time() - used
    np.save(f"{job['answer']}{WORLD.rank}.npy", x.getArray())
    WORLD.barrier()
    about = {"version": ".".join(map(str, PETSc.Sys.getVersion())), "ranks": WORLD.size}
    return {
        "about": about,
        "iterations": ksp.getIterationNumber(),
        "setup_s": ready - begun,
        "iterate_s": done - ready,
        "cpu_s": summed(used),
    }


def summed(value: float) -> float:
    """The sum of a number over the ranks; mpi4py need not be there."""
    numbers = PETSc.Vec().createMPI((1, WORLD.size), comm=WORLD)
    numbers.setArray([value])
    return numbers.sum()


def orthonormal(A: PETSc.Mat, columns: np.ndarray) -> list[PETSc.Vec]:
    """Vectors over the ranks with the span of columns, of which each rank has its rows; by Gram-Schmidt, twice."""
    vectors: list[PETSc.Vec] = []
    for column in columns.T:
        vector = A.createVecRight()
        vector.setArray(column)
        for other in 2 * vectors:
            vector.axpy(-other.dot(vector), other)
        vector.normalize()
        vectors.append(vector)
    return vectors


if __name__ == "__main__" and len(sys.argv) > 1:
    reply = solve(json.loads(sys.argv[1]))
    if WORLD.rank == 0:
        print(json.dumps(reply))
