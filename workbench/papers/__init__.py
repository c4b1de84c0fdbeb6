"""Reproduction of published tables and figures: each is a function that runs the solves and compares with print."""

from __future__ import annotations

import dataclasses
from types import ModuleType

from workbench.errors import InputError
from workbench.papers import (
    block_cg,
    block_cg_figures,
    block_cg_schematics,
    hybrid_bars,
    hybrid_claims,
    hybrid_figures,
    hybrid_measured,
    hybrid_model,
    hybrid_pipecg,
    hybrid_schematics,
    mpcg,
    mpcg_figures,
    mpcg_schematics,
    two_level,
    two_level_figures,
    two_level_schematics,
)
from workbench.papers.comparison import Compared
from workbench.papers.reproduction import Progress, Reproduction, Target
from workbench.registry import unknown_name

BOUND = {"": "modelled times are lower bounds: bytes of fused kernels at nominal bandwidth, nothing waits"}
SQUARE, CUBE = (two_level.FULL_SIZE_2D, "n"), (two_level.FULL_SIZE_3D, "n")
"""The sizes of the two-level paper and ours."""


def bounded(printed: str, ours: str, modelled: str, sizes: tuple[int, str]) -> Compared:
    """A time or speed-up of the two-level paper next to ours, and to what is modelled for its machines."""
    return Compared(printed=printed, ours=ours, modelled=modelled, sizes=sizes, elsewhere=True, reasons=BOUND)


TWO_DIMENSIONS = (
    bounded("printed_cpu_s", "our_cpu_s", "modelled_cpu_s", SQUARE),
    bounded("printed_gpu_s", "our_device_s", "modelled_gpu_s", SQUARE),
    bounded("printed_speedup", "our_speedup", "modelled_speedup", SQUARE),
)
"""Of its Table 1."""
THREE_DIMENSIONS = (
    Compared(printed="printed", ours="ours", spread="range", sizes=CUBE),
    Compared(printed="printed_setup_s", ours="our_setup_s", sizes=CUBE, elsewhere=True),
    bounded("printed_s", "our_s", "modelled_s", CUBE),
    bounded("printed_speedup", "our_speedup", "modelled_speedup", CUBE),
)
"""Of its Tables 3 and 4."""
MATRIX, SIDE = ("printed_n", "n"), ("N", "N_here")
"""The paper's size and ours."""
CLAIMS = {
    "mean over": "the nominal bandwidths of the assumed hosts, and times of hybrid 3 that include its setup in the "
    "papers",
    **hybrid_bars.SPEEDUP.reasons,
}
"""Reasons of the modelled speedups; maxima are not explained."""
CACHE = {"": "the arrays fit the second-level cache of the GPU, and the model reads them from its memory"}
SWEEPS = (
    Compared(printed="printed_cpu_s", modelled="modelled_cpu_s", ours="measured_cpu_s", sizes=SIDE, elsewhere=True),
    Compared(
        printed="printed_gpu_s",
        modelled="modelled_gpu_s",
        ours=("measured_cuda_s", "measured_opencl_s"),
        sizes=SIDE,
        elsewhere=True,
        reasons=CACHE,
    ),
    Compared(printed="printed_speedup", ours="measured_speedup", sizes=SIDE, elsewhere=True),
)
"""Of Tables 1 and 2 of the MPCG paper."""
SECONDS = (Compared(printed="printed_s", modelled="modelled_s", ours="measured_s", sizes=SIDE, elsewhere=True),)
"""Of its Table 3 and Figure 5."""

GFLOPS = Compared(
    printed="printed_2080S",
    modelled="modelled_host_sums_2080S",
    ours=("cuda", "opencl"),
    sizes=MATRIX,
    model_of_ours=True,
    elsewhere=True,
)
"""Of Figures 5 and 6 of the block CG paper: rates of the GPU."""


def schematic(module: ModuleType, *figures: int) -> dict[str, Target]:
    """Figures that explain, functions of a module."""
    return {f"fig{k}": Target(getattr(module, f"fig{k}"), draws=True) for k in figures}


