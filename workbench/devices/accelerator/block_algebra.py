"""Products of N x s block vectors with small matrices on an accelerator; small matrices are in host memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import block_algebra as texts
from workbench.devices.kernels import block_passes as passes
from workbench.devices.programs.host_read import HostRead
from workbench.lines.block_passes import BlockPass
from workbench.settings import HOST

ROWS_PER_GROUP = 1024
"""Rows of a group in a reduction, at least."""
MOST_GROUPS = 1056
"""Most groups of a reduction, each with a partial sum for every entry of the small matrix."""

MOST_GROUPS_OF_PRODUCT = 2 * MOST_GROUPS


class BlockAlgebra:
    """Gram matrices, and sums of block vectors times small matrices. Work space: small matrices and partial sums."""

    def __init__(self, device: Launcher) -> None:
        self._device = device
        self._rooms: dict[tuple[Any, ...], Vector] = {}

    def gram(self, x: Vector, y: Vector, *, transposed: bool = False) -> Callable[[], np.ndarray]:
        """Computes X^H Y, or X^T Y, for X (N, s) and Y (N, t), shape (s, t); waits for the device."""
        s, t = x.shape[1], y.shape[1]
        reduce = self._reduced(texts.gram(s, t, transposed=transposed), "block_gram", x, y, s * t)
        return dataclasses.replace(reduce, after=lambda sums: sums.reshape(s, t))

    def column_dots(self, x: Vector, y: Vector, *, transposed: bool = False) -> Callable[[], np.ndarray]:
        """Computes x_j^H y_j, or x_j^T y_j, of corresponding columns, shape (s,); waits for the device."""
        return self._reduced(texts.dots(x.shape[1], transposed=transposed), "block_dots", x, y, x.shape[1])

    def combine(
        self, target: Vector, base: Vector | None, factor: Vector, shape: tuple[int, ...]
    ) -> Callable[[np.ndarray], None]:
        """Computes target = base + factor @ small for a small matrix of that shape, (s, t), or (s,) if diagonal."""
        device, rows, group = self._device, target.shape[0], texts.COMBINE_GROUP
        values = self._room("small", shape, target.dtype)
        arguments = (target, target if base is None else base, factor, values)
        upload = device.runtime.upload
        if len(shape) == 1:
            scale = device.kernel(texts.scale(shape[0], based=base is not None), "block_scale", target.dtype)

            def run(small: np.ndarray) -> None:
                upload(values.handle, np.ascontiguousarray(small, target.dtype))
                device.launch_over(scale, target.size, *arguments)

            return run
        plan = texts.Combine(shape[0], shape[1], base is not None)
        kernel = device.kernel(plan.text, "block_combine", target.dtype, group=group)
        groups = min(-(-rows // plan.rows), MOST_GROUPS_OF_PRODUCT)

        def run_product(small: np.ndarray) -> None:
            upload(values.handle, np.ascontiguousarray(small, target.dtype))
            device.launch(kernel, groups, *arguments, np.int64(rows), group=group)

        return run_product

    def fused(
        self, work: BlockPass, arrays: Mapping[str, Vector], factors: Mapping[str, Vector]
    ) -> Callable[[Mapping[str, np.ndarray]], dict[str, np.ndarray]]:
        """Several lines in one pass, as a function of the small matrices of one row; waits for the device where it
        returns dot products, which it copies together."""
        device, first, group = self._device, arrays[work.arrays[0]], texts.GRAM_GROUP
        (size, s), count = first.shape, len(work.products)
        groups = max(1, min(MOST_GROUPS, size // ROWS_PER_GROUP))
        numbers = self._room("numbers", (max(1, len(work.rows)), s), first.dtype)
        wide = device.wide(first.dtype)
        entries = max(1, count) * s
        partial = self._room("partial", (groups, entries), wide)
        kernel = device.kernel(passes.text(work, s, first.dtype, wide), "block_pass", first.dtype, group=group)
        vectors = (*(arrays[name] for name in work.arrays), *(factors[name] for name in work.factors))
        upload = device.runtime.upload

        def run(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            if work.rows:
                rows = np.stack([small[name].reshape(s) for name in work.rows])
                upload(numbers.handle, np.ascontiguousarray(rows, first.dtype))
            device.launch(kernel, groups, *vectors, numbers, partial, np.int64(size), group=group)
            return {}

        def by_name(sums: np.ndarray) -> dict[str, np.ndarray]:
            rows = sums.reshape(count, s)
            return {product.target: rows[p] for p, product in enumerate(work.products)}

        return dataclasses.replace(self._summed(run, partial, first.dtype), after=by_name) if count else run

    def _reduced(self, text: str, name: str, x: Vector, y: Vector, entries: int) -> HostRead:
        """Computes the partial sums of a kernel over all groups, and their sum, shape (entries,)."""
        device, rows, group = self._device, x.shape[0], texts.GRAM_GROUP
        groups = max(1, min(MOST_GROUPS, rows // ROWS_PER_GROUP))
        wide = device.wide(x.dtype)
        partial = self._room("partial", (groups, entries), wide)
        kernel = device.kernel(text, name, x.dtype, group=group)
        return self._summed(
            lambda: device.launch(kernel, groups, x, y, partial, np.int64(rows), group=group), partial, x.dtype
        )

    def _summed(self, launch: Callable[..., Any], partial: Vector, dtype: np.dtype) -> HostRead:
        """The sums of what a launch leaves in partial, (groups, entries), in the order of the groups."""
        device, (groups, entries), group = self._device, partial.shape, texts.GRAM_GROUP
        if device.reduction == HOST:
            return HostRead(launch, lambda _: device.to_host(partial), "partial sums", lambda found: found.sum(axis=0))
        total = self._room("total", (entries,), partial.dtype)
        add = device.kernel(texts.SUM, "block_sum", dtype, group=group)
        numbers = -(-entries // texts.SUM_WIDTH), partial, total, np.int64(groups), np.int64(entries)

        def run(*arguments: Any) -> None:
            launch(*arguments)
            device.launch(add, *numbers, group=group)

        return HostRead(run, lambda _: device.to_host(total))

    def _room(self, name: str, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        key = name, shape, np.dtype(dtype)
        if key not in self._rooms:
            self._rooms[key] = self._device.empty(shape, dtype)
        return self._rooms[key]
