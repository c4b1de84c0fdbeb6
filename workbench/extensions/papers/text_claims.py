"""Claims of the texts of Tali, Vainikko, and of Chen, with numbers from here: the most right-hand sides, the wave on a
processor, and what takes the time of line 10."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from workbench import devices
from workbench.devices.accelerator.device import Accelerator, as_accelerator
from workbench.devices.default_accelerator import default_accelerator
from workbench.devices.host.blas import on_one_thread
from workbench.extensions.papers.block_cg import printed, scaled, system
from workbench.extensions.papers.block_cg_figures import FIG6, GPU, WAITED, BlockIteration
from workbench.extensions.papers.block_cg_iteration import WAIT
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.mpcg import BOXES
from workbench.extensions.papers.mpcg_model import MPCG, box_counts, fitted
from workbench.extensions.papers.mpcg_sweeps import printed as of_mpcg
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.extensions.papers.standing import Reason, Support
from workbench.jit.threads import cores as usable_cores
from workbench.run import Run, Stopping, configure, run_through

MATRIX = "m_t1"
"""The matrix with the most right-hand sides."""
DRAWN = len(FIG6[MATRIX])
"""The largest number of right-hand sides in Figure 6."""
WAVES = (1, 2, 4, 8, 16, 32)
"""Work-items that share a row."""
WAVE_MATRICES = (MATRIX, "parabolic_fem")
ROUNDS = 5
"""Products and sums of which the median counts, in turns."""
PRIVATE = Reason(
    "as with b = 20, and the printed rate falls where that of the model does not: the paper's product keeps private "
    "arrays that grow with b, until the device refuses them, which is a candidate for the fall",
    Support.UNKNOWN,
)
IN_WORDS = Compared(printed="printed_words", untried=lambda row: row["here"])
OF_BLOCK_CG = (
    Compared(
        printed="printed",
        modelled="modelled",
        sizes=("printed_n", "n"),
        model_of_ours=True,
        reasons={"GFLOP/s": PRIVATE},
        fitted=WAITED,
        uncounted=lambda row: "the quotient of two printed numbers" if "over" in row["claim"] else "",
    ),
    IN_WORDS,
)
DIRECTIONS_ON = (10, 64)
"""Intervals per side of -u_xx - 10 u_yy = 1, solved with alternating directions."""
DOMAIN = 300
"""N of Figure 5, about which the text speaks."""
WORD = 8


def block_cg_claims(max_n: int, progress: Progress) -> Reproduction:
    """The rate with the most right-hand sides and its fall, modelled; products by the wave on a processor, measured."""
    most, rate = (printed()["claims"][name] for name in ("most_right_hand_sides", "gflops_at_most"))
    made = []
    for b in (DRAWN, most):
        progress(f"claims: {MATRIX}, b = {b}")
        made.append(BlockIteration(MATRIX, max_n, b)())
    first, last = (each.modelled(GPU, WAIT, sums=True) for each in made)
    size = {"printed_n": system(MATRIX, max_n).n, "n": made[-1].n}
    rows = [
        _row(f"GFLOP/s with b = {most}, {MATRIX}, 2080S", printed=rate, modelled=last, **size),
        _row(
            f"b = {most} over b = {DRAWN}, {MATRIX}, 2080S",
            printed=rate / FIG6[MATRIX][-1],
            modelled=last / first,
            **size,
        ),
        *_waves(max_n, progress),
    ]
    notes = [
        f"The text has {rate:g} GFLOP/s with b = {most}, and Figure 6 {FIG6[MATRIX][-1]:g} with b = {DRAWN}: the rate "
        f"falls by {100 * (1 - rate / FIG6[MATRIX][-1]):.0f}%, which the paper does not mention. Modelled as Figure 6.",
        "The paper: the wave, the work-items that share a row, played no significant role on the i5, where it was "
        "1. Here a group is one wave, whose work-items meet at barriers; medians of products in single precision.",
        *scaled(max_n),
    ]
    return Reproduction("claims", "Claims of the text", rows, notes)


def _row(claim: str, **columns: object) -> dict[str, Any]:
    names = (
        "printed",
        "modelled",
        "printed_n",
        "n",
        "printed_words",
        "here",
        "measured_slowest_over_fastest",
        "fastest_wave",
    )
    return {"claim": claim} | dict.fromkeys(names) | columns


def _waves(max_n: int, progress: Progress) -> list[dict[str, Any]]:
    """Times of products by the wave, on an OpenCL device that is a processor."""
    said, name = "no significant role in CPU speed", "the wave on a processor"
    found, why = default_accelerator()
    device = as_accelerator(devices.device(found)) if found == "opencl" else None
    if device is None or not device.layout.chunked:
        return [_row(name, printed_words=said, here=f"no OpenCL device here is a processor; {why}".rstrip("; "))]
    rows = []
    for matrix in WAVE_MATRICES:
        progress(f"claims: waves, {matrix}")
        seconds = wave_seconds(matrix, max_n, device)
        fastest, slowest = min(seconds, key=seconds.__getitem__), max(seconds.values())
        ratio = slowest / seconds[fastest]
        here = (
            f"the paper gives no number; here the slowest of {WAVES[0]} to {WAVES[-1]} takes {ratio:.2g} times as long "
            f"as the fastest, {fastest}"
        )
        rows.append(
            _row(
                f"{name}, {matrix}",
                printed_words=said,
                here=here,
                measured_slowest_over_fastest=ratio,
                fastest_wave=fastest,
            )
        )
    return rows


def wave_seconds(matrix: str, max_n: int, device: Accelerator) -> dict[int, float]:
    """Median seconds of a product in single precision, by the work-items that share a row."""
    csr = system(matrix, max_n).single.csr
    values = np.random.default_rng(0).random(csr.shape[0]).astype(csr.dtype)
    x, out = device.array(values, csr.dtype), device.zeros(values.size, csr.dtype)
    products = {wave: device.stored(csr, "csr", wave) for wave in WAVES}
    taken: dict[int, list[float]] = {wave: [] for wave in WAVES}
    for _ in range(1 + ROUNDS):
        for wave, product in products.items():
            begun = time.perf_counter()
            product.apply(x, out)
            device.synchronize()
            taken[wave].append(time.perf_counter() - begun)
    return {wave: statistics.median(each[1:]) for wave, each in taken.items()}


def mpcg_claims(max_n: int, progress: Progress) -> Reproduction:
    """Line 10 with more leaves than cores, measured, and on the master's GPU, by the model's rate."""
    master = of_mpcg()["claims"]
    cores, leaves = master["master_cores"], master["master_workers"]
    rows = [_leaves(boxes, min(DOMAIN, max_n), leaves // cores, progress) for boxes in (BOXES[0], BOXES[-1])]
    rows = [{**row, "leaves": leaves, "cores": cores} for row in rows]
    rows += [_on_gpu(boxes) for boxes in (BOXES[0], BOXES[-1])]
    rows += [_directions(n, progress) for n in sorted({min(n, max_n) for n in DIRECTIONS_ON})]
    columns = dict.fromkeys(column for row in rows for column in row)
    notes = [
        f"The paper: {leaves} leaves of the tree on {cores} cores could be why line 10 takes long. Measured here: "
        f"the same products and sums in a tree, with {leaves // cores} leaves for each core and with one, medians in "
        "turns; the matrices are in one memory, where processes of Erlang exchange messages. Other load here raises "
        "it.",
        "The paper: with cuBLAS in place of CBLAS the time was still not satisfactory. A product with an old block has "
        "4 k operations for each of its entries of 8 bytes; the least bandwidth is that of a link that copies an "
        "entry in the time which line 10 takes for it in the model of Table 3. Links of GPUs are "
        "faster. Plausible, by that model: copies do not explain it.",
    ]
    notes.append(
        "The paper, by Bridson and Greif: with ADI preconditioners the sum can be truncated without losing accuracy. "
        "It holds for two whose sum is A, as H and V without a shift; rounding adds iterations on finer grids."
    )
    found = [{column: row.get(column) for column in columns} for row in rows]
    return Reproduction("claims", "Claims of the text on line 10", found, notes)


def _leaves(boxes: str, n: int, each: int, progress: Progress) -> dict[str, Any]:
    progress(f"claims: leaves, {boxes}")
    count, cores = box_counts(boxes), usable_cores()
    seconds = tree_seconds(n, count, MPCG[DOMAIN][boxes] // 2, (cores, each * cores))
    ratio = seconds[each * cores] / seconds[cores]
    here = f"the paper gives no number; here {each} leaves a core take {ratio:.2g} times as long as one"
    return {
        "claim": f"leaves of the tree, {boxes} boxes",
        "printed_words": "could be due to",
        "here": here,
        "measured_ratio": ratio,
    }


def tree_seconds(n: int, k: int, blocks: int, leaves: Sequence[int]) -> dict[int, float]:
    """Median seconds of the sum over old blocks P_j C_j, P_j of n^2 x k and C_j of k x k, by the number of leaves."""
    rng = np.random.default_rng(0)
    # One block stands for all, as no sum depends on their entries.
    block, small = rng.random((n * n, k)), rng.random((k, k))
    taken: dict[int, list[float]] = {count: [] for count in leaves}
    with on_one_thread():
        for _ in range(1 + ROUNDS):
            for count in leaves:
                with ThreadPoolExecutor(count) as pool:
                    begun = time.perf_counter()
                    tree_sum(pool, block, small, blocks, count)
                    taken[count].append(time.perf_counter() - begun)
    return {count: statistics.median(each[1:]) for count, each in taken.items()}


def tree_sum(pool: ThreadPoolExecutor, block: np.ndarray, small: np.ndarray, blocks: int, leaves: int) -> np.ndarray:
    """`blocks` times the product of a block and a small matrix: each leaf adds the products of its share, and the sums
    of the leaves are added in pairs."""

    def leaf(share: np.ndarray) -> np.ndarray:
        total = block @ small
        for _ in share[1:]:
            total += block @ small
        return total

    sums = list(pool.map(leaf, np.array_split(np.arange(blocks), min(leaves, blocks))))
    while len(sums) > 1:
        odd = sums[len(sums) // 2 * 2 :]
        sums = [*pool.map(np.add, sums[:-1:2], sums[1::2]), *odd]
    return sums[0]


def _directions(n: int, progress: Progress) -> dict[str, Any]:
    """Iterations with alternating directions whose sum is A, with all old blocks and with the last alone."""
    progress(f"claims: alternating directions, N = {n}")
    every, last = (
        run_through(
            Run(
                configure(
                    "poisson-fd", n=n, b="10", solver=solver, preconditioner="adi:0", stopping=Stopping(rtol=1e-6)
                )
            )
        ).iterations
        for solver in ("mpcg", "mpcg:keep=1")
    )
    here = f"the paper gives no number; here {every} iterations with all old blocks, and {last} with the last alone"
    return {
        "claim": f"alternating directions, the sum truncated, N = {n}",
        "printed_words": "without losing accuracy",
        "here": here,
        "measured_iterations": every,
        "measured_with_the_last_block": last,
    }


def _on_gpu(boxes: str) -> dict[str, Any]:
    """The bandwidth of a link beyond which line 10 on a GPU gains, if its blocks are copied for every product."""
    least = 1e-9 * WORD * fitted().rate / (4 * box_counts(boxes))
    here = (
        f"the paper gives no number; by the model copies take less time than line 10 on any link above {least:.2g} GB/s"
    )
    return {
        "claim": f"cuBLAS on the master, {boxes} boxes",
        "printed_words": "still not satisfactory",
        "here": here,
        "modelled_least_GB_per_s": least,
    }
