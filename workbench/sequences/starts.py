"""Start vectors of a sequence: extrapolations of earlier solutions, in which changed cells follow their new phase.

A cell that changes its phase changes its value by a jump. Left as it is, that error is as large as the solution.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.arrays.scaling import dot
from workbench.devices.interchange import in_memory_of
from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.devices.accelerator.placed_phase import PlacedPhase

KINDS = {"zero": 0, "last": 1, "linear": 2, "quadratic": 3}
"""The number of earlier solutions that each takes."""
DEFAULT = "linear"
MOST_FISCHER = 32
LARGEST_RATIO = 2.0
"""Largest ratio of two time steps; beyond it a start extrapolates no more."""


def check_start(text: str) -> int:
    """The number of earlier solutions that a start takes. Raises InputError for an unknown one."""
    if text in KINDS:
        return KINDS[text]
    found = re.fullmatch(r"fischer:(\d{1,3})", text)
    if found and 1 <= int(found[1]) <= MOST_FISCHER:
        return int(found[1])
    raise InputError(f"start is one of {', '.join(KINDS)}, or fischer:1 to fischer:{MOST_FISCHER}, got {text!r}")


class StartVectors:
    """Earlier solutions, the newest last, and the start that they give.

    kind: see `check_start`. known: start vectors whose solutions are copied. Solutions are NumPy's, or CuPy's in the
    memory of a device, as the right-hand sides are. Extrapolations are polynomials in time of degree 0, 1 or 2.
    fischer:m takes from the span of m solutions the vector with the least error in the A-norm, for m products with A
    and m^2 dot products. Source: Fischer, "Projection techniques for iterative solution of Ax = b with successive
    right-hand sides", Comput. Methods Appl. Mech. Eng. 163 (1998).
    """

    def __init__(self, kind: str, known: StartVectors | None = None) -> None:
        self.kind, self._most = kind, max(check_start(kind), 1)
        self.solutions = [x.copy() for x in known.solutions[-self._most :]] if known else []
        self.times = known.times[-self._most :] if known else []

    def note(self, x: np.ndarray, time: float) -> None:
        """Keep a solution, a copy."""
        self.solutions = [*self.solutions, x.copy()][-self._most :]
        self.times = [*self.times, time][-self._most :]

    def vector(self, time: float, b: np.ndarray, product: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """The start at a time, a new vector of shape (N,) of the kind of b. product: x -> A x."""
        known = len(self.solutions)
        # Those of a record, or of a method on another device, lie elsewhere.
        self.solutions = [in_memory_of(b, x) for x in self.solutions]
        if not known or self.kind == "zero":
            return np.zeros_like(b)
        if self.kind.startswith("fischer"):
            return self._projected(b, product)
        times = np.array(self.times)
        steps = np.diff([*times, time])
        # Over unequal steps an extrapolation would magnify errors.
        if self.kind == "last" or known == 1 or steps.max() > LARGEST_RATIO * steps.min():
            return self.solutions[-1].copy()
        start = np.zeros_like(b)
        for k, x in enumerate(self.solutions):
            others = np.delete(times, k)
            start += float(np.prod((time - others) / (times[k] - others))) * x
        return start

    def _projected(self, b: np.ndarray, product: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        products = [product(x) for x in self.solutions]
        energies = np.array([[_dot(x, y) for y in products] for x in self.solutions])
        scale = 1 / np.sqrt(np.maximum(np.diag(energies), np.finfo(float).tiny))
        right = np.array([_dot(x, b) for x in self.solutions])
        # Successive solutions are nearly dependent; what lies below rounding is left out.
        weights = scale * np.linalg.lstsq(energies * np.outer(scale, scale), scale * right, rcond=1e-12)[0]
        return sum((float(weight) * x for weight, x in zip(weights, self.solutions, strict=True)), np.zeros_like(b))


def _dot(x: Any, y: Any) -> float:
    return dot(x, y).real if isinstance(x, np.ndarray) else float(np.vdot(x, y))


def extend(
    vectors: list[Any], labels: np.ndarray | PlacedPhase, before: np.ndarray | PlacedPhase, changed: np.ndarray
) -> None:
    """Set the vectors in the changed cells, in place: to the mean over face neighbours that have had the new phase,
    each continued linearly from two cells, 2 v1 - v2, or v1 where the second is of another phase. A cell without such a
    neighbour keeps its value.

    labels, before: of the present and the last step, as of `StepSystem`. changed: flat places of the changed cells.
    """
    shape, now, then = labels.shape, labels.reshape(-1), before.reshape(-1)
    places = np.unravel_index(changed, shape)
    wanted = now[changed] > 0
    # Of each side the nearest cell and the one behind it.
    cells, within = [], []
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    for axis, stride in enumerate(strides.tolist()):
        for sign, room in ((-1, places[axis]), (1, shape[axis] - 1 - places[axis])):
            within += [room >= 1, room >= 2]
            cells += [np.where(room >= far, changed + sign * far * stride, changed) for far in (1, 2)]
    cells = np.array(cells)
    inside = now[cells] > 0
    usable = np.array(within) & (inside == (then[cells] > 0)) & (inside == wanted)
    near, far = usable[::2], usable[1::2]
    counts = near.sum(axis=0)
    found = counts > 0
    if not found.any():
        return
    weights = np.empty(cells.shape)
    weights[::2], weights[1::2] = near * (1.0 + far), -1.0 * (near & far)
    given = weights[:, found] / counts[found], cells[:, found], changed[found]
    for v in vectors:
        given = tuple(in_memory_of(v, array) for array in given)
        v[given[2]] = (given[0] * v[given[1]]).sum(axis=0)
