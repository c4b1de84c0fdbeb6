"""Dot products that stay on the device: what every group left, to be added up by whoever needs them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.devices.accelerator.runtime import Vector
from workbench.devices.kernels import passes
from workbench.devices.lines import kinds, plan
from workbench.devices.lines.language import parse


class Dots:
    """The parts of (x, y), (y, y) and (x, x): `partial` has the shape (3, count). The next application overwrites it."""

    def __init__(self, device: Any, dtype: np.dtype, groups: int) -> None:
        self._device, self.count = device, groups
        self.partial: Vector = device.empty((3, self.count), device.wide(dtype))

    def to_host(self) -> np.ndarray:
        """The three dot products, shape (3,)."""
        return self._device.to_host(self.partial).sum(axis=1)


class SummedLines:
    """One pass of paper lines over two vectors x and y whose three dot products are left as `Dots`."""

    def __init__(
        self, device: Any, text: str, names: tuple[str, str], operators: Mapping[str, Any] | None = None
    ) -> None:
        self._device, self._names = device, names
        lines = plan.inline(parse(text), operators or {})
        factors = {
            plan.factor_name(name, factor): vector
            for name, operator in (operators or {}).items()
            for factor, vector in operator.factors.items()
        }
        self._factors = factors
        given = {*names, *factors}
        self._vectors = kinds.infer_vectors(lines, given)
        (self._step,) = plan.plan(lines, self._vectors, given, {})
        self._kernels: dict[np.dtype, Any] = {}
        self._dots: dict[tuple[np.dtype, int], Dots] = {}
        self.traffic = self.flops = 0

    def apply(self, x: Vector, y: Vector) -> Dots:
        """The dot products of x and y, y written before where the lines say so."""
        assert isinstance(self._step, plan.Pass)
        if x.dtype not in self._kernels:
            self._kernels[x.dtype] = self._device.kernel(
                passes.body(self._step, self._vectors, {}, x.dtype), "body", x.dtype
            )
            self._scalars = self._device.scalars(0, self._device.wide(x.dtype))
        key = x.dtype, x.size
        if key not in self._dots:
            self._dots[key] = Dots(self._device, x.dtype, self._device.layout.groups_for(x.size))
        given = {**self._factors, **dict(zip(self._names, (x, y), strict=True))}
        arrays = [given[name] for name in passes.arrays_of(self._step)]
        dots = self._dots[key]
        self._device.sweep(self._kernels[x.dtype], x.size, *arrays, self._scalars, dots.partial)
        self.traffic, self.flops = (2 + len(self._factors)) * x.nbytes, 7 * x.size
        return dots
