"""Base class of solvers: a recurrence written as paper lines, one `yield` per iteration."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from workbench.devices.programs.workspace import Workspace
from workbench.devices.protocol import Device
from workbench.lines.edit import by_identities, with_names, without_unread
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import Block

_ARGUMENT_OF_M = re.compile(r"\bM\((\w+)\)")


@dataclasses.dataclass(frozen=True)
class MethodTraits:
    """Properties of the system that a method may require. element_wise: M, with the second level where that wraps it,
    is diagonal; deflated: there is a second level; wrapped: it wraps M.

    Examples:
        >>> from workbench.solvers import MethodTraits
        >>> MethodTraits(element_wise=True, deflated=False).wrapped
        False
    """

    element_wise: bool
    deflated: bool
    wrapped: bool = False


@dataclasses.dataclass(frozen=True)
class SolverSelection:
    """A solver, the device that it runs on, and the reasons for selecting it, in sentences."""

    solver: Solver
    device: Device
    reasons: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Solver(Block):
    """Base of all solvers.

    A solver operates on a workspace with the vectors `b` and `x` (the initial guess, overwritten by the iterates) and
    the operators `A` and `M`. It has no access to tolerances, clocks or the device. It yields once after the start and
    once per iteration. At each yield these scalars are current, in the notation of docs/glossary.md: rr = (r, r),
    gamma = (r, u) and uu = (u, u) with u = M^-1 r, alpha, beta, and delta = (p, A p). delta <= 0 means a breakdown; x
    is then the last valid iterate.

    Examples:
        >>> from workbench.registry import find
        >>> find("solver", "cg").product_label
        'A p'
    """

    kind: ClassVar[str] = "solver"
    on_ranks: ClassVar[bool] = True
    start: ClassVar[str] = ""
    """Paper lines of the initialization."""
    iterate: ClassVar[str] = ""
    """Paper lines of one iteration."""
    from_residual: ClassVar[str] = ""
    """Paper lines of the initialization from x and r = b - A x; empty for a method whose r cannot be replaced."""
    identities: ClassVar[Mapping[str, str]] = {}
    """Formulas that hold in exact arithmetic after every iteration, such as u = M(r). Where M acts element by element,
    they replace the recurrences of these vectors in `iterate`."""
    stored_in: ClassVar[Mapping[str, str]] = {}
    """For a vector that `identities` leave to the other texts alone, the vector whose memory it takes there."""

    uniform_iterations: ClassVar[bool] = True
    """Set where all iterations launch the same kernels: a device may then record and replay them. False for a solver
    whose `iterates` branches on computed values."""
    curvature_is_recomputed: ClassVar[bool] = True
    """Set where delta and gamma are computed from products A p and M^-1 r, instead of by a recurrence. A breakdown is
    confirmed with new products either way, except for an indefinite A if this is True."""
    direction: ClassVar[str] = "p"
    """The direction of delta, as a formula in the variables after an iteration that broke down."""
    residual: ClassVar[str] = "r"
    """The residual of gamma, as such a formula."""
    max_restarts: ClassVar[int] = 0
    """Maximum number of restarts from b - A x after a residual gap. A restart changes the method and hides its
    attainable accuracy."""

    has_user_lines: ClassVar[bool] = False
    """Set for lines that the user wrote; a failure is then attributed to them before the matrix."""

    same_work: ClassVar[bool] = True
    """Set where every ordinary iteration runs the lines of `texts` and nothing else, on one device; its bytes are then
    counted from them."""
    not_stepped: ClassVar[str] = ""
    """The reason why its lines cannot be run one by one, as the end of a sentence; empty where they can."""

    in_family: ClassVar[bool] = True
    """Set where costs per iteration are constant, and counted together with those of the other forms of CG."""

    takes_blocks: ClassVar[bool] = False
    """Set for a method that takes many right-hand sides."""

    complex_symmetric: ClassVar[bool] = False
    """Set for a method for complex A = A^T instead of Hermitian A; for a real matrix both are the same."""

    needs_accelerator: ClassVar[bool] = False
    """Set for a solver on an accelerator and the CPU together; it has no single text of an iteration."""

    stores_rows: ClassVar[bool] = False
    """Set where an accelerator stores rows of any matrix; on ranks other solvers have stencils alone there."""

    needs_symmetric_preconditioner: ClassVar[bool] = True
    """Set where two vectors probe the symmetry of a user-supplied function M before the run."""

    @property
    def applies_m_to_r(self) -> bool:
        """True if an iteration applies M to the residual alone, instead of updating M^-1 r by a recurrence."""
        return set(_ARGUMENT_OF_M.findall(self.iterate)) <= {"r", "R"}

    @property
    def product_label(self) -> str:
        """The product with A as the lines of an iteration have it, as in A p; A alone without lines."""
        found = re.search(r"\bA\((\w+)\)", self.iterate)
        return f"A {found[1]}" if found else "A"

    def check(self, device: Device, traits: MethodTraits) -> None:
        """Raise InputError if the method cannot run on this device or system; called before any setup."""

    def select(
        self, device: Device, operator: Operator, traits: MethodTraits, profile: Callable[[str], Any]
    ) -> SolverSelection:
        """Select the solver to run and its device; all solvers but `hybrid` return themselves.

        profile: returns the machine profile of a name.
        """
        return SolverSelection(self, self.device_for(device, operator))

    def device_for(self, device: Device, operator: Operator) -> Device:
        """The device of the run. Raises InputError if the system does not fit into its memory."""
        self.check_memory(device, operator)
        return device

    def check_memory(self, device: Device, operator: Operator | Size) -> None:
        """Raise InputError if the system does not fit into device memory; a `Size` suffices, before assembly."""
        # x, b, the residual and the best x so far; an accelerator checks further vectors when they are allocated.
        device.need_room(stored_bytes(operator) + 4 * operator.shape[0] * operator.dtype.itemsize)

    def texts(self, workspace: Workspace) -> tuple[str, str]:
        """`start` and `iterate` for a workspace; a method may use fewer vectors if M is element-wise."""
        if self.identities and workspace.inlines("M"):
            start, iterate = without_unread(self.start, by_identities(self.iterate, self.identities))
            return with_names(start, self.stored_in), iterate
        return self.start, self.iterate

    def iterates(self, workspace: Any) -> Iterator[None]:
        """The infinite recurrence on a workspace. Its lines are compiled here, before the first `next`.

        workspace: a `Workspace`; a solver that selects its device may require the class which that device makes.
        """
        return self.recurrence(*workspace.lines(*self.texts(workspace)))

    @staticmethod
    def recurrence(
        start: Callable[[], None], iterate: Callable[[], None], before: Callable[[], None] = lambda: None
    ) -> Iterator[None]:
        """A yield after the start, and one after each iteration. before: precedes the start."""
        before()
        start()
        yield
        while True:
            iterate()
            yield
