"""Many right-hand sides: B and X0, column by column scaled and made consistent."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.arrays.scaling import max_abs, norm, scaled
from workbench.arrays.validation import cast, finite_block, random_numbers
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators.null_space import NullSpace
from workbench.problems import LinearSystem
from workbench.problems.right_hand_sides import moved_source, phase_indicators, random_columns
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.vector_files import rhs_file, rows_in, start_file
from workbench.run.setup.right_hand_side import (
    Vectors,
    exponent_of,
    is_zero,
    make_consistent,
    on_host,
    range_complement,
    rounding,
)
from workbench.settings import PHASES, SOURCES, family_of


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
        return self.unscaled(self.X0)

    def unscaled(self, X: np.ndarray) -> np.ndarray:
        """Columns of the scaled system in terms of the original one."""
        columns = [scaled(X[:, j], int(exponent)) if exponent else X[:, j] for j, exponent in enumerate(self.exponents)]
        return np.ascontiguousarray(np.stack(columns, axis=1)) if columns else X


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
    sides = _right_hand_sides(configuration, system, X0, null_space, on_host(device))
    notes += sides.changes
    b, x = (device.zeros(system.operator.shape[0], system.operator.dtype) for _ in range(2))
    return Vectors(b, x, None, 0, norm(sides.removed), sides.changes), sides


def _right_hand_sides(
    configuration: Configuration, system: LinearSystem, X0: np.ndarray | None, null_space: NullSpace, device: Device
) -> RightHandSides:
    """device: for vectors in host memory."""
    dtype, size = system.operator.dtype, system.operator.shape[0]
    B = columns_of(configuration, system, device)
    s = B.shape[1]
    file = start_file(configuration) if X0 is None else None
    X0 = rows_in(file, system) if file else X0
    start = np.zeros((size, s), dtype) if X0 is None else np.array(cast(finite_block(X0, "x0", size), dtype, "x0"))
    if start.shape != B.shape:
        raise InputError(f"x0 has shape {start.shape}, but B has shape {B.shape}; both must be equal")
    if X0 is None and configuration.x0 == "random":
        first = system.slab.rows.start * s if system.slab else 0
        start = random_numbers(configuration.seed, size * s, first).reshape(size, s).astype(dtype)
    exponents, removed, of_starts, zero = np.zeros(s, int), np.zeros(s), np.zeros(s), np.zeros(s, bool)
    for j in range(s):
        b, x = np.array(B[:, j]), np.array(start[:, j])
        is_given = not is_zero(b, device)
        of_b, of_x = device.largest(max_abs(b)), device.largest(max_abs(x))
        try:
            exponents[j] = exponent = exponent_of(max(of_b, of_x), "x0", of_b, dtype) if is_given else 0
            b, x = scaled(b, -exponent), scaled(x, -exponent)
            b, removed[j], _ = make_consistent(b, range_complement(configuration, null_space), exponent, device)
        except InputError as error:
            raise InputError(f"column {j}: {error}") from None
        length = device.norm(x)
        x, of_starts[j] = null_space.complement(x, device)
        of_starts[j] *= X0 is not None and of_starts[j] > rounding(dtype) * length
        zero[j] = configuration.stopping.atol == 0 and is_zero(b, device) and not is_zero(x, device)
        B[:, j], start[:, j] = b, 0 if zero[j] else x
    what = "means" if null_space.is_constant else "components to which the range of A is orthogonal"
    sentences = {
        f"A is singular: the {what} of {{}} of B were removed so that solutions exist": removed,
        "the components of {} of x0 in the null space of A were removed": of_starts,
        "{} of B are zero, so that x = 0 there, whatever x0": zero,
    }
    changes = tuple(said.format(_columns(changed)) for said, changed in sentences.items() if changed.any())
    return RightHandSides(B, start, exponents, removed, changes)


def _columns(changed: np.ndarray) -> str:
    return "all columns" if changed.all() else f"columns {', '.join(map(str, np.flatnonzero(changed)))}"


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
