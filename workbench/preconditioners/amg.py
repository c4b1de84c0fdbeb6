"""Algebraic multigrid by PyAMG."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators import Operator
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.cycle_checks import MultigridCycle, attach_notes, check_cycle
from workbench.preconditioners.pinned import pin_unknowns, project_out
from workbench.process.forks import WorkLock
from workbench.registry import parameter, register

if TYPE_CHECKING:
    from workbench.problems import LinearSystem

MAX_COARSE = 5000
"""Largest coarsest grid, in unknowns, that is solved by a dense inverse."""
_setup_lock = WorkLock()


@register
@dataclasses.dataclass(frozen=True)
class Amg(Preconditioner):
    """M^-1 = one V-cycle of PyAMG with symmetric Gauss-Seidel smoothing and a pseudo-inverse on the coarsest grid.

    sa is smoothed aggregation, rs is Ruge-Stuben for real matrices. The former interpolates the near null space of a
    system that has one. For a singular A the setup pins an unknown and the constants are projected out, see `pinned`.
    PyAMG computes in double precision, on the host and on one core.

    Cost: memory and setup are several times those of the assembled matrix.

    Raises InputError if PyAMG is not installed or fails, for rs with complex entries, and if the entries of A are not
    available.

    Source: Vanek, Mandel, Brezina 1996; Ruge, Stuben 1987; Bell, Olson, Schroder 2022.
    """

    name: ClassVar[str] = "amg"
    title: ClassVar[str] = "algebraic multigrid (PyAMG)"
    also: ClassVar[tuple[str, ...]] = ("multigrid", "gamg", "boomeramg", "hypre", "pyamg")
    is_cycle: ClassVar[bool] = True
    takes_near_null: ClassVar[bool] = True

    method: str = parameter("sa", "smoothed aggregation or Ruge-Stuben", choices=("sa", "rs"))

    def setup(self, operator: Operator, device: Device) -> MultigridCycle:
        return self._bound(operator, device, None)

    def setup_of(self, system: LinearSystem, device: Device, workers: object = None) -> MultigridCycle:
        return self._bound(system.operator, device, system.near_null)

    def _bound(self, operator: Operator, device: Device, near_null: np.ndarray | None) -> MultigridCycle:
        apply, notes = self.v_cycle(operator, near_null)
        return attach_notes(device.callable(apply, operator.shape[0], operator.dtype), self._label, notes)

    def v_cycle(
        self, operator: Operator, near_null: np.ndarray | None = None
    ) -> tuple[Callable[[np.ndarray], np.ndarray], tuple[str, ...]]:
        """M^-1 as a checked function of host vectors, and notes for the provenance."""
        double = np.result_type(operator.dtype, np.float64)
        matrix = sparse.csr_array(operator.to_csr(), dtype=double)
        regular, pins, null = pin_unknowns(matrix, precision_of(operator))
        with np.errstate(all="ignore"):
            preconditioner = self.hierarchy(regular, near_null).aspreconditioner(cycle="V")

        def matvec(r: np.ndarray) -> np.ndarray:
            return preconditioner.matvec(r.astype(double))

        notes = () if not pins else (f"A is singular: {self._label} pins {pins} of its unknowns and removes the mean",)
        apply = matvec if null is None else project_out(matvec, null)
        with np.errstate(all="ignore"):
            return apply, (*notes, *check_cycle(self._label, apply, matrix.shape[0], double))

    def hierarchy(self, matrix: sparse.csr_array, near_null: np.ndarray | None = None) -> Any:
        """PyAMG's multilevel solver for a matrix in double precision; deterministic. near_null: of a system."""
        if self.method == "rs" and near_null is not None:
            raise InputError("amg: Ruge-Stuben takes no near_null; use amg:sa")
        if self.method == "rs" and matrix.dtype.kind == "c":
            raise InputError("amg: Ruge-Stuben needs a real matrix, got complex entries; use amg:sa")
        try:
            pyamg = importlib.import_module("pyamg")
        except ImportError:
            raise InputError("preconditioner amg needs PyAMG, which is not installed; run: pip install pyamg") from None
        if matrix.nnz <= np.iinfo(np.int32).max:
            # PyAMG before 5.4 takes no wider indices, which SciPy gives a matrix whose rows were left out.
            indices = (part.astype(np.int32, copy=False) for part in (matrix.indices, matrix.indptr))
            matrix = sparse.csr_array((matrix.data, *indices), shape=matrix.shape)
        smoother = ("gauss_seidel", {"sweep": "symmetric"})
        settings = {"presmoother": smoother, "postsmoother": smoother, "coarse_solver": CoarseInverse(self._label)}
        with _isolated_setup():
            try:
                if self.method == "rs":
                    levels = pyamg.ruge_stuben_solver(matrix, **settings)
                else:
                    levels = pyamg.smoothed_aggregation_solver(matrix, B=near_null, symmetry="hermitian", **settings)
            except (ArithmeticError, IndexError, RuntimeError, ValueError, np.linalg.LinAlgError) as error:
                raise InputError(f"{self._label} could not be set up: {error}; {self._alternative}") from None
        if not all(np.isfinite(level.A.data).all() for level in levels.levels):
            raise InputError(f"{self._label} gives coarse matrices with NaN or infinity; {self._alternative}")
        return levels

    @property
    def _label(self) -> str:
        return f"amg:{self.method}"

    @property
    def _alternative(self) -> str:
        return f"use {'amg:sa or ' if self.method == 'rs' else ''}ssor or block-ic"


class CoarseInverse:
    """The coarsest-grid solve: a pseudo-inverse from eigenvalues, Hermitian and semidefinite to rounding.

    A pseudo-inverse from singular values would keep a null eigenvalue with the sign that rounding gave it, and the
    V-cycle would inherit the indefiniteness.

    Raises InputError for a coarsest grid of more than 5000 unknowns.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._inverse: np.ndarray | None = None

    def __call__(self, matrix: Any, b: np.ndarray) -> np.ndarray:
        """Solve the coarsest system. The first call, during the setup, computes the inverse."""
        if self._inverse is None:
            size = matrix.shape[0]
            if size > MAX_COARSE:
                raise InputError(
                    f"{self._name} cannot coarsen this matrix below {size} unknowns, and its coarsest grid may have at "
                    f"most {MAX_COARSE}; use ssor or block-ic"
                )
            values, vectors = np.linalg.eigh(matrix.toarray())
            positive = values > values[-1] * size * np.finfo(values.dtype).eps
            self._inverse = (vectors[:, positive] / values[positive]) @ vectors[:, positive].conj().T
        return self._inverse @ b


@contextlib.contextmanager
def _isolated_setup() -> Generator[None]:
    """Run PyAMG's setup without side effects on global state, one thread at a time.

    PyAMG draws from NumPy's global random state, which is seeded and restored. Its compiled code prints to the standard
    output of the process, which is reserved for results; that output goes to standard error.
    """
    with _setup_lock, _stdout_to_stderr():
        state = np.random.get_state()
        np.random.seed(0)
        try:
            yield
        finally:
            np.random.set_state(state)


@contextlib.contextmanager
def _stdout_to_stderr() -> Generator[None]:
    try:
        stdout = os.dup(1)
    except OSError:
        # The process has no standard output.
        yield
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(stdout, 1)
        os.close(stdout)
