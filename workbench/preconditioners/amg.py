"""Algebraic multigrid by PyAMG: the preconditioner that a user would otherwise pick."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import Operator
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.cycle import check, with_notes
from workbench.preconditioners.pinned import pinned, projected
from workbench.registry import parameter, register

LARGEST_COARSE = 5000
"""Unknowns of the coarsest grid that are still solved for by a dense inverse."""
_one_at_a_time = threading.RLock()


@register
@dataclasses.dataclass(frozen=True)
class Amg(Preconditioner):
    """M^-1 = one V-cycle of PyAMG with symmetric Gauss-Seidel sweeps and the pseudo-inverse on the coarsest grid.

    sa is smoothed aggregation, rs Ruge-Stuben for real matrices. A singular A is pinned for the setup and the constants
    are projected out, see `pinned`. PyAMG computes in double precision, on one core and on the host. Memory and setup
    are several times those of the assembled matrix. Raises InputError where PyAMG is not installed or fails, for rs
    with complex entries, and when A does not show its entries.
    Source: Vanek, Mandel, Brezina 1996; Ruge, Stuben 1987; Bell, Olson, Schroder 2022.
    """

    name: ClassVar[str] = "amg"
    title: ClassVar[str] = "algebraic multigrid (PyAMG)"

    method: str = parameter("sa", "smoothed aggregation or Ruge-Stuben", choices=("sa", "rs"))

    def setup(self, operator: Operator, device: Device) -> Any:
        action, notes = self.cycle(operator)
        return with_notes(device.callable(action, operator.shape[0], operator.dtype), self._called, notes)

    def cycle(self, operator: Operator) -> tuple[Callable[[np.ndarray], np.ndarray], tuple[str, ...]]:
        """M^-1 as a function of host vectors, checked, and what there is to say about it."""
        wide = np.result_type(operator.dtype, np.float64)
        matrix = sparse.csr_array(operator.to_csr(), dtype=wide)
        regular, pins = pinned(matrix)
        with np.errstate(all="ignore"):
            whole = self.hierarchy(regular).aspreconditioner(cycle="V")

        def plain(r: np.ndarray) -> np.ndarray:
            return whole.matvec(r.astype(wide))

        notes = () if not pins else (f"A is singular: {self._called} pins {pins} of its unknowns and removes the mean",)
        action = projected(plain) if pins else plain
        with np.errstate(all="ignore"):
            return action, (*notes, *check(self._called, action, matrix.shape[0], wide))

    def hierarchy(self, matrix: sparse.csr_array) -> Any:
        """PyAMG's levels for a matrix in double precision, the same at every call."""
        if self.method == "rs" and matrix.dtype.kind == "c":
            raise InputError("amg: Ruge-Stuben needs a real matrix, got complex entries; use amg:sa")
        try:
            pyamg = importlib.import_module("pyamg")
        except ImportError:
            raise InputError("preconditioner amg needs PyAMG, which is not installed; run: pip install pyamg") from None
        smoother = ("gauss_seidel", {"sweep": "symmetric"})
        settings = {"presmoother": smoother, "postsmoother": smoother, "coarse_solver": CoarseInverse(self._called)}
        with _undisturbed():
            try:
                if self.method == "rs":
                    levels = pyamg.ruge_stuben_solver(matrix, **settings)
                else:
                    levels = pyamg.smoothed_aggregation_solver(matrix, symmetry="hermitian", **settings)
            except (ArithmeticError, IndexError, RuntimeError, ValueError, np.linalg.LinAlgError) as error:
                raise InputError(f"{self._called} could not be set up: {error}; {self._instead}") from None
        if not all(np.isfinite(level.A.data).all() for level in levels.levels):
            raise InputError(f"{self._called} makes coarse matrices with NaN or infinity of this one; {self._instead}")
        return levels

    @property
    def _called(self) -> str:
        return f"amg:{self.method}"

    @property
    def _instead(self) -> str:
        return f"use {'amg:sa or ' if self.method == 'rs' else ''}ssor or block-ic"


class CoarseInverse:
    """The solve on the coarsest grid: the pseudo-inverse from eigenvalues, Hermitian and semidefinite also in rounding.

    One from singular values keeps an eigenvalue that is zero but for rounding as what it happens to be, negative too,
    and the cycle is as indefinite as that. Raises InputError for a coarsest grid that is too large.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._inverse: np.ndarray | None = None

    def __call__(self, matrix: Any, b: np.ndarray) -> np.ndarray:
        """The solution of the coarsest system; the first call, in a setup, factors."""
        if self._inverse is None:
            size = matrix.shape[0]
            if size > LARGEST_COARSE:
                raise InputError(
                    f"{self._name} cannot coarsen this matrix below {size} unknowns, and takes at most "
                    f"{LARGEST_COARSE} on its coarsest grid; use ssor or block-ic"
                )
            values, vectors = np.linalg.eigh(matrix.toarray())
            kept = values > values[-1] * size * np.finfo(values.dtype).eps
            self._inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].conj().T
        return self._inverse @ b


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """PyAMG's setup without traces elsewhere, for one thread at a time.

    It estimates spectral radii from NumPy's global random numbers, and its compiled part prints to the standard output
    of the process, which belongs to the results; such lines go to standard error.
    """
    with _one_at_a_time, _printed_to_stderr():
        state = np.random.get_state()
        np.random.seed(0)
        try:
            yield
        finally:
            np.random.set_state(state)


@contextlib.contextmanager
def _printed_to_stderr() -> Iterator[None]:
    try:
        kept = os.dup(1)
    except OSError:
        # Without a standard output there is nothing to keep clean.
        yield
        return
    try:
        with contextlib.suppress(OSError):
            os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
