"""Watches: the scalars of the latest iterations, in device memory until the host reads them, and a flag that stops.

`Watch` is that of a method on vectors. `BlockWatch` is that of a method on block vectors, whose iterations the device
repeats by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from workbench.devices.accelerator.block_algebra import STATE, SmallMatrices
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.programs import Repeated, waits
from workbench.devices.kernels import scalars as kernels
from workbench.devices.kernels import small
from workbench.devices.programs.block_workspace import BlockWorkspace, Repeats
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows, widened_squares

MOST_RECORDED = 64
"""Longest check interval that is recorded as one call; longer ones are recorded in units of `RECORDED` iterations."""
RECORDED = 16
"""Iterations of a unit: enough that launching units takes the host less time than they take the device."""
MOST_BLOCK_ROWS = 64
"""Most iterations of a block method between two reads by the host."""


class Watch:
    """Rows of a workspace's scalars, one per iteration; the host reads them after at most `every` iterations.

    The device stops by itself at the first row that meets a limit: later launches do nothing. `every` is 1 where a
    program cannot be stopped like that, and where an operator waits for the host anyway.
    """

    stops = False
    """The host launches further iterations after the one that meets a limit, and these do nothing."""

    def __init__(self, device: Launcher, workspace: Workspace, every: int) -> None:
        self._device, self._space = device, workspace
        self._waits = waits(device, workspace)
        self.every = max(1, every) if workspace.repeatable and not self._waits else 1
        wide = workspace.scalars.dtype
        # The number of rows first, then the rows, so that only rows that can exist are copied to the host.
        self._width = workspace.scalars_end
        self._rows = device.zeros(1 + self.every * self._width, wide)
        self._rows_on_host = device.pinned(self._rows.shape, wide)
        self._most_rows = 0
        """Iterations since the threshold was set; there are fewer rows where the device has stopped."""
        self._arm = device.function(kernels.arm, wide)
        # With the types of the other kernels, so that all can be merged into one.
        self._append_row = device.kernel(kernels.keep_text(wide), "keep", workspace.dtype)
        self._slots: list[np.int64] = []
        """The places of the squared norm, delta and gamma among the scalars; -1 for one that the method lacks."""
        self._repeat: Callable[[int], None] | None = None
        self._start_was_made = False

    def prepare(self, norm: str, *, uniform: bool) -> None:
        """Compile and record all launches of an iteration, so that iterating does neither.

        norm: the scalar that is the squared norm of the stopping criterion. uniform: all iterations are calls of the
        last program of the workspace; the iterations until the next read then become one call where the runtime can
        record them, since launching them one by one can take the host longer than they take the device. Where operators
        wait for the host, nothing is recorded. Must be called again after programs were bound to other operators.
        """
        space, runtime = self._space, self._device.runtime
        self._slots = self._slots_of(norm)
        if self._waits or space.clock:
            return

        if uniform and self.every > 1:
            unit = self.every if self.every <= MOST_RECORDED else RECORDED
            self._repeat = runtime.repeated(self._iterate_once, unit, space.scalars)
        # The program that is repeated has been compiled and recorded by now.
        others = space.programs[: -1 if self._repeat else None]

        def all_others() -> None:
            for program in others:
                program()

        # Texts by which the runtime may skip the call: where the start is the only other program.
        only_start = self._repeat is not None and len(others) == 1
        texts = [line.text for program in others for line in program.lines] if only_start else []
        # Before recording, which needs the memory that these calls allocate.
        runtime.compile_ahead(all_others, tuple(texts))
        for program in others[1:]:
            for run in program.runs:
                if isinstance(run, Repeated):
                    run.record()

    def rewind(self) -> None:
        """Let the next call of `advance` be the first one."""
        self._start_was_made = False

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None:
        """Stop from now on at the first row whose norm is not above `limit`, or is above `maximum`; begin a new table.

        norm: the scalar that is the squared norm.
        """
        wide = self._space.scalars.dtype
        self._most_rows = 0
        self._slots = self._slots_of(norm)
        largest_number = float(np.finfo(wide).max)
        squares = widened_squares(limit, maximum, wide)
        numbers = [self._device.number(min(square, largest_number), wide) for square in squares]
        self._arm.launch(1, self._space.scalars, *numbers)

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None:
        """Make `count` iterations, and append the scalars of each as a row, unless the device has stopped."""
        self._most_rows += count
        # A single first iteration may be the start, which is another program.
        start_was_made, self._start_was_made = self._start_was_made, True
        if self._repeat and uniform and (count > 1 or start_was_made):
            self._repeat(count)
            return
        for _ in range(count):
            next(recurrence)
            self._append()

    def rows(self) -> Rows:
        """The rows since the threshold was set; waits for the device."""
        read = self._rows_on_host[: 1 + self._most_rows * self._width]
        self._device.fetch(self._rows, read)
        count, table = int(np.real(read[0])), read[1:].reshape(self._most_rows, self._width)
        return Rows(table[:count], self._space.slots)

    def _slots_of(self, norm: str) -> list[np.int64]:
        return [np.int64(self._space.slots.get(name, -1)) for name in (norm, "delta", "gamma")]

    def _iterate_once(self) -> None:
        self._space.programs[-1]()
        self._append()

    def _append(self) -> None:
        sizes = np.int64(self.every), np.int64(self._width)
        self._device.launch(self._append_row, 1, self._space.scalars, self._rows, *sizes, *self._slots)


class BlockWatch:
    """The iterations of a block method that the device repeats, and the rows of the latest ones.

    The device stops by itself at the first row that may end a column or the run: where ||r_j||^2 of an active column is
    not above its limit or is above its largest value, or where a number is not positive that is positive for definite A
    and M. Later launches then change nothing but A times the directions. halted: the place in an iteration where the
    device has stopped, see `kernels.small`, so that the host has to complete it; else 0. repeats: the iteration.
    """

    most = MOST_BLOCK_ROWS
    halted = 0

    def __init__(self, device: Launcher, space: BlockWorkspace, repeats: Repeats) -> None:
        assert isinstance(space.device_matrices, SmallMatrices)
        self._device, self._matrices, self.repeats = device, space.device_matrices, repeats
        self._columns, self._dtype = space.columns, space.dtype
        s, kept = space.columns, repeats.kept
        self._state = np.zeros(small.state_size(s))
        self._rows = device.zeros(self.most * len(kept) * s, self._matrices.dtype)
        self._steps = [step if callable(step) else self._small_kernel(step) for step in repeats.steps]
        arguments = {"rows": self._rows, "capacity": np.int64(self.most)}
        arguments["matrices"] = tuple(self._matrices.room(name, (s,)) for name in kept)
        self._steps.append(self._matrices.kernel(small.keep(s, kept), s, arguments))
        self._recorded = device.runtime.record(self._iterate_once)

    def advance(self, count: int, active: np.ndarray, limits: np.ndarray, largest: np.ndarray) -> dict[str, np.ndarray]:
        """Make up to `count` iterations; returns the rows of `repeats.kept` by name, shape (iterations, s) each.

        active: columns that have not ended. limits, largest: the bounds of ||r_j||, shape (s,). Waits for the device.
        """
        s, kept = self._columns, self.repeats.kept
        wide = self._matrices.dtype
        largest_number = float(np.finfo(wide).max)
        squares = [np.minimum(square, largest_number) for square in widened_squares(limits, largest, wide)]
        self._state[:] = np.concatenate([np.zeros(small.ACTIVE), active, *squares])
        self._matrices[STATE] = self._state
        iterate = self._recorded or self._iterate_once
        for _ in range(count):
            iterate()
        self._matrices.changed()
        state = np.real(self._matrices[STATE])
        made, stopped = int(state[small.COUNTED]), int(state[small.STOPPED])
        self.halted = stopped if stopped > small.AT_ROW else 0
        # A flag that stays set would stop the programs that the host runs next.
        self._state[small.STOPPED] = 0
        self._matrices[STATE] = self._state
        table = self._device.to_host(self._rows)[: made * len(kept) * s].reshape(made, len(kept), s)
        return {name: table[:, k] for k, name in enumerate(kept)}

    def _small_kernel(self, name: str) -> Callable[[], None]:
        return self._matrices.kernel(small.small(name, self._columns, self._dtype, self._matrices.dtype), self._columns)

    def _iterate_once(self) -> None:
        for step in self._steps:
            step()
