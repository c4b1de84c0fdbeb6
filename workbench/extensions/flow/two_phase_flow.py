"""Incompressible flow of two fluids: level set, projection, and a sharp jump of the pressure at the interface.

rho Du/Dt = -grad p + div(mu (grad u + grad u^T)), div u = 0, where p is the pressure less rho g . x. Both surface
tension and gravity are then a jump of p at the interface, [p] = sigma kappa + (rho_in - rho_out) G y, which enters b
alone: A is -div(1/rho grad p) with the three face coefficients of `assemble_two_phases`.

Sources: Chorin 1968 (projection); Fedkiw, Aslam, Merriman, Osher 1999 and Kang, Fedkiw, Liu 2000 (jumps by ghost
fluid); Min 2010 (distance).
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import InputError
from workbench.extensions.flow import interface_kernels, momentum_kernels, transport
from workbench.extensions.flow.components import Components
from workbench.extensions.flow.padded_grid import PaddedGrid
from workbench.sequences.starts import LARGEST_RATIO

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceVector

REDISTANCED_EVERY, SWEEPS = 5, 3
BAND, EDGE = 6.0, 0.1
"""|phi| is at most BAND cells. Where it is that within EDGE it is not computed: nothing changes there in a step."""
VISCOUS_RTOL, MOST_VISCOUS = 3e-3, 200
"""The viscous system is solved to this part of the viscous force, in the norm of the inverse diagonal."""
REACH = 8
"""Cells around a bubble that are shifted with it: the band, and how far it moves before owners are found anew."""
COURANT, CAPILLARY, FALLING = 0.5, 0.7, 0.5
LEAST_STEP = 1e-4
"""Smallest fraction of the first time step; a smaller step means that the velocity has grown without bound."""


@dataclasses.dataclass(frozen=True)
class Fluids:
    """Densities, viscosities, surface tension and gravity. outside, inside: (density, viscosity)."""

    outside: tuple[float, float]
    inside: tuple[float, float]
    sigma: float
    gravity: float

    @property
    def coefficients(self) -> tuple[float, float]:
        """1/rho outside and inside."""
        return 1 / self.outside[0], 1 / self.inside[0]


class TwoPhaseFlow:
    """The state of a flow, stepped in two halves: `begin` moves the interface and makes b, `end` takes the pressure.

    grid: of the cells. phi: the initial level set, shape of the grid, negative in bubbles, continued evenly at walls.
    Further than 6 cells from the interface phi is 6 h or -6 h, and what belongs to the interface is computed in the
    band between and its neighbours alone.

    volume_kept: whether every bubble is corrected to its volume after transport. seconds: of the parts of the last
    step.

    Cost of a step: 13 + D passes of stencils over D + 1 fields, and two passes an iteration of the viscosity. First
    order in time. Memory: 14 D + D (D - 1)/2 + 11 arrays of the padded cells.
    """

    def __init__(
        self,
        grid: PaddedGrid,
        fluids: Fluids,
        phi: np.ndarray,
        *,
        volume_kept: bool = True,
        largest_dt: float = math.inf,
    ) -> None:
        self.grid, self.fluids, self.volume_kept, self.largest_dt = grid, fluids, volume_kept, largest_dt
        new, d = grid.new, grid.directions
        self.phi, self._stage, self._start = new(), new(), new()
        self.kappa, self.mu, self.p, self._share, self._delta = (new() for _ in range(5))
        self.u, self._new, self.advection_before, self.c, self.jump, self._inverse = (new(d) for _ in range(6))
        self._work, self._edges = [new(d) for _ in range(4)], new(d * (d - 1) // 2)
        self.increments, self.increment_steps = [new(d) for _ in range(2)], [0.0, 0.0]
        """Velocity that viscosity has added in the last two time steps, the newest first, and the lengths of these."""
        self._spare = new(d)
        self._before = new(), new(d), new(dtype=np.int64)
        self._dots, self._largest, self._b = grid.partials(), grid.partials(d, largest=True), grid.new_cells()
        self.time, self.dt, self.steps, self.shift, self.viscous_iterations = 0.0, 0.0, 0, 0.0, 0
        self.first_dt = 0.0
        self.seconds: dict[str, float] = {}
        self.owner = new(dtype=np.int64)
        grid.put(self.phi, np.clip(phi, -self._most, self._most))
        grid.fill(self.phi)
        self.components = Components(self.inside, grid.placed)
        self.begin_anew()
        (self.components.volumes,) = self._sums(self._share)

    @property
    def _most(self) -> float:
        return BAND * self.grid.h

    @property
    def inside(self) -> np.ndarray:
        """True for each cell whose centre lies in a bubble, shape of the grid."""
        return self.grid.is_inside(self.phi)

    def begin(self, until: float = math.inf) -> np.ndarray:
        """Move the interface by a time step of at most until - time; b of the pressure equation, shape (N,), which has
        no mean and is overwritten by the next one. Raises InputError where the time step collapses, and where phi or
        the velocity become infinite or NaN, with the state kept."""
        grid, components = self.grid, self.components
        for kept, values in zip(self._before, (self.phi, self.u, self.owner), strict=True):
            grid.copy(kept, values)
        self._known = self.dt, self.first_dt, self.shift, components.labels, components.volumes
        self._added = self.increments, self._spare, self.increment_steps
        try:
            return self._begun(until)
        except BaseException:
            self.undo()
            raise

    def undo(self) -> None:
        """Return to before `begin`, in place of `end`."""
        phi, u, owner = self._before
        self.grid.copy(self.phi, phi)
        # NaN in what is multiplied by 0 would stay.
        for values in (self.u, *self._work):
            self.grid.copy(values, u)
        self.dt, self.first_dt, self.shift, labels, volumes = self._known
        self.increments, self._spare, self.increment_steps = self._added
        self.components.restore(labels, volumes)
        self.begin_anew()
        self.grid.copy(self.owner, owner)

    def _begun(self, until: float) -> np.ndarray:
        clock = _Clock(self.seconds, self.grid.wait)
        grid, h = self.grid, self.grid.h
        grid.fill_faces(self.u)
        grid.launch(transport.advection, self.u, h, self._new, sums=self._largest)
        dt_before, self.dt = self.dt, self._time_step(until)
        clock("advection")
        self.move(clock)
        self._predict(self.dt / dt_before if dt_before else 0.0)
        clock("properties")
        self._viscosity()
        clock("viscosity")
        dt_h = self.dt / h
        of = (self.u, self.c, self.jump, dt_h, -1 / (h * self.dt), self._b)
        grid.launch(momentum_kernels.divergence, grid.cells[0], *of)
        b = grid.given(self._b)
        mean = float(b.mean())
        # A volume has a part of every cell of the level set near the interface.
        if not math.isfinite(mean + self.shift):
            raise self._not_finite()
        b -= mean
        clock("divergence")
        return b

    def move(self, clock: Callable[[str], None]) -> None:
        """Move the interface by a time step, and number the bubbles."""
        self._band = self.grid.near(self.phi, self._most - EDGE * self.grid.h)
        self._transport()
        clock("interface")
        if self.steps % REDISTANCED_EVERY == 0:
            self.redistance()
        clock("distance")
        if self.volume_kept:
            self._keep_volumes()
        moved = self.grid.crossed(self.phi, self.components.labels)
        self.components.follow(moved, lambda: self.inside)
        if self.components.has_regrouped or self.steps % REDISTANCED_EVERY == 0:
            self._find_owners()
        clock("volume")

    def begin_anew(self) -> None:
        """Compute what a step takes over from the one before, for phi and the components that were set."""
        self._band = None
        self._find_owners()
        self._measure_shares()
        self._measure_properties()

    def end(self, p: np.ndarray) -> None:
        """Correct the velocity by the pressure, shape (N,), of the kind of b."""
        clock = _Clock(self.seconds, self.grid.wait)
        grid = self.grid
        grid.put(self.p, p.reshape(grid.grid) if isinstance(p, np.ndarray) else p)
        grid.launch(momentum_kernels.correct, self.u, self.p, self.c, self.jump, self.dt / grid.h)
        self._new, self.advection_before = self.advection_before, self._new
        self.time += self.dt
        self.steps += 1
        clock("correction")

    def redistance(self) -> None:
        """Make |grad phi| 1 near the interface, which stays where it is."""
        grid, stage, start, kernel = self.grid, self._stage, self._start, interface_kernels.redistance
        grid.copy(start, self.phi)
        grid.copy(stage, self.phi)
        for _ in range(SWEEPS):
            grid.launch(kernel, self.phi, start, grid.h, self.phi, 0.0, 1.0, self._most, stage, rows=self._band)
            grid.fill(stage, 2)
            # The second stage reads the neighbours of the first alone, so that it may overwrite phi.
            grid.launch(kernel, stage, start, grid.h, self.phi, 0.5, 0.5, self._most, self.phi, rows=self._band)
            grid.fill(self.phi)

    def speed(self, direction: int) -> np.ndarray:
        """A velocity at the cell centres, shape of the grid."""
        # Faces on upper walls, which are ghosts, stay 0.
        u, stride = self.grid.on_host(self.u)[direction], self.grid.strides[direction]
        return 0.5 * (self.grid.inside(u) + self.grid.inside(np.roll(u, -stride)))

    def share(self) -> DeviceVector:
        """The part of each cell that lies in bubbles, padded, a view."""
        self._measure_shares()
        return self._share

    def _time_step(self, until: float) -> float:
        h, fluids = self.grid.h, self.fluids
        speed = float(self.grid.combined(self._largest).sum())
        if not math.isfinite(speed):
            raise self._not_finite()
        dt = min(COURANT * h / max(speed, 1e-12), self.largest_dt)
        if fluids.sigma:
            density = fluids.outside[0] + fluids.inside[0]
            dt = min(dt, CAPILLARY * math.sqrt(density * h**3 / (4 * math.pi * fluids.sigma)))
        if fluids.gravity:
            dt = min(dt, FALLING * math.sqrt(h / fluids.gravity))
        self.first_dt = self.first_dt or dt
        if dt < LEAST_STEP * self.first_dt:
            raise InputError(
                f"the time step has collapsed to {dt:.3g} at time {self.time:.4g}, since the velocity has grown to "
                f"{speed:.3g}; use a larger n, a smaller eotvos or a density ratio closer to 1"
            )
        return min(dt, until - self.time)

    def _not_finite(self) -> InputError:
        what = "velocity" if np.isfinite(self.grid.on_host(self.phi)).all() else "level set"
        return InputError(
            f"the {what} is not finite in the step after time {self.time:.4g}; use a larger n, ratios closer to 1 or a "
            "smaller archimedes"
        )

    def _transport(self) -> None:
        grid, dt_h = self.grid, self.dt / self.grid.h
        one, two, kernel = self._stage, self._start, transport.advect
        grid.copy(one, self.phi)
        grid.copy(two, self.phi)
        for phi, a, b, out in ((self.phi, 0.0, 1.0, one), (one, 0.75, 0.25, two), (two, 1 / 3, 2 / 3, one)):
            grid.launch(kernel, phi, self.u, self.phi, a, b, dt_h, self._most, out, rows=self._band)
            grid.fill(out)
        self.phi, self._stage = one, self.phi

    def _find_owners(self) -> None:
        """The number of the nearest bubble of each cell in the band, 0 beyond REACH."""
        components = self.components
        if components.count < 2:
            self.grid.put(self.owner, components.numbers.max(initial=0))
            return
        self.grid.put(self.owner, components.labels)
        grown = self.grid.new(dtype=np.int64)
        self.grid.copy(grown, self.owner)
        for _ in range(REACH):
            self.grid.launch(interface_kernels.grow, self.owner, grown, rows=self._band)
            self.owner, grown = grown, self.owner

    def _measure_shares(self) -> None:
        kernel = interface_kernels.shares
        self.grid.launch(kernel, self.phi, self.grid.h, self._share, self._delta, rows=self._band)

    def _measure_properties(self) -> None:
        grid, (_, mu_out), (_, mu_in) = self.grid, self.fluids.outside, self.fluids.inside
        kernel = interface_kernels.properties
        grid.launch(kernel, self.phi, grid.h, mu_out, mu_in, self.kappa, self.mu, rows=self._band)
        grid.fill(self.mu, 1)
        # Also those of the ghosts behind the last cells.
        for shift in (0, *grid.strides.tolist()):
            grid.launch(momentum_kernels.viscosity_at_edges, self.mu, shift, self._edges, rows=self._band)

    def _sums(self, *padded: DeviceVector) -> list[np.ndarray]:
        """The integrals over what belongs to each bubble, by number, of arrays that are 0 in ghosts."""
        cell, size = self.grid.h**self.grid.directions, self.components.volumes.size
        return [sums * cell for sums in self.grid.sums_by(self.owner, padded, size)]

    def _keep_volumes(self) -> None:
        """One Newton step per bubble towards its volume: shift phi by the excess over the area."""
        self._measure_shares()
        volumes, areas = self._sums(self._share, self._delta)
        shifts = np.divide(
            volumes - self.components.volumes,
            areas,
            out=np.zeros_like(areas),
            where=(areas > 0) & (self.components.volumes > 0),
        )
        np.clip(shifts, -self.grid.h, self.grid.h, out=shifts)
        self.shift += float(np.abs(shifts).max(initial=0.0))
        kernel = interface_kernels.shift
        self.grid.launch(kernel, self.phi, self.owner, shifts, self._most, rows=self._band)
        self.grid.fill(self.phi)

    def _predict(self, ratio: float) -> None:
        grid, fluids = self.grid, self.fluids
        (rho_out, _), (rho_in, _) = fluids.outside, fluids.inside
        self._measure_properties()
        weights = (rho_in - rho_out) * fluids.gravity
        values = np.array([1 / rho_out, 2 / (rho_in + rho_out), 1 / rho_in, fluids.sigma, weights])
        now, before = 1 + ratio / 2, -ratio / 2
        grid.launch(
            momentum_kernels.predict, grid.lower, grid.heights, self.phi, self.kappa, self.mu, self._edges, grid.h,
            values, self.dt, now, before, self._new, self.advection_before, self.u, self.c, self.jump, self._inverse,
        )  # fmt: skip

    def _viscosity(self) -> None:
        """(rho/dt - L) u = rho/dt u* by CG with the diagonal, all components at once, in two passes an iteration
        (Chronopoulos and Gear's recurrence, whose two dot products belong to the product), from u* and what the last
        two steps have added, extrapolated: 2 to 8 iterations in place of 4 to 25."""
        grid, sums, viscosity = self.grid, self._dots, (self.mu, self._edges, self.grid.h)
        z, p, s, w = self._work
        grid.fill_faces(self.u, 1)
        grid.launch(momentum_kernels.viscous_force, self.u, *viscosity, self._inverse, z, sums=sums)
        gamma = float(grid.combined(sums))
        goal, before, alpha = VISCOUS_RTOL**2 * gamma, math.inf, 1.0
        self.viscous_iterations = 0
        (newest, older), added = self.increments, self._spare
        of_newest, of_older = self._extrapolated()
        grid.copy(added, self.u)
        if of_newest:
            grid.launch(momentum_kernels.combine, of_newest, newest, of_older, older, p)
            grid.fill_faces(p, 1)
            grid.launch(momentum_kernels.viscous_product, p, *viscosity, self.c, self.dt, w, sums=sums)
            grid.launch(momentum_kernels.viscous_begin, self._inverse, w, p, self.u, z, sums=sums)
            gamma = float(grid.combined(sums))
        while gamma > goal and self.viscous_iterations < MOST_VISCOUS:
            grid.fill_faces(z, 1)
            grid.launch(momentum_kernels.viscous_product, z, *viscosity, self.c, self.dt, w, sums=sums)
            beta = gamma / before
            alpha = gamma / (float(grid.combined(sums)) - beta * gamma / alpha)
            of = (alpha, beta, self._inverse, w, p, s, self.u, z)
            grid.launch(momentum_kernels.viscous_update, *of, sums=sums)
            before, gamma = gamma, float(grid.combined(sums))
            self.viscous_iterations += 1
        grid.fill_faces(self.u, 1)
        grid.launch(momentum_kernels.combine, 1.0, self.u, -1.0, added, added)
        self.increments, self._spare = [added, newest], older
        self.increment_steps = [self.dt, self.increment_steps[0]]

    def _extrapolated(self) -> tuple[float, float]:
        """The weights of the last two increments in the next one, whose rates are continued linearly in time."""
        last, before = self.increment_steps
        if not last:
            return 0.0, 0.0
        ratio = self.dt / last
        # Over unequal steps an extrapolation would magnify errors.
        if not before or max(ratio, 1 / ratio) > LARGEST_RATIO:
            return ratio, 0.0
        return ratio * (1 + ratio), -ratio * self.dt / before


class _Clock:
    """Notes seconds since the last call. wait: until the work of a part is done."""

    def __init__(self, seconds: dict[str, float], wait: Callable[[], None]) -> None:
        self._seconds, self._wait, self._last = seconds, wait, time.perf_counter()

    def __call__(self, part: str) -> None:
        self._wait()
        now = time.perf_counter()
        self._seconds[part], self._last = now - self._last, now
