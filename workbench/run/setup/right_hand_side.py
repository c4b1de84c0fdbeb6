"""Right-hand sides, starting vectors and known solution of a solve, scaled where dot products would overflow."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.arrays.scaling import is_extreme, max_abs, norm, scaled
from workbench.arrays.validation import Drawn, cast, finite_block, finite_vector, random_numbers
from workbench.deflation.coarse import CoarseSolver
from workbench.devices.constant import constant, constant_of, entries
from workbench.devices.interchange import vector_for
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.files.columns import VectorFile
from workbench.operators import BoundOperator
from workbench.operators.null_space import NullSpace
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem
from workbench.problems.right_hand_sides import moved_source, phase_indicators, random_columns
from workbench.run.cancellation import check_stopped
from workbench.run.choices.configuration import Configuration, rhs_file, start_file
from workbench.run.setup.consistency import (
    is_zero,
    make_consistent,
    on_host,
    range_complement,
    start_complement,
)
from workbench.settings import PHASES, SOURCES, family_of
from workbench.words.numbers import relative


class Vectors(NamedTuple):
    """b, x and the solution if it is known, of the scaled system on the device.

    exponent, removed, changes, start: as in SolveSetup.
    """

    b: DeviceVector
    x: DeviceVector
    exact: DeviceVector | None
    exponent: int
    removed: float
    changes: tuple[str, ...] = ()
    start: np.ndarray | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class RightHandSides:
    """B and X0 of the system that is solved, shape (N, s), in host memory.

    exponents, shape (s,): column j was divided by 2^exponents[j], so that its largest entry is about 1. removed, shape
    (s,): the norm of the component that was removed from a column to make a singular system consistent, as scaled.
    changes: sentences on what was changed in B or X0.
    """

    B: np.ndarray
    X0: np.ndarray
    exponents: np.ndarray
    removed: np.ndarray
    changes: tuple[str, ...] = ()

    def part(self, place: slice) -> RightHandSides:
        """The right-hand sides of some columns."""
        arrays = np.ascontiguousarray(self.B[:, place]), np.ascontiguousarray(self.X0[:, place])
        return RightHandSides(*arrays, self.exponents[place], self.removed[place])

    def starts(self) -> np.ndarray:
        """X0 of the original system."""
        return unscaled(self.X0, self.exponents)


def unscaled(x: np.ndarray, exponents: Sequence[int] | np.ndarray) -> np.ndarray:
    """Columns of the scaled system, shape (N, s), or the only one, shape (N,), in terms of the original system."""
    if x.ndim == 1:
        return scaled(x, int(exponents[0])) if exponents[0] else x
    columns = [scaled(x[:, j], int(exponent)) if exponent else x[:, j] for j, exponent in enumerate(exponents)]
    return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else x


def prepare_vectors(
    configuration: Configuration,
    system: LinearSystem,
    x0: np.ndarray | None,
    bound: BoundOperator,
    device: Device,
    null_space: NullSpace,
    notes: list[str],
    stopped: Callable[[], bool],
) -> Vectors:
    """Right-hand side, starting vector and known solution, scaled, and consistent where A is singular."""
    dtype = system.operator.dtype
    b, exact = right_hand_side(configuration, system, bound, device)
    start = _start(configuration, system, x0, device)
    # Held, so that the norms and the solve share one copy of each.
    given = b, start
    held = [device.to_device(values) for values in given if constant_of(values) is None]
    exponent = _exponent(b, start, bound, device, _narrowest(configuration, dtype))
    if exponent:
        b, start = scaled(b, -exponent), scaled(start, -exponent)
        exact = None if exact is None else device.array(scaled(device.to_host(exact), -exponent), dtype)
        notes.append(f"b and x were scaled by 2^{-exponent} while iterating, so that dot products stay in range")
    complement = range_complement(configuration, null_space)
    b, removed, *changes = make_consistent(b, complement, exponent, on_host(device), system.order)
    if configuration.stopping.atol == 0 and is_zero(b, device):
        start = constant(0, b.size, dtype)
        changes.append("b is zero, so x = 0; give atol above 0 to watch another start converge to it")
    check_stopped(stopped)
    if b is not given[0] or start is not given[1]:
        held.clear()
    placed, x = device.to_device(b), device.copy(device.to_device(start))
    if null_space and not is_zero(start, device):
        is_given = x0 is not None or start_file(configuration) is not None
        x, is_changed = start_complement(x, null_space, device, given=is_given)
        if is_changed:
            changes.append("the component of x0 in the null space of A was removed")
    changes = tuple(filter(None, changes))
    notes += changes
    variant = configuration.variant
    projected = configuration.deflated and (variant.projects_start or variant.projects_system)
    kept = start if projected and constant_of(start) is None else None
    return Vectors(placed, x, exact, exponent, removed, changes, kept)


def prepare_columns(
    configuration: Configuration,
    system: LinearSystem,
    X0: np.ndarray | None,
    device: Device,
    null_space: NullSpace,
    notes: list[str],
) -> tuple[Vectors, RightHandSides]:
    """Many right-hand sides and their starts, and vectors of one column as work space.

    Raises InputError for a B or X0 of another shape, or not finite.
    """
    size, dtype, host = system.operator.shape[0], system.operator.dtype, on_host(device)
    B = columns_of(configuration, system, host)
    X, is_given = _starts(configuration, system, X0, B.shape)
    s, range_of_A = B.shape[1], range_complement(configuration, null_space)
    exponents, removed, of_starts, zero = np.zeros(s, int), np.zeros(s), np.zeros(s, bool), np.zeros(s, bool)
    for j in range(s):
        b, x = np.array(B[:, j]), np.array(X[:, j])
        of_b, of_x = host.largest(max_abs(b)), host.largest(max_abs(x))
        try:
            exponents[j] = exponent = exponent_of(max(of_b, of_x), "x0", of_b, dtype) if of_b else 0
            b, x = scaled(b, -exponent), scaled(x, -exponent)
            B[:, j], removed[j], _ = make_consistent(b, range_of_A, exponent, host)
        except InputError as error:
            raise InputError(f"column {j + 1}: {error}") from None
        x, of_starts[j] = start_complement(x, null_space, host, given=is_given)
        zero[j] = configuration.stopping.atol == 0 and is_zero(B[:, j], host) and not is_zero(x, host)
        X[:, j] = 0 if zero[j] else x
    what = "means" if null_space.is_constant else "components to which the range of A is orthogonal"
    sentences = {
        f"A is singular: the {what} of {{}} of B were removed so that solutions exist": removed,
        "the components of {} of x0 in the null space of A were removed": of_starts,
        "{} of B are zero, so that x = 0 there, whatever x0": zero,
    }
    changes = tuple(said.format(_columns(changed)) for said, changed in sentences.items() if changed.any())
    notes += changes
    b, x = (device.zeros(size, dtype) for _ in range(2))
    return Vectors(b, x, None, 0, norm(removed), changes), RightHandSides(B, X, exponents, removed, changes)


def right_hand_side(
    configuration: Configuration, system: LinearSystem, bound: BoundOperator, device: Device
) -> tuple[np.ndarray, DeviceVector | None]:
    """b in host memory, or as the user has it on the device, which may hold NaN or infinity, and the solution on the
    device if it is known by construction."""
    size, dtype = system.operator.shape[0], system.operator.dtype
    match configuration.rhs:
        case "ones":
            return constant(1, size, dtype), None
        case "ones-scaled":
            exact = device.array(constant(1 / np.sqrt(system.unknowns), size, dtype), dtype)
            b = device.zeros(size, dtype)
            bound.apply(exact, b)
            return device.to_host(b), exact
        case "random":
            return _random([configuration.seed, 1], system, device), None
    if file := rhs_file(configuration):
        return cast(rows_in(file, system)[:, 0], dtype, "the right-hand side"), None
    if isinstance(system.given_b, Drawn):
        return _made(system.given_b, system, device), None
    if system.slab and system.null_space is not None:
        # The mean is that of all ranks.
        return system.b - device.total(system.b.sum()) / system.unknowns, None
    if (value := constant_of(system.b)) is not None and system.b.shape == (size,):
        return constant(cast(finite_vector(np.array([value]), "b", 1), dtype, "b")[0], size, dtype), None
    if type(system.b) is np.ndarray and (system.b.dtype, system.b.shape) == (dtype, (size,)):
        # The norm shows whether all entries are finite, see `_exponent`.
        return np.ascontiguousarray(system.b), None
    return vector_for(device, system.b, "b", size, dtype), None


def columns_of(configuration: Configuration, system: LinearSystem, device: Device | None = None) -> np.ndarray:
    """B as it was given, a new array of shape (N, s). device: of a rank."""
    dtype = system.operator.dtype
    if system.b.ndim == 2:
        return np.array(system.b, dtype, order="C")
    if file := rhs_file(configuration):
        return np.array(cast(rows_in(file, system), dtype, "the right-hand side"), order="C")
    if configuration.rhs == PHASES:
        return phase_indicators(system, device.gathered if device else None).astype(dtype)
    family, s = family_of(configuration.rhs)
    if family == SOURCES:
        return moved_source(system, s).astype(dtype)
    return random_columns((system.unknowns, s), family, configuration.seed, dtype, system.slab and system.slab.rows)


def _narrowest(configuration: Configuration, dtype: np.dtype) -> np.dtype:
    """The precision of vectors of the iteration or of its levels, whichever is smaller."""
    levels: list[Preconditioner | CoarseSolver] = [*configuration.preconditioner.blocks]
    levels += [configuration.coarse] if configuration.deflated else []
    return np.dtype(np.float32) if any(level.in_single for level in levels) else dtype


def _exponent(b: np.ndarray, start: np.ndarray, bound: BoundOperator, device: Device, narrowest: np.dtype) -> int:
    """The power of two of the largest entry of b and A x0 where dot products might under- or overflow, else 0.

    narrowest: the precision in which b has to be in range.

    Raises InputError for a b with NaN or infinity, whose norm is not finite.
    """
    vectors = [b] if is_zero(start, device) else [b, start]
    if not any(is_extreme(_norm(values, device), narrowest) for values in vectors):
        return 0
    finite_vector(entries(b), "b", entries(b).size)
    found = of_b = device.largest(max_abs(entries(b)))
    if len(vectors) == 2:
        finite_vector(entries(start), "x0", entries(start).size)
        product = device.zeros(b.size, b.dtype)
        bound.apply(device.array(start, b.dtype), product)
        # NaN, as from infinity - infinity, must be kept.
        found = float(np.maximum(found, device.largest(max_abs(device.to_host(product)))))
    if not np.isfinite(found):
        raise InputError("A x0 overflows; start from a smaller x0, or from zero")
    return exponent_of(found, "A x0", of_b, b.dtype)


def exponent_of(largest: float, whose: str, of_b: float, dtype: np.dtype) -> int:
    """The power of two of the largest entry. whose: where that is not of b. of_b: the largest entry of b.

    Raises InputError for a b that would lose digits, or vanish, where it is divided by it.
    """
    exponent = math.frexp(largest)[1]
    if of_b > 0 and math.frexp(of_b)[1] - exponent <= np.finfo(dtype).minexp:
        raise InputError(
            f"the largest entry of b is {relative(of_b)} and that of {whose} {relative(largest)}, and {dtype} cannot "
            "hold both at once; start from a smaller x0, or from zero"
        )
    return exponent


def _norm(values: np.ndarray, device: Device) -> float:
    """||v||."""
    if constant_of(values) is not None:
        return max_abs(entries(values)) * math.sqrt(device.total(values.size))
    return device.norm(device.to_device(values))


def _random(seed: int | list[int], system: LinearSystem, device: Device) -> DeviceVector:
    """The rows of a random vector."""
    first = system.slab.rows.start if system.slab else 0
    return _made(Drawn(seed, system.operator.shape[0], first), system, device)


def _made(numbers: Drawn, system: LinearSystem, device: Device) -> DeviceVector:
    """Random numbers in the precision of A, in the memory of a device that draws them, else in host memory."""
    dtype = system.operator.dtype
    if made := device.drawn(numbers, dtype):
        return made
    given = numbers is system.given_b
    return (system.b if given else numbers.array()).astype(dtype, copy=False)


def _start(configuration: Configuration, system: LinearSystem, x0: Any, device: Device) -> DeviceVector:
    """x0 in host memory, shape (N,), or as the user has it on the device."""
    size, dtype = system.operator.shape[0], system.operator.dtype
    if x0 is not None:
        start = vector_for(device, x0, "x0", size, dtype)
        return start if device.holds(start) else np.array(start)
    if file := start_file(configuration):
        columns = rows_in(file, system)
        if columns.shape[1] != 1:
            raise InputError(f"x0 {file.name} has {columns.shape[1]} columns, but there is one right-hand side")
        return np.array(cast(columns[:, 0], dtype, "x0"))
    if configuration.x0 == "random" or (configuration.x0 == "problem" and system.random_start):
        return _random(configuration.seed, system, device)
    return constant(0, size, dtype)


def _starts(
    configuration: Configuration, system: LinearSystem, X0: Any, shape: tuple[int, int]
) -> tuple[np.ndarray, bool]:
    """X0 in host memory, a new array of this shape, and whether it is given."""
    dtype = system.operator.dtype
    file = start_file(configuration) if X0 is None else None
    given = rows_in(file, system) if file else X0
    if given is not None:
        start = np.array(cast(finite_block(given, "x0", shape[0]), dtype, "x0"))
        if start.shape != shape:
            raise InputError(f"x0 has shape {start.shape}, but B has shape {shape}; both must be equal")
        return start, True
    if configuration.x0 != "random":
        return np.zeros(shape, dtype), False
    first = system.slab.rows.start * shape[1] if system.slab else 0
    return random_numbers(configuration.seed, math.prod(shape), first).reshape(shape).astype(dtype), False


def _columns(changed: np.ndarray) -> str:
    return "all columns" if changed.all() else f"columns {', '.join(map(str, np.flatnonzero(changed) + 1))}"


def rows_in(file: VectorFile, system: LinearSystem) -> np.ndarray:
    """The columns of a file, shape (N, s), with N the rows of a rank; each rank reads the whole file."""
    columns = file.read(system.unknowns)
    return columns[system.slab.rows] if system.slab else columns
