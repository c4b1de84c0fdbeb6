"""A product by storage format, next to SciPy's own formats, and CuPy's on a GPU.

    python -m benchmarks formats [--output FOLDER] [--quick]

Three matrices in double precision: bands side by side, rows whose lengths follow a power law, and the 7-point operator.
Seconds are wall-clock, the device's work being waited for; rounds are interleaved, figures are medians, ratios are
medians of those within a round. `times csr` is the time over that of our CSR; `peer` that of SciPy's (CuPy's) in the
same format over ours. A format that would need more than `MOST` times the bytes of CSR is not timed. The last rows are
products of CSR with block vectors: row-major here and for SciPy, column-major for CuPy, which is faster so.
"""

from __future__ import annotations

import importlib
import re
import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.block import found, waited
from benchmarks.common import attempts, interleaved, median_ratio
from workbench import devices
from workbench.devices.host.storage import stored
from workbench.run import configure
from workbench.settings import FORMATS

MOST = 8
"""Bytes of a format that is timed, in those of CSR."""
SIZES = {"cpu": (1 << 19, 80), "opencl": (1 << 19, 80), "cuda": (1 << 22, 200)}
"""Rows of the first two matrices, and cells per side of the third."""
BANDS = 4
"""Bands on each side of the diagonal."""
EXPONENT, LONGEST = 2.2, 10_000
"""Of the power law of row lengths, and its end."""
COLUMNS = (4, 16)
"""Of the block vectors."""
WAVES = (1, 2, 4, 8, 16, 32)
"""Work-items that share a row of CSR, on GPUs."""


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    cases = {
        f"{name}, {matrix}": partial(of_matrix, name, matrix, quick=quick)
        for name in SIZES
        if found(name)
        for matrix in MATRICES
    }
    return attempts(cases)


def banded(rows: int, _cells: int) -> sparse.csr_array:
    """2 BANDS + 1 diagonals side by side."""
    offsets: Any = list(range(-BANDS, BANDS + 1))
    return sparse.diags_array([1.0 + abs(k) for k in offsets], offsets=offsets, shape=(rows, rows)).tocsr()


def power_law(rows: int, _cells: int) -> sparse.csr_array:
    """Rows of 1 to LONGEST entries in random columns, few of them long."""
    rng = np.random.default_rng(0)
    lengths = np.minimum(rng.zipf(EXPONENT, rows), min(LONGEST, rows))
    places = np.repeat(np.arange(rows), lengths), rng.integers(0, rows, lengths.sum())
    return sparse.csr_array(sparse.coo_array((rng.random(lengths.sum()), places), shape=(rows, rows)))


def seven_point(_rows: int, cells: int) -> sparse.csr_array:
    """The 7-point operator on a cube."""
    return configure("poisson7", n=cells).problem.assemble().operator.to_csr()


MATRICES = {"banded": banded, "power law": power_law, "7-point": seven_point}


def of_matrix(name: str, matrix: str, *, quick: bool) -> dict[str, Any]:
    """A row of the table for each format."""
    device: Any = devices.device(name)
    rows, cells = SIZES[name]
    A = MATRICES[matrix](rows // 16, cells // 3) if quick else MATRICES[matrix](rows, cells)
    values = np.random.default_rng(1).random(A.shape[0])
    x, out = device.array(values, values.dtype), device.zeros(values.size, values.dtype)
    words = {form: stored(form, A) for form in FORMATS}
    timed = [form for form in FORMATS if words[form].nbytes(8) <= MOST * words["csr"].nbytes(8)]
    made = {form: device.stored(A, form) for form in timed}
    if name != "cpu" and not device.layout.chunked:
        made |= {f"csr:{items}": device.stored(A, "csr", items) for items in WAVES}
    ours: dict[str, Callable[[], Any]] = {
        form: waited(device, partial(operator.apply, x, out)) for form, operator in made.items()
    }
    for columns in COLUMNS:
        block = np.random.default_rng(2).random((A.shape[0], columns))
        placed = device.array(block, block.dtype), device.array(np.zeros_like(block), block.dtype)
        product = made["csr"].block(columns).apply
        ours[f"csr, {columns} columns"] = waited(device, partial(product, *placed))
    theirs = {f"peer {form}": run for form, run in peers(name, A, values).items() if form in ours}
    seconds = interleaved(ours | theirs, 3 if quick else 15)
    return {
        "rows": A.shape[0],
        "entries": A.nnz,
        **{
            form: {
                "words": round(found.words(8)),
                "padding": found.padding,
                "not timed": f"{found.nbytes(8) / words['csr'].nbytes(8):.3g} times the bytes of CSR",
            }
            for form, found in words.items()
            if form not in made
        },
        **{form: row(form, seconds, words[re.split("[:,]", form)[0]]) for form in ours},
    }


def row(form: str, seconds: dict[str, list[float]], found: Any) -> dict[str, Any]:
    """Words, padding, microseconds and ratios of one format."""
    peer = seconds.get(f"peer {form}")
    return {
        "words": round(found.words(8)),
        "padding": found.padding,
        "us": 1e6 * statistics.median(seconds[form]),
        "times csr": median_ratio(seconds[form], seconds["csr"]),
        **({"peer": median_ratio(peer, seconds[form])} if peer else {}),
    }


def peers(name: str, A: sparse.csr_array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
    """The products of SciPy, or of CuPy on CUDA, in the formats that they have."""
    blocks = {f"csr, {s} columns": np.random.default_rng(2).random((A.shape[0], s)) for s in COLUMNS}
    if name != "cuda":
        known = {form: partial(A.asformat(form).__matmul__, x) for form in ("csr", "coo")}
        return known | {form: partial(A.__matmul__, block) for form, block in blocks.items()} | _diagonals(A, x)
    cupy, library = importlib.import_module("cupy"), importlib.import_module("cupyx.scipy.sparse")
    csr = library.csr_matrix(A)
    wait = cupy.cuda.Stream.null.synchronize

    def run(matrix: Any, placed: Any) -> None:
        matrix.dot(placed)
        wait()

    known = {"csr": partial(run, csr, cupy.asarray(x)), "coo": partial(run, csr.tocoo(), cupy.asarray(x))}
    return known | {form: partial(run, csr, cupy.asarray(block, order="F")) for form, block in blocks.items()}


def _diagonals(A: sparse.csr_array, x: np.ndarray) -> dict[str, Callable[[], Any]]:
    """SciPy's DIA, where it is of moderate size."""
    if stored("dia", A).nbytes(8) > MOST * stored("csr", A).nbytes(8):
        return {}
    return {"dia": partial(A.todia().__matmul__, x)}
