"""A prepared system with other entries of A, or with moved phases."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays.validation import finite_array
from workbench.devices.host.components import numbered_components
from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.operators import Matrix, Stencil, as_operator
from workbench.problems import LinearSystem
from workbench.run.choices.in_memory import kind_of, own_entries, system_of
from workbench.solvers import Solver

if TYPE_CHECKING:
    from workbench.devices.accelerator.placed_phase import PlacedPhase


MOST_RENEWED = 0.1
"""The part of all cells that may change phase in an update that makes anew what they touch alone."""


def with_entries(method: Solver, system: LinearSystem, A: Any) -> LinearSystem:
    """The system with other entries. Raises InputError for another shape, precision or pattern."""
    kind, before = kind_of(method), system.operator
    operator = as_operator(own_entries(on_host(A, "A")), kind)
    if operator.shape != before.shape:
        raise InputError(f"A has shape {operator.shape}, and was prepared with {before.shape}; prepare it anew")
    if operator.dtype != before.dtype:
        raise InputError(f"A is {operator.dtype}, and was prepared as {before.dtype}; prepare it anew")
    if isinstance(before, Matrix) and isinstance(operator, Matrix):
        old, new = before.to_csr(), operator.to_csr()
        if not (np.array_equal(old.indptr, new.indptr) and np.array_equal(old.indices, new.indices)):
            raise InputError("A has another pattern than the prepared matrix; prepare it anew")
    checked, _ = system_of(operator, np.zeros(before.shape[0], before.dtype), None, kind, system.null_space)
    return dataclasses.replace(system, operator=checked.operator, null_space=checked.null_space)


def with_phase(
    system: LinearSystem, phase: np.ndarray | PlacedPhase, moved: object, *, numbered: bool
) -> tuple[LinearSystem, np.ndarray, str]:
    """The system with moved phases, numbered, the flat places of cells that changed, and why all is to be made anew.

    phase: an array, or a `PlacedPhase` that is numbered. moved: where it differs, None if that is not known. A is
    assembled as the problem does it, whatever kind of operator it was and becomes.
    """
    grid, operator = system.grid, system.operator
    if system.phase is None or grid is None or not isinstance(operator, Stencil) or not operator.assemble:
        raise InputError("the prepared system is not one of two phases on a grid; update it with another A")
    flat = _checked(phase, grid)
    moved = _places(moved, flat.size) if numbered and moved is not None else None
    now = flat if moved is None else flat[moved]
    if now.min(initial=0) < 0:
        raise InputError("phases are integers from 0, or bool; renumber them")
    before = (np.asarray(system.phase) if isinstance(phase, np.ndarray) else system.phase).reshape(-1)
    numbers = flat if numbered else numbered_components(flat, grid, before.astype(np.int64))
    if moved is None:
        moved = np.flatnonzero(numbers != before)
        now = now[moved]
    cells = moved[(now > 0) != (before[moved] > 0)]
    if not cells.size:
        return system, cells, ""
    again = ""
    if cells.size > MOST_RENEWED * flat.size:
        again = f", more than {MOST_RENEWED:.0%}; all was made anew"
    elif moved.size > cells.size:
        again = ", and components merge or split; all was made anew"
    operator = operator.moved(numbers.reshape(grid), None if again else cells)
    return system.with_parts(operator=operator, phase=numbers), cells, again


def _checked(phase: Any, grid: tuple[int, ...]) -> Any:
    """Phases as one of each cell, in the order of the unknowns."""
    if phase.shape not in (grid, (phase.size,)):
        raise InputError(f"phase has shape {phase.shape}; give the shape of the grid, {grid}")
    if isinstance(phase, np.ma.MaskedArray):
        raise InputError("phase is a masked array; fill the masked entries: phase.filled(value)")
    if phase.dtype.kind == "f":
        if not np.isfinite(phase).all():
            cell = int(np.flatnonzero(~np.isfinite(phase))[0])
            raise InputError(f"phase is {phase.flat[cell]} in cell {cell}; phases are numbered from 0")
        raise InputError(f"phase is {phase.dtype}; give integers from 0, or bool")
    if phase.dtype.kind not in "iub":
        raise InputError("phases are integers from 0, or bool; renumber them")
    return phase.reshape(-1)


def _places(moved: object, size: int) -> np.ndarray:
    """Flat places of cells."""
    places = finite_array(moved, "moved") if not isinstance(moved, np.ndarray) else moved
    if places.dtype.kind not in "iu" or places.ndim != 1:
        raise InputError(f"moved is {places.dtype} of shape {places.shape}; give flat places of cells, integers")
    if places.size and not 0 <= places.min() <= places.max() < size:
        raise InputError(f"moved holds the places {places.min()} to {places.max()}; cells are 0 to {size - 1}")
    return places
