"""The norm ||L D^-1||_inf of the lower triangle L and the diagonal D of a stencil: Neumann series converge below 1."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.compiler.words import shared, threads
from workbench.devices.host.face_codes import FaceCodes
from workbench.jit.compiled import kernel
from workbench.jit.threads import CHUNK, chunks_of, launch


def norm_of_bands(main: np.ndarray, lower: Sequence[np.ndarray], strides: Sequence[int]) -> float:
    """The norm for a diagonal without zeros and lower bands, lower[k][i] = A[i, i - strides[k]]. Cost: reads each band,
    and the diagonal once for each, in pieces that fit a cache."""
    largest = 0.0
    for first in range(0, main.size, CHUNK):
        sums = np.zeros(min(CHUNK, main.size - first))
        for band, stride in zip(lower, strides, strict=True):
            begin, end = max(first, stride), first + sums.size
            if begin < end:
                sums[begin - first :] += np.abs(band[begin:end]) / np.abs(main[begin - stride : end - stride])
        largest = max(largest, float(sums.max()))
    return largest


def norm_of_faces(faces: FaceCodes, inverse: np.ndarray) -> float:
    """The norm for a diffusion operator as codes of faces. inverse: D^-1, shape (N,). Cost: one pass over both."""
    largest = np.zeros(chunks_of(faces.size))
    strides = np.array(faces.strides, np.int64)
    launch(faces.size, _largest_sum, faces.codes, faces.values, inverse, strides, largest)
    return float(largest.max())


@kernel()
def _largest_sum(taken, codes, values, inverse, strides, largest):  # pragma: no cover
    chunks = largest.size
    for thread in threads(taken):
        for chunk in shared(taken, thread, chunks):
            found = 0.0
            for i in range(codes.size * chunk // chunks, codes.size * (chunk + 1) // chunks):
                total = 0.0
                for k in range(strides.size):
                    face = values[(codes[i] >> (2 * k)) & 3]
                    # A cell at a lower edge has no face there, nor a neighbour.
                    if face > 0:
                        total += face * inverse[i - strides[k]]
                found = max(found, total)
            largest[chunk] = found
