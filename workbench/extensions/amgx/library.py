"""NVIDIA's AmgX through pyamgx: one library and one `Resources` a process, and solvers that are destroyed before both.

AmgX aborts the process where it is finalized, or its `Resources` are destroyed, while matrices, vectors or solvers
live, and it cannot be initialized twice. So the library is started at first use with one `Resources` for all solvers,
and shut down at exit: solvers first, then the resources, then AmgX itself. It computes in float64 with int32 indices
only, on CUDA device 0. pyamgx holds the GIL while it works.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import importlib
import os
import threading
import time
import weakref
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.operator_protocols import OperatorTraits
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse

if TYPE_CHECKING:
    from types import ModuleType

    from workbench.devices.operator_protocols import DeviceVector, Dots

MODE = "dDDI"
"""On the device, matrix and vectors in double precision, int32 indices: the only mode that pyamgx uploads correctly."""
HOW_TO_INSTALL = (
    "AmgX needs pyamgx, which is not installed: it is built from source and needs an NVIDIA GPU; "
    "`workbench doctor` prints the steps on a machine with one"
)


def installed() -> bool:
    """True if pyamgx can be imported."""
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


class Destroyed(Protocol):
    """An object of AmgX, which has to be destroyed."""

    def destroy(self) -> object:
        """Free its memory."""
        ...


class Library:
    """AmgX in this process: started at first use, shut down once, used by one thread at a time.

    Raises InputError where pyamgx is missing, where AmgX does not start, and in a process that was forked from one that
    had started it, since no CUDA context survives a fork.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._module: ModuleType | None = None
        self._resources: list[Destroyed] = []
        self._process = 0
        self._over = False
        self._living: weakref.WeakSet[AmgxSolver] = weakref.WeakSet()
        self._left: collections.deque[list[Destroyed]] = collections.deque()

    @contextlib.contextmanager
    def used(self) -> Generator[tuple[Any, Any]]:
        """pyamgx and the `Resources` of the process, for one thread at a time."""
        # Before the lock: a fork copies it as it is, perhaps taken by a thread that does not exist here.
        self._refuse_a_fork()
        with self._lock:
            self._start()
            self._destroy_left()
            try:
                yield self._module, self._resources[-1]
            finally:
                self._destroy_left()

    def enter(self, solver: AmgxSolver) -> None:
        """Register a solver, to be closed at the latest when the library is shut down."""
        self._living.add(solver)

    def destroy(self, made: list[Destroyed], *, wait: bool = True) -> None:
        """Destroy objects, the last made first. wait=False leaves it to the thread that works with AmgX at present.

        A garbage collector calls from anywhere, also from a thread that holds locks which that one is waiting for.
        """
        if not made or self._process != os.getpid() or self._over:
            made.clear()
        elif self._lock.acquire(blocking=wait):
            try:
                while made:
                    made.pop().destroy()
            finally:
                self._lock.release()
        else:
            self._left.append(made)

    def shut_down(self) -> None:
        """Close all solvers, destroy the resources and finalize AmgX; it cannot be used in this process any more."""
        if self._module is None or self._process != os.getpid():
            return
        with self._lock:
            for solver in list(self._living):
                solver.close()
            self._destroy_left()
            while self._resources:
                self._resources.pop().destroy()
            self._module.finalize()
            self._module, self._over = None, True

    def _start(self) -> None:
        if self._over:
            raise InputError(
                "AmgX was shut down, or failed to start, and cannot be started again in this process; restart Python"
            )
        if self._module is not None:
            return
        try:
            pyamgx = importlib.import_module("pyamgx")
        except ImportError:
            raise InputError(HOW_TO_INSTALL) from None
        try:
            # AmgX prints its version and more to standard output, which is for results.
            pyamgx.register_print_callback(_say_nothing)
            pyamgx.initialize()
            # A second `initialize` would abort the process, so a failure from here on is final.
            self._over = True
            settings = pyamgx.Config().create_from_dict({"config_version": 2})
            resources = pyamgx.Resources().create_simple(settings)
        except Exception as error:
            raise InputError(f"AmgX did not start: {error}; is there an NVIDIA GPU and driver?") from None
        self._module, self._process, self._over = pyamgx, os.getpid(), False
        self._resources = [settings, resources]
        atexit.register(self.shut_down)

    def _refuse_a_fork(self) -> None:
        if self._module is not None and self._process != os.getpid():
            raise InputError(
                "AmgX was started before this process was forked, and no CUDA context survives a fork; start worker "
                'processes with multiprocessing.get_context("spawn"), or use preconditioner amg'
            )

    def _destroy_left(self) -> None:
        while self._left:
            self.destroy(self._left.popleft())


LIBRARY = Library()
"""The library of this process."""


