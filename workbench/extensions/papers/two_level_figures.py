"""Gupta, van Gijzen, Vuik 2013: Figures 1 and 9 to 12."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.extensions.papers import items
from workbench.extensions.papers import two_level_settings as chosen
from workbench.extensions.papers.items import Case, Drawn, Item, Turned, Values, Work
from workbench.extensions.papers.two_level_model import MACHINES, NOTE, seconds_of_setup
from workbench.extensions.papers.two_level_settings import (
    DENSITY_RATIO,
    LEVEL_ONE,
    ORDER,
    SIZES_2D,
    STRIPES,
    modelled,
    two_layer,
    up_to_largest,
)
from workbench.plots.scenes.scene import Axis
from workbench.run import Configuration, configure
from workbench.words.numbers import count

NO_NUMBERS = "The paper draws curves and prints no numbers, so that nothing is compared."


@dataclasses.dataclass(frozen=True)
class Spectrum:
    """All eigenvalues of A of the 2D problem. Cost: O(n^6)."""

    n: int
    density_ratio: float

    def __call__(self) -> np.ndarray:
        operator = configure("two-layer", n=self.n, density_ratio=self.density_ratio).problem.assemble().operator
        return np.linalg.eigvalsh(operator.to_csr().toarray())


def fig1(values: Values) -> Iterator[Case]:
    """The spectrum, with a jump caused by the density ratio."""

    def curve(found: np.ndarray) -> list[items.Curve]:
        return [items.Curve("eigenvalues of A", np.arange(1.0, found.size + 1), found, items.COUNTED)]

    yield Case({}, [Work("eigenvalues", Spectrum(values["n"], values["density_ratio"]), _about_spectrum, curves=curve)])


def _about_spectrum(found: np.ndarray) -> dict[str, Any]:
    gaps = found[1:] / found[:-1]
    jump = int(np.argmax(gaps)) + 1
    return {
        "eigenvalues": found.size,
        "smallest": float(found[0]),
        "largest": float(found[-1]),
        "largest_jump_after": jump,
        "jump_factor": float(gaps[jump - 1]),
        "below_a_tenth_of_the_largest": int(np.count_nonzero(found < 0.1 * found[-1])),
    }


STRATEGIES = {"inverse": "inverse", "dense": "dense-cholesky", "band": "cholesky"}
"""Coarse solvers by the names of columns."""
COMPARED_STRATEGIES = ("inverse", "dense")
"""Those of the paper."""


def strategies(printed_first: tuple[str, ...], values: Values) -> Iterator[Case]:
    """Figures 9 and 10: seconds of the iteration by coarse solver."""
    turned = f"block-ic:{values['rows']}" if "rows" in values else f"neumann:{values['order']}"
    firsts = [LEVEL_ONE[name] for name in printed_first] if "report" in values else [turned]
    device = values.get("device", "cpu")
    for first, n in itertools.product(firsts, chosen.sizes(values, (64,), SIZES_2D)):
        kind, number = first.split(":")
        name = {"block-ic": "block IC({}n)", "neumann": "Neumann({})"}[kind].format(number)
        inverse = two_layer(n, values, first, "inverse")
        works = [
            Work(
                f"{name}, {chosen.COARSE[coarse]}, n = {count(n)}",
                two_layer(n, values, first, coarse),
                functools.partial(_seconds_of, column, inverse),
                timed=True,
            )
            for column, coarse in STRATEGIES.items()
        ]
        # A speed-up over the cores needs their times too.
        for coarse in COMPARED_STRATEGIES if device != "cpu" else ():
            words = f"{name}, {chosen.COARSE[STRATEGIES[coarse]]}, n = {count(n)}, cores"
            on_cores = two_layer(n, values, first, STRATEGIES[coarse], "cpu")
            works.append(Work(words, on_cores, {f"{coarse}_cores_s": "iteration_seconds"}, timed=True))
        row = {"preconditioner": name, "n": n, "where": "on the cores" if device == "cpu" else device}
        yield Case(row, up_to_largest(n, values, *works))


def _seconds_of(column: str, inverse: Configuration, solved: items.Solved) -> dict[str, float]:
    """Seconds with a coarse solver; with the inverse also those on the paper's machines for as many iterations."""
    found = {f"{column}_s": solved.iteration_seconds}
    if column == "inverse":
        found |= dict(zip(("modelled_cpu_s", "modelled_gpu_s"), modelled(solved.iterations, inverse), strict=True))
    return found


