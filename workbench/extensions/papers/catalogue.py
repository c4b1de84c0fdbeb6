"""The papers with their tables and figures, by name."""

from __future__ import annotations

import dataclasses
import functools
from types import ModuleType

from workbench.errors import InputError, quoted
from workbench.extensions.papers import (
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
    hysing,
    mpcg,
    mpcg_figures,
    mpcg_schematics,
    text_claims,
    two_level,
    two_level_claims,
    two_level_figures,
    two_level_schematics,
)
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Item
from workbench.extensions.papers.printed import FILES, printed_in, who
from workbench.extensions.papers.reproduction import Progress, Reproduction, Target, target_of_item
from workbench.extensions.papers.standing import Reason, Support
from workbench.registry import unknown_name

MATRIX = ("printed_n", "n")
"""The paper's size and ours."""


def schematic(module: ModuleType, *figures: int) -> dict[str, Target]:
    """Figures that explain, functions of a module."""
    return {f"fig{k}": Target(getattr(module, f"fig{k}"), draws=True) for k in figures}


def turning(paper: str, *items: Item) -> dict[str, Target]:
    """Tables and figures that can be turned on the page too."""
    return {item.name: target_of_item(dataclasses.replace(item, paper=paper)) for item in items}


PAPERS: dict[str, dict[str, Target]] = {
    "two-level": {
        **turning("two-level", *two_level.TABLES, *two_level_figures.FIGURES),
        **schematic(two_level_schematics, 2, 3, 4, 5, 6, 7, 8),
        **turning("two-level", *two_level_claims.CLAIMS),
    },
    "hybrid-pipecg": {
        "table1": Target(
            hybrid_pipecg.table1,
            named=("matrix",),
            compared=(
                Compared(printed="printed_N", ours="N", uncounted=hybrid_pipecg.made_from_print),
                Compared(printed="printed_nnz", ours="nnz", uncounted=hybrid_pipecg.made_from_print),
                Compared(
                    printed="printed_nnz/N",
                    ours="nnz/N",
                    uncounted=lambda row: hybrid_pipecg.made_from_print(row) or "the quotient of two compared numbers",
                ),
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
            compared=(
                Compared(
                    printed="printed",
                    quantity="speed-up",
                    modelled="modelled_library",
                    reasons={**hybrid_bars.MEANS, **hybrid_bars.SPEEDUP.reasons, **hybrid_claims.NO_LATENCY},
                    untried=hybrid_claims.untried,
                ),
            ),
        ),
        **schematic(hybrid_schematics, 3),
        **turning("hybrid-pipecg", *hybrid_bars.FIGURES),
        "crossover": Target(hybrid_figures.crossover, draws=True),
        **{
            name: Target(functools.partial(hybrid_figures.flow, name, method), draws=True)
            for name, method in hybrid_figures.FLOWS.items()
        },
        "fig5-2021": Target(hybrid_figures.fusion, draws=True),
        "measured": Target(hybrid_measured.measured),
        "formats": Target(hybrid_measured.conversions),
    },
    "block-cg": {
        "table1": Target(
            block_cg.table1,
            quick=32,
            named=("matrix",),
            compared=(
                Compared(printed="printed_n", ours="n", sizes=MATRIX, uncounted=block_cg.made_from_print),
                Compared(printed="printed_nnz", ours="nnz", sizes=MATRIX, uncounted=block_cg.made_from_print),
                Compared(
                    printed="printed_row", ours="row_min_mean_max", sizes=MATRIX, uncounted=block_cg.made_from_print
                ),
            ),
        ),
        "table2": Target(
            block_cg.table2,
            quick=32,
            named=("matrix",),
            compared=(Compared(printed="by_table2_Mflop", ours="pseudo_block_Mflop", reasons=block_cg.MORE_DOTS),),
        ),
        "table3": Target(
            block_cg.table3,
            named=("device",),
            compared=(
                Compared(
                    printed="printed_most",
                    modelled="pseudo-block-cg_most",
                    reasons={
                        "": Reason(
                            "the paper says that its limit is the private arrays of its product kernel, which grow "
                            "with s, and not the memory",
                            Support.MEASURED,
                        )
                    },
                ),
            ),
        ),
        **schematic(block_cg_schematics, 1, 2, 3, 4),
        "listing2": Target(block_cg_schematics.listing2, draws=True),
        **turning("block-cg", *block_cg_figures.FIGURES),
        "claims": Target(text_claims.block_cg_claims, named=("claim",), compared=text_claims.OF_BLOCK_CG, quick=16),
    },
    "mpcg": {
        **turning("mpcg", *mpcg.TABLES),
        **schematic(mpcg_schematics, 1, 2, 3),
        "algorithm2": Target(mpcg_schematics.algorithm2, draws=True),
        **turning("mpcg", *mpcg_figures.FIGURES),
        "claims": Target(text_claims.mpcg_claims, named=("claim",), compared=(text_claims.IN_WORDS,)),
    },
    "hysing": turning("hysing", *hysing.ITEMS),
}
"""Tables and figures by the names of their paper and their own."""


@dataclasses.dataclass(frozen=True)
class Paper:
    """A paper with its items. name: as `reproduce` takes it. who: authors, year, and an earlier paper on the same.

    Examples:
        >>> from workbench.extensions.papers import papers
        >>> papers()["mpcg"].who
        'H. Chen, 2022'
    """

    name: str
    title: str
    who: str
    items: tuple[Item, ...]


def papers() -> dict[str, Paper]:
    """All papers by name, with title, authors and year as printed, and the items that can be turned.

    Examples:
        >>> from workbench.extensions.papers import papers
        >>> list(papers())
        ['two-level', 'hybrid-pipecg', 'block-cg', 'mpcg', 'hysing']
    """
    found = {}
    for name in FILES:
        about = printed_in(name)
        items = tuple(target.item for target in PAPERS.get(name, {}).values() if target.item)
        found[name] = Paper(name, about["title"], who(name), items)
    return found


def item_of(paper: str, name: str) -> Item:
    """An item by the names of its paper and its own. Raises InputError, which lists them, for an unknown one.

    Examples:
        >>> from workbench.extensions.papers import item_of
        >>> item_of("two-level", "table2").title
        'Table 2: iterations, two layers, 2n stripes'
    """
    known = papers()
    if paper not in known:
        raise InputError(f"a paper is one of {', '.join(known)}, got {quoted(paper)}")
    found = {item.name: item for item in known[paper].items}
    if name not in found:
        raise InputError(f"an item of {paper} is one of {', '.join(found)}, got {quoted(name)}")
    return found[name]


def target_of(paper: str, target: str) -> Target:
    """A table or figure of a paper. Raises InputError, which lists them, for an unknown paper or target.

    Examples:
        >>> from workbench.extensions.papers import target_of
        >>> target_of("block-cg", "fig1").draws
        True
    """
    if paper not in PAPERS:
        raise InputError(unknown_name("paper", paper, PAPERS))
    if target not in PAPERS[paper]:
        raise InputError(unknown_name(f"target of {paper}", target, PAPERS[paper]))
    return PAPERS[paper][target]


def reproduce(paper: str, target: str, max_n: int = 512, progress: Progress = lambda _: None) -> Reproduction:
    """Reproduce a table or figure of a paper with grids of at most `max_n` points per side.

    Cost: that of the solves; `Target.quick` is a max_n that takes a minute at most. progress: called with one sentence
    per step. Raises InputError for an unknown paper or target, and for a max_n below
    the smallest size of the target.

    Examples:
        >>> from workbench.extensions.papers import reproduce
        >>> reproduce("two-level", "fig1", max_n=32).name
        'fig1'
    """
    chosen = target_of(paper, target)
    chosen.check(max_n, f"{paper} {target}")
    return chosen.made(max_n, progress)
