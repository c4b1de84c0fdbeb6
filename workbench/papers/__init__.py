"""Reproduction of published tables and figures: each is a function that runs the solves and compares with print."""

from __future__ import annotations

from collections.abc import Callable

from workbench.errors import InputError
from workbench.papers import (
    block_cg,
    block_cg_figures,
    hybrid_claims,
    hybrid_figures,
    hybrid_measured,
    hybrid_model,
    hybrid_pipecg,
    mpcg,
    mpcg_figures,
    two_level,
    two_level_figures,
)
from workbench.papers.reproduction import Reproduction
from workbench.registry import unknown_name

Target = Callable[[int, Callable[[str], None]], Reproduction]
PAPERS: dict[str, dict[str, Target]] = {
    "two-level": {
        "table1": two_level.table1,
        "table2": two_level.table2,
        "table3": two_level.table3,
        "table4": two_level.table4,
        "fig1": two_level_figures.fig1,
        "fig9": two_level_figures.fig9,
        "fig10": two_level_figures.fig10,
        "fig11": two_level_figures.fig11,
        "fig12": two_level_figures.fig12,
    },
    "hybrid-pipecg": {
        "table1": hybrid_pipecg.table1,
        "iterations": hybrid_pipecg.iterations,
        "best": hybrid_model.best_table,
        "claims": hybrid_claims.claims,
        "crossover": hybrid_figures.crossover,
        "timeline": hybrid_figures.timeline,
        "measured": hybrid_measured.measured,
    },
    "block-cg": {
        "table1": block_cg.table1,
        "table2": block_cg.table2,
        "fig5": block_cg_figures.fig5,
        "fig6": block_cg_figures.fig6,
        "table3": block_cg.table3,
    },
    "mpcg": {
        "table1": mpcg.table1,
        "table2": mpcg.table2,
        "table3": mpcg.table3,
        "fig4": mpcg_figures.fig4,
        "fig5": mpcg_figures.fig5,
        "fig6": mpcg_figures.fig6,
    },
}
SMALLEST = 16


def reproduce(
    paper: str, target: str, max_n: int = 512, progress: Callable[[str], None] = lambda _: None
) -> Reproduction:
    """Reproduce a table or figure of a paper with grids of at most `max_n` points per side.

    progress: called with one sentence per step. Raises InputError for an unknown paper or target, and for max_n < 16.
    """
    if paper not in PAPERS:
        raise InputError(unknown_name("paper", paper, PAPERS))
    if target not in PAPERS[paper]:
        raise InputError(unknown_name(f"target of {paper}", target, PAPERS[paper]))
    if max_n < SMALLEST:
        raise InputError(f"max_n must be at least {SMALLEST}, got {max_n}")
    return PAPERS[paper][target](max_n, progress)


__all__ = ["PAPERS", "Reproduction", "reproduce"]
