"""Tiwari, Vadhiyar 2021 and 2022: speedups of the hybrid methods, modelled on machines that can be turned."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Sequence

import numpy as np

from workbench.analysis.schedules import LIBRARY, Machine, expected
from workbench.devices.dry_run import Sizes
from workbench.machine.profile import Number, Profile, profile
from workbench.papers import hybrid_machines
from workbench.papers.hybrid_machines import machine
from workbench.papers.hybrid_model import HYBRIDS, MODEL, systems
from workbench.papers.hybrid_pipecg import printed
from workbench.papers.items import MODELLED, Curve, Item, Turned, Values, geometric
from workbench.scenes.scene import Axis

PAPER = "hybrid-pipecg"
SPEEDUP = Axis("speedup", log=True)
FACTORS = geometric(0.25, 4, 33, 1.0)
BANDWIDTHS = {"cores": "cores' bandwidth", "accelerator": "GPU's bandwidth", "link": "link's bandwidth"}
FUSED, LIBRARIES = "fused passes", "one pass per line, as libraries"
BASELINE = Turned("baseline", "baseline", (LIBRARIES, FUSED), LIBRARIES, str, menu=True)
MATRICES = tuple(name for name, *_ in printed()["matrices"]["rows"])
POISSON = tuple(name for name, *_ in printed()["poisson125"]["rows"])
KINDS = ("mean", "max")
"""Of the speedups over all matrices, which the papers print."""


def machines(*names: str) -> Turned:
    return Turned("machine", "machine", names, names[0], lambda name: profile(name).title, menu=True)


TIMES = tuple(
    Turned(name, f"{title}, times the machine's", FACTORS, 1.0, lambda factor: f"{factor:.3g}", whose="")
    for name, title in BANDWIDTHS.items()
)


def turned_machine(values: Values) -> Machine:
    """The machine with its bandwidths times what was turned."""
    found = machine(values["machine"])
    accelerator = _times(found.accelerator, values["accelerator"], "bandwidth_nominal", "bandwidth_measured")
    accelerator = _times(accelerator, values["link"], "to_host_bandwidth", "to_device_bandwidth")
    return Machine(_times(found.cores, values["cores"], "bandwidth_nominal", "bandwidth_measured"), accelerator)


def _times(where: Profile, factor: float, *quantities: str) -> Profile:
    known = {name: found for name in quantities if isinstance(found := getattr(where, name), Number)}
    return dataclasses.replace(
        where, **{name: dataclasses.replace(found, value=factor * found.value) for name, found in known.items()}
    )


def speedups(baseline: str, sizes: Sequence[Sizes], values: Values) -> dict[str, list[float]]:
    """How many times faster than a method on one device the hybrid methods are; NaN where one does not fit."""
    where = turned_machine(values)
    method = LIBRARY[baseline] if values["baseline"] == LIBRARIES else baseline
    found: dict[str, list[float]] = {hybrid: [] for hybrid in HYBRIDS}
    for size in sizes:
        alone = expected(method, size, where).seconds
        for hybrid in HYBRIDS:
            together = expected(hybrid, size, where).seconds
            found[hybrid].append(alone / together if alone and together else np.nan)
    return found


def by_matrix_printed(claim: str) -> list[Curve]:
    """The mean and the largest speedup, after the places of the matrices."""
    places = np.arange(float(len(KINDS))) + len(MATRICES)
    claimed = printed()["claims"][claim]
    return [Curve("best hybrid", places, np.array([claimed[kind] for kind in KINDS]), "printed")]


def by_matrix_modelled(baseline: str, values: Values) -> list[Curve]:
    """Each hybrid method over PCG, and the best of them with its mean and largest speedup."""
    sizes = [size for name, size, _ in systems() if name in MATRICES]
    found = speedups(baseline, sizes, values)
    places = np.arange(float(len(MATRICES)))
    best = np.nanmax(np.array(list(found.values())), axis=0)
    known = [float(each) for each in best if np.isfinite(each)]
    ends = {"mean": statistics.mean(known), "max": max(known)}
    together = np.array([*best, *(ends[kind] for kind in KINDS)])
    x = np.arange(float(together.size))
    curves = [Curve(f"hybrid {name[-1]}", places, np.array(factors), MODELLED) for name, factors in found.items()]
    return _finite([Curve("best hybrid, modelled", x, together, MODELLED, "best hybrid"), *curves])


def too_large_printed() -> list[Curve]:
    """Speedups printed for one matrix each: those of the K20m."""
    claimed = printed()["claims"]["out_of_gpu_memory_k20m"]
    places = np.array([float(POISSON.index(name)) for name in claimed])
    return [Curve("hybrid 3, K20m", places, np.array(list(claimed.values())), "printed")]


def too_large_modelled(values: Values) -> list[Curve]:
    """Hybrid 3 over pipelined CG on the cores."""
    sizes = [size for name, size, _ in systems() if name.removesuffix(" Poisson") in POISSON]
    factors = np.array(speedups("pipecg cpu", sizes, values)["hybrid3"])
    name = f"hybrid 3, {profile(values['machine']).title}"
    return _finite([Curve(name, np.arange(float(factors.size)), factors, MODELLED, "hybrid 3, K20m")])


def _finite(curves: Sequence[Curve]) -> list[Curve]:
    """Without the points that are not known."""
    made = []
    for curve in curves:
        known = np.isfinite(curve.y)
        made.append(dataclasses.replace(curve, x=curve.x[known], y=curve.y[known]))
    return [curve for curve in made if curve.x.size]


def by_matrix(name: str, title: str, baseline: str, claim: str) -> Item:
    return Item(
        paper=PAPER,
        name=name,
        title=title,
        x=Axis("matrix", names=(*MATRICES, *KINDS)),
        y=SPEEDUP,
        turned=(machines("k20m", "k40", "v100", "h200"), BASELINE, *TIMES),
        printed=functools.partial(by_matrix_printed, claim),
        modelled=functools.partial(by_matrix_modelled, baseline),
        notes=(
            "The papers draw curves; their text prints the mean and the largest speedup of the best hybrid method.",
            *MODEL,
            *hybrid_machines.NOTES,
        ),
    )


ITEMS = (
    by_matrix("fig6", "Figures 4 and 6: speedup over PCG on the CPU", "cg cpu", "vs_pcg_cpu"),
    by_matrix("fig7", "Figures 5 and 7: speedup over PCG on the GPU", "cg gpu", "vs_pcg_gpu"),
    Item(
        paper=PAPER,
        name="fig8",
        title="Figures 6 and 8: matrices larger than the GPU",
        x=Axis("125-point Poisson matrix", names=POISSON),
        y=SPEEDUP,
        turned=(machines("k20m", "k40", "v100", "h200"), BASELINE, *TIMES),
        printed=too_large_printed,
        modelled=too_large_modelled,
        notes=(
            "Hybrid 3 over pipelined CG on the cores, the baseline of the papers' figures; printed for the K20m.",
            *MODEL,
            *hybrid_machines.NOTES,
        ),
    ),
)
