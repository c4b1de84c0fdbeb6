"""Coarse solvers: the solution of E a2 = a1 in every iteration (Gupta, van Gijzen, Vuik 2013, section 5.1)."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import numpy as np

from workbench.deflation import lapack
from workbench.deflation.galerkin import PlacedMatrix
from workbench.deflation.parts import Parts
from workbench.devices.coarse import MOST_DENSE_ON_GPU, Banded, Form, Levels
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.registry import Block, register


@dataclasses.dataclass(frozen=True)
class CoarseSolver(Block):
    """Base of all coarse solvers.

    Examples:
        >>> import numpy as np
        >>> from scipy import sparse
        >>> from workbench.registry import find
        >>> find("coarse", "cholesky").factor(sparse.csr_array(np.diag([1.0, 4.0]))).solve(np.ones(2)).tolist()
        [1.0, 0.25]
    """

    kind: ClassVar[str] = "coarse"
    on_ranks: ClassVar[bool] = True
    in_single: ClassVar[bool] = False
    """True if vectors of E may be in single precision, where those of A are in double."""
    accepts_singular: ClassVar[bool] = False
    """True if `factor` accepts a positive semidefinite E; otherwise one deflation vector is dropped first."""
    takes_placed: ClassVar[bool] = False
    """True if `factor` takes an E in the memory of a device."""
    advice: ClassVar[str] = ""
    """Advice for a deflated run that fails, possibly by the limited accuracy of this coarse solver."""
    doubts_exact: ClassVar[bool] = True
    """True if the advice holds even where systems with E count as solved to rounding."""

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        """Factor E, (d, d), Hermitian positive definite. Raises InputError if the factorization fails.

        parts: where the vectors lie, None if that is not known.
        """
        raise TypeError(f"coarse solver {self.name} does not implement factor")

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        """Bytes of E^-1 for `count` vectors: on the host while it is made, and on a device that solves with it.

        width: half-bandwidth of E. dimensions: of the grid of boxes. gpu: the device is a GPU, which solves with dense
        factors for few vectors.
        """
        return 0, 0

    def resolved(
        self, matrix: sparse.csr_array | PlacedMatrix, parts: Parts | None, *, on_host: bool, exact: bool
    ) -> tuple[CoarseSolver, str]:
        """The solver for this E, and why it was chosen; itself, with no reason, unless it leaves the choice open.

        on_host: the solve runs on the cores. exact: systems with E have to be solved to rounding.
        """
        return self, ""

    def for_count(self, count: int, width: int, *, on_host: bool, exact: bool) -> CoarseSolver:
        """The choice of `resolved` before E is made, from the number of vectors and the half-bandwidth of E."""
        return self

    def instead(self, count: int) -> CoarseSolver | None:
        """The solver that `resolved` may choose instead once E is known; None if it keeps to that of `for_count`."""
        return None

    def check_count(self, count: int) -> None:
        """Raise InputError for more vectors than it takes."""

    def is_exact(self, count: int) -> bool:
        """True if systems with E of `count` vectors are solved to rounding."""
        return True


class Factor:
    """A factored coarse matrix."""

    exact: bool = True
    """True if systems with E are solved to rounding."""
    form: Form | None = None
    """E^-1 as arrays that a device can store; None if only `solve` on the host is available."""

    def solve(self, right: np.ndarray) -> np.ndarray:
        """E^-1 a, shape (d,)."""
        raise TypeError

    def solve_columns(self, right: np.ndarray) -> np.ndarray:
        """E^-1 a for each column of a, shape (d, s)."""
        return np.stack([self.solve(column) for column in right.T], axis=1)

    @functools.cached_property
    def levels(self) -> Levels | None:
        """The levels of a solver by cycles, in host memory; None for any other."""
        return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the provenance of a run."""
        return ()

    @property
    def traffic(self) -> int:
        """Bytes read by one solve."""
        raise TypeError


@register
@dataclasses.dataclass(frozen=True)
class Cholesky(CoarseSolver):
    """E = L L^T as a band matrix in reverse Cuthill-McKee ordering.

    Cost with d vectors and half-bandwidth w: setup d w^2 flops, memory 8 d w bytes, 4 d w flops per solve. w is 2 for
    2n stripes in 2D and about n for n^2 stripes in 3D.
    """

    name: ClassVar[str] = "cholesky"
    title: ClassVar[str] = "Cholesky factorization (triangular solves)"

    def needed_bytes(self, count: int, width: int, dimensions: int, *, gpu: bool) -> tuple[int, int]:
        band = 8 * count * (width + 1)
        return band, 16 * count**2 if gpu and count <= MOST_DENSE_ON_GPU else band

    def factor(self, matrix: sparse.csr_array, parts: Parts | None = None) -> Factor:
        return BandCholesky(matrix)


class BandCholesky(Factor):
    """Band Cholesky by LAPACK (pbtrf, pbtrs)."""

    def __init__(self, matrix: sparse.csr_array) -> None:
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        self._order = reverse_cuthill_mckee(sparse.csr_matrix(matrix), symmetric_mode=True)
        entries = matrix[self._order][:, self._order].tocoo()
        rows, columns = entries.coords
        below = rows >= columns
        width = int((rows - columns)[below].max(initial=0))
        band = np.zeros((width + 1, matrix.shape[0]), matrix.dtype, order="F")
        band[(rows - columns)[below], columns[below]] = entries.data[below]
        try:
            self._band = lapack.band_cholesky(band)
        except np.linalg.LinAlgError as error:
            raise not_definite(str(error)) from None
        self.form = Banded(self._band, self._order)
        self._substitute = lapack.band_solver(self._band)

    def solve(self, right: np.ndarray) -> np.ndarray:
        solution = np.empty_like(right)
        solution[self._order] = self._substitute(right[self._order])
        return solution

    solve_columns = solve

    @property
    def traffic(self) -> int:
        return 2 * self._band.nbytes


class CoarseError(InputError):
    """A coarse matrix cannot be solved with. detail: the reason, as a clause without a way out, which depends on what
    asks for it."""

    def __init__(self, sentence: str, detail: str) -> None:
        super().__init__(sentence)
        self.detail = detail


def not_definite(detail: str) -> CoarseError:
    """The error of all coarse solvers for a coarse matrix that cannot be factored."""
    return CoarseError(
        f"the coarse matrix E = Z^T A Z is not positive definite ({detail}); the matrix is indefinite, or singular "
        "in a way that dropping one deflation vector does not repair; use coarse solver pseudo-inverse, or deflation "
        "none",
        f"a matrix of its levels is not positive definite ({detail})",
    )
