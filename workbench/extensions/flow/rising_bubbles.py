"""Bubbles that rise in a heavier fluid: the problem in dimensionless groups, and its systems."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.extensions.flow.grid_on import grid_on
from workbench.extensions.flow.measures import measured
from workbench.extensions.flow.placement import distances, placed
from workbench.extensions.flow.two_phase_flow import Fluids, TwoPhaseFlow
from workbench.operators import Size
from workbench.problems import LinearSystem
from workbench.problems.bubble_geometry import Geometry
from workbench.problems.diffusion import assemble_two_phases
from workbench.registry import parameter, register
from workbench.sequences.systems import LARGEST_TIME, STARTS_HELP, StepSystem, Systems, SystemSequence

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector

GRAVITY = 0.98
"""Gravity as in Hysing et al. (2009): times and speeds are theirs. Lengths are in widths of the box, densities relative
to that of the fluid."""


@register
@dataclasses.dataclass(frozen=True)
class RisingBubbles(SystemSequence):
    """Bubbles rising in a closed box: the pressure equation of every time step of an incompressible flow of two fluids.

    -div(1/rho grad p) = -div(u*)/dt on n x n height cells, Neumann at all walls, with the jump of p in b. Phases are
    the connected bubbles, numbered persistently; bubbles that touch merge. d is the diameter of the largest bubble:
    eotvos = rho_out G d^2/sigma, archimedes = rho_out sqrt(G d) d/mu_out. By default the first test case of Hysing et
    al. 2009. Bubbles are placed in the lower square or cube of the box, one at its middle, several at random by seed;
    or in all of the box as listed. volume_error: the tolerance, dt rms(div u), which is the part of a cell's volume
    that is gained or lost.

    Cost of a step: about 0.2 microseconds a cell on a core in 2D, 0.7 in 3D, and the solve. Raises InputError for
    bubbles of less than 4 cells radius, and those that touch each other or walls.

    Source: Hysing et al. 2009, Int. J. Numer. Methods Fluids 60, test case 1. The scheme: `TwoPhaseFlow`.
    """

    name: ClassVar[str] = "rising-bubbles"
    title: ClassVar[str] = "Rising bubbles, step by step (2D and 3D)"
    tolerance_by: ClassVar[str] = "volume_error"
    drawn: ClassVar[tuple[str, ...]] = ("phi", "p")
    measured: ClassVar[tuple[str, ...]] = ("centre", "rise_velocity", "circularity", "volume", "bubbles", "shift")

    n: int = parameter(64, "cells across the width", low=8, high=2048)
    dimensions: int = parameter(2, "dimensions", low=2, high=3)
    height: float = parameter(2.0, "height of the box", low=1.0, high=8.0, unit="widths")
    count: int = parameter(1, "number of bubbles", low=1, high=1000)
    geometry_seed: int = parameter(0, "seed of their places", low=0, high=2**31 - 1)
    radius: float = parameter(0.0, "0 = automatic radius, 1/4 for one bubble", low=0.0, high=0.5, unit="widths")
    bubbles: str = parameter("", "listed bubbles in place of count: x,y,r; x,y,r; ...")
    eotvos: float = parameter(
        10.0, "gravity over surface tension, ρ G d²/σ of the fluid outside", low=0.01, high=1000.0
    )
    archimedes: float = parameter(
        35.0, "gravity over viscosity, ρ √(G d) d/μ of the fluid outside", low=0.1, high=1000.0
    )
    density_ratio: float = parameter(0.1, "ε, the density inside over outside", low=1e-4, high=1.0)
    viscosity_ratio: float = parameter(0.1, "viscosity inside over outside", low=1e-4, high=1e4)
    sides: str = parameter("slip", "side walls", choices=("slip", "no-slip"))
    ends: str = parameter("no-slip", "bottom and top", choices=("slip", "no-slip"))
    until: float = parameter(3.0, "time at which it ends", low=0.0, high=LARGEST_TIME)
    start: str = parameter("linear", STARTS_HELP)
    volume_error: float = parameter(1e-6, "dt rms(div u) at which a solve ends", low=1e-12, high=1e-1)

    def geometry(self) -> Geometry:
        """Centres and radii in widths."""
        places = self.count, self.radius, self.bubbles, self.dimensions, self.geometry_seed
        return placed(*places, self.n, self.height)

    def check(self) -> None:
        cells = self.n * self.height
        if abs(cells - round(cells)) > 1e-6:
            fitting = round(cells) / self.n
            raise InputError(
                f"height {self.height:g} is {cells:g} cells of n = {self.n}, and only whole cells are computed; "
                f"use height {fitting:.10g}, or another n",
                changes={"problem.height": fitting},
            )
        self.geometry()

    @property
    def cells(self) -> tuple[int, ...]:
        """Cells in x, .., up."""
        return (*(self.n,) * (self.dimensions - 1), round(self.n * self.height))

    @property
    def fluids(self) -> Fluids:
        """The fluids, in the units of `GRAVITY`."""
        d = 2 * float(self.geometry().radii.max())
        mu = math.sqrt(GRAVITY * d) * d / self.archimedes
        return Fluids(
            (1.0, mu), (self.density_ratio, mu * self.viscosity_ratio), GRAVITY * d * d / self.eotvos, GRAVITY
        )

    @property
    def words(self) -> str:
        count = self.geometry().radii.size
        return f"{count} rising bubble{'s' * (count != 1)} in a {'box' if self.dimensions == 3 else 'channel'}"

    @property
    def is_closed(self) -> bool:
        return True

    @property
    def known_size(self) -> Size:
        return Size.of_two_phases(self.cells[::-1])

    def flow(self, device: str = "cpu") -> TwoPhaseFlow:
        """The flow at rest at time 0, with its arrays on a device."""
        slip = {"slip": False, "no-slip": True}
        walls = (*(slip[self.sides],) * (self.dimensions - 1), slip[self.ends])
        grid = grid_on(device, self.cells, 1 / self.n, walls)
        return TwoPhaseFlow(grid, self.fluids, distances(self.geometry(), grid))

    @property
    def tolerance(self) -> float:
        return self.volume_error

    def system(self, made: StepSystem) -> LinearSystem:
        coefficients, labels = self.fluids.coefficients, np.asarray(made.labels)
        operator = assemble_two_phases(labels, coefficients, "neumann", scale=float(self.n**2))
        b = np.array(on_host(made.b, "b"))
        return LinearSystem(operator, b, grid=labels.shape, coefficients=coefficients, phase=labels.reshape(-1))

    def systems(self, device: str = "cpu") -> BubbleSystems:
        return BubbleSystems(self, device)


class BubbleSystems(Systems):
    """The pressure equations of a flow. flow: its state, for views."""

    def __init__(self, problem: RisingBubbles, device: str = "cpu") -> None:
        self.problem, self.flow = problem, problem.flow(device)
        self.seconds = self.flow.seconds

    def next(self) -> StepSystem | None:
        flow, problem = self.flow, self.problem
        if flow.time >= problem.until * (1 - 1e-12):
            return None
        b = flow.begin(problem.until)
        unit = math.sqrt(b.size) / flow.dt**2
        return StepSystem(flow.time + flow.dt, flow.dt, b, flow.components.labels, unit, flow.components.moved_cells)

    def end(self, x: np.ndarray) -> None:
        self.flow.end(x)

    def undo(self) -> None:
        self.flow.undo()

    def measures(self) -> dict[str, float]:
        return measured(self.flow)

    def drawn(self) -> dict[str, Callable[[], np.ndarray]]:
        flow, grid = self.flow, self.flow.grid
        cells = {"phi": flow.phi, "p": flow.p}
        inside = {name: lambda values=values: grid.inside(grid.on_host(values)) for name, values in cells.items()}
        speeds = {f"u_{name}": functools.partial(flow.speed, d) for d, name in enumerate("xyz"[: grid.directions])}
        return inside | speeds

    def state(self) -> dict[str, np.ndarray]:
        flow = self.flow
        numbers = np.array([flow.time, flow.dt, flow.steps, flow.first_dt, flow.shift, *flow.increment_steps])
        kept = {name: flow.grid.on_host(values) for name, values in self._arrays().items()}
        kept |= {"labels": np.asarray(flow.components.labels), "volumes": flow.components.volumes, "numbers": numbers}
        return {name: values.copy() for name, values in kept.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        flow, numbers, count = self.flow, state["numbers"].tolist(), state["volumes"].size
        if min(numbers) < 0 or not numbers[2].is_integer():
            raise InputError("its numbers are no times, lengths and steps")
        # Kernels take them for places.
        for name in ("labels", "owner"):
            if state[name].min() < 0 or state[name].max() >= count:
                raise InputError(f"its {name} name a bubble beyond the {count - 1} that it has volumes of")
        for name, target in self._arrays().items():
            flow.grid.assign(target, state[name])
        flow.time, flow.dt, steps, flow.first_dt, flow.shift, *flow.increment_steps = numbers
        flow.steps = int(steps)
        flow.components.restore(state["labels"], np.array(state["volumes"]))
        flow.begin_anew()
        flow.grid.assign(flow.owner, state["owner"])

    def _arrays(self) -> dict[str, DeviceVector]:
        """The flow's arrays in a state. The owners are renewed every few steps: they do not follow from the labels."""
        flow = self.flow
        newest, older = flow.increments
        return {
            "phi": flow.phi, "u": flow.u, "p": flow.p, "advection": flow.advection_before, "owner": flow.owner,
            "increment": newest, "increment_before": older,
        }  # fmt: skip
