"""Hybrid schedules on the ranks of this process group against pipelined CG in one process, and against SciPy.

    mpiexec -n P python -m mpi4py hybrids.py FOLDER CASE ...

The arguments and the output are those of `compared.py`.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import numpy as np
from scipy.sparse import linalg

from tests.extensions.mpi.compared import configured, solved, write_files
from workbench.errors import InputError
from workbench.extensions.mpi import this_rank as ranks
from workbench.registry import find

CASES = (
    "poisson5 n=15 preconditioner=jacobi rhs=random solver=hybrid1",
    "poisson7 n=7 preconditioner=neumann:1 deflation=blocks:2 rhs=random solver=hybrid1:fused=no",
    "poisson5 n=13 preconditioner=jacobi rhs=random solver=hybrid2",
    "poisson5 n=13 preconditioner=jacobi rhs=random solver=hybrid3:share=0.4",
    "graph.mtx preconditioner=jacobi rhs=random solver=hybrid3:share=0.6,halves=no",
)
FEW_ROWS = ("poisson5 n=3 preconditioner=none rhs=random solver=hybrid1",)
"""On three ranks each has three rows."""
REFUSED = ("tiny.mtx preconditioner=jacobi rhs=random solver=hybrid3:share=0.5",)
"""On three ranks each has one row, which two sides cannot share."""
LEADING = 4
"""Rows of the history that rounding has not reached."""


def compared(case: str, folder: Path, communicator) -> dict:
    """Iterations, reasons, and differences from pipelined CG and from SciPy's direct solver."""
    configuration = dataclasses.replace(configured(case, folder), device="opencl")
    alone = dataclasses.replace(configuration, device="cpu", solver=find("solver", "pipecg"))
    single, expected = solved(alone)
    ranks.enter(communicator)
    try:
        run, found = solved(configuration)
    finally:
        ranks.enter(None)
    system = single.setup.system
    direct = linalg.spsolve(system.operator.to_csr().tocsc(), single.setup.b * 2.0**single.setup.exponent)
    rows, size = run.setup.system.slab.rows, np.abs(direct).max()
    columns = [
        np.abs(found.history[name][:LEADING] / expected.history[name][:LEADING] - 1).max()
        for name in ("residual", "preconditioned", "natural", "alpha")
    ]
    errors = [float(np.abs(found.x - other[rows]).max() / size) for other in (expected.x, direct)]
    return {
        "iterations": [expected.iterations, found.iterations],
        "reason": found.reason.value,
        "history": float(max(columns)),
        "error": max(map(max, communicator.allgather(errors))),
        "rows": communicator.allgather(found.x.size),
        "device": type(run.setup.device).__name__,
        "note": run.setup.device.note,
    }


def main(folder: Path, cases: list[str]) -> None:
    from mpi4py import MPI

    communicator = MPI.COMM_WORLD
    if communicator.rank == 0:
        write_files(folder)
        (folder / "tiny.mtx").write_text(
            "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n2 2 2\n3 2 -1\n3 3 2\n"
        )
    communicator.Barrier()
    for case in cases:
        try:
            found = compared(case, folder, communicator)
        except InputError as error:
            found = {"refused": str(error)}
        if communicator.rank == 0:
            print(json.dumps({"case": case, **found}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