class AmgxSolver:
    """An AmgX solver set up for a matrix: `solve` takes and returns host vectors, `solve_there` works on GPU addresses.

    configuration: AmgX's own, as a dictionary. matrix: real, double precision, shape (N, N). Memory: the matrix and the
    levels on the GPU until `close` or the end of the object. Several may exist; one thread at a time uses AmgX. Raises
    InputError where pyamgx is missing or AmgX refuses.
    """

    def __init__(self, configuration: dict[str, Any], matrix: sparse.csr_array) -> None:
        if matrix.dtype != np.float64:
            raise InputError(f"AmgX is offered for float64 matrices, got {matrix.dtype}; use amg:sa")
        if matrix.nnz > np.iinfo(np.int32).max:
            raise InputError(f"AmgX counts entries in 32 bits and takes at most 2^31 - 1 of them, got {matrix.nnz}")
        self._made: list[Destroyed] = []
        self._library = LIBRARY
        self.size = matrix.shape[0]
        with self._library.used() as (pyamgx, resources):
            try:
                settings = self._keep(pyamgx.Config().create_from_dict(configuration))
                self._matrix = self._keep(pyamgx.Matrix().create(resources, mode=MODE))
                self._b = self._keep(pyamgx.Vector().create(resources, mode=MODE))
                self._x = self._keep(pyamgx.Vector().create(resources, mode=MODE))
                self._solver = self._keep(pyamgx.Solver().create(resources, settings, mode=MODE))
                begun = time.perf_counter()
                self._matrix.upload_CSR(_with_short_indices(matrix))
                self.upload_seconds = time.perf_counter() - begun
                """Seconds for the upload of the matrix, with the conversion of its indices."""
                self._solver.setup(self._matrix)
                # Room for x, which a solve fills.
                self._x.upload(np.zeros(self.size))
            except Exception as error:
                self._library.destroy(self._made)
                raise InputError(f"AmgX could not set up its solver: {error}; use preconditioner amg") from None
            self._library.enter(self)

    def solve(self, b: np.ndarray) -> np.ndarray:
        """The result of the configured solver for b, from a zero start, as a new array."""
        x = np.zeros(self.size)
        with self._working():
            self._b.upload(np.ascontiguousarray(b, np.float64))
            self._solver.solve(self._b, self._x, zero_initial_guess=True)
            self._x.download(x)
        return x

    def solve_there(self, b: int, x: int) -> None:
        """Solve for vectors in the GPU's memory, without copies through the host. b, x: addresses of float64 vectors.

        The start is zero. The caller synchronizes before (b is written) and after (x is complete).
        """
        with self._working():
            self._b.upload_raw(b, self.size)
            self._solver.solve(self._b, self._x, zero_initial_guess=True)
            self._x.download_raw(x)

    @property
    def iterations(self) -> int:
        """Iterations of the last solve."""
        with self._working():
            return int(self._solver.iterations_number)

    def close(self) -> None:
        """Free the GPU's memory; a closed solver cannot be used."""
        self._library.destroy(self._made)

    def __del__(self) -> None:
        # A setup that was refused before it began has nothing to destroy.
        if getattr(self, "_made", None):
            self._library.destroy(self._made, wait=False)

    def _keep(self, made: Any) -> Any:
        self._made.append(made)
        return made

    @contextlib.contextmanager
    def _working(self) -> Generator[None]:
        """A context with AmgX locked; its errors are raised as one sentence."""
        with self._library.used():
            if not self._made:
                raise InputError("this AmgX solver was closed; set the preconditioner up again")
            try:
                yield
            except Exception as error:
                raise InputError(f"AmgX failed in a solve: {error}; use preconditioner amg") from None


class Cycle(OperatorTraits):
    """u = M^-1 r by an AmgX solver on a CUDA device's own vectors, with their dot products.

    null: a null vector of a singular A that is taken off before and after, which takes two vectors of memory.
    The host waits for the device twice in every application.
    """

    waits = True
    traffic = 0
    flops = 0
    notes = ()

    def __init__(self, solver: AmgxSolver, device: Device, null: np.ndarray | None = None) -> None:
        self._solver, self._device = solver, device
        self._runtime: Any = getattr(device, "runtime", None)
        self._dots = device.dots(np.dtype(np.float64))
        self._projected = null is not None
        if null is not None:
            self._unit = device.array(null / np.linalg.norm(null), np.dtype(np.float64))
            self._v = device.zeros(solver.size, np.dtype(np.float64))
            self._project = device.lines("m = (e, v)\nv = v - m*e")

    def apply(self, r: DeviceVector, u: DeviceVector, *wanted: str) -> Dots | None:
        """u = M^-1 r. The two may not be the same vector."""
        if not self._projected:
            self._solve(r, u)
        else:
            self._device.assign(self._v, r)
            self._project(e=self._unit, v=self._v)
            self._solve(self._v, self._v)
            self._project(e=self._unit, v=self._v)
            self._device.assign(u, self._v)
        return self._dots.apply(r, u) if wanted else None

    def _solve(self, b: DeviceVector, x: DeviceVector) -> None:
        runtime = self._runtime
        # AmgX has separate streams, and CUDA forbids its copies while another thread records launches.
        with runtime.alone():
            runtime.synchronize()
            self._solver.solve_there(runtime.address(b.handle), runtime.address(x.handle))
            runtime.synchronize_all()


def takes_addresses(device: Device) -> bool:
    """True if the vectors of a device are on CUDA device 0, which AmgX uses."""
    return getattr(getattr(device, "runtime", None), "number", None) == 0


def _say_nothing(_: str) -> None:
    """The callback for AmgX's messages: ignore them. Errors also reach standard error."""


def _with_short_indices(matrix: sparse.csr_array) -> sparse.csr_matrix:
    """A copy with sorted int32 indices, as pyamgx takes it."""
    rows = sparse.csr_matrix(matrix, copy=True)
    rows.sort_indices()
    rows.indices, rows.indptr = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return rows
