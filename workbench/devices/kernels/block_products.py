"""Kernels for N x s block vectors, row-major: a work-item computes a row for all s columns."""

from __future__ import annotations

from workbench.devices.kernels.products import stencil_arguments
from workbench.devices.kernels.source import fill, read

TAKE = read("take_column")
"""column = column k of a block vector."""

PUT = read("put_column")
"""Column k of a block vector = column."""


def csr(columns: int) -> str:
    """y = A x for a CSR matrix."""
    return fill("csr_block", columns=columns, add=_added("data[j]", "x[from + k]", columns))


def stencil(bands: int, columns: int, *, constant: bool) -> str:
    """y = A x for a diagonal and lower bands at distances d0 < d1 < ..; a constant diagonal is one number."""
    below = [(f"i >= d{k}", f"low{k}[i]", f"i - d{k}") for k in range(bands)]
    above = [(f"i + d{k} < n", f"T_CONJ(low{k}[i + d{k}])", f"i + d{k}") for k in range(bands)]
    neighbours = [
        f"if ({test}) {{ {_added(entry, f'x[({row})*{columns} + k]', columns)} }}" for test, entry, row in below + above
    ]
    return fill(
        "stencil_block",
        **stencil_arguments(bands),
        columns=columns,
        diagonal_entry="diagonal[0]" if constant else "diagonal[i]",
        neighbours="\n".join(neighbours),
    )


def _added(entry: str, factor: str, columns: int) -> str:
    """The statements that add entry*factor to the sums of all columns."""
    return fill("block_add", entry=entry, factor=factor, columns=columns).strip()
