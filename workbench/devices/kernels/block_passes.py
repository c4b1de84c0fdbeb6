"""The kernel of a pass of lines that act on every column of block vectors alone."""

from __future__ import annotations

import numpy as np

from workbench.devices.kernels.block_algebra import GRAM_GROUP
from workbench.devices.kernels.source import fill
from workbench.kernel_language.c_text import assignments, declarations, statements
from workbench.kernel_language.of_block_passes import block_pass
from workbench.lines.block_passes import BlockPass


def text(work: BlockPass, s: int, dtype: np.dtype, wide: np.dtype) -> str:
    """Arguments: the block vectors, the vectors (N,), the numbers per column, partial sums, and N.

    partial[(group*products + p)*s + k]: dot product p of column k over the rows of a group.
    """
    of, phases = block_pass(work, s, dtype, wide), GRAM_GROUP // s
    begin = [*assignments(of), *(f"W sum_{p}_ = W_OF(0);" for p in range(of.sums))]
    finish = []
    for p in range(of.sums):
        finish += [f"room[LOCAL_ID] = sum_{p}_;", "BARRIER;", "if (phase == 0) {"]
        finish += [f"    for (int m = 1; m < {phases}; m++) sum_{p}_ = W_ADD(sum_{p}_, room[m*{s} + k_]);"]
        finish += [f"    partial[(GROUP_ID*{of.sums} + {p})*{s} + k_] = sum_{p}_;", "}", "BARRIER;"]
    pieces = {"begin": begin, "row": statements(of, of.body, 0), "finish": finish}
    joined = {name: "\n".join(lines) for name, lines in pieces.items()}
    return fill("block_pass", arguments=declarations(of), s=s, phases=phases, **joined)