def _gains(rows: list[dict[str, Any]]) -> None:
    """Add the speed-ups that the paper draws: of the GPU, and of the inverse over other coarse solvers."""
    for row in rows:
        for which in ("dense", "band"):
            row[f"{which}_over_inverse"] = items.ratio(row.get(f"{which}_s"), row.get("inverse_s"))
        row["modelled_speedup"] = items.ratio(row.get("modelled_cpu_s"), row.get("modelled_gpu_s"))
        for which in COMPARED_STRATEGIES if f"{COMPARED_STRATEGIES[0]}_cores_s" in row else ():
            row[f"{which}_speedup"] = items.ratio(row[f"{which}_cores_s"], row.get(f"{which}_s"))


def _at_last(rows: list[dict[str, Any]], values: Values) -> list[str]:
    """A sentence on the largest sizes: the counterpart of the factor of four here."""
    last = [row for row in rows if row["n"] == rows[-1]["n"]]
    dense, band = ([f"{row[f'{which}_over_inverse']:.2g}" for row in last] for which in ("dense", "band"))
    return [
        f"At n = {rows[-1]['n']} on device {values['device']} the dense factor takes "
        f"{' to '.join(sorted({*dense}))} times as long as the inverse, the band {' to '.join(sorted({*band}))}."
    ]


def _factor_of_four() -> str:
    """The time of a row of the paper's triangular solves by the printed factor, if it holds for n = 1024."""
    factor = chosen.printed()["claims"]["explicit_inverse_over_triangular_solve"]
    (seconds,) = (line[2] for line in chosen.printed()["table1"]["rows"] if line[0] == "Neumann(2)")
    (iterations,) = (line[-1] for line in chosen.printed()["table2"]["rows"] if line[0] == "Neumann(2)")
    rows = 2 * 2 * chosen.FULL_SIZE_2D
    microseconds = 1e6 * (factor - 1) * seconds / iterations / rows
    return (
        f"The paper's factor of {factor} for Neumann(2) on its GPU leaves, at n = {chosen.FULL_SIZE_2D} and "
        f"{seconds} s for {iterations} iterations with the inverse, {microseconds:.2g} microseconds for each of the "
        f"{rows} rows of the two substitutions: about the time of a launch, and far from that of the bytes of a row."
    )


def _strategies(name: str, title: str, first: Turned, note: str, *printed_first: str, quick: int) -> Item:
    return Item(
        name=name,
        title=title,
        cases=functools.partial(strategies, printed_first),
        named=("preconditioner", "n"),
        x=chosen.SIDE,
        y=Axis("speed-up", log=True),
        across="n",
        drawn=(
            Drawn("modelled_speedup", items.MODELLED, "{preconditioner}, C2070 over Q9550, modelled"),
            Drawn("dense_over_inverse", items.MEASURED, "{preconditioner}, inverse over dense solves, {where}"),
            *(
                Drawn(
                    f"{which}_speedup",
                    items.MEASURED,
                    f"{{preconditioner}}, {chosen.COARSE[STRATEGIES[which]]}, {{where}} over the cores",
                )
                for which in COMPARED_STRATEGIES
            ),
        ),
        finish=_gains,
        turned=(DENSITY_RATIO, STRIPES, first, chosen.upto((64, *SIZES_2D[:3]), 512)),
        notes=(
            NO_NUMBERS,
            note,
            "Speed-ups: of the paper's GPU over its CPU, modelled; of the explicit inverse over dense triangular "
            "solves, measured; on a device also of both over the cores.",
            "Dense triangular solves are the paper's method (coarse dense-cholesky); the band, of half-bandwidth 2 "
            "for 2n stripes, takes their place here.",
            f"{NOTE} They are for our iterations, the same for inverse and dense factor, which have the same bytes.",
            items.MEDIANS,
        ),
        found=_at_last,
        smallest=128,
        quick=quick,
        on_device=True,
    )


