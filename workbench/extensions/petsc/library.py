"""PETSc through petsc4py: matrices, preconditioners, and Krylov methods that are stepped iteration by iteration.

petsc4py is optional and imported here alone. Nothing in it is started before its first use.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import math
import shlex
import threading
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError
from workbench.lazy import sparse

if TYPE_CHECKING:
    from types import ModuleType

HOW_TO_INSTALL = (
    "{what} needs PETSc, which is not installed; run `make petsc` in the checkout (ten minutes, a C compiler), or "
    "install petsc4py from conda-forge"
)
FROM_X = ("pipelcg", "cr", "pipecr")
"""Methods that compute other norms than ||r||, which is then computed from x."""
MOST_STEPS = {"pipelcg": 100_000}
"""Iterations of methods that keep room for something of each."""
REASONS = {
    -3: "it has no room for more iterations",
    -4: "the residual grew without bound",
    -5: "a dot product of the method vanished, so that it cannot continue",
    -6: "a dot product of the method vanished, so that it cannot continue",
    -7: "the method needs a symmetric matrix",
    -8: "the preconditioner is not positive definite",
    -9: "NaN or infinity appeared",
    -10: "A is not positive definite",
    -11: "the preconditioner could not be set up",
}
"""Reasons why a Krylov method of PETSc ends by itself, by KSPConvergedReason."""


def installed() -> bool:
    """True if petsc4py is installed; it is not imported."""
    return importlib.util.find_spec("petsc4py") is not None


def need(what: str, changes: Mapping[str, object] | None = None) -> None:
    """Raise InputError where PETSc is not installed. what: needs it. changes: of a configuration, that does not."""
    if not installed():
        raise InputError(HOW_TO_INSTALL.format(what=what), changes=changes or {})


@functools.cache
def library() -> ModuleType:
    """petsc4py.PETSc, initialized. Raises InputError where it cannot be loaded, as after a change of MPI."""
    need("this")
    try:
        petsc4py = importlib.import_module("petsc4py")
        petsc4py.init(["workbench", "-no_signal_handler"])
        return importlib.import_module("petsc4py.PETSc")
    except (ImportError, OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(
            f"PETSc is installed and cannot be loaded: {reason}; build it again with `make petsc`"
        ) from None


def version() -> str:
    """PETSc's version."""
    return ".".join(map(str, library().Sys.getVersion()))


def check_real(dtype: np.dtype) -> None:
    """Raise InputError for numbers that this build of PETSc does not compute with."""
    scalar = np.dtype(library().ScalarType)
    if np.result_type(dtype, scalar) != scalar:
        raise InputError(
            f"this PETSc computes with {scalar}, and A is {dtype}; use amg:sa, or a method of the workbench"
        )


def check_kind(kind: str) -> None:
    """Raise InputError for a preconditioner that this build lacks."""
    if kind == "hypre" and not library().Sys.hasExternalPackage(kind):
        raise InputError("this PETSc was built without hypre; use petsc:gamg or amg:sa", changes={})