PAPERS: dict[str, dict[str, Target]] = {
    "two-level": {
        "table1": Target(
            two_level.table1,
            on_device=True,
            named=("preconditioner",),
            compared=TWO_DIMENSIONS,
            quick=128,
        ),
        "table2": Target(
            two_level.table2,
            on_device=True,
            smallest=128,
            named=("n", "preconditioner"),
            compared=(Compared(printed="printed", ours="ours", spread="range"),),
            quick=256,
        ),
        "table3": Target(two_level.table3, on_device=True, named=("method", "deflation"), compared=THREE_DIMENSIONS),
        "table4": Target(
            two_level.table4, on_device=True, named=("count", "method", "deflation"), compared=THREE_DIMENSIONS
        ),
        "fig1": Target(two_level_figures.fig1, draws=True),
        **schematic(two_level_schematics, 2, 3, 4, 5, 6, 7, 8),
        "fig9": Target(two_level_figures.fig9, on_device=True, draws=True, smallest=128, quick=128),
        "fig10": Target(two_level_figures.fig10, on_device=True, draws=True, smallest=128, quick=256),
        "fig11": Target(two_level_figures.fig11, on_device=True, draws=True, quick=128),
        "fig12": Target(two_level_figures.fig12, on_device=True, draws=True, quick=128),
    },
    "hybrid-pipecg": {
        "table1": Target(
            hybrid_pipecg.table1,
            named=("matrix",),
            compared=(
                Compared(printed="printed_N", ours="N"),
                Compared(printed="printed_nnz", ours="nnz"),
                Compared(printed="printed_nnz/N", ours="nnz/N"),
            ),
        ),
        "iterations": Target(hybrid_pipecg.iterations),
        "best": Target(
            hybrid_model.best_table,
            named=("matrix", "machine"),
            compared=(dataclasses.replace(hybrid_bars.BEST, printed="printed_best_hybrid"),),
        ),
        "claims": Target(
            hybrid_claims.claims,
            named=("claim", "machine"),
            compared=(Compared(printed="printed", modelled="modelled_library", reasons=CLAIMS),),
        ),
        **schematic(hybrid_schematics, 3),
        **hybrid_bars.TARGETS,
        "crossover": Target(hybrid_figures.crossover, draws=True),
        "timeline": Target(hybrid_figures.timeline, draws=True),
        "measured": Target(hybrid_measured.measured),
    },
    "block-cg": {
        "table1": Target(
            block_cg.table1,
            quick=32,
            named=("matrix",),
            compared=(
                Compared(printed="printed_n", ours="n", sizes=MATRIX),
                Compared(printed="printed_nnz", ours="nnz", sizes=MATRIX),
                Compared(printed="printed_row", ours="row_min_mean_max", sizes=MATRIX),
            ),
        ),
        "table2": Target(
            block_cg.table2,
            quick=32,
            named=("matrix",),
            compared=(Compared(printed="by_table2_Mflop", ours="pseudo_block_Mflop"),),
        ),
        **schematic(block_cg_schematics, 1, 2, 3, 4),
        "fig5": Target(
            block_cg_figures.fig5,
            quick=32,
            draws=True,
            named=("matrix",),
            compared=(
                GFLOPS,
                Compared(
                    printed="printed_i5",
                    modelled="modelled_i5",
                    ours="cpu",
                    sizes=MATRIX,
                    model_of_ours=True,
                    elsewhere=True,
                ),
            ),
        ),
        "fig6": Target(
            block_cg_figures.fig6,
            quick=32,
            draws=True,
            named=("matrix", "b"),
            compared=(GFLOPS,),
        ),
        "table3": Target(
            block_cg.table3,
            named=("device",),
            compared=(
                Compared(
                    printed="printed_most",
                    modelled="pseudo-block-cg_most",
                    reasons={
                        "": "the paper's limit is the private arrays of its product kernel, which grow with s, and "
                        "not the memory"
                    },
                ),
            ),
        ),
    },
    "mpcg": {
        "table1": Target(mpcg.table1, named=("N",), compared=SWEEPS),
        "table2": Target(mpcg.table2, named=("N",), compared=SWEEPS),
        "table3": Target(mpcg.table3, named=("N", "boxes"), compared=SECONDS),
        **schematic(mpcg_schematics, 1, 2, 3),
        "fig4": Target(mpcg_figures.fig4, draws=True, quick=128),
        "fig5": Target(mpcg_figures.fig5, draws=True, named=("boxes",), compared=SECONDS, quick=128),
        "fig6": Target(
            mpcg_figures.fig6,
            draws=True,
            named=("N",),
            compared=(
                Compared(
                    printed="printed_launches_s",
                    modelled="modelled_launches_s",
                    ours=("measured_cuda_plain_s", "measured_opencl_plain_s"),
                    sizes=SIDE,
                    elsewhere=True,
                    reasons=CACHE,
                ),
                Compared(
                    printed="printed_persistent_s",
                    ours=("measured_cuda_auto_s", "measured_opencl_auto_s"),
                    sizes=SIDE,
                    elsewhere=True,
                ),
                Compared(printed="printed_ratio", ours="ratio_to_table_1"),
            ),
        ),
    },
}


def target_of(paper: str, target: str) -> Target:
    """A table or figure of a paper. Raises InputError, which lists them, for an unknown paper or target."""
    if paper not in PAPERS:
        raise InputError(unknown_name("paper", paper, PAPERS))
    if target not in PAPERS[paper]:
        raise InputError(unknown_name(f"target of {paper}", target, PAPERS[paper]))
    return PAPERS[paper][target]


def reproduce(paper: str, target: str, max_n: int = 512, progress: Progress = lambda _: None) -> Reproduction:
    """Reproduce a table or figure of a paper with grids of at most `max_n` points per side.

    progress: called with one sentence per step. Raises InputError for an unknown paper or target, and for a max_n below
    the smallest size of the target.
    """
    chosen = target_of(paper, target)
    chosen.check(max_n, f"{paper} {target}")
    return chosen.made(max_n, progress)


__all__ = ["PAPERS", "Reproduction", "Target", "reproduce", "target_of"]
