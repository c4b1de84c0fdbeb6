"""Tali, Vainikko: claims of the text, each with its number here: the most right-hand sides, and the wave on a processor."""

from __future__ import annotations

import statistics
import time
from typing import Any

import numpy as np

from workbench import devices
from workbench.devices.default_accelerator import default_accelerator
from workbench.extensions.papers.block_cg import printed, scaled, system
from workbench.extensions.papers.block_cg_figures import CPU, FIG6, GPU, BlockIteration
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.extensions.papers.standing import Reason, Support

MATRIX = "m_t1"
"""The matrix with the most right-hand sides."""
DRAWN = len(FIG6[MATRIX])
"""The largest number of right-hand sides in Figure 6."""
WAVES = (1, 2, 4, 8, 16, 32)
"""Work-items that share a row."""
WAVE_MATRICES = (MATRIX, "parabolic_fem")
ROUNDS = 7
"""Products of which the median counts, in turns."""
PRIVATE = Reason(
    "the paper's product keeps private arrays that grow with b, until the device refuses them; the model has no such "
    "arrays, and its rate does not fall",
    Support.PLAUSIBLE,
)
COMPARED = (
    Compared(
        printed="printed",
        modelled="modelled",
        sizes=("printed_n", "n"),
        model_of_ours=True,
        reasons={"GFLOP/s": PRIVATE},
        uncounted=lambda row: "the quotient of two printed numbers" if "over" in row["claim"] else "",
    ),
    Compared(printed="said", untried=lambda row: row["here"]),
)


def claims(max_n: int, progress: Progress) -> Reproduction:
    """The rate with the most right-hand sides and its fall, modelled, and products by the wave on a processor, measured."""
    most, rate = (printed()["claims"][name] for name in ("most_right_hand_sides", "gflops_at_most"))
    modelled: dict[int, Any] = {}
    for b in (DRAWN, most):
        progress(f"claims: {MATRIX}, b = {b}")
        modelled[b] = BlockIteration(MATRIX, max_n, b)()
    first, last = (modelled[b].modelled(GPU) for b in (DRAWN, most))
    size = {"printed_n": system(MATRIX, max_n).n, "n": modelled[most].n}
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
        f"The text has {rate:g} GFLOP/s with b = {most}, and Figure 6 {FIG6[MATRIX][-1]:g} with b = {DRAWN}: the rate falls "
        f"by {100 * (1 - rate / FIG6[MATRIX][-1]):.0f}%, which the paper does not mention. Modelled by bytes, without "
        "waits of the host.",
        f"The paper: the wave, the work-items that share a row, played no significant role on the {CPU}, where it was 1. "
        "Here a group is one wave; medians of products in single precision, in turns.",
        *scaled(max_n),
    ]
    return Reproduction("claims", "Claims of the text", rows, notes)


def _row(claim: str, **columns: object) -> dict[str, Any]:
    names = ("printed", "modelled", "printed_n", "n", "said", "here", "slowest_over_fastest", "fastest_wave")
    return {"claim": claim} | dict.fromkeys(names) | columns


def _waves(max_n: int, progress: Progress) -> list[dict[str, Any]]:
    """Times of products by the wave, on an OpenCL device that is a processor."""
    said, name = "no significant role in CPU speed", "the wave on a processor"
    found, why = default_accelerator()
    device: Any = devices.device(found) if found == "opencl" else None
    if device is None or not device.layout.chunked:
        return [_row(name, said=said, here=f"no OpenCL device here is a processor; {why}".rstrip("; "))]
    rows = []
    for matrix in WAVE_MATRICES:
        progress(f"claims: waves, {matrix}")
        seconds = wave_seconds(matrix, max_n, device)
        fastest, slowest = min(seconds, key=seconds.__getitem__), max(seconds.values())
        ratio = slowest / seconds[fastest]
        here = f"words; here the slowest of {WAVES[0]} to {WAVES[-1]} takes {ratio:.2g} times the fastest, {fastest}"
        rows.append(
            _row(f"{name}, {matrix}", said=said, here=here, slowest_over_fastest=ratio, fastest_wave=fastest)
        )
    return rows


def wave_seconds(matrix: str, max_n: int, device: Any) -> dict[int, float]:
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
