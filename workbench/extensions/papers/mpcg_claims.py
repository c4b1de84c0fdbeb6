"""Chen: the causes that the text gives for the time of line 10, each with a number: leaves of the tree, and cuBLAS."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench.devices.host.blas import on_one_thread
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.mpcg import BOXES
from workbench.extensions.papers.mpcg_model import MPCG, box_counts, fitted
from workbench.extensions.papers.mpcg_sweeps import printed
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.jit.threads import cores as usable_cores

DOMAIN = 300
"""N of Figure 5, about which the text speaks."""
ROUNDS = 5
"""Sums of which the median counts, in turns."""
WORD = 8
COMPARED = (Compared(printed="said", untried=lambda row: row["here"]),)


def claims(max_n: int, progress: Progress) -> Reproduction:
    """Line 10 with more leaves than cores, measured, and on the master's GPU, by the model's rate."""
    master = printed()["claims"]
    cores, leaves = master["master_cores"], master["master_workers"]
    rows = [_leaves(boxes, min(DOMAIN, max_n), leaves // cores, progress) for boxes in (BOXES[0], BOXES[-1])]
    rows = [{**row, "leaves": leaves, "cores": cores} for row in rows]
    rows += [_on_gpu(boxes) for boxes in (BOXES[0], BOXES[-1])]
    columns = dict.fromkeys(column for row in rows for column in row)
    notes = [
        f"The paper: {leaves} leaves of the tree on {cores} cores could be why line 10 takes long. Here the same products "
        f"and sums in a tree, with {leaves // cores} leaves for each core and with one, medians in turns; the matrices "
        "are in one memory, where processes of Erlang exchange messages.",
        "The paper: with cuBLAS in place of CBLAS the time was still not satisfactory. A product with an old block has 4 k "
        "operations for each of its entries of 8 bytes; the least bandwidth is that of a link that copies an entry in the "
        "time which line 10 takes for it in the model of Table 3. Links of GPUs are faster, so that copies are no reason.",
    ]
    found = [{column: row.get(column) for column in columns} for row in rows]
    return Reproduction("claims", "Claims of the text on line 10", found, notes)


def _leaves(boxes: str, n: int, each: int, progress: Progress) -> dict[str, Any]:
    progress(f"claims: leaves, {boxes}")
    count, cores = box_counts(boxes), usable_cores()
    seconds = tree_seconds(n, count, MPCG[DOMAIN][boxes] // 2, (cores, each * cores))
    ratio = seconds[each * cores] / seconds[cores]
    here = f"it gives no number; here {each} leaves a core take {ratio:.2g} times as long as one"
    return {"claim": f"leaves of the tree, {boxes} boxes", "said": "could be due to", "here": here, "ratio": ratio}


def tree_seconds(n: int, k: int, blocks: int, leaves: Sequence[int]) -> dict[int, float]:
    """Median seconds of the sum over old blocks P_j C_j, P_j of n^2 x k and C_j of k x k, by the number of leaves.

    A leaf adds the products of its blocks; the sums of the leaves are added in pairs. Each leaf is a thread.
    """
    rng = np.random.default_rng(0)
    # One block stands for all, as no sum depends on their entries.
    block, small = rng.random((n * n, k)), rng.random((k, k))

    def leaf(count: int) -> np.ndarray:
        total = block @ small
        for _ in range(count - 1):
            total += block @ small
        return total

    taken: dict[int, list[float]] = {count: [] for count in leaves}
    with on_one_thread():
        for _ in range(1 + ROUNDS):
            for count in leaves:
                shares = [len(part) for part in np.array_split(np.arange(blocks), min(count, blocks))]
                with ThreadPoolExecutor(len(shares)) as pool:
                    begun = time.perf_counter()
                    sums = list(pool.map(leaf, shares))
                    while len(sums) > 1:
                        odd = sums[len(sums) // 2 * 2 :]
                        sums = [*pool.map(np.add, sums[0 : len(sums) - 1 : 2], sums[1::2]), *odd]
                    taken[count].append(time.perf_counter() - begun)
    return {count: statistics.median(each[1:]) for count, each in taken.items()}


def _on_gpu(boxes: str) -> dict[str, Any]:
    """The bandwidth of a link beyond which line 10 on a GPU gains, if its blocks are copied for every product."""
    least = 1e-9 * WORD * fitted().rate / (4 * box_counts(boxes))
    here = f"it gives no number; by the model copies take less time than line 10 on any link above {least:.2g} GB/s"
    return {
        "claim": f"cuBLAS on the master, {boxes} boxes",
        "said": "still not satisfactory",
        "here": here,
        "least_GB_per_s": least,
    }
