"""-div(c grad p) on a box of cells: the cell-centred finite volumes of bubbly flow and of Poisson from formulas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError
from workbench.operators import Stencil
from workbench.problems.memory import check_memory
from workbench.problems.sides import Boundary, parse_sides


def assemble_diffusion(
    coefficient: np.ndarray | Sequence[np.ndarray],
    sides: str,
    *,
    scale: float = 1.0,
    dirichlet_distance: float = 0.5,
) -> Stencil:
    """Assemble -div(c grad p) with harmonic face averages 2ab/(a+b) between cells of coefficients a and b.

    coefficient: c per cell, shape (ny, nx) or (nz, ny, nx), positive; or a sequence of such arrays, one per axis, x
        first, for -d/dx(a du/dx) - d/dy(b du/dy) - ... Arrays may be one and the same.
    sides: the boundary conditions as text, see `parse_sides`; a Neumann side adds nothing.
    scale: multiplies every entry; n^2 gives the operator on a unit box of n cells a side, 1 the bare stencil.
    dirichlet_distance: from the centre of the outermost cell to the wall, in cells. 0.5 is the wall on the cell's face
        (face coefficient c/0.5); 1.0 is a grid row at the wall that was eliminated (face coefficient c).

    float64. Cost: reads c, writes dimensions + 1 arrays of N words, one temporary of N words. Raises InputError for
    coefficients that are not positive and finite or differ in shape, for wrong sides, and where memory is too small.
    Source: Gupta, van Gijzen, Vuik (2012), section 2 (5- and 7-point stencils of the pressure equation).
    """
    along = _per_axis(coefficient)
    c = along[0]
    boundaries = parse_sides(sides, c.ndim)
    if not dirichlet_distance > 0:
        raise InputError(f"dirichlet_distance must be above 0 cells, got {dirichlet_distance}")
    check_memory(8 * (c.ndim + 2) * c.size, f"a grid of {c.size} cells", "use fewer cells")
    for k, own in enumerate(along):
        if not any(own is before for before in along[:k]):
            _check_coefficient(own)
    main = np.zeros(c.shape)
    lowers = []
    for k in range(c.ndim):
        axis = c.ndim - 1 - k
        low = np.zeros(c.shape)
        face, behind, here = (np.moveaxis(array, axis, 0) for array in (low[...], along[k], main))
        a, b = behind[1:], behind[:-1]
        np.multiply(a, b, out=face[1:])
        face[1:] /= a + b
        face[1:] *= -2.0 * scale
        here[1:] -= face[1:]
        here[:-1] -= face[1:]
        for end, cell in (("-", 0), ("+", -1)):
            if boundaries[f"{'xyz'[k]}{end}"] is Boundary.DIRICHLET:
                here[cell] += behind[cell] * (scale / dirichlet_distance)
        lowers.append(low.reshape(-1))
    return Stencil(c.shape, main.reshape(-1), tuple(lowers))


def without_mean(b: np.ndarray) -> np.ndarray:
    """b minus its mean: orthogonal to the constant vector, so consistent with an all-Neumann operator."""
    return b - b.mean()


def _per_axis(coefficient: np.ndarray | Sequence[np.ndarray]) -> list[np.ndarray]:
    """The coefficient of each axis, x first; one array serves all of them."""
    if isinstance(coefficient, np.ndarray):
        return [np.ascontiguousarray(coefficient, dtype=np.float64)] * coefficient.ndim
    along = [np.ascontiguousarray(own, dtype=np.float64) for own in coefficient]
    if not along or any(own.shape != along[0].shape or own.ndim != len(along) for own in along):
        shapes = ", ".join(str(own.shape) for own in along) or "none"
        raise InputError(f"coefficients per axis need one array for each dimension, all of one shape, got {shapes}")
    return along


def _check_coefficient(c: np.ndarray) -> None:
    good = np.isfinite(c) & (c > 0)
    if not good.all():
        cell = int(np.flatnonzero(~good)[0])
        raise InputError(f"the coefficient must be positive and finite, got {c.flat[cell]} in cell {cell}")
