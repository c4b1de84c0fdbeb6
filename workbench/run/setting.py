"""Setting up a run: the system on a device, both levels of the preconditioner, right-hand side and start."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import devices
from workbench.deflation import Projection, Surroundings, Variant
from workbench.devices.hybrid import Split
from workbench.errors import InputError
from workbench.machine.profile import profile
from workbench.operators import Operator
from workbench.preconditioners import ElementWise
from workbench.problems import LinearSystem
from workbench.run.configuration import Configuration
from workbench.run.ending import StoppedError
from workbench.run.given import GivenPreconditioner
from workbench.solvers import Solver, Suits

NULL_TOLERANCE = 1e-12
"""A maps the constant vector to zero when no entry of A 1 exceeds this times the largest diagonal entry."""


@dataclasses.dataclass(eq=False)
class Setting:
    """Everything that a solver's workspace is made of.

    solver is the method that runs, which is another than the configuration's where that one chose. A is the operator
    it sees (P A under deflation) and b what goes with it (P b); `bound` and `b` are the system itself. b, x and exact,
    the solution where it is known, are vectors on the device. notes: sentences about what was changed on the way, for
    the provenance.
    """

    system: LinearSystem
    solver: Solver
    device: Any
    bound: Any
    M: Any
    b: Any
    x: Any
    labels: np.ndarray | None
    projection: Projection | None
    variant: Variant
    singular: bool
    exact: Any
    notes: list[str]

    @property
    def operator(self) -> Operator:
        return self.system.operator

    @property
    def A(self) -> Any:
        return self.projection if self.projection and self.variant.projects_system else self.bound

    @property
    def seen_b(self) -> Any:
        """The right-hand side that the solver sees."""
        if self.projection is None or not self.variant.projects_system:
            return self.b
        projected = self.device.copy(self.b)
        self.projection.project(projected)
        return projected

    def release(self) -> None:
        """Let go of all that lies on the device."""
        self.bound = self.M = self.b = self.x = self.exact = self.projection = None
        if isinstance(self.device, Split):
            self.device.release()

    def solution(self, x: Any) -> Any:
        """The solution that an iterate stands for: x itself, or Q b + P^T x in a new vector."""
        x = self.device.whole(x)
        if self.projection is None or not self.variant.projects_system:
            return x
        finished = self.device.copy(x)
        self.projection.finish(finished, self.b)
        return finished


def set_up(
    configuration: Configuration,
    system: LinearSystem | None = None,
    x0: np.ndarray | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Setting:
    """Assemble (unless a system is given) and put everything in place. Raises InputError for what cannot be solved.

    stopped: asked before each part that may take long; raises StoppedError once it is true.
    """

    def go_on() -> None:
        if stopped():
            raise StoppedError

    device = devices.device(configuration.device).limited(configuration.memory_limit)
    suits = Suits(_element_wise(configuration), deflated=configuration.deflation.name != "none")
    configuration.preconditioner.check(device)
    configuration.solver.check(device, suits)
    system = system or configuration.problem.assemble(configuration.seed)
    go_on()
    operator = system.operator
    device.need(operator.dtype)
    choice = configuration.solver.chosen(device, operator, suits, profile)
    solver, device = choice.solver, choice.device
    bound = operator.bind(device)
    singular = system.constant_nullspace or _maps_constant_to_zero(operator, bound, device)
    notes = [*choice.why, *([device.note] if device.note else [])]
    if configuration.device == "auto":
        notes.append(f"device auto is {device.name} here, chosen by the memory bandwidth of the devices present")
    notes += getattr(bound, "notes", ())
    b, exact = _right_hand_side(configuration, system, bound, device)
    if singular:
        b = _made_consistent(b, notes)
    start = _start(configuration, system, x0)
    if not b.any() and configuration.stopping.atol == 0:
        start[:] = 0
        notes.append("b is zero, so x = 0; give atol above 0 to watch another start converge to it")
    go_on()
    b, x = device.array(b, operator.dtype), device.copy(device.array(start, operator.dtype))
    if solver.checks_symmetry and isinstance(configuration.preconditioner, GivenPreconditioner):
        configuration.preconditioner.check_symmetric(operator.shape[0], operator.dtype)
    M = configuration.preconditioner.setup(operator, device)
    notes += getattr(M, "notes", ())
    given = Surroundings(operator, bound, M, device, system.grid, system.phase, singular, configuration.seed)
    go_on()
    space = configuration.deflation.space(given)
    go_on()
    projection = None
    if space is not None:
        projection = Projection(operator, bound, space, configuration.coarse, device)
        notes += projection.notes
        if configuration.variant.projects_start:
            projection.finish(x, b)
        applied = device.applied(M) if isinstance(M, ElementWise) else M
        first_level = configuration.variant.precondition(projection, applied, device)
        M = M if first_level is applied else first_level
    go_on()
    return Setting(
        system=system,
        solver=solver,
        device=device,
        bound=bound,
        M=M,
        b=b,
        x=x,
        labels=space.labels if space else None,
        projection=projection,
        variant=configuration.variant,
        singular=singular,
        exact=exact,
        notes=notes,
    )


def on_cores(configuration: Configuration, system: LinearSystem) -> tuple[Any, np.ndarray, np.ndarray | None, bool]:
    """A ready for products on the cores, b, the solution where it is known, and whether A maps constants to zero.

    What a run on any device solves, for looks at it after it has ended. Raises InputError as `set_up` does.
    """
    device = devices.device("cpu")
    bound = system.operator.bind(device)
    b, exact = _right_hand_side(configuration, system, bound, device)
    singular = system.constant_nullspace or _maps_constant_to_zero(system.operator, bound, device)
    return bound, _made_consistent(b, []) if singular else b, exact, singular


def _element_wise(configuration: Configuration) -> bool:
    """M acts element by element, a second level that wraps it included."""
    wrapped = configuration.deflation.name != "none" and not configuration.variant.projects_system
    return configuration.preconditioner.element_wise and not wrapped


def _right_hand_side(
    configuration: Configuration, system: LinearSystem, bound: Any, device: Any
) -> tuple[np.ndarray, Any]:
    """b in host memory, and on the device the solution where it is known by construction."""
    size, dtype = system.operator.shape[0], system.operator.dtype
    match configuration.rhs:
        case "ones":
            return np.ones(size, dtype), None
        case "ones-scaled":
            exact = device.array(np.full(size, 1 / np.sqrt(size), dtype), dtype)
            b = device.zeros(size, dtype)
            bound.apply(exact, b)
            return device.to_host(b), exact
        case "random":
            return np.random.default_rng([configuration.seed, 1]).random(size).astype(dtype), None
    if system.b.shape != (size,):
        raise InputError(f"b has shape {system.b.shape}, but the matrix has {size} rows")
    if not np.isfinite(system.b).all():
        place = int(np.flatnonzero(~np.isfinite(system.b))[0])
        raise InputError(f"b holds {system.b[place]} at entry {place}; entries must be finite")
    return np.ascontiguousarray(system.b, dtype), None


def _made_consistent(b: np.ndarray, notes: list[str]) -> np.ndarray:
    """A singular system with the constants in its null space has a solution only if b sums to zero."""
    mean, norm = b.mean(), np.linalg.norm(b)
    if abs(mean) * np.sqrt(b.size) <= 1e-13 * norm:
        return b
    b = b - mean
    notes.append(f"A is singular: the mean of b, {mean:.6g}, was removed so that a solution exists")
    if np.linalg.norm(b) <= 1e-12 * norm:
        raise InputError(
            "the right-hand side is constant and A maps constants to zero, so nothing is left once its mean is "
            "removed; choose another right-hand side, for example random"
        )
    return b


def _start(configuration: Configuration, system: LinearSystem, x0: np.ndarray | None) -> np.ndarray:
    size, dtype = system.operator.shape[0], system.operator.dtype
    if x0 is not None:
        if np.shape(x0) != (size,) or not np.isfinite(x0).all():
            raise InputError(f"x0 must be a finite vector of shape ({size},), got shape {np.shape(x0)}")
        return np.array(x0, dtype)
    if configuration.x0 == "random" or (configuration.x0 == "problem" and system.random_start):
        return np.random.default_rng(configuration.seed).random(size).astype(dtype)
    return np.zeros(size, dtype)


def _maps_constant_to_zero(operator: Operator, bound: Any, device: Any) -> bool:
    ones = device.array(np.ones(operator.shape[0], operator.dtype), operator.dtype)
    product = device.zeros(operator.shape[0], operator.dtype)
    bound.apply(ones, product)
    try:
        largest = np.abs(operator.diagonal()).max()
    except InputError:
        largest = 1.0
    return bool(np.abs(device.to_host(product)).max() <= NULL_TOLERANCE * largest)
