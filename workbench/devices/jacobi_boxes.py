"""Jacobi sweeps on many boxes: the data of the operator, checked once for all devices.

Sweep: z = D^-1 (r - (L + L^T) z), from z = 0, so that the first one is z = D^-1 r. Source: Chen 2022,
section 1.4 and Algorithm 2: the subdomain solver.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError, quoted

PRECISIONS = {
    "float64": (np.dtype(np.float64), np.dtype(np.float64)),
    "float32": (np.dtype(np.float32), np.dtype(np.float32)),
    "mixed": (np.dtype(np.float64), np.dtype(np.float32)),
}
"""Dtype of the vectors, and of the sweeps. Mixed: r of a box is divided by its largest magnitude before it is rounded
to float32, and z is multiplied by it."""


@dataclasses.dataclass(frozen=True, eq=False)
class JacobiBoxes:
    """k boxes of a 5-point operator with zero Dirichlet values outside, and the number of sweeps.

    shapes: (ny, nx) of every box; its unknowns are consecutive in the local vector, x fastest, box after box.
    main, lower_x, lower_y: D and the lower bands along x and y: constant coefficients, one number per box, shape (k,)
    (or one number for all of them), or variable ones, each of shape (n_loc,), entries (i, i - 1) and (i, i - nx) at i;
    those across the edge of a box must be 0. sweeps: at least 1. precision: a name of PRECISIONS.

    Raises InputError for wrong shapes, numbers that are not finite, a zero in D, couplings across an edge, no sweep and
    an unknown precision.
    """

    shapes: tuple[tuple[int, int], ...]
    main: np.ndarray
    lower_x: np.ndarray
    lower_y: np.ndarray
    sweeps: int
    precision: str

    @classmethod
    def of(
        cls,
        shapes: Sequence[tuple[int, int]],
        main: np.ndarray | float,
        lower_x: np.ndarray | float,
        lower_y: np.ndarray | float,
        sweeps: int,
        precision: str,
    ) -> JacobiBoxes:
        """Checked data. Constant coefficients are kept in float64; variable ones are converted on the device."""
        if precision not in PRECISIONS:
            raise InputError(f"unknown precision {quoted(precision)} of Jacobi sweeps; known: {', '.join(PRECISIONS)}")
        if sweeps < 1:
            raise InputError(f"a Jacobi box solver makes at least 1 sweep, got {sweeps}")
        if not shapes:
            raise InputError("Jacobi sweeps need at least one box, got none")
        boxes = tuple((int(rows), int(width)) for rows, width in shapes)
        if empty := [shape for shape in boxes if min(shape) < 1]:
            raise InputError(f"a box needs at least one unknown per side, got {empty[0]} (ny, nx)")
        named = {"main": main, "lower_x": lower_x, "lower_y": lower_y}
        main, lower_x, lower_y = _coefficients(named, len(boxes), _total(boxes))
        made = cls(boxes, main, lower_x, lower_y, int(sweeps), precision)
        made._check()
        return made

    def _check(self) -> None:
        if not np.all(self.main):
            raise InputError(f"main has a zero at {int(np.argmin(self.main != 0))}; Jacobi sweeps divide by it")
        if self.constant:
            return
        for name, band, axis in (("lower_x", self.lower_x, 1), ("lower_y", self.lower_y, 0)):
            for k, (start, shape) in enumerate(zip(self.starts, self.shapes, strict=True)):
                box = band[start : start + math.prod(shape)].reshape(shape)
                if np.any(np.take(box, 0, axis)):
                    raise InputError(f"{name} couples box {k} across its edge; those entries must be 0")

    @property
    def constant(self) -> bool:
        """True if each box has three numbers instead of three arrays."""
        # A single unknown in every box: both forms mean the same.
        return self.main.size == len(self.shapes)

    @property
    def size(self) -> int:
        """Unknowns of all boxes, n_loc."""
        return _total(self.shapes)

    @property
    def starts(self) -> list[int]:
        """First place of each box in the local vector."""
        return [0, *np.cumsum([math.prod(shape) for shape in self.shapes])[:-1].tolist()]

    @property
    def outer(self) -> np.dtype:
        """The dtype of r and z."""
        return PRECISIONS[self.precision][0]

    @property
    def inner(self) -> np.dtype:
        """The dtype of the sweeps."""
        return PRECISIONS[self.precision][1]

    @property
    def mixed(self) -> bool:
        """True if r is scaled and rounded before the sweeps."""
        return self.outer != self.inner

    @property
    def numbers(self) -> np.ndarray:
        """1/D, and both bands over D, of each box with constant coefficients, shape (k, 3), dtype of the sweeps."""
        return np.stack([1 / self.main, self.lower_x / self.main, self.lower_y / self.main], axis=1).astype(self.inner)

    @property
    def words(self) -> int:
        """Numbers per unknown that a pass over memory reads and writes: z twice, the right-hand side, coefficients."""
        return 3 if self.constant else 6

    def traffic(self, passes: int) -> int:
        """Bytes of that many passes of sweeps, and of the conversion of r and z before and after them."""
        conversions = 2 * self.outer.itemsize + (3 + (not self.constant)) * self.inner.itemsize
        return (passes * self.words * self.inner.itemsize + conversions) * self.size

    @property
    def flops(self) -> int:
        """Real operations: 6 per unknown and sweep after the first with constant coefficients, else 9; fused ones count
        as two, and edges as all others."""
        return (1 + (self.sweeps - 1) * (6 if self.constant else 9)) * self.size

    def check_kernel(self, kernel: str, known: Sequence[str], device: str) -> None:
        """Raise InputError for a kernel that the device does not have."""
        if kernel not in ("auto", *known):
            raise InputError(
                f"device {device} has no Jacobi kernel {quoted(kernel)}; choose one of auto, {', '.join(known)}"
            )


def _coefficients(named: dict[str, np.ndarray | float], boxes: int, total: int) -> list[np.ndarray]:
    arrays = {name: np.asarray(values) for name, values in named.items()}
    arrays = {name: np.full(boxes, values) if values.ndim == 0 else values for name, values in arrays.items()}
    sizes = {values.shape for values in arrays.values()}
    if len(sizes) > 1 or not sizes <= {(boxes,), (total,)}:
        found = ", ".join(f"{name} {values.shape}" for name, values in arrays.items())
        raise InputError(f"coefficients have shape ({boxes},), a number per box, or ({total},), got {found}")
    for name, values in arrays.items():
        if values.dtype.kind not in "fiu":
            raise InputError(f"Jacobi sweeps compute with real numbers, got {name} of dtype {values.dtype}")
        if not np.isfinite(values).all():
            raise InputError(f"{name} holds NaN or infinity at {int(np.argmin(np.isfinite(values)))}")
    if sizes == {(boxes,)}:
        return [values.astype(np.float64) for values in arrays.values()]
    return list(arrays.values())


def _total(shapes: Sequence[tuple[int, int]]) -> int:
    return sum(rows * width for rows, width in shapes)
