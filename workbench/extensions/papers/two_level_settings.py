"""The systems of the two-level paper, its settings that can be turned, and its times next to ours."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.extensions.papers import items
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.items import Turned, Values, Work
from workbench.extensions.papers.printed import printed_in
from workbench.extensions.papers.standing import Reason, Support
from workbench.extensions.papers.two_level_model import MACHINES, seconds_of_iteration
from workbench.plots.scenes.scene import Axis
from workbench.run import Configuration, configure
from workbench.words.numbers import count

LEVEL_ONE = {
    "block IC(2n)": "block-ic:2",
    "block IC(4n)": "block-ic:4",
    "block IC(8n)": "block-ic:8",
    "Neumann(1)": "neumann:1",
    "Neumann(2)": "neumann:2",
}
"""The paper's first levels, and how they are configured."""
FULL_SIZE_2D, FULL_SIZE_3D = 1024, 128
METHODS_3D = {"DICCG(0)": ("ic", "inner-cg"), "DPCG Neumann(2)": ("neumann:2", "cholesky")}
"""First level and coarse solver of the methods of Tables 3 and 4, footnotes 1 and 2 of which name the latter."""
PRINTED_COARSE = {"cholesky": "dense-cholesky"}
"""The paper's coarse solver where ours has less to do."""
DEVICES = ("cpu", "gpu")
"""Devices as printed, in the order of `MACHINES`."""
SETTINGS_TRIED = (
    "Of 20 settings with 4 stopping tests each (python -m benchmarks two_level_counts), as means of two starts at the "
    "printed tolerance, none meets all printed counts. The print is one start of unknown size, and a start twice as "
    "large acts as a tolerance half as large."
)
STARTS = "The paper's random initial guesses are unknown: ours are uniform in [0, 1)."
ONE_START = Reason(
    "the print is one random start of unknown size, ours the mean of several; at the implied tolerance, one number "
    "fitted for each n, the five counts of an n come right at once (a note gives it)",
    Support.PLAUSIBLE,
)


printed = functools.partial(printed_in, "two-level")
SIZES_2D = tuple(int(size) for size in printed()["table2"]["columns"][1:])
COARSE_2D, COARSE_3D = (32, 64), (16, 32, 64)
"""Sizes on the page that come before those printed: quick, and never compared."""
SIDE = Axis("cells per side n", "count", log=True, word="n", marks=(16, *COARSE_2D, *SIZES_2D))
COUNT = Axis("iterations", "count", log=True)
RATIOS = items.geometric(1e-6, 1, 13, 1e-3)
DENSITY_RATIO = Turned("density_ratio", "density ratio ε", RATIOS, 1e-3, printed="ρ₁/ρ₂ = 1000")
"""Of two layers, which the paper states as that of the heavy fluid to the light one."""
STRIPES = Turned("stripes", "stripes per grid row", (1, 2, 4, 8), 2, count)
ORDER = Turned("order", "order K of the longest Neumann series", (1, 2, 3, 4, 6, 8), 2, count)
COARSE = {"inverse": "explicit inverse", "dense-cholesky": "dense triangular solves", "cholesky": "band"}
"""The paper's two coarse solvers, and the band that takes the place of the second one here."""
AS_BYTES, AS_PROGRAM = "as bytes allow", "as the paper's program"
MODEL = Turned("model", "paper's machines, modelled", (AS_BYTES, AS_PROGRAM), AS_BYTES, str, menu=True, whose="ours")
QUOTIENT = "the quotient of two times that are compared"


def timed(
    printed: str, ours: str, modelled: str, full: int, reasons: Mapping[str, Reason], curve: str = ""
) -> Compared:
    """A time next to ours, and to what is modelled for the paper's machines."""
    both: dict[str, Any] = {"printed": printed, "ours": ours, "modelled": modelled, "curve": curve}
    return Compared(**both, sizes=(full, "n"), elsewhere=True, reasons=reasons)


def speedup(full: int) -> Compared:
    """The speed-up, which follows from two times."""
    names: dict[str, Any] = {name: f"{name}_speedup" for name in ("printed", "modelled")}
    return Compared(**names, ours="our_speedup", sizes=(full, "n"), elsewhere=True, uncounted=lambda _: QUOTIENT)


def upto(sizes: tuple[int, ...], paper: int) -> Turned:
    """The parameter for the largest size."""
    return Turned("largest", "largest n", sizes, paper, count, whose="", limit=True)


def two_layer(n: int, values: Values, first: str, coarse: str, device: str = "") -> Configuration:
    """A solve of the 2D problem as in the paper but for what was turned; by default on the device of a report."""
    blocks: dict[str, Any] = {"preconditioner": first, "deflation": f"stripes:{values['stripes']}", "coarse": coarse}
    where = device or values.get("device", "cpu")
    return configure("two-layer", n=n, density_ratio=values["density_ratio"], variant="def1", device=where, **blocks)


def seeds_for(n: int) -> range:
    """Seeds of the random initial guesses of a report: five up to 512 unknowns per side, three beyond."""
    return range(5 if n <= 512 else 3)


def sizes(values: Values, coarse: Sequence[int], full: Sequence[int]) -> Sequence[int]:
    """Sizes of the rows: in a report the printed ones, on the page all, also those beyond the points."""
    return [n for n in full if n <= values["max_n"]] if "report" in values else [*coarse, *full]


def up_to_largest(n: int, values: Values, *works: Work) -> list[Work]:
    """The works for a size; none for one beyond the largest, except in a report."""
    return [*works] if n <= values["largest"] or "report" in values else []


def modelled(iterations: float, what: Configuration) -> list[float]:
    """Seconds of a number of iterations on the paper's machines."""
    return [iterations * seconds_of_iteration(what, machine) for machine in MACHINES]
