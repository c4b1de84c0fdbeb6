"""Tiwari, Vadhiyar 2021 and 2022: speedups of the hybrid methods, modelled on machines that can be turned."""

from __future__ import annotations

import dataclasses
import functools
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.analysis.schedules import LIBRARY, Machine, expected
from workbench.devices.dry_run import Sizes
from workbench.machine.profile import Number, Profile, profile
from workbench.papers import hybrid_machines
from workbench.papers.hybrid_bars import CHARTS
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
NOTES = (*MODEL, *hybrid_machines.NOTES)
KINDS = ("mean", "max")
"""Of the speedups over all matrices, which the papers print."""


def _title(name: str) -> str:
    return profile(name).title


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


def too_large_printed(where: str) -> list[Curve]:
    """The speedups that are printed for one matrix each; none where the papers print a range for all."""
    claimed = printed()["claims"][f"out_of_gpu_memory_{where}"]
    if not isinstance(claimed, dict):
        return []
    places = np.array([float(POISSON.index(name)) for name in claimed])
    return [Curve("hybrid 3", places, np.array(list(claimed.values())), "printed")]


def too_large_modelled(values: Values) -> list[Curve]:
    """Hybrid 3 over pipelined CG on the cores."""
    sizes = [size for name, size, _ in systems() if name.removesuffix(" Poisson") in POISSON]
    factors = np.array(speedups("pipecg cpu", sizes, values)["hybrid3"])
    return _finite([Curve("hybrid 3, modelled", np.arange(float(factors.size)), factors, MODELLED, "hybrid 3")])


def _finite(curves: Sequence[Curve]) -> list[Curve]:
    """Without the points that are not known."""
    made = []
    for curve in curves:
        known = np.isfinite(curve.y)
        made.append(dataclasses.replace(curve, x=curve.x[known], y=curve.y[known]))
    return [curve for curve in made if curve.x.size]


def chart(name: str) -> Item:
    """A bar chart of the papers: speedups over a version on one device, or of what exceeds the GPU's memory."""
    shown = CHARTS[name]
    names = dict.fromkeys((*shown.machines, "k20m", "k40", "v100", "h200"))
    turned = (Turned("machine", "machine", tuple(names), shown.machines[0], _title, menu=True), BASELINE, *TIMES)
    common: dict[str, Any] = {"paper": PAPER, "name": name, "title": shown.title, "y": SPEEDUP, "turned": turned}
    if shown.poisson:
        ranges = {where: printed()["claims"][f"out_of_gpu_memory_{where}"] for where in shown.machines}
        said = [
            f"{min(found):g} to {max(found):g} for {where}"
            for where, found in ranges.items()
            if isinstance(found, list)
        ]
        return Item(
            **common,
            x=Axis("125-point Poisson matrix", names=POISSON),
            printed=functools.partial(too_large_printed, shown.machines[0]),
            modelled=too_large_modelled,
            notes=(
                "Hybrid 3 over pipelined CG on the cores, the baseline of the papers' figures."
                + (f" In print: {', '.join(said)}, and no number for a matrix." if said else ""),
                *NOTES,
            ),
            reason="the share of the rows that fits limits it; why the printed one rises with N is not explained",
        )
    device = "cpu" if "cpu" in shown.baseline else "gpu"
    return Item(
        **common,
        x=Axis("matrix", names=(*MATRICES, *KINDS)),
        printed=functools.partial(by_matrix_printed, f"vs_pcg_{device}"),
        modelled=functools.partial(by_matrix_modelled, f"cg {device}"),
        notes=("The papers draw bars; their text prints the mean and the largest speedup over PCG.", *NOTES),
        reason="hosts reach less than their nominal bandwidth (turn the cores); the largest speedup is not explained",
    )


ITEMS = tuple(chart(name) for name in CHARTS)
