"""Gupta, van Gijzen, Vuik 2013: sentences of its text, tried."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

from workbench.devices.host.levels import levels_of_blocks
from workbench.devices.host.pattern import colours_of, with_fill
from workbench.extensions.papers import items, two_level
from workbench.extensions.papers import two_level_settings as chosen
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.two_level_settings import DENSITY_RATIO, SIZES_2D, STRIPES, two_layer
from workbench.lazy import sparse
from workbench.plots.scenes.scene import Axis
from workbench.run import configure
from workbench.words.numbers import count

SOLVERS = {
    "inverse": "explicit inverse",
    "dense-cholesky": "dense triangular solves",
    "cholesky": "band",
    "inner-cg": "inner CG",
}
SAME, OTHER = "as with the inverse", "not as with the inverse"
ITERATIONS = Axis("iterations", "count")
SIDE = Turned("n", "cells per side n", (32, 64, *SIZES_2D[:3]), 128, count, whose="ours")


def coarse(values: Values) -> Iterator[Case]:
    """A row for each coarse solver; the paper's sentence is about the inverse and the triangular solves."""
    n = items.size_here(values["n"], values)
    for name, words in SOLVERS.items():
        printed = {"printed": SAME} if name == "dense-cholesky" else {}
        what = two_layer(n, values, "neumann:2", name)
        yield Case(
            {"coarse_solver": words, "n": n, **printed},
            [Work(f"{words}, n = {count(n)}", what, {"iterations": "iterations"})],
        )


def _against_inverse(rows: list[dict[str, Any]]) -> None:
    """In words, if the count of a row is that of the first."""
    for row in rows:
        found = row.setdefault("iterations", None)
        row["ours"] = None if found is None else SAME if found == rows[0]["iterations"] else OTHER


def between(values: Values) -> Iterator[Case]:
    """A row for each n: Neumann(2) among the blocks of 4n and 8n, with the works of Table 2."""
    printed = {name: counts for name, *counts in chosen.printed()["table2"]["rows"]}
    for n in chosen.sizes(values, chosen.COARSE_2D, SIZES_2D):
        works = [
            work
            for case in two_level.table2({**values, "largest": n})
            if case.row["n"] == n and case.row["preconditioner"] in AMONG
            for work in case.works
        ]
        row: dict[str, Any] = {"n": n}
        if n in SIZES_2D:
            row["printed"] = BETWEEN
            row |= {f"printed_{column}": printed[name][SIZES_2D.index(n)] for name, column in AMONG.items()}
        known = [
            Work(work.words, work.what, functools.partial(_named, column), seeds=work.seeds)
            for work, column in zip(works, AMONG.values(), strict=True)
        ]
        yield Case(row, chosen.up_to_largest(n, values, *known))


AMONG = {"block IC(4n)": "4n", "block IC(8n)": "8n", "Neumann(2)": "neu2"}
"""Columns of counts by the names of Table 2, in its order."""
BETWEEN, OUTSIDE = "between", "outside"


def _named(column: str, solved: items.Solved) -> dict[str, float]:
    """The mean count over the starts to the tolerance of the paper."""
    counts = solved.counts_to(two_level.RTOL)
    return {column: sum(counts) / len(counts)}


def _in_words(rows: list[dict[str, Any]]) -> None:
    """Where Neumann(2) is, by the printed counts and by ours; within 1% of a bound counts as between."""
    for row in rows:
        for prefix, column in (("printed_", "by_table_2"), ("", "ours")):
            most, least, neumann = (row.get(f"{prefix}{name}") for name in AMONG.values())
            row[column] = None
            if most is not None and least is not None and neumann is not None:
                row[column] = BETWEEN if 0.99 * least <= neumann <= 1.01 * most else OUTSIDE


def _outside(rows: list[dict[str, Any]], _values: Values) -> list[str]:
    """The rows in which the print contradicts its own sentence."""
    return [
        f"False in the paper's own column n = {row['n']}: {row['printed_neu2']} iterations, and "
        f"{row['printed_4n']} and {row['printed_8n']} with blocks of 4n and 8n."
        for row in rows
        if row["by_table_2"] == OUTSIDE
    ]


FIRST_LEVELS = {
    "incomplete Poisson": "incomplete-poisson",
    "relaxed, ω = {omega:g}": "incomplete-poisson:{omega},form=ssor",
    "Neumann(1)": "neumann:1",
    "none": "none",
}
"""First levels of the tried sentence, with the relaxation that is turned."""
RATIOS = (1.0, 0.1, 0.01, 1e-3)


def poisson(values: Values) -> Iterator[Case]:
    """A row for each density ratio, first level and deflation."""
    n, omega = items.size_here(values["n"], values), values["omega"]
    for second, ratio in ((second, ratio) for second in ("none", "stripes") for ratio in RATIOS):
        for words, text in FIRST_LEVELS.items():
            first = text.format(omega=omega)
            blocks: dict[str, Any] = {"preconditioner": first, "deflation": second, "variant": "def1"}
            what = configure("two-layer", n=n, density_ratio=ratio, **blocks)
            name = words.format(omega=omega)
            curve = f"{name}{', 2n stripes' if second == 'stripes' else ''}"
            row = {"deflation": second, "density_ratio": ratio, "preconditioner": name, "n": n, items.SHOWN: curve}
            yield Case(row, [Work(f"{curve}, ε = {ratio:g}", what, {"iterations": "iterations"})])


