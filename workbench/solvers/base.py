"""What a solver is: a registered block that holds a recurrence as paper lines, one `yield` per iteration."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from workbench.lines.edit import by_identities
from workbench.operators import Operator, Size, stored_bytes
from workbench.registry import Block


@dataclasses.dataclass(frozen=True)
class MethodTraits:
    """What a method may count on. element_wise: M acts element by element; deflated: there is a second level."""

    element_wise: bool
    deflated: bool


@dataclasses.dataclass(frozen=True)
class Choice:
    """A method, the device that it runs on, with the system placed there, and sentences that say why."""

    solver: Solver
    device: Any
    why: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Solver(Block):
    """Base of all solvers.

    A solver sees a workspace with the vectors `b` and `x` (the initial guess, overwritten by the iterates) and the
    operators `A` and `M`, and nothing else: no tolerance, no clock, no device. It yields once after the start and once
    per iteration. By then the scalars below are up to date, in the notation of docs/notation.md:
    rr = (r, r), gamma = (r, u), uu = (u, u) with u = M^-1 r, alpha, beta, and delta = (p, A p), which is not positive
    when the method has broken down; x then still holds the last good iterate.
    """

    kind: ClassVar[str] = "solver"
    start: ClassVar[str] = ""
    """Paper lines before the loop."""
    iterate: ClassVar[str] = ""
    """Paper lines of one iteration."""
    identities: ClassVar[Mapping[str, str]] = {}
    """What holds in exact arithmetic after every iteration, such as u = M(r). Where M acts element by element, it
    replaces the recurrence of that vector in `iterate`."""

    alike: ClassVar[bool] = True
    """Every iteration launches the same, so that a device may record some and repeat them without asking; False for a
    solver whose `iterates` decides anything by itself."""
    measures_energies: ClassVar[bool] = True
    """Whether delta and gamma are computed from products A p and M^-1 r; False where one of these comes from a
    recurrence. A breakdown is recomputed either way; where this is True, that of an indefinite A is not repeated."""
    direction: ClassVar[str] = "p"
    """The direction that delta belongs to, as a formula of what an iteration that broke down leaves behind."""
    residual: ClassVar[str] = "r"
    """The same for the residual that gamma belongs to."""
    restarts: ClassVar[int] = 0
    """How often the driver may begin anew from b - A x when that and the recurrence have parted. A restart makes
    another method of a method, and would hide how accurate it is."""

    own_lines: ClassVar[bool] = False
    """The lines are the user's own, so that a failure is theirs before it is the matrix's."""

    needs_accelerator: ClassVar[bool] = False
    """It shares work between an accelerator and the cores, and is no text of one iteration."""

    checks_symmetry: ClassVar[bool] = True
    """A preconditioner given as a function is tried on two vectors first."""

    def check(self, device: Any, suits: MethodTraits) -> None:
        """Raise InputError, before anything is set up, where the method cannot run like this."""

    def chosen(self, device: Any, operator: Operator, suits: MethodTraits, profile: Callable[[str], Any]) -> Choice:
        """The method that runs, and where; only a block that chooses among methods gives another than itself.

        profile: gives the machine profile of a name.
        """
        return Choice(self, self.placed(device, operator))

    def placed(self, device: Any, operator: Operator) -> Any:
        """The device that a run works on. Raises InputError where the system does not fit it."""
        self.check_room(device, operator)
        return device

    def check_room(self, device: Any, operator: Operator | Size) -> None:
        """Raise InputError where a system does not fit the device; its size tells so before it is assembled."""
        # x, b, the residual and the best x so far; what the method needs in addition is counted as it is made.
        device.need_room(stored_bytes(operator) + 4 * operator.shape[0] * operator.dtype.itemsize)

    def texts(self, workspace: Any) -> tuple[str, str]:
        """`start` and `iterate` as they suit a workspace; a method may need fewer vectors where M is a formula."""
        if self.identities and workspace.inlines("M"):
            return self.start, by_identities(self.iterate, self.identities)
        return self.start, self.iterate

    def iterates(self, workspace: Any) -> Iterator[None]:
        """The recurrence on a workspace, without end. Its lines are compiled here, before the first `next`."""
        start, iterate = workspace.lines(*self.texts(workspace))

        def recurrence() -> Iterator[None]:
            start()
            yield
            while True:
                iterate()
                yield

        return recurrence()
