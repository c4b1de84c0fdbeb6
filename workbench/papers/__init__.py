"""Reproduction of published tables and figures: each is a function that runs the solves and compares with print."""

from __future__ import annotations

from workbench.errors import InputError
from workbench.papers import (
    block_cg,
    block_cg_figures,
    hybrid_bars,
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
from workbench.papers.reproduction import Progress, Reproduction, Target
from workbench.registry import unknown_name

PAPERS: dict[str, dict[str, Target]] = {
    "two-level": {
        "table1": Target(two_level.table1),
        "table2": Target(two_level.table2, smallest=128),
        "table3": Target(two_level.table3),
        "table4": Target(two_level.table4),
        "fig1": Target(two_level_figures.fig1, draws=True),
        "fig9": Target(two_level_figures.fig9, draws=True, smallest=128),
        "fig10": Target(two_level_figures.fig10, draws=True, smallest=128),
        "fig11": Target(two_level_figures.fig11, draws=True),
        "fig12": Target(two_level_figures.fig12, draws=True),
    },
    "hybrid-pipecg": {
        "table1": Target(hybrid_pipecg.table1),
        "iterations": Target(hybrid_pipecg.iterations),
        "best": Target(hybrid_model.best_table),
        "claims": Target(hybrid_claims.claims),
        **hybrid_bars.TARGETS,
        "crossover": Target(hybrid_figures.crossover, draws=True),
        "timeline": Target(hybrid_figures.timeline, draws=True),
        "measured": Target(hybrid_measured.measured),
    },
    "block-cg": {
        "table1": Target(block_cg.table1),
        "table2": Target(block_cg.table2),
        "fig5": Target(block_cg_figures.fig5, draws=True),
        "fig6": Target(block_cg_figures.fig6, draws=True),
        "table3": Target(block_cg.table3),
    },
    "mpcg": {
        "table1": Target(mpcg.table1),
        "table2": Target(mpcg.table2),
        "table3": Target(mpcg.table3),
        "fig4": Target(mpcg_figures.fig4, draws=True),
        "fig5": Target(mpcg_figures.fig5, draws=True),
        "fig6": Target(mpcg_figures.fig6, draws=True),
    },
}


def reproduce(paper: str, target: str, max_n: int = 512, progress: Progress = lambda _: None) -> Reproduction:
    """Reproduce a table or figure of a paper with grids of at most `max_n` points per side.

    progress: called with one sentence per step. Raises InputError for an unknown paper or target, and for a max_n below
    the smallest size of the target.
    """
    if paper not in PAPERS:
        raise InputError(unknown_name("paper", paper, PAPERS))
    if target not in PAPERS[paper]:
        raise InputError(unknown_name(f"target of {paper}", target, PAPERS[paper]))
    chosen = PAPERS[paper][target]
    if max_n < chosen.smallest:
        raise InputError(f"max_n must be at least {chosen.smallest} for {paper} {target}, got {max_n}")
    return chosen.make(max_n, progress)


__all__ = ["PAPERS", "Reproduction", "Target", "reproduce"]
