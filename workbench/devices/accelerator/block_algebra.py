"""Products of N x s block vectors with small matrices on an accelerator, and the small matrices of block methods in its
memory, where its kernels make and use them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from workbench.devices.accelerator.bound import check_columns
from workbench.devices.accelerator.dots import FOLDED, MOST_AT_ONCE
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.clock import Clock
from workbench.devices.kernels import block_algebra as texts
from workbench.devices.kernels import parameters, passes, small
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.programs.program import HostRead
from workbench.lines.block_passes import BlockPass
from workbench.settings import HOST

STATE = "state"
"""The name of what `kernels.small` calls so."""

ONES = "1"
"""The name of a row of ones."""


class SmallMatrices(MutableMapping[str, np.ndarray]):
    """Small matrices by name, in the precision of sums; the host reads and writes them as arrays.

    Reading one waits for the device, and copies it unless no kernel has written it since. columns: of the block
    vectors. clock: of a traced run. dtype: of the small matrices. stopped: lets kernels do nothing where it is not 0.
    """

    def __init__(self, device: Launcher, dtype: np.dtype, columns: int, clock: Clock | None = None) -> None:
        self._device, self.dtype = device, device.wide(np.dtype(dtype))
        self._double = np.result_type(self.dtype, np.float64)
        self._rooms: dict[str, Vector] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._read: dict[str, np.ndarray] = {}
        self._download = clock.reading(device.to_host, "copy small matrices") if clock else device.to_host
        self.stopped = self.room(STATE, (small.state_size(columns),))

    def room(self, name: str, shape: tuple[int, ...]) -> Vector:
        """The memory of a matrix, cleared when it is first asked for."""
        if name not in self._rooms:
            self._rooms[name] = self._device.zeros(int(np.prod(shape)), self.dtype)
            self._shapes[name] = shape
        return self._rooms[name]

    def ones(self, columns: int) -> str:
        """The name of a row of ones."""
        if ONES not in self:
            self[ONES] = np.ones(columns)
        return ONES

    def kernel(
        self, step: small.Step, columns: int, more: Mapping[str, Vector | tuple[Vector, ...] | np.generic] | None = None
    ) -> Callable[[], None]:
        """A launch of a kernel of one group on matrices that are named as its parameters. more: other arguments, by
        name."""
        (function, constants, annotations), arguments = step, []
        made = self._device.function(function, self.dtype, annotations=annotations, group=small.GROUP, **constants)
        for name in step.names:
            shape = (columns, columns) if name in small.SQUARES else (columns,)
            arguments.append(more[name] if more and name in more else self.room(name, shape))
        return functools.partial(made.launch, 1, *arguments)

    def changed(self) -> None:
        """Kernels may have written any of them."""
        self._read.clear()

    def made(self, name: str, shape: tuple[int, ...]) -> None:
        """Kernels have written, or will write, a matrix of this shape."""
        self._shapes[name] = shape
        self._read.pop(name, None)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._read:
            shape = self._shapes[name]
            self._read[name] = self._download(self._rooms[name]).reshape(shape).astype(self._double)
        return self._read[name]

    def __setitem__(self, name: str, value: np.ndarray) -> None:
        values = np.ascontiguousarray(value, self.dtype)
        self._device.runtime.upload(self.room(name, values.shape).handle, values)
        self._shapes[name], self._read[name] = values.shape, values.astype(self._double)

    def __delitem__(self, name: str) -> None:
        del self._shapes[name]
        self._read.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)


ELEMENTS_PER_GROUP = 2048
"""Elements of a block vector for a group in a reduction, at least."""
MOST_GROUPS = 2112
"""Most groups of a reduction by columns, each with a partial sum for every entry of the small matrix."""
MOST_GROUPS_OF_GRAM = 264
"""Most groups of a Gram matrix: two for each multiprocessor of a large GPU, since a group holds many numbers."""


class BlockAlgebra:
    """Gram matrices, and sums of block vectors times small matrices. Work space: small matrices and partial sums.

    With `device_matrices` a function reads small matrices there and writes its results there; the host never waits.
    """

    def __init__(self, device: Launcher) -> None:
        self._device = device
        self._rooms: dict[tuple[str, tuple[int, ...], np.dtype], Vector] = {}

    def device_matrices(self, dtype: np.dtype, columns: int, clock: Clock | None) -> SmallMatrices | None:
        """Small matrices on the device, for such block vectors; None where the host adds partial sums."""
        return None if self._device.reduction == HOST else SmallMatrices(self._device, dtype, columns, clock)

    def fuses(self, columns: int) -> bool:
        """True: lines on block vectors of any number of columns are one pass."""
        return True

    def gram(
        self,
        x: Vector,
        y: Vector,
        *,
        transposed: bool = False,
        device_matrices: SmallMatrices | None = None,
        name: str = "",
    ) -> Callable[[], Any]:
        """Computes X^H Y, or X^T Y, for X (N, s) and Y (N, t), shape (s, t).

        Waits for the device and returns the matrix, or leaves it in `device_matrices` by that name.
        """
        s, t = x.shape[1], y.shape[1]
        of = KernelText.of(texts.gram(s, t, self._device.wide(x.dtype).itemsize, transposed=transposed), "block_gram")
        of = dataclasses.replace(of, bounds=(texts.GRAM_GROUP, 2))
        kernel = self._device.kernel(of, of.name, x.dtype, group=texts.GRAM_GROUP)
        start = functools.partial(self._device.launch, kernel, group=texts.GRAM_GROUP)
        return self._reduced(start, x, y, (s, t), MOST_GROUPS_OF_GRAM, device_matrices, name)

    def column_dots(
        self,
        x: Vector,
        y: Vector,
        *,
        transposed: bool = False,
        device_matrices: SmallMatrices | None = None,
        name: str = "",
    ) -> Callable[[], Any]:
        """Computes x_j^H y_j, or x_j^T y_j, of corresponding columns, shape (s,).

        Waits for the device and returns them, or leaves them in `device_matrices` by that name.
        """
        constants = {"s": x.shape[1], "transposed": transposed}
        kernel = self._device.function(texts.column_dots, x.dtype, group=texts.GRAM_GROUP, **constants)
        return self._reduced(kernel.launch, x, y, x.shape[1:], MOST_GROUPS, device_matrices, name)

    def combine(
        self,
        target: Vector,
        base: Vector | None,
        factor: Vector,
        shape: tuple[int, ...],
        *,
        sign: int = 1,
        device_matrices: SmallMatrices | None = None,
        name: str = "",
    ) -> Callable[..., None]:
        """Computes target = base + sign*factor @ small for a small matrix of that shape, (s, t), or (s,) if diagonal.

        The small matrix is that of `device_matrices` by that name; without these it is the argument of a call.
        """
        device, rows, group, wide = self._device, target.shape[0], texts.COMBINE_GROUP, self._device.wide(target.dtype)
        values = device_matrices.room(name, shape) if device_matrices is not None else self._room("small", shape, wide)
        small = values, self._stopped(device_matrices, wide)
        if len(shape) == 1:
            others = [() if each is None or device.overlap(each, target) else (each,) for each in (base, factor)]
            of = {name: (parameters.Vector,) * len(each) for name, each in zip(("base", "factor"), others, strict=True)}
            constants = {"s": shape[0], "based": base is not None, "sign": sign}
            scale = device.function(texts.scale, target.dtype, annotations=of, **constants)
            launch = functools.partial(scale.over, target.size, target, *others, *small)
        else:
            arguments = (target, target if base is None else base, factor, *small)
            plan = texts.Combine(shape[0], shape[1], base is not None, sign)
            kernel = device.kernel(plan.text, "block_combine", target.dtype, group=group)
            groups = min(-(-rows // plan.rows), MOST_GROUPS)
            launch = functools.partial(device.launch, kernel, groups, *arguments, np.int64(rows), group=group)
        if device_matrices is not None:
            return launch

        def run(small: np.ndarray) -> None:
            device.runtime.upload(values.handle, np.ascontiguousarray(small, wide))
            launch()

        return run

    def fused(
        self,
        work: BlockPass,
        arrays: Mapping[str, Vector],
        factors: Mapping[str, Vector],
        device_matrices: SmallMatrices | None = None,
    ) -> Callable[..., Any]:
        """Computes several lines in one pass.

        Without `device_matrices` the result is a function of the small matrices of one row; where it returns dot
        products, it waits for the device and copies all of them at once.
        """
        device, first, group = self._device, arrays[work.arrays[0]], texts.GRAM_GROUP
        (size, s), count = first.shape, len(work.products)
        check_columns(device.name, s, group)
        groups, wide = _groups(first, MOST_GROUPS), device.wide(first.dtype)
        if not count:
            groups = max(groups, -(-size // (group // s)))
        partial = self._room("partial", (groups, count * s), wide) if count else None
        kernel = device.kernel(passes.block_pass(work, s, first.dtype, wide), "block_pass", first.dtype, group=group)
        room = device_matrices.room if device_matrices is not None else functools.partial(self._room, dtype=wide)
        rows = {name: room(name, (s,)) for name in work.rows}
        vectors = *(arrays[name] for name in work.arrays), *(factors[name] for name in work.factors), *rows.values()
        sums = () if partial is None else (partial,)
        arguments = (*vectors, self._stopped(device_matrices, wide), *sums, np.int64(size))
        launch = functools.partial(device.launch, kernel, groups, *arguments, group=group)
        names = [product.target for product in work.products]
        if device_matrices is not None:
            return launch if partial is None else self.sums_on_device(launch, partial, device_matrices, names, (s,))

        def run(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            for name, row in rows.items():
                device.runtime.upload(row.handle, np.ascontiguousarray(small[name].reshape(s), wide))
            launch()
            return {}

        def by_name(found: np.ndarray) -> dict[str, np.ndarray]:
            return dict(zip(names, found.reshape(count, s), strict=True))

        return run if partial is None else dataclasses.replace(self._summed(run, partial), after=by_name)

    def sums_on_device(
        self,
        launch: Callable[[], object],
        partial: Vector,
        matrices: SmallMatrices,
        names: Sequence[str],
        shape: tuple[int, ...],
    ) -> Callable[[], None]:
        """Launches, and sums the rows of `partial`, (groups, entries), in `matrices` of these names and one shape."""
        # Of sums with the same name the last one counts.
        places = {name: place for place, name in enumerate(names)}
        unused = self._room("unused", shape, matrices.dtype)
        rooms = [matrices.room(name, shape) if places[name] == place else unused for place, name in enumerate(names)]
        add = self._added(partial, rooms, matrices.stopped)

        def run() -> None:
            launch()
            add()
            for name in names:
                matrices.made(name, shape)

        return run

    def _reduced(
        self,
        start: Callable[..., None],
        x: Vector,
        y: Vector,
        shape: tuple[int, ...],
        most: int,
        device_matrices: SmallMatrices | None,
        name: str,
    ) -> Callable[[], Any]:
        """Computes the partial sums of a kernel over all groups, and their sum. start: launches a number of groups."""
        groups, wide = _groups(x, most), self._device.wide(x.dtype)
        partial = self._room("partial", (groups, int(np.prod(shape))), wide)
        launch = functools.partial(start, groups, x, y, partial, np.int64(x.shape[0]))
        if device_matrices is not None:
            return self.sums_on_device(launch, partial, device_matrices, [name], shape)
        return dataclasses.replace(self._summed(launch, partial), after=lambda found: found.reshape(shape))

    def _summed(self, launch: Callable[..., object], partial: Vector) -> HostRead:
        """The sums of what a launch leaves in partial, (groups, entries), in the order of the groups."""
        device, entries = self._device, partial.shape[1]
        if device.reduction == HOST:
            return HostRead(launch, lambda _: device.to_host(partial), "partial sums", lambda found: found.sum(axis=0))
        total = self._room("total", (entries,), partial.dtype)
        add = self._added(partial, [total], self._stopped(None, partial.dtype))

        def run(*arguments: object) -> None:
            launch(*arguments)
            add()

        return HostRead(run, lambda _: device.to_host(total))

    def _added(self, partial: Vector, totals: Sequence[Vector], stopped: Vector) -> Callable[[], None]:
        """Adds partial sums, (groups, entries), whose entries belong to one total after the other."""
        groups, entries = partial.shape
        if groups <= MOST_AT_ONCE:
            return self._sums_of(partial, groups, entries, totals, stopped)
        # FOLDED consecutive rows together are one long row.
        folded = self._room("folded", (FOLDED, entries), partial.dtype)
        first = self._sums_of(partial, groups // FOLDED, FOLDED * entries, [folded], stopped)
        then = self._sums_of(folded, FOLDED, entries, totals, stopped)

        def both() -> None:
            first()
            then()

        return both

    def _sums_of(
        self, partial: Vector, rows: int, entries: int, totals: Sequence[Vector], stopped: Vector
    ) -> Callable[[], None]:
        """The launch that adds `rows` rows of `entries` entries."""
        count, at_once = len(totals), -(-entries // texts.SUM_WIDTH)
        given = {
            "annotations": {"totals": (parameters.Sums,) * count},
            "group": texts.GRAM_GROUP,
            "count": count,
        }
        kernel = self._device.function(texts.add_parts, partial.dtype, **given)
        return functools.partial(
            kernel.launch, at_once, partial, stopped, tuple(totals), np.int64(rows), np.int64(entries)
        )

    def _stopped(self, device_matrices: SmallMatrices | None, wide: np.dtype) -> Vector:
        """The flag that stops kernels; it is never set without small matrices on the device."""
        return device_matrices.stopped if device_matrices is not None else self._room("never stopped", (1,), wide)

    def _room(self, name: str, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        key = name, shape, np.dtype(dtype)
        if key not in self._rooms:
            made = self._device.empty(shape, dtype)
            self._device.runtime.clear(made.handle, made.nbytes)
            self._rooms[key] = made
        return self._rooms[key]


def _groups(block: Vector, most: int) -> int:
    """Groups of a reduction over the rows of a block vector."""
    return max(1, min(most, block.size // ELEMENTS_PER_GROUP))
