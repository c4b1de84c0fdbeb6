"""Right-hand side, starting vector and known solution of a solve, scaled where dot products would overflow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from workbench import devices
from workbench.arrays.scaling import is_extreme, max_abs, scaled, scaled_scalar
from workbench.arrays.validation import Drawn, cast, finite_vector
from workbench.devices.accelerator.held import HeldVector
from workbench.devices.constant import constant, constant_of, entries
from workbench.devices.interchange import vector_for
from workbench.devices.operator_protocols import DeviceVector
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import BoundOperator
from workbench.operators.null_space import NullSpace
from workbench.problems import LinearSystem
from workbench.problems.right_hand_sides import NOTHING_LEFT
from workbench.run.cancellation import check_stopped
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.vector_files import rhs_file, rows_in, start_file
from workbench.words.numbers import chosen, relative

ROUNDING = 500
"""A component below this many units of roundoff of its vector is left where it is."""


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
    exponent = _exponent(b, start, bound, device)
    if exponent:
        b, start = scaled(b, -exponent), scaled(start, -exponent)
        exact = None if exact is None else device.array(scaled(device.to_host(exact), -exponent), dtype)
        notes.append(f"b and x were scaled by 2^{-exponent} while iterating, so that dot products stay in range")
    b, removed, *changes = make_consistent(b, range_complement(configuration, null_space), exponent, on_host(device))
    if configuration.stopping.atol == 0 and is_zero(b, device):
        start = constant(0, b.size, dtype)
        changes.append("b is zero, so x = 0; give atol above 0 to watch another start converge to it")
    check_stopped(stopped)
    if b is not given[0] or start is not given[1]:
        held.clear()
    placed, x = device.to_device(b), device.copy(device.to_device(start))
    if null_space and not is_zero(start, device):
        x, of_start = null_space.complement(x, device)
        is_given = x0 is not None or start_file(configuration) is not None
        if is_given and of_start > rounding(dtype) * math.hypot(of_start, device.norm(x)):
            changes.append("the component of x0 in the null space of A was removed")
    changes = tuple(filter(None, changes))
    notes += changes
    variant = configuration.variant
    projected = configuration.deflated and (variant.projects_start or variant.projects_system)
    kept = start if projected and constant_of(start) is None else None
    return Vectors(placed, x, exact, exponent, removed, changes, kept)


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


def _exponent(b: np.ndarray, start: np.ndarray, bound: BoundOperator, device: Device) -> int:
    """The power of two of the largest entry of b and A x0 where dot products might under- or overflow, else 0.

    Raises InputError for a b with NaN or infinity, whose norm is not finite.
    """
    vectors = [b] if is_zero(start, device) else [b, start]
    if not any(is_extreme(_norm(values, device), b.dtype) for values in vectors):
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


def is_zero(values: DeviceVector, device: Device) -> bool:
    """True if all entries are zero, on all ranks. Cost: a read of a vector that begins with zero."""
    return device.largest(float(max_abs(entries(values[:1])) != 0 or entries(values).any())) == 0


def _random(seed: int | list[int], system: LinearSystem, device: Device) -> DeviceVector:
    """The rows of a random vector."""
    first = system.slab.rows.start if system.slab else 0
    return _made(Drawn(seed, system.operator.shape[0], first), system, device)


def _made(numbers: Drawn, system: LinearSystem, device: Device) -> DeviceVector:
    """Random numbers in the precision of A, in the memory of a device that draws them, else in host memory."""
    dtype = system.operator.dtype
    draw = getattr(device, "drawn", None)
    if draw and (made := draw(numbers, dtype)):
        return made
    given = numbers is system.given_b
    return (system.b if given else numbers.array()).astype(dtype, copy=False)


def on_host(device: Device) -> Device:
    """A device for vectors in host memory, with the sums over ranks that this one has."""
    return getattr(device, "on_host", None) or devices.device("cpu")


def range_complement(configuration: Configuration, null_space: NullSpace) -> NullSpace:
    """The vectors to which the range of A is orthogonal."""
    return null_space.conjugate() if configuration.solver.complex_symmetric else null_space


def make_consistent(
    b: DeviceVector, complement: NullSpace, exponent: int = 0, device: Device | None = None
) -> tuple[DeviceVector, float, str]:
    """Project b orthogonally onto the range of A. complement: of the range.

    device: for vectors in host memory, by default the cores.

    Returns the projection, the norm of the removed component, and a sentence on b times 2^exponent, empty where nothing
    was removed. Raises InputError for a b of which nothing is left.
    """
    if not complement:
        return b, 0.0, ""
    mean, device = None, device or devices.device("cpu")
    # A vector in the memory of a device stays there.
    if isinstance(b, HeldVector) and complement.is_constant:
        total, length = b.sum_and_norm()
        size, mean = b.size, total / b.size
    else:
        b = np.asarray(b)
        length, size = device.norm(b), device.total(b.size)
        if complement.is_constant:
            mean = device.total(b.sum(dtype=np.result_type(b.dtype, np.float64)).item()) / size
    # One pass where there is nothing to remove.
    if mean is not None and abs(mean) * math.sqrt(size) <= rounding(b.dtype) * length:
        return b, 0.0, ""
    if isinstance(b, HeldVector) and mean is not None:
        projected, removed = b.less(mean), abs(mean) * math.sqrt(size)
        left = projected.sum_and_norm()[1]
    else:
        projected, removed = complement.complement(b, device)
        left = device.norm(projected)
    if removed <= rounding(b.dtype) * length:
        return b, 0.0, ""
    component = f"the component of b to which the range of A is orthogonal, {relative(removed / length)} of ||b||,"
    if mean is not None:
        value = complex(scaled_scalar(mean.real, exponent), scaled_scalar(mean.imag, exponent))
        component = f"the mean of b, {f'{value:.6g}' if b.dtype.kind == 'c' else chosen(value.real)},"
    if left <= rounding(b.dtype) * length:
        raise InputError(NOTHING_LEFT.format(component))
    return projected, removed, f"A is singular: {component} was removed so that a solution exists"


def rounding(dtype: np.dtype) -> float:
    """The component in the null space of a vector, relative to its norm, that counts as rounding."""
    return ROUNDING * float(np.finfo(dtype).eps)


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
