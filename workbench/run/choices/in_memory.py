"""In-memory inputs as blocks of a run: a system, a preconditioner, deflation vectors."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from workbench import devices
from workbench.arrays.scaling import scaled
from workbench.arrays.validation import (
    HostFunction,
    common_dtype,
    finite_array,
    finite_block,
    finite_vector,
    matvec_function,
    own,
    random_products,
    working_dtype,
)
from workbench.deflation import Deflation, DeflationContext, Subspace, as_subspace
from workbench.devices.accelerator.user_vector import UserVector
from workbench.devices.protocol import Device
from workbench.errors import InputError, quoted
from workbench.lazy import sparse
from workbench.operators import (
    BoundOperator,
    ComplexSymmetricMatrix,
    LinearOperatorAdapter,
    Matrix,
    Operator,
    as_operator,
)
from workbench.operators.matrix_checks import OF_MINUS_A, check_finite, check_indices
from workbench.operators.null_space import (
    ROUNDING,
    constants,
    excess,
    excess_of_products,
    null_vectors,
    precision_of,
    refuse_excess,
)
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.settings import RUN
from workbench.solvers import Solver

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

    T = TypeVar("T")

MOST_EXPONENT = 100
"""Vectors of `near_null` with entries from 2^-100 to 2^100 stay as they are."""


@dataclasses.dataclass(frozen=True)
class InMemoryProblem(Problem):
    """A and b given in memory, which provenance cannot reproduce."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a system given in memory"
    on_ranks: ClassVar[bool] = True

    def assemble(self, seed: int = 0) -> LinearSystem:
        raise InputError("this run solved a system given in memory; pass the matrix again, or save it as a .mtx file")

    @property
    def has_stencil(self) -> bool:
        return False

    @property
    def at_hand(self) -> bool:
        return False


@dataclasses.dataclass(frozen=True)
class InMemoryPreconditioner(Preconditioner):
    """M^-1 as a user-supplied function that maps r, shape (N,), to M^-1 r; M must be Hermitian positive definite.

    linear: a SciPy LinearOperator that is used instead of `action`. checked: its symmetry is shown by two applications.
    """

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "a function given in memory"
    follows_scale: ClassVar[bool] = False

    action: Callable[[np.ndarray], Any] = lambda r: r
    linear: LinearOperator | None = None
    checked: bool = True

    def function(self, size: int, dtype: np.dtype) -> HostFunction:
        """M^-1 on vectors of a system, with checks of the returned vectors."""
        if self.linear is not None:
            return matvec_function(self.linear, "M", dtype)
        return HostFunction("M", self.action, size, dtype)

    def check_symmetric(self, size: int, dtype: np.dtype, *, bilinear: bool) -> None:
        """Raise InputError if (M^-1 x, y) and (x, M^-1 y) differ for two random vectors. Costs two applications, or
        none where it is not to be checked."""
        if not self.checked:
            return
        found = random_products(self.function(size, dtype), bilinear=bilinear)
        if not found.are_symmetric:
            raise InputError(
                f"the preconditioner is not symmetric: (M^-1 x, y) = {found.left:.6g} and (x, M^-1 y) = "
                f"{found.right:.6g} for two random vectors; CG needs a symmetric positive definite M, or use solver fcg"
            )

    def times(self, factor: float) -> InMemoryPreconditioner:
        """M^-1 times a number."""
        if self.linear is not None:
            return dataclasses.replace(self, linear=factor * self.linear)
        action = self.action
        return dataclasses.replace(self, action=lambda r: factor * np.asarray(action(r)))

    def setup(self, operator: Operator, device: Device) -> BoundOperator:
        size, dtype = operator.shape[0], operator.dtype
        return device.callable(self.function(size, dtype), size, dtype)


