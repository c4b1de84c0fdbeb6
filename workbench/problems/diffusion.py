"""Cell-centred finite volumes for -div(c grad p) on a box of cells, and the pressure equation -div(1/rho grad p) = f of
two-phase flow (bubbles, slabs), with a random right-hand side.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from workbench.arrays.validation import Drawn
from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.operators import BandStencil, Stencil, TwoPhaseStencil
from workbench.operators.null_space import constants
from workbench.operators.slab_stencil import SlabStencil
from workbench.problems.base import LinearSystem, check_memory
from workbench.problems.sides import Boundary, is_closed, parse_sides, side_names


def assemble_diffusion(
    coefficient: np.ndarray | Sequence[np.ndarray],
    sides: str,
    *,
    scale: float = 1.0,
    dirichlet_distance: float = 0.5,
) -> Stencil:
    """Assemble -div(c grad p), in float64, with harmonic face averages 2ab/(a+b) of the coefficients a, b of two cells.

    coefficient: c per cell, shape (ny, nx) or (nz, ny, nx), positive; or a sequence of such arrays, one per axis, x
        first, for -d/dx(a du/dx) - d/dy(b du/dy) - ... An array may occur several times.
    sides: boundary conditions as text, see `parse_sides`; a Neumann side contributes nothing.
    scale: factor of all entries; n^2 gives the operator on a unit box with n cells per side, 1 the plain stencil.
    dirichlet_distance: from the centre of the outermost cell to the wall, in cells. With 0.5 the wall is on the cell
        face (face coefficient c/0.5); 1.0 corresponds to an eliminated grid row at the wall (face coefficient c).

    Cost: reads c, writes dimensions + 1 arrays of N words, one temporary of N words. Raises InputError for coefficients
    that are not positive and finite or differ in shape, for invalid sides, and for insufficient memory.
    Source: Gupta, van Gijzen, Vuik 2013, section 2 (5- and 7-point stencils of the pressure equation).
    """
    per_axis = _per_axis(coefficient)
    c = per_axis[0]
    boundaries = parse_sides(sides, c.ndim)
    _check_distance(dirichlet_distance)
    check_memory(8 * (c.ndim + 2) * c.size, f"a grid of {c.size} cells", "use fewer cells")
    for k, values in enumerate(per_axis):
        if not any(values is earlier for earlier in per_axis[:k]):
            _check_coefficient(values)
    main = np.zeros(c.shape)
    lowers = []
    for k in range(c.ndim):
        axis = c.ndim - 1 - k
        low = np.zeros(c.shape)
        face, values, diagonal = (np.moveaxis(array, axis, 0) for array in (low[...], per_axis[k], main))
        _add_faces(face, values, diagonal, scale)
        for end, cell in (("-", 0), ("+", -1)):
            if boundaries[f"{'xyz'[k]}{end}"] is Boundary.DIRICHLET:
                diagonal[cell] += values[cell] * (scale / dirichlet_distance)
        lowers.append(low.reshape(-1))
    return BandStencil(c.shape, main.reshape(-1), tuple(lowers))


def assemble_two_phases(
    phase: np.ndarray,
    coefficients: tuple[float, float],
    sides: str,
    *,
    scale: float = 1.0,
    dirichlet_distance: float = 0.5,
) -> Stencil:
    """Assemble -div(c grad p) as `assemble_diffusion` does, for a coefficient of two values.

    phase: integer, shape (ny, nx) or (nz, ny, nx). coefficients: c where the phase is 0, and where it is above.

    Cost: one or two passes over the phases; N bytes, or the bands where cells have more than three different wall
    terms. Raises InputError as `assemble_diffusion` does.
    """
    _check_distance(dirichlet_distance)
    _check_coefficient(np.array(coefficients))
    boundaries = parse_sides(sides, phase.ndim)
    check_memory(2 * phase.size, f"a grid of {phase.size} cells", "use fewer cells")
    low, high = coefficients
    values = (_face(low, low, scale), _face(low, high, scale), _face(high, high, scale))
    walls = low * (scale / dirichlet_distance), high * (scale / dirichlet_distance)
    closed = [boundaries[name] is not Boundary.DIRICHLET for name in side_names(phase.ndim)]
    from workbench.devices.host import face_coding

    faces = face_coding.face_codes(phase, values, closed, walls)
    again = functools.partial(
        assemble_two_phases,
        coefficients=coefficients,
        sides=sides,
        scale=scale,
        dirichlet_distance=dirichlet_distance,
    )
    if faces is not None:
        return TwoPhaseStencil(phase.shape, faces, assemble=again)
    coefficient = np.where(phase > 0, high, low)
    stencil = assemble_diffusion(coefficient, sides, scale=scale, dirichlet_distance=dirichlet_distance)
    stencil.assemble = again
    return stencil


def two_phase_rows(
    phase: np.ndarray,
    coefficients: tuple[float, float],
    sides: str,
    slab: Slab,
    *,
    scale: float = 1.0,
    dirichlet_distance: float = 0.5,
) -> SlabStencil:
    """The rows of a slab of `assemble_two_phases`. phase: of its planes and ghost planes, shape `slab.taller`."""
    tall = assemble_two_phases(
        phase, coefficients, _cut(sides, slab), scale=scale, dirichlet_distance=dirichlet_distance
    )
    return SlabStencil(tall, slab)


def diffusion_rows(
    coefficient: np.ndarray, sides: str, slab: Slab, *, scale: float = 1.0, dirichlet_distance: float = 0.5
) -> SlabStencil:
    """The rows of a slab of `assemble_diffusion`. coefficient: of its planes and ghost planes, shape `slab.taller`."""
    tall = assemble_diffusion(coefficient, _cut(sides, slab), scale=scale, dirichlet_distance=dirichlet_distance)
    return SlabStencil(tall, slab)


def _cut(sides: str, slab: Slab) -> str:
    """Sides of a slab with its ghosts: nothing passes where it does not reach the end of the grid."""
    boundaries, axis = parse_sides(sides, len(slab.grid)), "xyz"[len(slab.grid) - 1]
    inner = {f"{axis}-": slab.planes.start > 0, f"{axis}+": slab.planes.stop < slab.grid[0]}
    kept = [
        f"{name}:dirichlet"
        for name, boundary in boundaries.items()
        if boundary is Boundary.DIRICHLET and not inner.get(name, False)
    ]
    return ",".join(kept) or "neumann"


def _face(a: float, b: float, scale: float) -> float:
    """The coefficient of a face as `_add_faces` rounds it."""
    return a * b / (a + b) * (2.0 * scale)


def _check_distance(dirichlet_distance: float) -> None:
    if not dirichlet_distance > 0:
        raise InputError(f"dirichlet_distance must be above 0 cells, got {dirichlet_distance}")


def _add_faces(face: np.ndarray, values: np.ndarray, diagonal: np.ndarray, scale: float) -> None:
    """Write the couplings across the faces normal to the first axis, and subtract them from the diagonal, in place."""
    a, b = values[1:], values[:-1]
    np.multiply(a, b, out=face[1:])
    face[1:] /= a + b
    face[1:] *= -2.0 * scale
    diagonal[1:] -= face[1:]
    diagonal[:-1] -= face[1:]


def without_mean(b: np.ndarray) -> np.ndarray:
    """b minus its mean, which is orthogonal to the constant vector and so consistent with an all-Neumann operator."""
    return b - b.mean()


def _per_axis(coefficient: np.ndarray | Sequence[np.ndarray]) -> list[np.ndarray]:
    """The coefficient of each axis, x first; a single array is used for all axes."""
    if isinstance(coefficient, np.ndarray):
        return [np.ascontiguousarray(coefficient, dtype=np.float64)] * coefficient.ndim
    arrays = [np.ascontiguousarray(values, dtype=np.float64) for values in coefficient]
    if not arrays or any(values.shape != arrays[0].shape or values.ndim != len(arrays) for values in arrays):
        shapes = ", ".join(str(values.shape) for values in arrays) or "none"
        raise InputError(f"coefficients per axis need one array per dimension, all of the same shape, got {shapes}")
    return arrays


def _check_coefficient(c: np.ndarray) -> None:
    valid = np.isfinite(c) & (c > 0)
    if not valid.all():
        cell = int(np.flatnonzero(~valid)[0])
        raise InputError(f"the coefficient must be positive and finite, got {c.flat[cell]} in cell {cell}")


def dispersed_phase_rows(phase: np.ndarray, density_ratio: float, sides: str, seed: int, slab: Slab) -> LinearSystem:
    """The rows of a slab of `dispersed_phase_system`, for the phases of its planes and ghost planes; the mean of b is
    not subtracted."""
    scale, closed = float(slab.grid[-1]) ** 2, is_closed(sides, phase.ndim)
    operator = two_phase_rows(phase, (density_ratio, 1.0), sides, slab, scale=scale)
    b = Drawn([seed, 1], slab.size, slab.rows.start)
    return LinearSystem(
        operator,
        b.array() if closed else b,
        grid=slab.grid,
        coefficients=(density_ratio, 1.0),
        phase=phase.reshape(-1)[slab.inner],
        null_space=constants(slab.size, np.dtype(np.float64)) if closed else None,
        random_start=True,
        slab=slab,
    )


def dispersed_phase_system(phase: np.ndarray, density_ratio: float, sides: str, seed: int) -> LinearSystem:
    """The pressure equation on the unit square or cube, with b and x0 uniform random in [0, 1).

    phase: integer, shape (n, n) or (n, n, n), above 0 in the dispersed phase. Densities are relative to that phase: 1
    where phase > 0 and 1/density_ratio elsewhere, so the coefficient 1/rho is 1 and density_ratio. A is scaled by
    1/h^2, and the mean of b is subtracted if all sides are Neumann. Raises InputError for invalid sides and
    insufficient memory.

    Source: Gupta, van Gijzen, Vuik 2013, section 2. The paper prints neither b nor the scale of A, which determine
    how strict 1e-6 ||b|| is; this choice reproduces its Tables 3 and 4 within 15%. A slab problem at 128^3 starts from
    ||r0|| = 7.4e4 ||b|| and takes 308 iterations with Neu2 alone; densities epsilon and 1 would give 7.4e7 and 398.
    """
    n = phase.shape[0]
    operator = assemble_two_phases(phase, (density_ratio, 1.0), sides, scale=float(n) ** 2)
    closed = is_closed(sides, phase.ndim)
    # A separate random stream, since a random x0 drawn from default_rng(seed) must differ from b.
    b = Drawn([seed, 1], phase.size, centred=closed)
    return LinearSystem(
        operator,
        b,
        grid=phase.shape,
        coefficients=(density_ratio, 1.0),
        phase=phase.reshape(-1),
        null_space=constants(phase.size, operator.dtype) if closed else None,
        random_start=True,
    )
