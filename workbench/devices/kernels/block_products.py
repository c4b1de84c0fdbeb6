"""Kernels for N x s block vectors, row-major: a work-item computes neighbouring columns of a row."""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.source import fill

GROUP = 256
"""Work-items of a group of the CSR product."""
BYTES = 16
"""Bytes of a row that a work-item takes at once, at most."""
LEAST_LANES = 4
"""Work-items of a row, where it has as many columns."""
CHUNK = 8
"""Entries of a row that its work-items read together."""
RESIDENT = 2048
"""Work-items that fit a multiprocessor at once; the fewer registers of each, the more of them do."""
LOCAL_BYTES = 24 * 1024
"""Local memory for the entries that the rows of a group read together."""
WARP = 32
"""Work-items that share a row and wait for one another without others, at most."""


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


@dataclasses.dataclass(frozen=True)
class CsrBlock:
    """y = A x for a CSR matrix, or y + A x.

    itemsize: bytes of an element. group: work-items of a group. most: entries of a row in the loops over rows; a group
    takes longer ones, `long`, whose numbers are an argument. staged: the work-items of a row read its entries together.
    summed: with partial sums of (x_j, y_j), shape (groups, columns).
    """

    columns: int
    itemsize: int
    group: int
    most: int
    long: bool = False
    added: bool = False
    staged: bool = False
    summed: bool = False

    @property
    def vector(self) -> int:
        """Columns of a work-item; of few columns each has one."""
        most = min(BYTES // self.itemsize, self.columns // LEAST_LANES)
        return next(width for width in (4, 2, 1) if width <= max(1, most) and self.columns % width == 0)

    @property
    def lanes(self) -> int:
        """Work-items of a row."""
        return self.columns // self.vector

    @property
    def rows_per_group(self) -> int:
        """Rows that a group computes at once."""
        return self.group // self.lanes

    @property
    def may_be_staged(self) -> bool:
        """Whether the work-items of a row are within a warp."""
        return self.lanes <= WARP and WARP % self.lanes == 0

    def as_staged(self, group: int) -> CsrBlock:
        """The form in which work-items read entries together, in groups of so many, or fewer where memory is short."""
        while group > GROUP and group // self.lanes * (CHUNK + 1) * (self.itemsize + 8) > LOCAL_BYTES:
            group //= 2
        return dataclasses.replace(self, staged=True, group=group)

    @property
    def text(self) -> KernelText:
        """The kernel."""
        sizes = {"vector": self.vector, "lanes": self.lanes, "rows_per_group": self.rows_per_group}
        columns, pitch, each = self.columns, CHUNK + 1, f"for (int q = 0; q < {self.vector}; q++)"
        added = [f"const PART before = ((GLOBAL PART*)y)[row*{self.lanes} + k];"]
        added += [f"{each} sum.of[q] = T_ADD(before.of[q], sum.of[q]);"]
        shared = ["SHARED(W, room, GROUP);"] if self.summed or self.long else []
        shared += ["W long_dots = W_OF(0);"] if self.summed and self.long else []
        if self.staged:
            shared += [f"SHARED(T, entries, {self.rows_per_group * pitch});"]
            shared += [f"SHARED(INDEX, places, {self.rows_per_group * pitch});"]
        # The largest power of two below the number of rows.
        half = 1 << (self.rows_per_group - 1).bit_length() - 1 if self.rows_per_group > 1 else 0
        place, own = f"row*{columns} + column", f"partial[GROUP_ID*{columns} + LOCAL_ID]"
        long_rows = fill(
            "csr_block_long",
            columns=columns,
            sharing=self.group // columns,
            result=f"sum = T_ADD(y[{place}], sum);" if self.added else "",
            dots=f"long_dots = W_ADD(long_dots, W_DOT(x[{place}], sum));" if self.summed else "",
        )
        of_long_rows = ["BARRIER;", f"if (LOCAL_ID < {columns}) {own} = W_ADD({own}, long_dots);"] if self.long else []
        text = fill(
            "csr_block",
            bytes=self.vector * self.itemsize,
            most=self.most,
            partial=", GLOBAL W* partial" if self.summed else "",
            long_arguments=", GLOBAL const INDEX* RESTRICT long_rows, const I64 longs" if self.long else "",
            long_rows=long_rows if self.long else "",
            short=f" && there - begin <= {self.most}" if self.long else "",
            # Where nothing is added nothing is read.
            wanted=" && begin < end" if self.added else "",
            shared="\n".join(shared),
            entries=fill("csr_block_staged" if self.staged else "csr_block_direct", chunk=CHUNK, pitch=pitch, **sizes),
            added="\n".join(added) if self.added else "",
            finish=fill("csr_block_dots", columns=columns, half=half, of_long_rows="\n".join(of_long_rows), **sizes)
            if self.summed
            else "",
            **sizes,
        )
        resident = (RESIDENT if self.staged else RESIDENT * 3 // 4) // (1 + self.itemsize // 16)
        bounds = self.group, max(1, resident // self.group)
        return dataclasses.replace(KernelText.of(text, "csr_block"), bounds=bounds)