PHASES = {"AZ": "AZ_s", "coarse matrix E": "E_s", "coarse solver": "E_solver_s"}
"""The phases of a setup that the paper lists, by their names here; the rest is space, x, b, A, M and the start."""


def shares(coarse: str, values: Values) -> Iterator[Case]:
    """Figures 11 and 12: setup as a share of the total by number of vectors."""
    n, first = items.size_here(values["n"], values), f"neumann:{values['order']}"
    for stripes in STRIPES.choices:
        what = two_layer(n, {**values, "stripes": stripes}, first, coarse)
        read = functools.partial(_shares_of, what)
        work = Work(f"{count(stripes * n)} vectors", what, read, timed=True)
        yield Case({"stripes": stripes, "vectors": stripes * n, "n": n}, [work])


def _shares_of(what: Configuration, solved: items.Solved) -> dict[str, float]:
    setup, total = solved.setup_seconds, solved.setup_seconds + solved.iteration_seconds
    phases = {column: solved.phases.get(phase, 0.0) for phase, column in PHASES.items()}
    row = {"setup_percent": 100 * setup / total}
    for which, machine, iterating in zip(("cpu", "gpu"), MACHINES, modelled(solved.iterations, what), strict=True):
        there = seconds_of_setup(what, machine)
        row[f"modelled_{which}_percent"] = 100 * there / (there + iterating)
    return {**row, "setup_s": setup, **phases, "other_setup_s": setup - sum(phases.values()), "total_s": total}


def _shares(name: str, title: str, coarse: str) -> Item:
    return Item(
        name=name,
        title=title,
        cases=functools.partial(shares, coarse),
        named=("vectors",),
        x=Axis("stripes per grid row", "count", log=True, marks=STRIPES.choices),
        y=Axis("setup, share of the total (%)", span=(0, 100)),
        across="stripes",
        drawn=(
            Drawn("setup_percent", items.MEASURED, "measured here, n = {n}"),
            Drawn("modelled_cpu_percent", items.MODELLED, "Q9550, modelled, n = {n}"),
            Drawn("modelled_gpu_percent", items.MODELLED, "C2070, modelled, n = {n}"),
        ),
        turned=(Turned("n", "cells per side n", (64, *SIZES_2D[:3]), 512, count), DENSITY_RATIO, ORDER),
        notes=(
            "The paper prints these as figures, (a) for its CPU and (b) for its GPU, and no numbers.",
            f"{NOTE} Setups are factor or inverse at peak, on the GPU with the copy of the data.",
            "The paper: a setup for triangular solves takes a third of one for the inverse. Factor and inverse alone "
            "have d^3/3 and 2 d^3 operations, a sixth.",
            items.MEDIANS,
        ),
        quick=64,
        on_device=True,
    )


FIGURES = (
    Item(
        name="fig1",
        title="Figure 1: spectrum of A, two layers",
        cases=fig1,
        named=(),
        x=Axis("index", "count", whole=True),
        y=Axis("eigenvalue of A", log=True),
        turned=(Turned("n", "cells per side n", (8, 12, 16, 20, 24, 32), 16, count), DENSITY_RATIO),
        notes=(NO_NUMBERS, "Its figure shows the same jump between the two phases."),
    ),
    _strategies(
        "fig9",
        "Figure 9: explicit inverse or triangular solves, block IC",
        Turned("rows", "grid rows per block of block IC", (2, 4, 8, 16), 2, count),
        "The paper: for block IC the coarse solver hardly matters, since its preconditioner takes most of an iteration "
        "on the GPU. Measured: on the cores it takes a smaller part, and the coarse solver shows.",
        "block IC(2n)",
        "block IC(4n)",
        "block IC(8n)",
        quick=128,
    ),
    _strategies(
        "fig10",
        "Figure 10: explicit inverse or triangular solves, Neumann",
        ORDER,
        _factor_of_four(),
        "Neumann(2)",
        quick=256,
    ),
    _shares("fig11", "Figure 11: share of the setup, triangular solves", "dense-cholesky"),
    _shares("fig12", "Figure 12: share of the setup, explicit inverse", "inverse"),
)
