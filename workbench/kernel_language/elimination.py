"""Small systems of equations among scalars, in the grammar of kernels."""

from __future__ import annotations


def solve(scalars, matrix, right, target, copied, *, n, m):
    """Gaussian elimination with row exchanges, for n unknowns and m right-hand sides, n^3/3 + n^2 m multiplications.

    matrix, right, target: where these begin in `scalars`. copied: where n^2 numbers may be overwritten. A singular
    matrix gives infinities or NaN, no error.
    """
    for k in range(n * n):
        scalars[copied + k] = scalars[matrix + k]
    for k in range(n * m):
        scalars[target + k] = scalars[right + k]
    for p in range(n):
        top = p
        for i in range(p + 1, n):
            if abs(scalars[copied + i * n + p]) > abs(scalars[copied + top * n + p]):
                top = i
        for k in range(n):
            value = scalars[copied + p * n + k]
            scalars[copied + p * n + k] = scalars[copied + top * n + k]
            scalars[copied + top * n + k] = value
        for k in range(m):
            value = scalars[target + p * m + k]
            scalars[target + p * m + k] = scalars[target + top * m + k]
            scalars[target + top * m + k] = value
        for i in range(p + 1, n):
            factor = scalars[copied + i * n + p] / scalars[copied + p * n + p]
            for k in range(p, n):
                scalars[copied + i * n + k] -= factor * scalars[copied + p * n + k]
            for k in range(m):
                scalars[target + i * m + k] -= factor * scalars[target + p * m + k]
    for q in range(n):
        last = n - 1 - q
        for k in range(m):
            value = scalars[target + last * m + k]
            for i in range(last + 1, n):
                value -= scalars[copied + last * n + i] * scalars[target + i * m + k]
            scalars[target + last * m + k] = value / scalars[copied + last * n + last]
