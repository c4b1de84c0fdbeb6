"""Kernels for N x s block vectors, row-major: a work-item computes neighbouring columns of a row."""

from __future__ import annotations

import dataclasses

from workbench.devices.kernels.kernel_text import KernelText, fill

BYTES = 16
"""Bytes of a row that a work-item takes at once, at most."""
WARP = 32
"""Work-items that read the entries of their rows together, and wait for no others."""
LANES = 8
"""Work-items of a row, unless more than `PIECES` parts would be left to each: all of them read every entry of the row
from local memory."""
PIECES = 2
SHORT_ROWS, LONG_ROWS = 16, 64
"""Mean entries of a row below and from which on other forms are fastest, by the measurement in docs/benchmarks.md, as
are the numbers in `CsrBlock.of`. Large groups find more of x in the cache."""
LOADS = 4
"""Entries that a work-item has on their way; with more of them registers are spilled."""
RESIDENT, MORE_RESIDENT = 1024, 2048
"""Work-items that fit a multiprocessor of CUDA at once; more in large groups whose work-items have few real sums."""
LOCAL_BYTES = 48 * 1024
"""Local memory of a group, at most."""


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

    itemsize, wide: bytes of an element and of a sum. group: work-items of a group. vector: neighbouring columns that a
    work-item takes at once, in `pieces` places of a row; each: rows of a work-item. chunk: entries of a row that are
    read at once. most: entries of a row, at most; a group takes longer ones, `long`, whose numbers are an argument.
    summed: with partial sums of (x_j, y_j), shape (groups, columns).
    """

    columns: int
    itemsize: int
    wide: int
    most: int
    group: int
    vector: int
    pieces: int
    each: int
    chunk: int
    long: bool = False
    added: bool = False
    summed: bool = False

    @classmethod
    def of(cls, columns: int, itemsize: int, wide: int, mean: float, most: int, group: int, **form: bool) -> CsrBlock:
        """The form for rows of `mean` entries on average, in groups of at most `group` work-items."""
        least = 1 if mean < SHORT_ROWS else 2
        widths = [width for width in (4, 2, 1) if width * itemsize <= BYTES and columns % width == 0]
        vector = next((width for width in widths if columns // width >= least), 1)
        parts = columns // vector
        pieces = 1 if parts <= LANES else max(PIECES, -(-parts // WARP))
        lanes = _power(-(-parts // pieces))
        if mean < LONG_ROWS:
            each = 2 if lanes >= 2 * least else 1
            chunk, wanted = 8, 256 if lanes == each == 2 else 128
        else:
            each = max(1, lanes // LANES)
            chunk, wanted = (8, 1024) if lanes >= LANES else (16, 64 * lanes)
        chunk = max(min(chunk, LOADS * lanes // each), lanes // each)
        # A long row is read by the whole group.
        wanted = max(wanted, 256 if form.get("long") else 0)
        sizes = {"vector": vector, "pieces": pieces, "each": each, "chunk": chunk}
        plan = cls(columns, itemsize, wide, most, min(group, wanted), **sizes, **form)
        while sum(plan.local_bytes) > LOCAL_BYTES:
            plan = dataclasses.replace(plan, group=plan.group // 2)
        return plan

    @property
    def lanes(self) -> int:
        """Work-items of a row, a power of two."""
        return _power(-(-self.columns // (self.vector * self.pieces)))

    @property
    def warp_rows(self) -> int:
        """Rows of a warp."""
        return WARP // self.lanes * self.each

    @property
    def rows_per_group(self) -> int:
        """Rows of a group."""
        return self.group // WARP * self.warp_rows

    @property
    def entry_pitch(self) -> int:
        """Elements from a row to the next in local memory: rows begin in different banks."""
        return self.chunk + BYTES // self.itemsize

    @property
    def place_pitch(self) -> int:
        """Indices from a row to the next in local memory."""
        return self.chunk + 4

    @property
    def width(self) -> int:
        """Columns of the work-items of a row, some of which may be none of the matrix."""
        return self.lanes * self.pieces * self.vector

    @property
    def strips(self) -> int:
        """Sums of a column after the first step, about the square root of what there is before."""
        slots = self.group // self.lanes
        return min(1 << (slots.bit_length() - 1) // 2, self.group // self.width)

    @property
    def local_bytes(self) -> tuple[int, int]:
        """Bytes of local memory for entries, or for sums in their place, and for 64-bit indices."""
        rows, sums = self.rows_per_group, self.group * (self.width // self.lanes if self.summed else int(self.long))
        return max(rows * self.entry_pitch * self.itemsize, sums * self.wide), rows * (self.place_pitch + 2) * 8

    @property
    def text(self) -> KernelText:
        """The kernel."""
        columns, parts, rows, slots = self.columns, self.columns // self.vector, self.rows_per_group, WARP // self.lanes
        part, whole = f"k + c*{self.lanes}", self.width == columns
        sizes = {
            "vector": self.vector,
            "pieces": self.pieces,
            "each": self.each,
            "lanes": self.lanes,
            "parts": parts,
            "slots": slots,
            "chunk": self.chunk,
            "loads": self.each * self.chunk // self.lanes,
            # Where nothing is added nothing is read, unless y is summed.
            "inside": f"high[r] {'>' if self.added and not self.summed else '>='} low[r]",
        }
        sizes["inside"] += "" if whole else f" && {part} < {parts}"
        shared = ["LOCAL W* room = (LOCAL W*)entry_room;"] if self.summed or self.long else []
        shared += ["W long_dots = W_OF(0);"] if self.summed and self.long else []
        added = ["const PART before = *result;"]
        added += [f"for (int q = 0; q < {self.vector}; q++) sum[p][c].of[q] = T_ADD(before.of[q], sum[p][c].of[q]);"]
        place = f"row*{columns} + column"
        long_rows = fill(
            "csr_block_long",
            columns=columns,
            sharing=self.group // columns,
            result=f"sum = T_ADD(y[{place}], sum);" if self.added else "",
            dots=f"long_dots = W_ADD(long_dots, W_DOT(x[{place}], sum));" if self.summed else "",
        )
        finish = fill(
            "csr_block_dots",
            columns=columns,
            width=self.width,
            sums=self.group // self.lanes * self.width,
            strips=self.strips * self.width,
            of_long_rows="total = W_ADD(total, long_dots);" if self.long else "",
            **sizes,
        )
        text = fill(
            "csr_block",
            bytes=self.vector * self.itemsize,
            most=self.most + self.chunk,
            entry_room=-(-self.local_bytes[0] // self.itemsize),
            entry_pitch=self.entry_pitch,
            place_pitch=self.place_pitch,
            rows=rows,
            warp_rows=self.warp_rows,
            part=part if whole else f"({part} < {parts} ? {part} : {parts} - 1)",
            partial=", GLOBAL W* partial" if self.summed else "",
            long_arguments=", GLOBAL const INDEX* RESTRICT long_rows, const I64 longs" if self.long else "",
            long_rows=long_rows if self.long else "",
            # A row that is not computed here ends before it begins.
            end=f"end - begin <= {self.most} ? end : begin - 1" if self.long else "end",
            shared="\n".join(shared),
            fetch=fill("csr_block_fetch", **sizes),
            added="\n".join(added) if self.added else "",
            finish=finish if self.summed else "",
            **sizes,
        )
        few = self.group == MORE_RESIDENT // 2 and self.pieces * self.each == 1 and self.wide <= 8 and not self.long
        resident = MORE_RESIDENT if few else RESIDENT
        bounds = self.group, max(1, resident // self.group)
        return dataclasses.replace(KernelText.of(text, "csr_block"), bounds=bounds)


def _power(count: int) -> int:
    """The smallest power of two that is not below."""
    return 1 << (count - 1).bit_length()