def take_options(text: str) -> list[str]:
    """Put options such as "-pc_gamg_threshold 0.02" into PETSc's database; their names. Raises InputError for text that
    is no list of options."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"options {text!r} cannot be split into words: {error}") from None
    if words and not words[0].startswith("-"):
        raise InputError(f"options of PETSc begin with -, as in -pc_gamg_threshold 0.02, got {words[0]!r}")
    database, names = library().Options(), []
    while words:
        name = words.pop(0)[1:]
        value = words.pop(0) if words and not _is_option(words[0]) else None
        database.setValue(name, value)
        names.append(name)
    return names


def _is_option(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit() and word[1:2] != "."


def unused(names: list[str]) -> list[str]:
    """The options that nothing has asked for; all are removed from the database."""
    database = library().Options()
    left = [name for name in names if not database.used(name)]
    for name in names:
        database.delValue(name)
    return left


def matrix(csr: sparse.csr_array, *, constant_null_vector: bool = False) -> Any:
    """An AIJ matrix with the entries of a CSR matrix, which are copied."""
    petsc, made = library(), _aij(csr)
    made.setOption(petsc.Mat.Option.SYMMETRIC, True)
    made.setOption(petsc.Mat.Option.SPD, not constant_null_vector)
    if constant_null_vector:
        null_space = petsc.NullSpace().create(constant=True, comm=petsc.COMM_SELF)
        made.setNullSpace(null_space)
        made.setNearNullSpace(null_space)
    return made


def _aij(csr: sparse.csr_array) -> Any:
    petsc = library()
    kinds = petsc.IntType, petsc.IntType, petsc.ScalarType
    parts = (np.asarray(part, kind) for part, kind in zip((csr.indptr, csr.indices, csr.data), kinds, strict=True))
    return petsc.Mat().createAIJ(csr.shape, csr=tuple(parts), comm=petsc.COMM_SELF)


def _applied(pc: Any, r: np.ndarray, u: Any) -> np.ndarray:
    """The result of a PC of PETSc for r, in a new array. u: its vector."""
    petsc = library()
    given = petsc.Vec().createWithArray(np.ascontiguousarray(r, petsc.ScalarType), comm=petsc.COMM_SELF)
    pc.apply(given, u)
    given.destroy()
    return u.getArray(readonly=True).copy()


class Preconditioner:
    """M^-1 r by a preconditioner of PETSc for a matrix, on one core. kind: a PCType such as gamg.

    Raises InputError for a kind that this build lacks or that cannot be set up, and for options that it does not know.
    """

    def __init__(self, kind: str, csr: sparse.csr_array, options: str = "", *, constant_null_vector: bool = False):
        check_kind(kind)
        petsc, names = library(), take_options(options)
        self._pc = petsc.PC().create(petsc.COMM_SELF)
        self._matrix = matrix(csr, constant_null_vector=constant_null_vector)
        try:
            self._pc.setOperators(self._matrix)
            self._pc.setType(kind)
            self._pc.setFromOptions()
            self._pc.setUp()
        except petsc.Error as error:
            unused(names)
            raise InputError(
                f"preconditioner petsc:{kind} could not be set up: {_reason(error)}; use petsc:gamg or amg:sa"
            ) from None
        if left := unused(names):
            raise InputError(f"petsc:{kind} knows no option -{left[0]}; see PETSc's manual page of PC{kind.upper()}")
        self._u = self._matrix.createVecLeft()

    def apply(self, r: np.ndarray) -> np.ndarray:
        """M^-1 r, in a new array."""
        return _applied(self._pc, r, self._u)

    @property
    def levels(self) -> int:
        """Levels of a multigrid preconditioner; 0 for others."""
        return self._pc.getMGLevels() if self._pc.getType() in ("gamg", "mg") else 0


class Deflation:
    """u = P^T M^-1 r, which is DEF2, by PCDEFLATION; E = Z^T A Z is factored by PETSc.

    M: function (r, out) -> None. Z, AZ: CSR, shape (N, d), E nonsingular.
    """

    def __init__(self, M: Callable[[np.ndarray, np.ndarray], None], Z: sparse.csr_array, AZ: sparse.csr_array) -> None:
        petsc, size = library(), Z.shape[0]
        self._pc = pc = petsc.PC().create(petsc.COMM_SELF)
        # Z^T A and E are given, so no product with A is needed.
        A = petsc.Mat().createPython(((size, size), (size, size)), _Product(_no_product), comm=petsc.COMM_SELF)
        A.setUp()
        pc.setOperators(A)
        pc.setType("deflation")
        pc.setDeflationSpace(_aij(Z), False)
        pc.setDeflationProjectionNullSpaceMat(_aij(sparse.csr_array(AZ.T)))
        pc.setDeflationCoarseMat(_aij(sparse.csr_array(Z.T @ AZ)))
        try:
            pc.setUp()
            # Before the setup there is none.
            first = pc.getDeflationPC()
            first.setType("python")
            first.setPythonContext(_Product(M))
            first.setUp()
        except petsc.Error as error:
            raise InputError(f"PCDEFLATION could not be set up: {_reason(error)}; use variant def2") from None
        self._u = A.createVecLeft()

    def apply(self, r: np.ndarray) -> np.ndarray:
        """P^T M^-1 r, in a new array."""
        return _applied(self._pc, r, self._u)


def _no_product(x: np.ndarray, y: np.ndarray) -> None:
    """Stands for A x, which PCDEFLATION does not use where it has Z^T A."""
    raise RuntimeError("PCDEFLATION multiplied by A, though it has Z^T A")


class _Product:
    """The context of a Python matrix or preconditioner whose product is a function of NumPy arrays."""

    def __init__(self, product: Callable[[np.ndarray, np.ndarray], None]) -> None:
        self._product = product

    def mult(self, _: Any, x: Any, y: Any) -> None:
        """y = A x."""
        self._product(x.getArray(readonly=True), y.getArray())

    apply = mult


class KrylovSteps:
    """A Krylov method of PETSc that stops after every iteration until the next one is requested.

    KSPSolve runs in a thread of its own: PETSc asks there after every iteration whether the method has converged, and
    the thread waits for the answer. kind: a KSPType. A, M: functions (x, out) -> None. b, x: arrays; x changes in
    place. communicator: of mpi4py, whose ranks have the rows of b and x; None for one process.
    """

    def __init__(
        self,
        kind: str,
        A: Callable[[np.ndarray, np.ndarray], None],
        M: Callable[[np.ndarray, np.ndarray], None],
        b: np.ndarray,
        x: np.ndarray,
        options: str = "",
        communicator: object = None,
    ) -> None:
        petsc, names = library(), take_options(options)
        self._petsc, self._norm = petsc, math.nan
        self._turn, self._told = threading.Semaphore(0), threading.Semaphore(0)
        self._ending = self._over = False
        self._error: BaseException | None = None
        comm = petsc.COMM_SELF if communicator is None else petsc.Comm(communicator)
        size = (b.size, petsc.DETERMINE if communicator is not None else b.size)
        operators = [petsc.Mat().createPython((size, size), _Product(A), comm=comm)]
        operators[0].setUp()
        self._b, self._x = (petsc.Vec().createWithArray(each, size=size, comm=comm) for each in (b, x))
        self._r = self._b.duplicate() if kind in FROM_X else None
        self._ksp = ksp = petsc.KSP().create(comm)
        ksp.setOperators(operators[0])
        try:
            ksp.setType(kind)
            pc = ksp.getPC()
            pc.setType("python")
            pc.setPythonContext(_Product(M))
            if kind not in FROM_X:
                ksp.setNormType(petsc.KSP.NormType.UNPRECONDITIONED)
            ksp.setInitialGuessNonzero(True)
            ksp.setConvergenceTest(self._test)
            ksp.setTolerances(rtol=0, atol=0, divtol=1e300, max_it=MOST_STEPS.get(kind, 2**31 - 1))
            ksp.setFromOptions()
            ksp.setUp()
        except petsc.Error as error:
            unused(names)
            raise InputError(f"PETSc's method {kind} could not be set up: {_reason(error)}") from None
        if left := unused(names):
            self._destroy()
            raise InputError(
                f"PETSc's method {kind} knows no option -{left[0]}; see the manual page of KSP{kind.upper()}"
            )

    def norms(self) -> Generator[float, None, None]:
        """||r|| after the start and after each iteration, x being current; ends when the generator is closed.

        Raises InputError where PETSc ends by itself, with its reason.
        """
        thread = threading.Thread(target=self._solve, daemon=True, name="KSPSolve")
        thread.start()
        try:
            while True:
                self._turn.acquire()
                if self._error is not None:
                    raise self._error
                if self._over:
                    code = int(self._ksp.getConvergedReason())
                    raise InputError(f"PETSc's {self._ksp.getType()} ended: {REASONS.get(code, f'reason {code}')}")
                yield self._norm
                self._told.release()
        finally:
            self._ending = True
            self._told.release()
            thread.join()
            self._destroy()

    def _solve(self) -> None:
        try:
            self._ksp.solve(self._b, self._x)
        # Reported by the thread that waits; a function of the user may raise what is no Exception.
        except BaseException as error:
            self._error = InputError(_reason(error)) if isinstance(error, self._petsc.Error) else error
        self._over = True
        self._turn.release()

    def _test(self, ksp: Any, iteration: int, norm: float) -> int:
        self._norm = norm if self._r is None else self._residual(self._r)
        self._turn.release()
        self._told.acquire()
        return int(ksp.ConvergedReason.CONVERGED_USER if self._ending else ksp.ConvergedReason.ITERATING)

    def _residual(self, r: Any) -> float:
        """||b - A x||, by the memory of r."""
        self._ksp.getOperators()[0].mult(self._x, r)
        r.aypx(-1.0, self._b)
        return r.norm()

    def _destroy(self) -> None:
        for each in (self._ksp, self._b, self._x, self._r):
            if each is not None:
                each.destroy()


def _reason(error: BaseException) -> str:
    """The message of PETSc for an error, in one line."""
    lines = [line.partition("] ")[2] or line for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith(("error code", "#", "PETSc Error"))]
    return (said[-1] if said else str(error)).strip().rstrip(".")
