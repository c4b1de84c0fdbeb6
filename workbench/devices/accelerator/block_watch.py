"""Iterations of a block method that the device repeats by itself, and the rows that the host reads of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.small_matrices import STATE, SmallMatrices
from workbench.devices.kernels import small
from workbench.devices.programs.block_workspace import BlockWorkspace, Repeats

MOST_ROWS = 64
"""Iterations between two reads by the host, at most."""


class BlockWatch:
    """The repeated iteration of a workspace, and its latest rows.

    The device stops by itself at the first row that may end a column or the run: where ||r_j||^2 of an active column is
    not above its limit, or above its largest value, or where a number is not positive that is for definite A and M.
    Later launches then change nothing but the product with A. halted: where it has stopped within an iteration, which
    the host has to complete, as `kernels.small` says; else 0. repeats: what it repeats.
    """

    most = MOST_ROWS
    halted = 0

    def __init__(self, device: Launcher, space: BlockWorkspace, repeats: Repeats) -> None:
        assert isinstance(space.held, SmallMatrices)
        self._device, self._held, self.repeats, self._columns = device, space.held, repeats, space.columns
        self._dtype = space.dtype
        s, kept = space.columns, repeats.kept
        self._state = np.zeros(small.state_size(s))
        self._rows = device.zeros(self.most * len(kept) * s, self._held.dtype)
        self._steps = [step if callable(step) else self._bound(step, s) for step in repeats.steps]
        given = {"rows": self._rows, "capacity": np.int64(self.most)}
        given["matrices"] = tuple(self._held.room(name, (s,)) for name in kept)
        keep = self._held.kernel(small.keep(s, kept), s, given)
        self._steps.append(keep)
        self._recorded = device.runtime.record(self._once)

    def _bound(self, name: str, s: int) -> Callable[[], None]:
        return self._held.kernel(small.small(name, s, self._dtype, self._held.dtype), s)

    def _once(self) -> None:
        for step in self._steps:
            step()

    def advance(self, count: int, active: np.ndarray, limits: np.ndarray, largest: np.ndarray) -> dict[str, np.ndarray]:
        """Make up to `count` iterations; the matrices that are kept of each, shape (iterations, s).

        active: columns that have not ended. limits, largest: of ||r_j||.
        """
        s, kept = self._columns, self.repeats.kept
        eps, top = (float(getattr(np.finfo(self._held.dtype), name)) for name in ("eps", "max"))
        # The host compares square roots; every row that might meet a limit must reach it.
        squares = limits**2 * (1 + 8 * eps), largest**2 * (1 - 8 * eps)
        self._state[:] = np.concatenate([[0, 0], active, *(np.minimum(square, top) for square in squares)])
        self._held[STATE] = self._state
        once = self._recorded or self._once
        for _ in range(count):
            once()
        self._held.changed()
        state = np.real(self._held[STATE])
        made, stopped = int(state[small.COUNTED]), int(state[small.STOPPED])
        self.halted = stopped if stopped > small.AT_ROW else 0
        # The host may run programs now.
        self._state[small.STOPPED] = 0
        self._held[STATE] = self._state
        table = self._device.to_host(self._rows)[: made * len(kept) * s].reshape(made, len(kept), s)
        return {name: table[:, k] for k, name in enumerate(kept)}
