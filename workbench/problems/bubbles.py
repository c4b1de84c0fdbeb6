"""Bubbly flow: light bubbles in a heavy fluid, in 2D and 3D."""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from workbench.devices.host.slab import Slab
from workbench.errors import InputError
from workbench.operators import Size
from workbench.problems.base import LARGEST_CUBE, LARGEST_SQUARE, LinearSystem, Problem
from workbench.problems.bubble_geometry import (
    RANDOM_SHARE,
    Geometry,
    at_random,
    default_radius,
    from_text,
    on_grid,
    to_text,
)
from workbench.problems.diffusion import dispersed_phase_rows, dispersed_phase_system
from workbench.problems.sides import SIDES_HELP, is_closed, parse_sides
from workbench.registry import Former, parameter, register
from workbench.words.names import details, digest


@dataclasses.dataclass(frozen=True)
class Bubbles(Problem):
    """Common base class of `Bubbles2D` and `Bubbles3D`."""

    has_phases: ClassVar[bool] = True
    on_ranks: ClassVar[bool] = True
    dimensions: ClassVar[int]

    n: int = parameter(128, "cells per side", low=8, high=LARGEST_CUBE)
    layout: str = parameter("grid", "how the bubbles are placed", choices=("grid", "random", "list"))
    count: int = parameter(8, "number of bubbles; k^3 for a grid", low=1, high=1000)
    radius: float = parameter(0.0, "0 = automatic radius", low=0.0, high=0.5, unit="side lengths")
    geometry_seed: int = parameter(0, "seed of the random layout", low=0, high=2**31 - 1)
    bubbles: str = parameter("", "for layout list: x,y,z,r; x,y,z,r; ...")
    density_ratio: float = parameter(1e-3, "ε, the density inside bubbles over that outside", low=1e-9, high=1e9)
    contrast = Former("density_ratio")
    sides: str = parameter("neumann", SIDES_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_sides(self.sides, self.dimensions)
        self.geometry()

    @classmethod
    def from_arrays(cls, centres: ArrayLike, radii: ArrayLike, **values: Any) -> Self:
        """Bubbles from centres, shape (k, dimensions), x first, and radii, shape (k,) or one number for all.

        values: the other parameters. Raises InputError for invalid bubbles.
        """
        try:
            points = np.asarray(centres, dtype=np.float64)
            geometry = Geometry(points, np.broadcast_to(np.asarray(radii, dtype=np.float64), points.shape[:1]))
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"bubbles need k centres of {cls.dimensions} numbers and k radii ({error})") from None
        return cls.create({"layout": "list", "bubbles": to_text(geometry), **values})

    def geometry(self) -> Geometry:
        """Centres and radii, independent of n."""
        if self.layout == "list":
            return from_text(self.bubbles, self.dimensions)
        default = default_radius(self.count, self.dimensions)
        if self.layout == "grid":
            return on_grid(self.count, self.radius or default, self.dimensions)
        return at_random(self.count, self.radius or RANDOM_SHARE * default, self.dimensions, self.geometry_seed)

    @property
    def words(self) -> str:
        count = self.geometry().radii.size if self.layout == "list" else self.count
        kind = "random bubble" if self.layout == "random" else "bubble"
        return f"{count} {kind}{'s' * (count != 1)} in a {'square' if self.dimensions == 2 else 'cube'}"

    @property
    def details(self) -> list[str]:
        """A digest of the listed geometry, and the other parameters that the layout uses."""
        unused = {"list": ("radius", "geometry_seed"), "grid": ("geometry_seed",)}.get(self.layout, ())
        listed = [f"layout {digest(to_text(self.geometry()))}"] if self.layout == "list" else []
        return [*listed, *details(self, "layout", "count", "bubbles", *unused)]

    @property
    def interface(self) -> float:
        radii = self.geometry().radii
        # Twice the disc or the diameter along each side.
        return float((6 * np.pi * radii**2 if self.dimensions == 3 else 8 * radii).sum())

    @property
    def is_closed(self) -> bool:
        return is_closed(self.sides, self.dimensions)

    @property
    def known_size(self) -> Size:
        return Size.of_two_phases((self.n,) * self.dimensions)

    def check(self) -> None:
        self.geometry().check_cells(self.n)

    def assemble(self, seed: int = 0) -> LinearSystem:
        self.check_memory()
        return dispersed_phase_system(self.geometry().paint(self.n), self.density_ratio, self.sides, seed)

    def rows(self, slab: Slab, seed: int = 0) -> LinearSystem:
        phase = self.geometry().paint(self.n, slab.planes)
        return dispersed_phase_rows(phase, self.density_ratio, self.sides, seed, slab)


@register
@dataclasses.dataclass(frozen=True)
class Bubbles2D(Bubbles):
    """Light bubbles in the unit square: density 1 inside, 1/density_ratio outside, coefficient 1/rho.

    N = n x n. Cells with their centre in a bubble have its number 1..k as phase. A is scaled by 1/h^2; x0 is uniform
    random, and so is b, minus its mean if all sides are Neumann (then A is singular). Dirichlet walls are on cell
    faces.

    Cost: 18 bytes per cell. Raises InputError for bubbles that extend beyond the square, overlap, cannot be
    placed, or contain no cell centre. Source: the 2D counterpart of Gupta, van Gijzen, Vuik 2013, section 2.
    """

    name: ClassVar[str] = "bubbles-2d"
    title: ClassVar[str] = "Light bubbles in a square (2D)"
    dimensions: ClassVar[int] = 2

    n: int = parameter(256, "cells per side", low=8, high=LARGEST_SQUARE)
    count: int = parameter(4, "number of bubbles; k^2 for a grid", low=1, high=1000)
    bubbles: str = parameter("", "for layout list: x,y,r; x,y,r; ...")


@register
@dataclasses.dataclass(frozen=True)
class Bubbles3D(Bubbles):
    """Light bubbles in the unit cube: density 1 inside, 1/density_ratio outside, coefficient 1/rho.

    N = n x n x n. Cells with their centre in a bubble have its number 1..k as phase. A is scaled by 1/h^2; x0 is
    uniform random, and so is b, minus its mean if all sides are Neumann (then A is singular). Dirichlet walls are on
    cell faces.

    Cost: 18 bytes per cell. Raises InputError for bubbles that extend beyond the cube, overlap, cannot be
    placed, or contain no cell centre. Source: Gupta, van Gijzen, Vuik 2013, section 2 and Table 4; radius, b and
    scale are not printed there and were fitted: radius 0.35 for 1 bubble and 0.175 for 8.
    """

    name: ClassVar[str] = "bubbles-3d"
    title: ClassVar[str] = "Light bubbles in a cube (3D)"
    dimensions: ClassVar[int] = 3
