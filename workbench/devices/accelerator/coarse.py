"""Coarse systems on accelerators: E^-1 as a dense product, a band solve, factors or cycles, else on the host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from workbench.devices.accelerator.cycles import DeviceCycles
from workbench.devices.accelerator.dots import Dots
from workbench.devices.accelerator.launcher import Launcher
from workbench.devices.accelerator.runtime import Vector
from workbench.devices.clock import TimedCalls
from workbench.devices.coarse import MOST_DENSE_ON_GPU, Banded, Dense, Form, Levels, Triangle
from workbench.devices.kernels import cycles, deflation
from workbench.devices.ops.levels import solution
from workbench.lazy import linalg

BAND_GROUP = 64
"""Work-items that share a column of a band factor."""


class _Coarse(ABC):
    """Base of E^-1 a; the result vector is zero for dropped deflation vectors."""

    waits = False
    notes: tuple[str, ...] = ()

    def __init__(self, device: Launcher, count: int, dtype: np.dtype) -> None:
        self._device, self._count = device, count
        self.solved = device.zeros(count, device.wide(dtype))
        self._curvature = device.function(deflation.correct_curvature, self.solved.dtype)

    @abstractmethod
    def solve(self, coarse: Vector) -> Vector:
        """E^-1 a, shape (d,); overwritten by the next solve."""

    def parts(self) -> TimedCalls:
        """The calls of a solve that a trace records separately; none where it is recorded as a whole."""
        yield from ()

    def correct_curvature(self, dots: Dots, coarse: Vector, solved: Vector) -> Dots:
        """Subtract (coarse, solved) from the first dot product, (p, A p)."""
        self._curvature.launch(1, coarse, solved, dots.partial, np.int64(self._count))
        return dots


class _DenseProduct(_Coarse):
    def __init__(self, device: Launcher, form: Dense, count: int) -> None:
        super().__init__(device, count, form.inverse.dtype)
        self._matrix = device.array(form.inverse, self.solved.dtype)
        self._size = np.int64(form.inverse.shape[0])
        self._kernel = device.function(deflation.dense_product, self.solved.dtype)

    def solve(self, coarse: Vector) -> Vector:
        self._kernel.launch(self._count, self._matrix, coarse, self.solved, self._size)
        return self.solved


class _BandSolve(_Coarse):
    def __init__(self, device: Launcher, form: Banded, count: int) -> None:
        super().__init__(device, count, form.band.dtype)
        wide = self.solved.dtype
        width, size = form.band.shape[0] - 1, form.band.shape[1]
        self._factor = device.array(form.band.T, wide)
        self._order = device.array(form.order, np.int32)
        self._work = [device.zeros(size, wide) for _ in range(2)]
        self._numbers = (np.int64(size), np.int64(width), np.int64(count))
        self._group = 1 if device.layout.chunked else min(BAND_GROUP, device.layout.group)
        self._kernel = device.kernel(deflation.BAND, "band", wide, np.int32, self._group)

    def solve(self, coarse: Vector) -> Vector:
        arguments = (self._factor, self._order, coarse, self.solved, *self._work, *self._numbers)
        self._device.launch(self._kernel, 1, *arguments, group=self._group)
        return self.solved


class _FactorProducts(_Coarse):
    """E^-1 a = B^H (B a), with B the permuted L^-1: two dense products in place of a substitution, which leaves a GPU
    idle. The condition number of each is that of L, the square root of that of E. Memory 16 d^2 bytes.

    factor: L, of which the upper triangle is not read. order: the unknown at each place.
    """

    def __init__(self, device: Launcher, factor: np.ndarray, order: np.ndarray, count: int) -> None:
        super().__init__(device, count, factor.dtype)
        wide, size = self.solved.dtype, factor.shape[0]
        inverse = np.zeros((size, size), factor.dtype)
        inverse[:, order] = linalg.solve_triangular(factor, np.eye(size, dtype=factor.dtype), lower=True)
        self._half = device.zeros(size, wide)
        self._products = [device.array(matrix, wide) for matrix in (inverse, inverse.conj().T)]
        self._size = np.int64(size)
        self._kernel = device.function(deflation.dense_product, wide)

    def solve(self, coarse: Vector) -> Vector:
        first, second = self._products
        self._kernel.launch(int(self._size), first, coarse, self._half, self._size)
        self._kernel.launch(self._count, second, self._half, self.solved, self._size)
        return self.solved


class _LibrarySolve(_Coarse):
    """Two dense triangular solves by a library of the device."""

    def __init__(self, device: Launcher, factor: np.ndarray, count: int) -> None:
        super().__init__(device, count, factor.dtype)
        self._size, self._runtime = factor.shape[0], device.runtime
        self._factor = device.array(factor.T, self.solved.dtype)
        """L by columns."""

    def solve(self, coarse: Vector) -> Vector:
        runtime: Any = self._runtime
        runtime.copy(self.solved.handle, coarse.handle, self._size * self.solved.dtype.itemsize)
        runtime.cholesky_solve(self._factor.handle, self.solved.handle, self._size, self.solved.dtype)
        return self.solved


class _CycleSolve(_Coarse):
    """Cycles over levels, in their precision; about 40 launches a solve with five levels."""

    def __init__(self, device: Any, form: Levels, count: int) -> None:
        super().__init__(device, count, form.bottom.dtype)
        dtype = form.bottom.dtype
        self._cycles = DeviceCycles(device, form)
        self._order = device.array(form.order, np.int32)
        self._scale = device.array(form.scale, form.scale.dtype)
        self._sums = device.zeros(device.layout.groups_for(count), self.solved.dtype)
        self._summed = np.int64(self._sums.size if form.singular else 0)
        self._sum, self._enter = (device.function(each, dtype) for each in (cycles.total, cycles.enter))
        self._leave = solution(device.bind, form, self._cycles.solution, self.solved)

    def solve(self, coarse: Vector) -> Vector:
        self.enter(coarse)
        self._cycles.solve()
        self.leave()
        return self.solved

    def enter(self, coarse: Vector) -> None:
        """The right-hand side of the first level, without its mean where E is singular."""
        if self._summed:
            self._sum.over(self._count, coarse, self._sums)
        entering = (self._sums, self._summed, self._order, self._scale, coarse, self._cycles.right)
        self._enter.over(self._count, *entering)

    def leave(self) -> None:
        """The result from the solution of the first level."""
        self._leave()

    def parts(self) -> TimedCalls:
        yield from self._cycles.parts(self, self.solved.dtype.itemsize)


class _OnTheHost(_Coarse):
    waits = True
    notes = ("E is solved with on the host in every iteration; coarse solvers cholesky and inverse stay on the device",)

    def __init__(
        self, device: Launcher, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
    ) -> None:
        super().__init__(device, count, dtype)
        self._on_host = solve
        self._room = device.pinned((count,), self.solved.dtype)

    def solve(self, coarse: Vector) -> Vector:
        self._device.fetch(coarse, self._room)
        self._room[:] = self._on_host(self._room)
        self._device.runtime.upload(self.solved.handle, self._room)
        return self.solved


def _banded(device: Launcher, form: Banded, count: int) -> _Coarse:
    size = form.band.shape[1]
    if device.layout.chunked or size > MOST_DENSE_ON_GPU:
        return _BandSolve(device, form, count)
    factor = np.zeros((size, size), form.band.dtype)
    for below, diagonal in enumerate(form.band):
        np.fill_diagonal(factor[below:], diagonal[: size - below])
    return _FactorProducts(device, factor, form.order, count)


def _triangle(device: Launcher, form: Triangle, count: int) -> _Coarse:
    if hasattr(device.runtime, "cholesky_solve"):
        return _LibrarySolve(device, form.factor, count)
    return _FactorProducts(device, form.factor, np.arange(form.factor.shape[0]), count)


_ON_DEVICE: dict[type, Callable[[Launcher, Any, int], _Coarse]] = {
    Dense: _DenseProduct,
    Banded: _banded,
    Triangle: _triangle,
    Levels: _CycleSolve,
}
"""The forms of E^-1 that are solved on the device."""


def coarse_level(
    device: Launcher, form: Form | None, solve: Callable[[np.ndarray], np.ndarray], count: int, dtype: np.dtype
) -> _Coarse:
    """E^-1 on the device if it supports the form, else by `solve` on the host."""
    made = _ON_DEVICE.get(type(form))
    return made(device, form, count) if made else _OnTheHost(device, solve, count, dtype)
