"""Setting up a run: the system on a device, both levels of the preconditioner, right-hand side and start."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench import devices
from workbench.arrays import cast, vector
from workbench.deflation import DeflationContext, Projection, Variant
from workbench.devices.constant import constant, constant_of, entries, largest
from workbench.devices.pair import Split
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.machine.profile import profile
from workbench.operators import Operator
from workbench.preconditioners import ElementWise
from workbench.problems import LinearSystem
from workbench.run.cancellation import StoppedError
from workbench.run.configuration import Configuration
from workbench.run.in_memory import InMemoryPreconditioner
from workbench.scaling import is_extreme, magnitude, norm, scaled, scaled_number
from workbench.solvers import MethodTraits, Solver

NULL_TOLERANCE = 1e-12
"""A maps the constant vector to zero when no entry of A 1 exceeds this times the largest diagonal entry."""
DOUBT = 2.0
"""Safety factor of the test ||A 1|| > sqrt(N) tolerance, for rounding in any precision."""


@dataclasses.dataclass(eq=False)
class SolveSetup:
    """Everything that a solver's workspace is made of.

    solver is the method that runs, which is another than the configuration's where that one chose. A is the operator
    it sees (P A under deflation) and b what goes with it (P b); `bound` and `b` are the system itself, M both levels
    and first_level the first alone. b, x and exact, the solution where it is known, are vectors on the device, those of
    the system times 2^-exponent. removed: the norm of what was taken from b to make a singular system consistent, as b
    is scaled. notes: sentences about what was changed on the way, for the provenance.
    """

    system: LinearSystem
    solver: Solver
    device: Device
    bound: Any
    first_level: Any
    M: Any
    b: Any
    x: Any
    exponent: int
    removed: float
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

    def unscaled_norm(self, norm: Any) -> Any:
        """A norm of the scaled system, or an array of them, as one of the system that was given."""
        if not self.exponent:
            return norm
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(norm, self.exponent)

    def scaled_norm(self, norm: float) -> float:
        """A norm of the system that was given as one of the scaled system."""
        return scaled_number(norm, -self.exponent)

    def release(self) -> None:
        """Let go of all that lies on the device."""
        self.bound = self.M = self.first_level = self.b = self.x = self.exact = self.projection = None
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
) -> SolveSetup:
    """Assemble (unless a system is given) and put everything in place. Raises InputError for what cannot be solved.

    stopped: asked before each part that may take long; raises StoppedError once it is true.
    """

    def go_on() -> None:
        if stopped():
            raise StoppedError

    device = devices.device(configuration.device).limited(configuration.memory_limit)
    suits = MethodTraits(_element_wise(configuration), deflated=configuration.deflation.name != "none")
    configuration.preconditioner.check(device)
    configuration.solver.check(device, suits)
    size = configuration.problem.known_size if system is None else None
    if size is not None:
        # Assembling what does not fit would take its time for nothing.
        configuration.solver.check_room(device, size)
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
    notes += system.notes
    b, exact = _right_hand_side(configuration, system, bound, device)
    start = _start(configuration, system, x0)
    exponent = _exponent(b, start, bound, device)
    if exponent:
        b, start = scaled(b, -exponent), scaled(start, -exponent)
        exact = None if exact is None else device.array(scaled(device.to_host(exact), -exponent), operator.dtype)
        notes.append(f"b and x were scaled by 2^{-exponent} while iterating, so that dot products stay in range")
    removed = 0.0
    if singular:
        b, removed = _made_consistent(b, exponent, notes)
    if not entries(b).any() and configuration.stopping.atol == 0:
        start = constant(0, b.size, operator.dtype)
        notes.append("b is zero, so x = 0; give atol above 0 to watch another start converge to it")
    go_on()
    b, x = device.array(b, operator.dtype), device.copy(device.array(start, operator.dtype))
    if solver.checks_symmetry and isinstance(configuration.preconditioner, InMemoryPreconditioner):
        configuration.preconditioner.check_symmetric(operator.shape[0], operator.dtype)
    first_level = M = configuration.preconditioner.setup(operator, device)
    notes += getattr(M, "notes", ())
    given = DeflationContext(operator, bound, M, device, system.grid, system.phase, singular, configuration.seed)
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
        both = configuration.variant.precondition(projection, applied, device)
        M = M if both is applied else both
    go_on()
    return SolveSetup(
        system=system,
        solver=solver,
        device=device,
        bound=bound,
        first_level=first_level,
        M=M,
        b=b,
        x=x,
        exponent=exponent,
        removed=removed,
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
    return bound, _made_consistent(b, 0, [])[0] if singular else b, exact, singular


def _element_wise(configuration: Configuration) -> bool:
    """M acts element by element, a second level that wraps it included."""
    wrapped = configuration.deflation.name != "none" and not configuration.variant.projects_system
    return configuration.preconditioner.element_wise and not wrapped


def _right_hand_side(
    configuration: Configuration, system: LinearSystem, bound: Any, device: Device
) -> tuple[np.ndarray, Any]:
    """b in host memory, and on the device the solution where it is known by construction."""
    size, dtype = system.operator.shape[0], system.operator.dtype
    match configuration.rhs:
        case "ones":
            return constant(1, size, dtype), None
        case "ones-scaled":
            exact = device.array(constant(1 / np.sqrt(size), size, dtype), dtype)
            b = device.zeros(size, dtype)
            bound.apply(exact, b)
            return device.to_host(b), exact
        case "random":
            return np.random.default_rng([configuration.seed, 1]).random(size).astype(dtype), None
    if (value := constant_of(system.b)) is not None and system.b.shape == (size,):
        return constant(cast(vector(np.array([value]), "b", 1), dtype, "b")[0], size, dtype), None
    return cast(vector(system.b, "b", size), dtype, "b"), None


def _exponent(b: np.ndarray, start: np.ndarray, bound: Any, device: Device) -> int:
    """The power of two of the largest entry of b and A x0 where dot products might under- or overflow, else 0."""
    vectors = [b, start] if entries(start).any() else [b]
    if not any(is_extreme(_norm(values, device), b.dtype) for values in vectors):
        return 0
    found = magnitude(entries(b))
    if len(vectors) == 2:
        product = device.zeros(b.size, b.dtype)
        bound.apply(device.array(start, b.dtype), product)
        # NaN, as of infinity less infinity, must not be lost.
        found = float(np.maximum(found, magnitude(device.to_host(product))))
    if not np.isfinite(found):
        raise InputError("A x0 overflows; start from a smaller x0, or from zero")
    return math.frexp(found)[1]


def _norm(values: np.ndarray, device: Device) -> float:
    """||v||, or a smaller number that is not zero where squares underflow on the device."""
    if constant_of(values) is not None:
        return magnitude(entries(values)) * math.sqrt(values.size)
    return device.norm(device.array(values, values.dtype)) or magnitude(values)


def _made_consistent(b: np.ndarray, exponent: int, notes: list[str]) -> tuple[np.ndarray, float]:
    """A singular system with the constants in its null space has a solution only if b sums to zero.

    Returns b with zero mean and the norm of what was removed; notes give the mean times 2^exponent.
    """
    mean = b.mean(dtype=np.result_type(b.dtype, np.float64))
    length, removed = norm(b), float(abs(mean)) * math.sqrt(b.size)
    if removed <= 1e-13 * length:
        return b, 0.0
    b = (b - mean).astype(b.dtype)
    given = complex(scaled_number(mean.real, exponent), scaled_number(mean.imag, exponent))
    shown = given if b.dtype.kind == "c" else given.real
    notes.append(f"A is singular: the mean of b, {shown:.6g}, was removed so that a solution exists")
    if norm(b) <= 1e-12 * length:
        raise InputError(
            "the right-hand side is constant and A maps constants to zero, so nothing is left once its mean is "
            "removed; choose another right-hand side, for example random"
        )
    return b, removed


def _start(configuration: Configuration, system: LinearSystem, x0: np.ndarray | None) -> np.ndarray:
    size, dtype = system.operator.shape[0], system.operator.dtype
    if x0 is not None:
        return np.array(cast(vector(x0, "x0", size), dtype, "x0"))
    if configuration.x0 == "random" or (configuration.x0 == "problem" and system.random_start):
        return np.random.default_rng(configuration.seed).random(size).astype(dtype)
    return constant(0, size, dtype)


def _maps_constant_to_zero(operator: Operator, bound: Any, device: Device) -> bool:
    size = operator.shape[0]
    ones = device.array(constant(1, size, operator.dtype), operator.dtype)
    product = device.zeros(size, operator.dtype)
    bound.apply(ones, product)
    try:
        most = NULL_TOLERANCE * largest(operator.diagonal())
    except InputError:
        most = NULL_TOLERANCE
    # The largest entry is no smaller than the root of the mean square, and that is had without fetching the vector.
    if device.norm(product) > DOUBT * most * np.sqrt(size):
        return False
    return largest(device.to_host(product)) <= most
