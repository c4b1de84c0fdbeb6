"""Products of N x s block vectors with small matrices on an accelerator; small matrices are in host memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import block_algebra as texts
from workbench.devices.kernels import block_passes as passes
from workbench.lines.block_passes import BlockPass

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
        return lambda: reduce().reshape(s, t)

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
        partial, total = self._room("partial", (groups, entries), wide), self._room("total", (entries,), wide)
        kernel = device.kernel(passes.text(work, s, first.dtype, wide), "block_pass", first.dtype, group=group)
        add = device.kernel(texts.SUM, "block_sum", first.dtype, group=group) if count else None
        vectors = (*(arrays[name] for name in work.arrays), *(factors[name] for name in work.factors))
        upload, groups_of_sum = device.runtime.upload, -(-count * s // texts.SUM_WIDTH)

        def run(small: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            if work.rows:
                rows = np.stack([small[name].reshape(s) for name in work.rows])
                upload(numbers.handle, np.ascontiguousarray(rows, first.dtype))
            device.launch(kernel, groups, *vectors, numbers, partial, np.int64(size), group=group)
            if add is None:
                return {}
            device.launch(add, groups_of_sum, partial, total, np.int64(groups), np.int64(count * s), group=group)
            sums = device.to_host(total).reshape(count, s)
            return {product.target: sums[p] for p, product in enumerate(work.products)}

        return run

    def _reduced(self, text: str, name: str, x: Vector, y: Vector, entries: int) -> Callable[[], np.ndarray]:
        """Computes the partial sums of a kernel over all groups, and their sum, shape (entries,)."""
        device, rows, group = self._device, x.shape[0], texts.GRAM_GROUP
        groups = max(1, min(MOST_GROUPS, rows // ROWS_PER_GROUP))
        wide = device.wide(x.dtype)
        partial, total = self._room("partial", (groups, entries), wide), self._room("total", (entries,), wide)
        kernel = device.kernel(text, name, x.dtype, group=group)
        add = device.kernel(texts.SUM, "block_sum", x.dtype, group=group)
        groups_of_sum = -(-entries // texts.SUM_WIDTH)

        def run() -> np.ndarray:
            device.launch(kernel, groups, x, y, partial, np.int64(rows), group=group)
            device.launch(add, groups_of_sum, partial, total, np.int64(groups), np.int64(entries), group=group)
            return device.to_host(total)

        return run

    def _room(self, name: str, shape: tuple[int, ...], dtype: np.dtype) -> Vector:
        key = name, shape, np.dtype(dtype)
        if key not in self._rooms:
            self._rooms[key] = self._device.empty(shape, dtype)
        return self._rooms[key]
