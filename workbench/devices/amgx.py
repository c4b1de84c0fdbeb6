"""NVIDIA's AmgX through pyamgx: one library per process, and solvers that are destroyed before it is.

AmgX aborts the process when it is finalized while objects live, and cannot be initialized twice, so the library is
started at first use, kept, and shut down at exit, after all solvers; within a solver, resources go last. It computes in
float64 with int32 indices only. pyamgx holds the GIL while it works.
"""

from __future__ import annotations

import atexit
import importlib
import threading
import weakref
from typing import Any

import numpy as np
from scipy import sparse

from workbench.errors import InputError

MODE = "dDDI"
"""On the device, matrix and vectors in double precision, int32 indices: the only mode that pyamgx uploads rightly."""
HOW_TO_INSTALL = (
    "AmgX needs pyamgx, which is not installed: it is built from source and needs an NVIDIA GPU; "
    "`workbench doctor` prints the steps on a machine with one"
)

_lock = threading.Lock()
_started: Any = None
_living: weakref.WeakSet[AmgxSolver] = weakref.WeakSet()


def installed() -> bool:
    """Whether pyamgx can be imported."""
    try:
        importlib.import_module("pyamgx")
    except ImportError:
        return False
    return True


def own_pcg(cycle: dict[str, Any], rtol: float, maxiter: int) -> dict[str, Any]:
    """AmgX's own CG around one of its cycles, to ||b - A x|| <= rtol ||b|| from a zero start."""
    solver = {
        "solver": "PCG",
        "preconditioner": cycle["solver"],
        "max_iters": maxiter,
        "monitor_residual": 1,
        "convergence": "RELATIVE_INI",
        "tolerance": rtol,
        "norm": "L2",
    }
    return {**cycle, "solver": solver}


class AmgxSolver:
    """An AmgX solver set up for a matrix: `solve` takes and gives host vectors of shape (N,).

    configuration: AmgX's own, as a dictionary. matrix: real, double precision. Memory: the matrix and the levels on the
    GPU until `close` or the end of the object. Raises InputError where pyamgx is missing or AmgX refuses.
    """

    def __init__(self, configuration: dict[str, Any], matrix: sparse.csr_array) -> None:
        if matrix.dtype != np.float64:
            raise InputError(f"AmgX is offered for float64 matrices, got {matrix.dtype}; use amg:sa")
        if matrix.nnz > np.iinfo(np.int32).max:
            raise InputError(f"AmgX counts entries in 32 bits and takes at most 2^31 - 1 of them, got {matrix.nnz}")
        self._made: list[Any] = []
        with _lock:
            library = _library()
            try:
                settings = self._keep(library.Config().create_from_dict(configuration))
                resources = self._keep(library.Resources().create_simple(settings))
                self._matrix = self._keep(library.Matrix().create(resources, mode=MODE))
                self._b = self._keep(library.Vector().create(resources, mode=MODE))
                self._x = self._keep(library.Vector().create(resources, mode=MODE))
                self._solver = self._keep(library.Solver().create(resources, settings, mode=MODE))
                rows = sparse.csr_matrix(matrix)
                rows.sort_indices()
                rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
                self._matrix.upload_CSR(rows)
                self._solver.setup(self._matrix)
            except Exception as error:
                self._destroy()
                raise InputError(f"AmgX could not set up its solver: {error}; use preconditioner amg") from None
            _living.add(self)
        self.size = matrix.shape[0]

    def solve(self, b: np.ndarray) -> np.ndarray:
        """What the configured solver makes of b from a zero start, in a new array."""
        x = np.zeros(self.size)
        with _lock:
            if not self._made:
                raise InputError("this AmgX solver was closed; set the preconditioner up again")
            self._b.upload(np.ascontiguousarray(b, np.float64))
            self._x.upload(x)
            self._solver.solve(self._b, self._x, zero_initial_guess=True)
            self._x.download(x)
        return x

    @property
    def iterations(self) -> int:
        """Of the solve before."""
        return int(self._solver.iterations_number)

    def close(self) -> None:
        """Give the GPU's memory back; a closed solver solves no more."""
        with _lock:
            self._destroy()

    def __del__(self) -> None:
        # A setup that was refused has nothing to destroy, and at exit `_shut_down` has been here.
        if getattr(self, "_made", None):
            self.close()

    def _keep(self, made: Any) -> Any:
        self._made.append(made)
        return made

    def _destroy(self) -> None:
        # The solver first and the resources and configuration, made first, last.
        while self._made:
            self._made.pop().destroy()


def _library() -> Any:
    global _started
    if _started is None:
        try:
            pyamgx = importlib.import_module("pyamgx")
        except ImportError:
            raise InputError(HOW_TO_INSTALL) from None
        try:
            pyamgx.initialize()
        except Exception as error:
            raise InputError(f"AmgX did not start: {error}; is there an NVIDIA GPU and driver?") from None
        _started = pyamgx
        atexit.register(_shut_down)
    return _started


def _shut_down() -> None:
    global _started
    for solver in list(_living):
        solver.close()
    if _started is not None:
        _started.finalize()
        _started = None
