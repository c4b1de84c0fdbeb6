"""Runs on the ranks of this process group against the same runs of one process.

    mpiexec -n P python -m mpi4py compared.py FOLDER CASE ...

FOLDER is for the files of the cases. Rank 0 prints one JSON line for each case.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io, sparse

from workbench import devices
from workbench.errors import InputError
from workbench.extensions.mpi import this_rank as ranks
from workbench.run import Stopping, configure
from workbench.run.choices.rank_rules import slab
from workbench.run.driver import Run

TWO = (
    "two-layer n=33 preconditioner=neumann:2 deflation=stripes variant=def1",
    "two-layer n=33 preconditioner=jacobi deflation=stripes solver=pipecg variant=a-def2",
    "two-layer n=33 contrast=10 preconditioner=neumann:3 precision=mixed",
    "two-layer n=32 preconditioner=block-ic:2 deflation=stripes",
    "bubbles-3d n=17 preconditioner=neumann:3 deflation=levelset:4 coarse=multilevel variant=a-def2",
    "bubbles-3d n=16 preconditioner=chebyshev:3 deflation=levelset:3 variant=a-def2 solver=fcg",
    "bubbles-3d n=13 preconditioner=neumann:1 deflation=levelset:3 precision=mixed variant=a-def2",
    "bubbles-3d n=13 preconditioner=jacobi solver=cgcg",
    "bubbles-2d n=25 preconditioner=neumann:1 deflation=levelset:4 variant=def2",
    "bubbles-2d n=21 preconditioner=jacobi solver=block-cg rhs=random:3",
    "bubbles-2d n=25 preconditioner=neumann:2 deflation=levelset:3 solver=block-cg rhs=random:3",
    "slabs-3d n=11 preconditioner=jacobi deflation=planes solver=gropp",
    "poisson5 n=21 preconditioner=chebyshev:4 deflation=blocks:3 solver=pseudo-block-cg rhs=random:3",
    "poisson5 n=21 preconditioner=neumann:2 deflation=file:labels-441.npy variant=def1",
    "poisson7 n=13 preconditioner=neumann:2 deflation=blocks:3 variant=def2",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=inverse",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=dense-cholesky",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=cholesky",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=sparse",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=pseudo-inverse",
    "two-layer n=16 preconditioner=jacobi deflation=blocks:3 coarse=inner-cg variant=a-def2",
    "poisson5 n=15 preconditioner=neumann:1 solver=cg3",
    "poisson5 n=15 preconditioner=neumann:1 solver=pr-cg",
    "poisson5 n=15 preconditioner=neumann:1 solver=pipe-pr-cg",
    "poisson5 n=15 preconditioner=neumann:1 solver=pipecg-rr",
    "poisson5 n=15 preconditioner=neumann:1 solver=lanczos-cg",
    "poisson5 n=15 preconditioner=neumann:1 solver=sum-cg",
    "poisson5 n=7 preconditioner=neumann:1 solver=sd",
    "poisson5 n=15 preconditioner=neumann:1 solver=cocg",
    "poisson5 n=15 preconditioner=jacobi solver=bf-block-cg rhs=random:3",
    "poisson5 n=15 preconditioner=jacobi solver=block-cg-oleary rhs=random:3",
    "poisson5 n=15 preconditioner=jacobi solver=block-cocg rhs=random:3",
    "poisson27 n=9 preconditioner=neumann:2 deflation=blocks:2 variant=def1",
    "poisson27 n=11 preconditioner=jacobi solver=pipecg rhs=random",
    "poisson125 n=9 preconditioner=chebyshev:2 deflation=blocks:2 variant=a-def2",
    "stand-in of=mhd1280b preconditioner=neumann:1 deflation=blocks:4 variant=def1",
    "stand-in of=bcsstk15 scale=0.2 preconditioner=jacobi",
    "graph.mtx preconditioner=jacobi solver=pipecg",
    "graph.mtx preconditioner=neumann:2 deflation=blocks:5 variant=def1 rhs=random",
    "graph.mtx preconditioner=neumann:1 deflation=file:labels-157.npy variant=a-def2 rhs=b.npy",
    "graph.mtx preconditioner=chebyshev:3 solver=block-cg rhs=random:3",
    "graph.mtx preconditioner=none deflation=blocks:4 solver=pseudo-block-cg rhs=random:3",
    "symmetric.mtx preconditioner=jacobi rhs=random",
    "symmetric.mtx preconditioner=neumann:2 deflation=blocks:5,cut=index variant=def1 rhs=random",
    "symmetric.mtx preconditioner=chebyshev:3 deflation=file:labels-157.npy variant=a-def2 rhs=random",
    "hermitian.mtx preconditioner=jacobi solver=block-cg rhs=random:3",
)
TINY = (
    "two-layer n=21 preconditioner=neumann:2 deflation=stripes variant=def1",
    "bubbles-3d n=13 preconditioner=neumann:3 deflation=levelset:3 coarse=multilevel variant=a-def2",
    "two-layer n=24 preconditioner=block-ic:2",
    "poisson125 n=7 preconditioner=jacobi",
    "graph.mtx preconditioner=neumann:2 deflation=blocks:5 variant=def1 rhs=random",
    "graph.mtx preconditioner=jacobi solver=block-cg rhs=random:3",
    "symmetric.mtx preconditioner=jacobi deflation=blocks:5,cut=index variant=def1 rhs=random",
    "symmetric.mtx preconditioner=jacobi solver=block-cg rhs=random:3",
    "hermitian.mtx preconditioner=jacobi rhs=random",
)
ON_ACCELERATORS = (
    "bubbles-3d n=32 sides=z-:dirichlet preconditioner=neumann:2 deflation=levelset:8 coarse=multilevel device=opencl",
)
"""Runs on two ranks that share the processor by OpenCL, laid out as on a GPU; see `as_a_gpu`."""
LARGER = (
    "bubbles-3d n=48 preconditioner=jacobi",
    "bubbles-3d n=48 preconditioner=neumann:2 deflation=levelset:6 variant=a-def2",
    "bubbles-3d n=32 preconditioner=jacobi solver=block-cg rhs=random:3",
    "poisson27 n=24 preconditioner=neumann:2 deflation=blocks:4 variant=def1",
)
"""Runs on two ranks whose memory is measured; few of their iterations are made."""


def write_files(folder: Path) -> None:
    """A matrix whose graph has a ring and random edges, labels, and a right-hand side; and singular ones with several
    components whose rows are all over the matrix, isolated nodes among them."""
    random, n = np.random.default_rng(5), 157
    a = np.concatenate([np.arange(n), random.integers(n, size=n)])
    b = np.concatenate([(np.arange(n) + 1) % n, random.integers(n, size=n)])
    weights = 10 ** random.uniform(-1, 1, a.size) * (a != b)
    half = sparse.coo_array((-weights, (np.maximum(a, b), np.minimum(a, b))), shape=(n, n)).tocsr()
    whole = half + half.T
    whole = whole + sparse.diags_array(1e-2 - whole.sum(axis=1))
    io.mmwrite(folder / "graph.mtx", sparse.coo_array(whole), symmetry="symmetric")
    ends = np.array([0, 60, 130, 131, 132, 133, 157])
    number = np.searchsorted(ends, np.arange(n), side="right")
    apart = sparse.csr_array(half.multiply(number[:, None] == number))
    apart = apart + apart.T
    apart = sparse.csr_array(apart - sparse.diags_array(apart.sum(axis=1)))
    ring = np.arange(60)
    turning = sparse.coo_array((np.full(60, 1e-3j), (ring, (ring + 1) % 60)), shape=(n, n)).tocsr()
    order = random.permutation(n)
    for name, matrix in (("symmetric", apart), ("hermitian", apart + turning + turning.conj().T)):
        mixed = sparse.coo_array(sparse.csr_array(matrix)[order][:, order])
        io.mmwrite(folder / f"{name}.mtx", mixed, symmetry=name)
    np.save(folder / "b.npy", random.standard_normal(n))
    for size in (n, 441):
        np.save(folder / f"labels-{size}.npy", (random.permutation(size) * 5 // size).astype(np.int32))


def as_a_gpu() -> None:
    """Let device opencl have the memory, the layout and the kernels of a GPU, whatever the size of a system."""
    from tests.conftest import side_by_side
    from workbench.deflation import galerkin
    from workbench.devices.accelerator import grid_columns

    made: Any = side_by_side()
    whole: dict[int, tuple[Any, int]] = {}
    allocate = made.runtime.allocate

    def allocated(nbytes: int) -> Any:
        handle = allocate(nbytes)
        # Of a part that is gone, another handle may have the number.
        whole.pop(handle.int_ptr, None)
        return handle

    def part(handle: Any, first: int, nbytes: int) -> Any:
        if nbytes == 1:
            return handle
        # OpenCL takes parts at multiples of 128 bytes, as planes of 32 x 32 cells have them, and no parts of parts.
        of, at = whole.get(handle.int_ptr, (handle, 0))
        found = of.get_sub_region(at + first, nbytes)
        whole[found.int_ptr] = of, at + first
        return found

    made.runtime.allocate, made.runtime.part = allocated, part
    devices.made["opencl"] = made
    grid_columns.SWEPT_BYTES = galerkin.LEAST_ON_DEVICE = 0


def configured(case: str, folder: Path):
    name, *choices = case.split()
    given = dict(choice.split("=", 1) for choice in choices)
    for key, text in given.items():
        if text.endswith(".npy"):
            given[key] = text.replace("file:", f"file:{folder}/") if "file:" in text else f"{folder}/{text}"
    given = {
        key: float(text) if key == "scale" else int(text) if text.isdigit() else text for key, text in given.items()
    }
    return configure(f"{folder}/{name}" if name.endswith(".mtx") else name, **given, stopping={"rtol": 1e-9})


def solved(configuration, system=None):
    run = Run(configuration, system)
    while run.step():
        pass
    return run, run.result()


def compared(case: str, folder: Path, communicator) -> dict:
    """Iterations, reasons and entries of one process and of the ranks, the difference of x, and bytes of A."""
    configuration = configured(case, folder)
    single, alone = solved(dataclasses.replace(configuration, device="cpu"))
    ranks.enter(communicator)
    # The rows of a rank may be given.
    rows = slab(configuration, communicator.rank, communicator.size) if case in ON_ACCELERATORS else None
    try:
        run, result = solved(configuration, rows and configuration.problem.rows(rows))
    finally:
        ranks.enter(None)
    rows = run.setup.system.slab.rows
    assert result.x.shape == alone.x[rows].shape
    error = np.abs(result.x - alone.x[rows]).max() / np.abs(alone.x).max()
    return {
        "iterations": [alone.iterations, result.iterations],
        "reasons": [alone.reason.value, result.reason.value],
        "error": max(communicator.allgather(float(error))),
        "entries": [alone.summary["nnz"], result.summary["nnz"]],
        "same": all(communicator.allgather(_null_space_is_that(single.setup, run.setup, rows))),
        "kernels": [type(part).__name__ for part in _parts_of(run.setup)] if configuration.device != "cpu" else [],
        "whole": int(single.setup.operator.nbytes),
        "bytes": communicator.allgather(int(run.setup.operator.nbytes)),
    }


def _null_space_is_that(alone: Any, setup: Any, rows: slice) -> bool:
    """Whether the null space, and what is said of b, are those of one process."""
    whole, found = alone.null_space, setup.null_space
    if whole.components is None or found.components is None:
        return whole.components is found.components is None
    same = np.array_equal(whole.components.labels[rows], found.components.labels)
    return same and whole.components.count == found.components.count and alone.changes == setup.changes


def _parts_of(setup: Any) -> tuple[Any, ...]:
    """What a run on an accelerator goes through."""
    projection = setup.projection
    return setup.first_level.on_slab, projection.z, projection._product, projection._factor._device


def peaks(case: str, folder: Path, communicator) -> dict:
    """The most bytes of NumPy and Python in one process, and on every rank, once kernels are compiled."""
    configuration = dataclasses.replace(configured(case, folder), stopping=Stopping(maxiter=3))
    found = []
    for entered in (None, communicator):
        ranks.enter(entered)
        solved(configuration)
        tracemalloc.start()
        solved(configuration)
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    ranks.enter(None)
    return {"alone": found[0], "ranks": communicator.allgather(found[1])}


def main(folder: Path, cases: list[str]) -> None:
    from mpi4py import MPI

    communicator = MPI.COMM_WORLD
    if communicator.rank == 0:
        write_files(folder)
    communicator.Barrier()
    if set(cases) & set(ON_ACCELERATORS):
        as_a_gpu()
    for case in cases:
        try:
            found = (peaks if case in LARGER else compared)(case, folder, communicator)
        except InputError as error:
            found = {"refused": str(error)}
        if communicator.rank == 0:
            print(json.dumps({"case": case, **found}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
