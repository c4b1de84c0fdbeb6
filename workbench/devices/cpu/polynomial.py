"""One step of the Chebyshev iteration as one pass."""

from __future__ import annotations

import numpy as np

from workbench.jit.compiled import REORDERED, kernel
from workbench.jit.dot_sums import total
from workbench.jit.threads import chunks_of, launch, prepare
from workbench.jit.work_stealing import shared, threads
from workbench.lines.types import accumulator


class ChebyshevStep:
    """p = a p + b D^-1 (r - s) and u = u + p, with (r, u), (u, u) and (r, r); the first step takes s = p = u = 0.

    inverse: 1/D, shape (N,).
    """

    def __init__(self, inverse: np.ndarray) -> None:
        self._inverse = inverse
        self._real = np.finfo(inverse.dtype).dtype.type
        self._dots = np.zeros(3, accumulator(inverse.dtype))
        self._partial = np.zeros((chunks_of(inverse.size), 3), self._dots.dtype)
        numbers = (self._real(0), self._real(0), True)
        prepare(_step, *[inverse] * 5, *numbers, self._partial, self._dots)

    def apply(
        self, r: np.ndarray, s: np.ndarray, p: np.ndarray, u: np.ndarray, a: float, b: float, *, first: bool
    ) -> np.ndarray:
        """One step, in place."""
        numbers = (self._real(a), self._real(b), first)
        launch(r.size, _step, self._inverse, r, s, p, u, *numbers, self._partial, self._dots)
        return self._dots

    def traffic(self, *, first: bool) -> int:
        return (4 if first else 7) * self._inverse.nbytes

    @property
    def flops(self) -> int:
        return (14 if self._inverse.dtype.kind == "c" else 5) * self._inverse.size


@kernel(error_model="numpy", fastmath=REORDERED)
def _step(taken, inverse, r, s, p, u, a, b, first, partial, dots):  # pragma: no cover
    wide = dots.dtype.type
    size, chunks = r.size, partial.shape[0]
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            low, high = size * chunk // chunks, size * (chunk + 1) // chunks
            c_d, c_r, c_s, c_p, c_u = inverse[low:high], r[low:high], s[low:high], p[low:high], u[low:high]
            ru, uu, rr = wide(0), wide(0), wide(0)
            if first:
                for i in range(high - low):
                    step = b * c_d[i] * c_r[i]
                    c_p[i] = step
                    c_u[i] = step
            else:
                for i in range(high - low):
                    step = a * c_p[i] + b * c_d[i] * (c_r[i] - c_s[i])
                    c_p[i] = step
                    c_u[i] += step
            for i in range(high - low):
                left, right = wide(c_r[i]), wide(c_u[i])
                ru += np.conj(left) * right
                uu += np.conj(right) * right
                rr += np.conj(left) * left
            partial[chunk, 0], partial[chunk, 1], partial[chunk, 2] = ru, uu, rr
    total(partial, dots)