def as_preconditioner(M: Any, size: int, *, check: bool = True) -> Preconditioner:
    """M for N = `size` unknowns: a name, a block, None for none, a function, or a LinearOperator or matrix near A^-1.

    Raises InputError for other types, and for a matrix or LinearOperator of another shape.
    """
    if M is None or isinstance(M, (str, Preconditioner)):
        return Preconditioner.named("none" if M is None else M)
    from scipy.sparse import linalg

    if isinstance(M, linalg.LinearOperator) or sparse.issparse(M) or isinstance(M, np.ndarray):
        if M.shape != (size, size):
            raise InputError(f"M has shape {M.shape}, but the matrix has {size} rows; M must be {size} x {size}")
        if isinstance(M, np.ma.MaskedArray):
            raise InputError("M is a masked array; fill the masked entries: M.filled(value)")
        if sparse.issparse(M):
            check_indices(M, "M")
        if not isinstance(M, linalg.LinearOperator):
            working_dtype(M.dtype, "M")
            if not np.isfinite(sparse.coo_array(M).data if sparse.issparse(M) else M).all():
                check_finite(sparse.csr_array(M), "M")
        return InMemoryPreconditioner(linear=linalg.aslinearoperator(M), checked=check)
    if callable(M):
        return InMemoryPreconditioner(M, checked=check)
    raise InputError(
        f"M must be the name of a preconditioner, a function, a LinearOperator or a matrix, got {quoted(M)}"
    )


def own_entries(A: T) -> T:
    """A whose entries later changes of the user's matrix do not reach. A dense one is copied where it is converted."""
    return own(A) if sparse.issparse(A) else A


def kind_of(method: Solver) -> type[Matrix]:
    """The class of the matrices that a method solves with."""
    return ComplexSymmetricMatrix if method.complex_symmetric else Matrix


def as_deflation(Z: object) -> Deflation:
    """A second level: a name, a block, None for none, or user-supplied Z."""
    if Z is None or isinstance(Z, (str, Deflation)):
        return Deflation.named("none" if Z is None else Z)
    return InMemoryDeflation(Z)


def has_columns(b: object) -> bool:
    """True if b is a matrix of right-hand sides, of one or several."""
    return len(getattr(b, "shape", ())) == 2


def as_vector(b: Any) -> Any:
    """One column, dense or sparse, as a vector; anything else as it is."""
    b = b.toarray() if sparse.issparse(b) else np.asarray(b) if isinstance(b, np.matrix) else b
    return b[:, 0] if np.shape(b)[1:] == (1,) else b


def system_of(
    A: Any, b: Any, x0: Any = None, kind: type[Matrix] = Matrix, nullspace: Any = None, *, check: bool = True,
    device: str | None = None,
) -> tuple[LinearSystem, Any]:  # fmt: skip
    """A x = b and x0 in their common dtype, as SciPy promotes them; a note of the system records a promotion.

    b, x0: shape (N,), or (N, s), dense or sparse, for many right-hand sides, of which an x0 of shape (N,) starts every
    one. nullspace: vectors that A maps to zero, shape (N,) or (N, k), or None.

    check: show by products that a LinearOperator is symmetric, and if it maps constants to zero.

    device: the name of an accelerator that checks a large matrix, which it then has; None for the cores.

    kind: the class of matrices. A float32 matrix with a float64 b gives a float64 system, a real matrix with a complex
    b or x0 a complex one. Cost of the check of a LinearOperator: three products. Raises InputError as `as_operator` and
    `workbench.arrays.validation.finite_vector` do, for a LinearOperator that is not symmetric, and for a vector of
    nullspace that A does not map to zero.
    """
    operator = as_operator(A, kind, accelerator_of(device))
    size, finite = operator.shape[0], finite_block if has_columns(b) else finite_vector
    b = b if _stays(b, size) else finite(b, "b", size)
    if x0 is not None and not _stays(x0, size):
        same = np.ndim(x0) == 1 and has_columns(b)
        x0 = np.broadcast_to(finite_vector(x0, "x0", size)[:, None], b.shape) if same else finite(x0, "x0", size)
    dtype = common_dtype(operator.dtype, *(b,) if x0 is None else (b, x0))
    notes = ()
    if dtype != operator.dtype:
        notes = (f"A is {operator.dtype}, but b or x0 is not: the system was promoted to {dtype}",)
        operator = operator.astype(dtype)
    vectors = None if nullspace is None else null_vectors(nullspace, size, dtype)
    if isinstance(operator, LinearOperatorAdapter) and not check:
        vectors = np.empty((size, 0), dtype) if vectors is None else vectors
    elif isinstance(operator, LinearOperatorAdapter):
        vectors = _checked_function(operator, vectors, bilinear=kind is ComplexSymmetricMatrix)
    elif vectors is not None:
        matrix = operator.to_csr()
        for column, vector in enumerate(vectors.T):
            refuse_excess(excess(matrix, vector, precision_of(operator)), column)
    return LinearSystem(operator, b.astype(dtype, copy=False), null_space=vectors, notes=notes), x0


