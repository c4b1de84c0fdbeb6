"""Heat that spreads from bubbles into a medium of other conductivity and capacity, by implicit Euler."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from workbench.devices.host.face_codes import BITS, FaceCodes
from workbench.errors import InputError
from workbench.extensions.flow.placement import placed
from workbench.operators import Size, TwoPhaseStencil
from workbench.problems import LinearSystem
from workbench.problems.bubble_geometry import Geometry
from workbench.problems.diffusion import assemble_two_phases
from workbench.registry import parameter, register
from workbench.sequences.systems import LARGEST_TIME, STARTS_HELP, StepSystem, Systems, SystemSequence


@register
@dataclasses.dataclass(frozen=True)
class HeatSteps(SystemSequence):
    """Heat conduction with jumps by implicit Euler: (c/dt - div(k grad)) T = (c/dt) T_before on the unit square or
    cube.

    Capacity c and conductivity k are 1 in the medium, and c_in and k_in in bubbles, which begin at T = 1 in a medium at
    T = 0; no heat passes the walls. A is positive definite and the same in every step: what is set up once serves all.
    The tolerance is that of the configuration. Harmonic means of k at faces.

    Cost of a step: a solve. Raises InputError as `RisingBubbles` for bubbles that are not resolved.
    """

    name: ClassVar[str] = "heat-steps"
    title: ClassVar[str] = "Heat from bubbles, step by step (2D and 3D)"
    drawn: ClassVar[tuple[str, ...]] = ("T",)
    measured: ClassVar[tuple[str, ...]] = ("heat", "hottest", "coldest")

    n: int = parameter(64, "cells per side", low=8, high=2048)
    dimensions: int = parameter(2, "dimensions", low=2, high=3)
    count: int = parameter(1, "number of bubbles", low=1, high=1000)
    geometry_seed: int = parameter(0, "seed of their places", low=0, high=2**31 - 1)
    radius: float = parameter(0.0, "0 = automatic radius", low=0.0, high=0.5, unit="side lengths")
    bubbles: str = parameter("", "listed bubbles in place of count: x,y,r; x,y,r; ...")
    conductivity_ratio: float = parameter(1e-3, "conductivity inside over outside", low=1e-6, high=1e6)
    capacity_ratio: float = parameter(1.0, "heat capacity inside over outside", low=1e-6, high=1e6)
    dt: float = parameter(0.01, "length of a step, shortened to divide until", low=1e-9, high=1e3)
    until: float = parameter(0.5, "time at which it ends", low=0.0, high=LARGEST_TIME)
    start: str = parameter("linear", STARTS_HELP)

    def geometry(self) -> Geometry:
        """Centres and radii in side lengths."""
        return placed(self.count, self.radius, self.bubbles, self.dimensions, self.geometry_seed, self.n)

    def check(self) -> None:
        self.geometry()

    @property
    def words(self) -> str:
        return f"heat from {self.geometry().radii.size} bubbles in a {'square' if self.dimensions == 2 else 'cube'}"

    @property
    def known_size(self) -> Size:
        return Size.of_two_phases((self.n,) * self.dimensions)

    @property
    def steps(self) -> int:
        """Steps of equal length."""
        return math.ceil(self.until / self.dt - 1e-9)

    def system(self, made: StepSystem) -> LinearSystem:
        coefficients = 1.0, self.conductivity_ratio
        closed = assemble_two_phases(made.labels, coefficients, "neumann", scale=float(self.n**2))
        assert isinstance(closed, TwoPhaseStencil)
        faces, inside = closed.faces, made.labels.reshape(-1) > 0
        # The wall terms, which closed sides leave free, are c/dt of each phase.
        codes = faces.codes | ((1 + inside.astype(np.uint8)) << (BITS * faces.directions))
        masses = np.array([0.0, 1.0, self.capacity_ratio, 0.0]) / made.dt
        operator = TwoPhaseStencil(closed.grid, FaceCodes(codes, faces.values, masses, faces.strides))
        b, phase = made.b.copy(), made.labels.reshape(-1)
        return LinearSystem(operator, b, grid=closed.grid, coefficients=coefficients, phase=phase)

    def systems(self, device: str = "cpu") -> HeatSystems:
        return HeatSystems(self)


class HeatSystems(Systems):
    """The steps of heat conduction. temperature: shape (N,)."""

    def __init__(self, problem: HeatSteps) -> None:
        self.problem, self.seconds = problem, {}
        shape = (problem.n,) * problem.dimensions
        self.labels = problem.geometry().paint(problem.n).astype(np.int32)
        self.temperature = (self.labels.reshape(-1) > 0).astype(float)
        self._capacity = np.where(self.labels.reshape(-1) > 0, problem.capacity_ratio, 1.0)
        self._steps, self._shape = 0, shape

    def next(self) -> StepSystem | None:
        steps = self.problem.steps
        if self._steps >= steps:
            return None
        dt = self.problem.until / steps
        return StepSystem((self._steps + 1) * dt, dt, self._capacity / dt * self.temperature, self.labels, 0.0)

    def end(self, x: np.ndarray) -> None:
        self.temperature = x.copy()
        self._steps += 1

    def measures(self) -> dict[str, float]:
        T = self.temperature
        return {"heat": float(self._capacity @ T) / T.size, "hottest": float(T.max()), "coldest": float(T.min())}

    def drawn(self) -> dict[str, Callable[[], np.ndarray]]:
        return {"T": lambda: self.temperature.reshape(self._shape)}

    def state(self) -> dict[str, np.ndarray]:
        return {"temperature": self.temperature.copy(), "numbers": np.array([self._steps])}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        (steps,) = state["numbers"].tolist()
        if not 0 <= steps <= self.problem.steps:
            raise InputError(f"it is at step {steps} of {self.problem.steps}")
        self.temperature, self._steps = np.array(state["temperature"]), steps
