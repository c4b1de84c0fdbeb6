"""Gupta, van Gijzen, Vuik 2013: Tables 2 to 4 and Figures 1 and 9 to 12, to be turned."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.number_text import count
from workbench.papers.items import COUNTED, MEASURED, Curve, Item, Solved, Step, Turned, Values, geometric, point
from workbench.papers.two_level import FULL_SIZE_3D, LEVEL_ONE, METHODS_3D, printed, space_3d
from workbench.run import Configuration, configure
from workbench.scenes.scene import Axis

PAPER = "two-level"
SIDE = Axis("cells per side n", "count", log=True, word="n")
COUNT = Axis("iterations", "count", log=True)
SECONDS = Axis("iteration time", "s", log=True)
COARSE_2D, COARSE_3D = (32, 64), (16, 32, 64)
"""Sizes that come before those printed: quick, and never compared."""
SIZES_2D = tuple(int(size) for size in printed()["table2"]["columns"][1:])
STRATEGIES = {"inverse": "explicit inverse", "cholesky": "triangular solve"}
VECTORS = (1, 2, 4, 8)
"""Stripes per grid row of Figures 11 and 12."""

CONTRAST = Turned("contrast", "density contrast", geometric(1, 1e6, 13, 1000.0), 1000.0)
LIGHT = Turned("contrast", "density contrast", geometric(1e-6, 1, 13, 1e-3), 1e-3)
STRIPES = Turned("stripes", "stripes per grid row", (1, 2, 4, 8), 2, count)
ORDER = Turned("order", "order K of the longest Neumann series", (1, 2, 3, 4, 6, 8), 2, count)


def upto(sizes: tuple[int, ...], paper: int) -> Turned:
    """How far the sizes go."""
    return Turned("largest", "largest n", sizes, paper, count, whose="", limit=True)


def two_layer(n: int, values: Values, first: str, coarse: str = "inverse", stripes: int = 0) -> Configuration:
    """A solve of the 2D problem as in the paper but for what was turned."""
    return configure(
        "two-layer",
        n=n,
        contrast=values["contrast"],
        preconditioner=first,
        deflation=f"stripes:{stripes or values['stripes']}",
        coarse=coarse,
        variant="def1",
    )


def counted(name: str, x: float, of: str) -> Any:
    """Reads the iterations of a solve as a point."""
    return lambda solved: [point(name, x, solved.iterations, COUNTED, of)]


def first_levels(values: Values) -> Iterator[tuple[str, str, str]]:
    """The first levels of Table 2 as shown, as in print, and as configured. The last takes the order turned to."""
    order = values["order"]
    for name, block in LEVEL_ONE.items():
        if name == "neumann(2)":
            yield f"neumann({order})", name, f"neumann:{order}"
        else:
            yield name, name, block


def table2_printed() -> list[Curve]:
    table = printed()["table2"]
    return [Curve(name, np.array(SIZES_2D, float), np.array(row, float), "printed") for name, *row in table["rows"]]


def table2_steps(values: Values) -> Iterator[Step]:
    for n in (size for size in (*COARSE_2D, *SIZES_2D) if size <= values["largest"]):
        for name, as_printed, first in first_levels(values):
            yield Step(f"{name}, n = {count(n)}", two_layer(n, values, first), counted(name, n, as_printed))


def _three_dimensional(table: str, problem: str, values: Values) -> Iterator[tuple[str, Any, dict[str, Any], str, str]]:
    """Rows of Table 3 or 4: name, problem, its parameters, method and space as printed."""
    for row in printed()[table]["rows"]:
        bubbles, (method, space) = (row[0], row[1:3]) if table == "table4" else (0, row[:2])
        parameters = {"count": bubbles} if bubbles else {}
        yield _name(bubbles, method, space), problem, {**parameters, "contrast": values["contrast"]}, method, space


def _name(bubbles: int, method: str, space: str) -> str:
    which = f"{bubbles} bubble{'s' * (bubbles > 1)}, " if bubbles else ""
    return f"{which}{method}, {space}"


def _rows_printed(table: str) -> list[Curve]:
    column = printed()[table]["columns"].index("iterations")
    named = _three_dimensional(table, "", {"contrast": None})
    rows = zip(named, printed()[table]["rows"], strict=True)
    return [point(name, FULL_SIZE_3D, row[column], "printed") for (name, *_), row in rows]


def _rows_steps(table: str, problem: str, values: Values) -> Iterator[Step]:
    for n in (size for size in (*COARSE_3D, FULL_SIZE_3D) if size <= values["largest"]):
        for name, _, parameters, method, space in _three_dimensional(table, problem, values):
            first, coarse = METHODS_3D[method]
            second = space_3d(space)
            if first.startswith("neumann"):
                first = f"neumann:{values['order']}"
            blocks: dict[str, Any] = {"preconditioner": first, "deflation": second, "coarse": coarse, "variant": "def1"}
            yield Step(f"{name}, n = {n}", configure(problem, n=n, **parameters, **blocks), counted(name, n, name))


def three_dimensions(table: str, problem: str, title: str, *notes: str) -> Item:
    """Table 3 or 4: iterations against n, of which the paper prints those at 128."""
    return Item(
        paper=PAPER,
        name=table,
        title=title,
        x=SIDE,
        y=COUNT,
        turned=(LIGHT, ORDER, upto((*COARSE_3D, FULL_SIZE_3D), FULL_SIZE_3D)),
        printed=functools.partial(_rows_printed, table),
        steps=functools.partial(_rows_steps, table, problem),
        notes=("Printed for n = 128 alone: smaller n show where the counts come from, and are not compared.", *notes),
    )


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """All eigenvalues of A of the 2D problem. Cost: O(n^6)."""

    n: int
    contrast: float

    def __call__(self) -> np.ndarray:
        operator = configure("two-layer", n=self.n, contrast=self.contrast).problem.assemble().operator
        return np.linalg.eigvalsh(operator.to_csr().toarray())


def fig1_steps(values: Values) -> Iterator[Step]:
    def read(found: np.ndarray) -> list[Curve]:
        return [Curve("eigenvalues of A", np.arange(1.0, found.size + 1), found, COUNTED)]

    yield Step("eigenvalues", Spectrum(values["n"], values["contrast"]), read)


def strategy_steps(values: Values) -> Iterator[Step]:
    """Figures 9 and 10: seconds of the iteration by coarse solver."""

    def read(name: str, n: int, solved: Solved) -> list[Curve]:
        return [point(name, n, solved.iteration_seconds, MEASURED)]

    first = f"block-ic:{values['rows']}" if "rows" in values else f"neumann:{values['order']}"
    for n in (size for size in (64, *SIZES_2D) if size <= values["largest"]):
        for coarse, name in STRATEGIES.items():
            work = two_layer(n, values, first, coarse)
            yield Step(f"{name}, n = {count(n)}", work, functools.partial(read, name, n), timed=True)


def share_steps(coarse: str, values: Values) -> Iterator[Step]:
    """Figures 11 and 12: setup as a share of the total by number of vectors."""

    def read(stripes: int, solved: Solved) -> list[Curve]:
        total = solved.setup_seconds + solved.iteration_seconds
        return [point("setup share", stripes, 100 * solved.setup_seconds / total, MEASURED)]

    for stripes in VECTORS:
        work = two_layer(values["n"], values, f"neumann:{values['order']}", coarse, stripes)
        yield Step(f"{count(stripes * values['n'])} vectors", work, functools.partial(read, stripes), timed=True)


NO_NUMBERS = "The paper draws curves and prints no numbers, so that nothing is compared."
UNKNOWN_START = "The paper's random initial guess is unknown: ours is that of seed 0."
LARGEST_2D = (*COARSE_2D, *SIZES_2D)


def strategies(name: str, title: str, first: Turned, *notes: str) -> Item:
    return Item(
        paper=PAPER,
        name=name,
        title=title,
        x=SIDE,
        y=SECONDS,
        turned=(CONTRAST, STRIPES, first, upto((64, *SIZES_2D[:3]), 512)),
        steps=strategy_steps,
        notes=(NO_NUMBERS, "Medians of up to three solves on all cores of this machine.", *notes),
    )


def shares(name: str, title: str, coarse: str) -> Item:
    n = Turned("n", "cells per side n", (64, 128, 256, 512), 512, count)
    return Item(
        paper=PAPER,
        name=name,
        title=title,
        x=Axis("stripes per grid row", "count", log=True, marks=VECTORS),
        y=Axis("setup, share of the total (%)", span=(0, 100)),
        turned=(n, CONTRAST, ORDER),
        steps=functools.partial(share_steps, coarse),
        notes=(NO_NUMBERS, "Medians of up to three solves on all cores of this machine."),
    )


ITEMS = (
    Item(
        paper=PAPER,
        name="fig1",
        title="Figure 1: spectrum of A, two layers",
        x=Axis("index", "count", whole=True),
        y=Axis("eigenvalue of A", log=True),
        turned=(Turned("n", "cells per side n", (8, 12, 16, 20, 24, 32), 16, count), CONTRAST),
        steps=fig1_steps,
        notes=(NO_NUMBERS, "It shows the same jump between the two phases."),
    ),
    Item(
        paper=PAPER,
        name="table2",
        title="Table 2: iterations, two layers, stripes",
        x=SIDE,
        y=COUNT,
        turned=(CONTRAST, STRIPES, ORDER, upto(LARGEST_2D, 512)),
        printed=table2_printed,
        steps=table2_steps,
        notes=(UNKNOWN_START, "The paper prints 118 iterations for both n = 256 and 512."),
    ),
    three_dimensions("table3", "slabs-3d", "Table 3: iterations, three slabs in 3D", UNKNOWN_START),
    three_dimensions(
        "table4",
        "bubbles-3d",
        "Table 4: iterations, one and eight bubbles in 3D",
        "The paper prints no radii: ours were fitted to its counts.",
        UNKNOWN_START,
    ),
    strategies(
        "fig9",
        "Figure 9: explicit inverse or triangular solve, block-IC",
        Turned("rows", "grid rows per block of block-IC", (2, 4, 8, 16), 2, count),
    ),
    strategies(
        "fig10",
        "Figure 10: explicit inverse or triangular solve, Neumann",
        ORDER,
        "The paper reports a factor of four on its GPU, where dense triangular solves are slow; ours are band solves.",
    ),
    shares("fig11", "Figure 11: share of the setup, triangular solve", "cholesky"),
    shares("fig12", "Figure 12: share of the setup, explicit inverse", "inverse"),
)
