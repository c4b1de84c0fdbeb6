"""Dot products that stay on the device, as one partial sum per group."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.dot_lines import DOTS, PRODUCT
from workbench.devices.kernels import passes
from workbench.lines import count, schedule
from workbench.lines.parse import parse
from workbench.lines.shapes import infer
from workbench.lines.types import tall_names


class Dots:
    """Partial sums of (x, y), (y, y) and (x, x), shape (3, count); the next application overwrites them."""

    def __init__(self, device: Any, dtype: np.dtype, groups: int) -> None:
        self._device, self.count = device, groups
        self.partial: Vector = device.empty((3, self.count), device.wide(dtype))

    def to_host(self) -> np.ndarray:
        """The three dot products, shape (3,)."""
        return self._device.to_host(self.partial).sum(axis=1)


class AppliedElementWise:
    """u = formula of r in a pass of its own, with (r, u), (u, u) and (r, r) where any of them is asked for."""

    def __init__(self, device: Any, operator: Any, size: int, dtype: np.dtype) -> None:
        self.element_wise = operator
        self._device, self._operators = device, {"M": operator}
        self._product = OnePass(device, PRODUCT, ("x", "y"), self._operators)
        self._product.prepare(dtype)
        self.traffic, self.flops = self._product.work(size, dtype)

    @functools.cached_property
    def _product_and_dots(self) -> OnePass:
        return OnePass(self._device, f"{PRODUCT}\n{DOTS}", ("x", "y"), self._operators)

    def apply(self, r: Vector, u: Vector, *wanted: str) -> Dots | None:
        return (self._product_and_dots if wanted else self._product).apply(r, u)


class OnePass:
    """Paper lines of one pass, applied to vectors; the three dot products, if any, are returned as `Dots`.

    Keeps no reference to the vectors, so that an object can live as long as the device.
    """

    def __init__(
        self, device: Any, text: str, names: tuple[str, ...], operators: Mapping[str, Any] | None = None
    ) -> None:
        self._device, self._names = device, names
        lines = schedule.inline(parse(text), operators or {})
        self._factors = {
            schedule.factor_name(name, factor): vector
            for name, operator in (operators or {}).items()
            for factor, vector in operator.factors.items()
        }
        known = {*names, *self._factors}
        self._shapes = infer(lines, known)
        (step,) = schedule.plan(lines, tall_names(self._shapes), known, {})
        assert isinstance(step, schedule.Pass)
        self._step = step
        self._kernels: dict[np.dtype, Any] = {}
        self._dots: tuple[Any, Dots | None] = (None, None)

    def work(self, size: int, dtype: np.dtype) -> tuple[int, int]:
        """Bytes and flops of one application to vectors of shape (size,)."""
        planned, dtype = (self._step, self._shapes, size), np.dtype(dtype)
        return count.bytes_of(*planned, lambda _: dtype.itemsize), count.flops_of(*planned, dtype)

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype, ahead of the first application."""
        if dtype not in self._kernels:
            text = passes.body(self._step, self._shapes, {}, dtype)
            scalars = self._device.scalars(0, self._device.wide(dtype))
            self._kernels[dtype] = self._device.kernel(text, "body", dtype), scalars

    def apply(self, *vectors: Vector) -> Dots | None:
        """Run on vectors of one size and dtype, in the order of the names."""
        device, first = self._device, vectors[0]
        self.prepare(first.dtype)
        kernel, scalars = self._kernels[first.dtype]
        named = {**self._factors, **dict(zip(self._names, vectors, strict=True))}
        arrays = [named[name] for name in passes.arrays_of(self._step)]
        dots = self._room(first) if self._step.dots else None
        device.launch_over(kernel, first.size, *arrays, scalars, *([dots.partial] if dots else []))
        return dots

    def _room(self, like: Vector) -> Dots:
        """Memory for the dot products, reused for vectors of the same size and dtype."""
        key, dots = self._dots
        if key != (like.dtype, like.size) or dots is None:
            dots = Dots(self._device, like.dtype, self._device.layout.groups_for(like.size))
            self._dots = (like.dtype, like.size), dots
        return dots
