"""The device protocol on the cores of this machine, compiled by LLVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays.scaling import dot, norm
from workbench.devices.clock import Clock, HostClock, Recorder
from workbench.devices.cpu import block_vectors
from workbench.devices.cpu.operators import Operators
from workbench.devices.host import memory
from workbench.devices.programs.on_cores import OnePassOnCores, StepByStep, bind_pass, compile_pass
from workbench.devices.programs.workspace import Workspace
from workbench.devices.rows import Rows, widened_squares
from workbench.errors import InputError
from workbench.jit.compiled import settle
from workbench.jit.launches import Launches, Repetition
from workbench.lines.types import accumulator

if TYPE_CHECKING:
    from workbench.devices.slices import PlaneSlice, VolumeSlice


class Watch:
    """The scalars of a workspace, read after every iteration, or after up to `every` as on an accelerator.

    Reading costs nothing here; a check of each row takes longer than an iteration of a small system.
    """

    every = 1
    stops = True

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._norm, self._bounds = "", (0.0, np.inf)
        self._table = np.empty((0, 0))
        self._count = 0
        self._repetition: Repetition | None = None
        self._start_was_made = False

    def prepare(self, norm: str, *, uniform: bool) -> None:
        """Nothing to do: programs are compiled when they are created."""

    def rewind(self) -> None:
        """Let the next call of `advance` be the first one."""
        self._start_was_made = False

    def gather(self, every: int) -> None:
        """Keep up to `every` rows from now on, until a row meets a limit of `set_threshold` or breaks down."""
        scalars = self._workspace.scalars
        self.every, self._table, self._repetition = every, np.empty((every, scalars.size), scalars.dtype), None

    def set_threshold(self, norm: str, limit: float, maximum: float = np.inf) -> None:
        """Stop, if several iterations are made, at the first row whose norm is not above `limit`, or is above
        `maximum`. norm: the scalar that is the squared norm."""
        self._norm, self._bounds = norm, widened_squares(limit, maximum, np.dtype(float))

    def advance(self, recurrence: Iterator[None], count: int, *, uniform: bool = False) -> None:
        """Iterate; the scalars are valid until the next iteration. uniform: iterations are calls of the last program of
        the workspace, which machine code repeats where it is launches alone."""
        self._count = 0
        start_was_made, self._start_was_made = self._start_was_made, True
        if count == 1:
            next(recurrence)
            return
        if uniform and start_was_made and (repeat := self._repeated()):
            self._count = repeat(count, *self._bounds)
            return
        scalars, slots, (low, high) = self._workspace.scalars, self._workspace.slots, self._bounds
        norm, delta, gamma = (slots[name] for name in (self._norm, "delta", "gamma"))
        for row in self._table[:count]:
            next(recurrence)
            row[:] = scalars
            self._count += 1
            if not (low < row[norm].real <= high and row[delta].real > 0 and row[gamma].real > 0):
                return

    def _repeated(self) -> Repetition | None:
        """The last program as a repetition; None where Python takes part in it, or several cores do."""
        space = self._workspace
        launches, *others = space.programs[-1].runs
        if others or not isinstance(launches, Launches) or not launches.are_short:
            return None
        if self._repetition is None or self._repetition.launches is not launches:
            norm, delta, gamma = (space.slots[name] for name in (self._norm, "delta", "gamma"))
            self._repetition = Repetition(launches, space.scalars, self._table, (norm, delta, gamma))
        return self._repetition

    def rows(self) -> Rows:
        """The rows of the last call of `advance`."""
        table = self._table[: self._count] if self._count else self._workspace.scalars[None]
        return Rows(table, self._workspace.slots)


class Cpu(StepByStep, Operators):
    """All cores of this machine. Vectors are NumPy arrays; kernels release the GIL."""

    name: str = "cpu"
    note: str = ""
    check_every: int = 1
    """The scalars are in host memory: reading them costs nothing."""
    memory_limit: int | None = None
    """Bytes that `need_room` allows, None for no limit. Vectors are not counted as they are allocated."""

    def limited(self, limit: int | None) -> Cpu:
        """This device with a memory limit in bytes; None changes nothing."""
        if limit is None:
            return self
        made = Cpu()
        made.memory_limit = limit
        return made

    def need_room(self, nbytes: int, way_out: str = "") -> None:
        """Raise InputError if `nbytes` exceed the memory limit."""
        if self.memory_limit is not None and nbytes > self.memory_limit:
            raise InputError(
                f"device cpu may use {self.memory_limit / 1e6:.4g} MB and {nbytes / 1e6:.4g} MB are needed; "
                + (way_out or "take a smaller problem or raise the memory limit")
            )

    def available_memory(self, stored: int) -> int | None:
        """The memory limit less what is stored; None without a limit."""
        return None if self.memory_limit is None else max(0, self.memory_limit - stored)

    def clock(self, recorder: Recorder) -> Clock:
        """A clock that records the steps of a traced run."""
        return HostClock(recorder)

    def need(self, dtype: np.dtype) -> None:
        """All precisions are supported."""

    def array(self, values: np.ndarray, dtype: np.dtype) -> np.ndarray:
        """A contiguous vector, copied only where it must be."""
        return np.ascontiguousarray(values, dtype)

    def to_device(self, values: np.ndarray) -> np.ndarray:
        """The array itself."""
        return np.ascontiguousarray(values)

    def forget_copies(self) -> None:
        """There are none."""

    def copy(self, vector: np.ndarray) -> np.ndarray:
        made = memory.vector(vector.size, vector.dtype)
        made[:] = vector
        return made

    def assign(self, target: np.ndarray, source: np.ndarray) -> None:
        """target = source."""
        target[:] = source

    def subtract_from(self, b: np.ndarray, s: np.ndarray) -> None:
        """s = b - s."""
        np.subtract(b, s, out=s)

    def norm(self, vector: np.ndarray) -> float:
        """||v||, summed in double precision; inf where it overflows."""
        return norm(vector)

    def vdot(self, a: np.ndarray, b: np.ndarray) -> complex:
        """(a, b), summed in double precision."""
        wide = accumulator(a.dtype)
        return dot(a.astype(wide, copy=False), b.astype(wide, copy=False))

    def to_host(self, vector: np.ndarray) -> np.ndarray:
        """The vector as a NumPy array; on this device the same memory."""
        return vector

    def zeros(self, size: int, dtype: np.dtype) -> np.ndarray:
        return memory.vector(size, dtype)

    def plane(self, vector: np.ndarray, plane_slice: PlaneSlice) -> np.ndarray:
        """A plane of the vector as a new array. Cost: one read of the plane."""
        return plane_slice(vector)

    def volume(self, vector: np.ndarray, volume_slice: VolumeSlice) -> np.ndarray:
        """The downsampled vector as a new array. Cost: one read of the cells that count."""
        return volume_slice(vector)

    def zero_block(self, size: int, columns: int, dtype: np.dtype) -> np.ndarray:
        """An N x columns block vector of zeros, row-major."""
        return memory.vector(size * columns, dtype).reshape(size, columns)

    def as_block(self, vector: np.ndarray) -> np.ndarray:
        """The vector as a block vector of one column, in the same memory."""
        return vector.reshape(-1, 1)

    def as_vector(self, block: np.ndarray) -> np.ndarray:
        """A block vector of one column as a vector, in the same memory."""
        return block.reshape(-1)

    def take_columns(self, block: np.ndarray, first: int, targets: Sequence[np.ndarray]) -> None:
        """targets[k] = column first + k of a block vector."""
        block_vectors.take(block, first, targets)

    def put_columns(self, sources: Sequence[np.ndarray], block: np.ndarray, first: int) -> None:
        """Column first + k of a block vector = sources[k]."""
        block_vectors.put(sources, block, first)

    def prepare_columns(self, block: np.ndarray, vectors: Sequence[np.ndarray]) -> None:
        """Compile both copies for that number of vectors."""
        block_vectors.prepare_both(block, vectors)

    def whole(self, vector: np.ndarray) -> np.ndarray:
        """The vector itself: all of its rows are in host memory."""
        return vector

    def overlap(self, a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.may_share_memory(a, b))

    def synchronize(self) -> None:
        """Kernels are done when they return."""

    def scalars(self, count: int, dtype: np.dtype) -> np.ndarray:
        return np.zeros(count, dtype)

    def clear(self, array: np.ndarray) -> None:
        array[...] = 0

    def write_scalar(self, scalars: np.ndarray, slot: int, value: complex) -> None:
        scalars[slot] = value

    def watch(self, workspace: Workspace, every: int | None) -> Watch:
        """The scalars of the last iteration, read after every one."""
        return Watch(workspace)

    def new_pass(self, *given: Any) -> OnePassOnCores:
        """One pass that is not compiled yet, of the arguments of `one_pass`."""
        return OnePassOnCores(*given)

    def settle(self) -> None:
        """Wait for kernels that are being compiled; a launch before that waits for its own kernel."""
        settle()

    compile_pass = staticmethod(compile_pass)
    bind_pass = staticmethod(bind_pass)