def accelerator_of(name: str | None) -> Device | None:
    """The accelerator of that name; None for the cores, and for a device that is refused later."""
    if not isinstance(name, str) or name == RUN["device"].default:
        return None
    with contextlib.suppress(InputError):
        found = devices.device(name)
        return None if found.whole_triangles else found
    return None


def with_near_null(system: LinearSystem, near_null: object) -> LinearSystem:
    """The system with vectors that its A maps to little, shape (N,) or (N, m), or None. Raises InputError for another
    shape, NaN and infinity."""
    if near_null is None:
        return system
    vectors, size = finite_array(near_null, "near_null"), system.operator.shape[0]
    if vectors.ndim not in (1, 2) or vectors.shape[0] != size or 0 in vectors.shape:
        raise InputError(
            f"near_null has shape {vectors.shape}, but the matrix has {size} rows; pass shape ({size}, m) for m "
            "vectors, such as those of workbench.deflation.rigid_body_modes"
        )
    vectors = vectors if vectors.ndim == 2 else vectors[:, None]
    if np.iscomplexobj(vectors) and system.operator.dtype.kind != "c":
        raise InputError("near_null is complex, and the matrix is real; pass real and imaginary parts as vectors")
    largest = np.abs(vectors).max(axis=0)
    if not largest.all():
        raise InputError(f"near_null column {int(np.argmin(largest))} is zero; leave it out")
    exponents = np.frexp(largest)[1]
    if np.abs(exponents).max() > MOST_EXPONENT:
        # Their directions count alone; squares of entries near 1 are in range.
        vectors = np.stack([scaled(vector, -int(by)) for vector, by in zip(vectors.T, exponents, strict=True)], 1)
    return dataclasses.replace(system, near_null=vectors)


def _checked_function(operator: LinearOperatorAdapter, vectors: np.ndarray | None, *, bilinear: bool) -> np.ndarray:
    """The null vectors of an A without entries: those given, or the constants where A maps them to zero.

    Raises InputError where A is not symmetric, or negative, and where it does not map the given ones to zero.
    """
    function, size, allowed = operator.function, operator.shape[0], ROUNDING * precision_of(operator)
    found = random_products(function, bilinear=bilinear)
    if not found.are_symmetric:
        form = "(A x)^T y = {} and x^T A y = {}" if bilinear else "(A x, y) = {} and (x, A y) = {}"
        needed = "COCG needs A = A^T" if bilinear else "CG needs a symmetric (Hermitian) positive definite A"
        values = form.format(f"{found.left:.6g}", f"{found.right:.6g}")
        raise InputError(f"A, a LinearOperator, is not symmetric: {values} for two random vectors; {needed}")
    if found.are_negative and not bilinear:
        raise InputError(
            f"A, a LinearOperator, has (x, A x) = {max(found.curvatures):.6g} or less for two random vectors x: "
            f"{OF_MINUS_A}"
        )
    if vectors is None:
        ones = constants(size, operator.dtype)
        mapped = excess_of_products(function(np.array(ones)), ones, (found.of_x, found.of_y), allowed) is None
        return ones if mapped else np.empty((size, 0), operator.dtype)
    for column, vector in enumerate(vectors.T):
        product = function(np.array(vector))
        refuse_excess(excess_of_products(product, vector, (found.of_x, found.of_y), allowed), column)
    return vectors


def _stays(values: object, size: int) -> bool:
    """True if a vector of this size lies on a device, where its norm shows whether all entries are finite."""
    return isinstance(values, UserVector) and values.size == size


def with_diagonal(system: LinearSystem, diagonal: Any, kind: type[Matrix] = Matrix) -> LinearSystem:
    """The system with the main diagonal of its A, shape (N,), which is known by its products alone.

    kind: as in `system_of`. Raises InputError for an A with entries, and for what cannot be its diagonal.
    """
    operator = system.operator
    if not isinstance(operator, LinearOperatorAdapter):
        raise InputError("diagonal is for a LinearOperator; A has entries, so leave diagonal out")
    return dataclasses.replace(system, operator=operator.with_diagonal(diagonal, kind))


@dataclasses.dataclass(frozen=True)
class InMemoryDeflation(Deflation):
    """User-supplied Z: labels of shape (N,), or vectors of shape (N, d), dense or sparse."""

    name: ClassVar[str] = "given"
    title: ClassVar[str] = "vectors given in memory"

    vectors: Any = None

    def space(self, context: DeflationContext) -> Subspace:
        return as_subspace(self.vectors, context.operator.shape[0])
