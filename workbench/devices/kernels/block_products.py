"""Kernels for N x s block vectors, row-major: a work-item computes one column of a row."""

from __future__ import annotations

from workbench.devices.kernels.source import fill

GROUP = 256
"""Work-items of a group of the CSR product."""


def column_copies(count: int, *, taken: bool) -> str:
    """Vectors 0, .., count - 1 = columns of a block vector, or the other way round."""
    names = [f"v{k}" for k in range(count)]
    sides = ["vector[i]", "block[i*columns + first + k]"]
    return fill(
        "block_columns",
        count=count,
        arguments=", ".join(f"GLOBAL T* {name}" for name in names),
        choice="".join(f"k == {k} ? {name} : " for k, name in enumerate(names[:-1])) + names[-1],
        copy=" = ".join(sides if taken else sides[::-1]),
    )


def csr(columns: int, width: int, *, added: bool = False) -> str:
    """y = A x for a CSR matrix, or y + A x.

    width: work-items that share a column of a row, a power of two; times columns at most `GROUP`.
    """
    place = f"y[row*{columns} + k]"
    return fill(
        "csr_block",
        columns=columns,
        width=width,
        lanes=width * columns,
        rows_per_group=rows_per_group(columns, width),
        result=f"T_ADD({place}, sum)" if added else "sum",
        # Where nothing is added nothing is read.
        wanted=" && starts[row] < starts[row + 1]" if added else "",
    )


def rows_per_group(columns: int, width: int) -> int:
    """Rows that a group of the CSR product computes at once."""
    return GROUP // (width * columns)
