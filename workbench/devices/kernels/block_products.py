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


def csr(columns: int, width: int, *, added: bool = False, most: int = 0) -> str:
    """y = A x for a CSR matrix, or y + A x.

    width: work-items that share a column of a row, a power of two; times columns at most `GROUP`. most: entries of
    a row that is so shared; a group shares a longer one, and the numbers of these are an argument. 0: there are none.
    """
    place = f"y[row*{columns} + k]"
    common = {"columns": columns, "result": f"T_ADD({place}, sum)" if added else "sum"}
    return fill(
        "csr_block",
        width=width,
        lanes=width * columns,
        rows_per_group=rows_per_group(columns, width),
        # Where nothing is added nothing is read.
        wanted=" && starts[row] < starts[row + 1]" if added else "",
        long_arguments=", GLOBAL const INDEX* RESTRICT long_rows, const I64 longs" if most else "",
        long_rows=fill("csr_block_long", sharing=GROUP // columns, **common) if most else "",
        short=f" && starts[row + 1] - starts[row] <= {most}" if most else "",
        **common,
    )


def rows_per_group(columns: int, width: int) -> int:
    """Rows that a group of the CSR product computes at once."""
    return GROUP // (width * columns)