def _limited(rows: list[dict[str, Any]], _values: Values) -> list[str]:
    """The counts at both ends of the density ratio."""

    def counts(name: str, second: str) -> list[int]:
        of = [row for row in rows if (row["preconditioner"], row["deflation"]) == (name, second)]
        return [round(of[k]["iterations"]) for k in (0, -1)]

    found = []
    for second, words in (("none", "Without deflation"), ("stripes", "With 2n stripes")):
        both = {name: counts(name, second) for name in ("incomplete Poisson", "Neumann(1)")}
        texts = [f"{name} takes {one} iterations at ε = 1 and {two} at 0.001" for name, (one, two) in both.items()]
        found.append(f"{words} {', '.join(texts)}.")
    return found


ORDERINGS = {"natural": "natural order", "colours": "by colours"}
FILLS = (0, 1, 2, 3)


@dataclasses.dataclass(frozen=True)
class Steps:
    """The steps, one after another, of a solve with a triangle of IC on n x n cells: levels of unknowns, or colours."""

    n: int
    fill: int
    ordering: str

    def __call__(self) -> int:
        matrix = configure("two-layer", n=self.n).problem.assemble().operator.to_csr()
        if self.ordering == "colours":
            return int(colours_of(matrix, self.fill + 1).max()) + 1
        lower = sparse.csr_array(sparse.tril(with_fill(matrix, self.fill), k=-1, format="csr"))
        return levels_of_blocks(lower.indices, lower.indptr, self.n**2).level_starts.size - 1


def colours(values: Values) -> Iterator[Case]:
    """A row for each ordering and level of fill."""
    n = items.size_here(values["n"], values)
    for ordering, words in ORDERINGS.items():
        for fill in FILLS:
            first = f"ic:{fill},ordering={ordering}"
            what = configure("two-layer", n=n, density_ratio=values["density_ratio"], preconditioner=first)
            name = f"{words}, fill {fill}"
            works = [Work(name, what, {"iterations": "iterations"}), Work(name, Steps(n, fill, ordering), "steps")]
            yield Case({"ordering": words, "fill": fill, "n": n}, works)


CLAIMS = (
    Item(
        name="coarse-solvers",
        title="Section 6.1: the coarse solver leaves the count of iterations alone",
        cases=coarse,
        named=("coarse_solver",),
        x=Axis("coarse solver", names=tuple(SOLVERS.values())),
        y=ITERATIONS,
        across="coarse_solver",
        compared=(Compared(printed="printed", ours="ours"),),
        drawn=(Drawn("iterations", items.COUNTED, "Neumann(2), 2n stripes, n = {n}"),),
        drawn_as="points",
        finish=_against_inverse,
        turned=(SIDE, DENSITY_RATIO, STRIPES),
        notes=(
            "The paper: the number of iterations is not affected by the choice of implementations, which are the "
            "explicit inverse and triangular solves. A band and an inner CG are ours.",
        ),
        smallest=16,
        quick=128,
    ),
    Item(
        name="between",
        title="Section 6.1: Neumann(2) among the block sizes 4n and 8n",
        cases=between,
        named=("n",),
        x=chosen.SIDE,
        y=chosen.COUNT,
        across="n",
        compared=(
            Compared(
                printed="printed",
                ours="ours",
                uncounted=lambda _: "it follows from counts that Table 2 compares",
            ),
        ),
        drawn=tuple(Drawn(column, items.COUNTED, name) for name, column in AMONG.items()),
        finish=_in_words,
        turned=(
            DENSITY_RATIO,
            STRIPES,
            chosen.ORDER,
            chosen.upto((*chosen.COARSE_2D, *SIZES_2D), 512),
        ),
        notes=(
            "The paper: the results of Neumann(2) lie between those of block IC with blocks of 4n and 8n. Counts are "
            "means over the starts of Table 2; within 1% of a bound counts as between.",
        ),
        found=_outside,
        smallest=128,
        quick=256,
    ),
    Item(
        name="incomplete-poisson",
        title="Section 1.2: the use of incomplete Poisson is limited for two phases",
        cases=poisson,
        named=("deflation", "density_ratio", "preconditioner"),
        x=Axis("density ratio ε", log=True, marks=RATIOS[::-1]),
        y=Axis("iterations", "count", log=True),
        across="density_ratio",
        drawn=(Drawn("iterations", items.COUNTED, "{shown}"),),
        turned=(
            dataclasses.replace(SIDE, paper=64),
            Turned("omega", "relaxation ω", (0.6, 0.8, 1.0, 1.2, 1.4), 1.2, whose="ours"),
        ),
        notes=(
            "The paper says so of its reference [2], the motive of its Neumann series, and prints no numbers. Nothing "
            "between the factors of incomplete Poisson follows the diagonal; for one phase it is as Neumann(1).",
            "Its reference [8] relaxes: the SSOR form with D/ω, which is Neumann(1) for ω = 1.",
        ),
        found=_limited,
    ),
    Item(
        name="colours",
        title="Section 1.2: incomplete factorizations with fill, in natural order and by colours",
        cases=colours,
        named=("ordering", "fill"),
        x=Axis("levels of fill", "count", whole=True, marks=FILLS),
        y=Axis("iterations, or steps of a triangular solve", "count", log=True),
        across="fill",
        drawn=(
            Drawn("iterations", items.COUNTED, "iterations, {ordering}"),
            Drawn("steps", items.COUNTED, "steps, {ordering}"),
        ),
        turned=(dataclasses.replace(SIDE, paper=64), DENSITY_RATIO),
        notes=(
            "The paper names such factorizations, its reference [9], and prints no numbers. Steps of a solve with a "
            "triangle follow one another, and all unknowns of a step are solved in parallel: colours make few steps "
            "and more iterations. No deflation.",
        ),
    ),
)
