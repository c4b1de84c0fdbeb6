"""Tiwari, Vadhiyar: figures of the modelled schedules."""

from __future__ import annotations

import dataclasses
from typing import Any

from workbench.devices.dry_run import Sizes
from workbench.devices.host.storage import WORD
from workbench.extensions.models import host_and_gpu as hybrid_machines
from workbench.extensions.models.host_and_gpu import machine, unknowns_up_to
from workbench.extensions.models.schedules import (
    ACCELERATOR,
    LIBRARY,
    METHODS,
    Method,
    all_expected,
    expected,
    fastest,
)
from workbench.extensions.papers.hybrid_model import MODEL, milliseconds, printed_best
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.plots import figures
from workbench.plots.scenes.scaling import crossover_scene
from workbench.plots.scenes.timeline import timeline_scene
from workbench.records import Trace

ENTRIES = 50
"""Non-zeros per row, about as many as in the papers' structural matrices."""
LARGEST = 30_000_000
SERENA = ("k20m", Sizes(1391349, 64531701))
"""Machine and sizes of the timelines: matrix Serena on the first paper's machine."""
ITERATIONS = (4, 5)
"""Iterations that are drawn."""
TWO_KERNELS = "CG in two kernels"
FLOWS = {"fig1-2021": "hybrid1", "fig2-2021": "hybrid2", "fig4-2021": "hybrid3"}
"""Figures that draw what a method does on both sides; Figures 1 and 3 of the later paper draw the same."""


def crossover(max_n: int, progress: Progress) -> Reproduction:
    """Time per iteration against N on the K20m and its host, with the fastest method marked."""
    progress("crossover: k20m")
    where, unknowns = machine("k20m"), unknowns_up_to(LARGEST)
    found = [all_expected(Sizes(n, ENTRIES * n), where) for n in unknowns]
    rows = [
        {"N": n, "best": fastest(each), "printed_best_hybrid": printed_best(n)}
        | {name: milliseconds(each[name]) for name in METHODS}
        for n, each in zip(unknowns, found, strict=True)
    ]
    seconds = {name: [each[name].seconds for each in found] for name in METHODS}
    title = f"modelled on {where.cores.title}\nwith {where.accelerator.title}, {ENTRIES} entries per row"
    notes = [
        "Milliseconds per iteration; a curve ends where the system does not fit the GPU.",
        *MODEL,
        *hybrid_machines.NOTES,
    ]
    picture = figures.draw(crossover_scene(unknowns, seconds), title=title)
    return Reproduction("crossover", f"Crossover of the methods, {' '.join(title.split())}", rows, notes, picture)


def flow(name: str, method: str, max_n: int, progress: Progress) -> Reproduction:
    """Two modelled iterations of a hybrid method for Serena on the K20m and its host, and the busy time of each lane.

    name: of the figure, which draws the method's steps on both sides.
    """
    where, sizes = SERENA
    progress(f"{name}: {where}")
    trace = expected(method, sizes, machine(where)).trace
    assert trace is not None
    rows: list[dict[str, Any]] = [
        {"lane": lane, "busy_ms": 1e3 * busy, "busy_percent": 100 * busy / trace.seconds}
        for lane, busy in trace.busy().items()
    ]
    picture = figures.draw(timeline_scene(trace, ITERATIONS, title=f"{METHODS[method].label}, Serena"))
    title = f"Flow of {METHODS[method].label}, modelled"
    return Reproduction(name, title, rows, [*trace.notes, *hybrid_machines.NOTES], picture, shows=[trace])


def fusion(max_n: int, progress: Progress) -> Reproduction:
    """Two modelled iterations of pipelined CG on the K20m: vector operations in one pass, and in one pass per line; and
    of CG in two kernels, by Rupp and others, which the paper cites."""
    where, sizes = SERENA
    progress(f"fig5-2021: {where}")
    methods: dict[str, tuple[str | Method, Sizes]] = {
        "fused": ("pipecg gpu", sizes),
        "one pass per line": (LIBRARY["pipecg gpu"], sizes),
        TWO_KERNELS: (Method("two-kernel-cg", ACCELERATOR), dataclasses.replace(sizes, constant_diagonal=True)),
    }
    rows, shown = [], []
    for words, (method, of) in methods.items():
        trace = _on_the_gpu(expected(method, of, machine(where)).trace)
        passes = [event for event in trace if event.iteration == ITERATIONS[0] and not event.name.startswith("A ")]
        moved = sum(event.bytes for event in passes) / (WORD * sizes.size)
        milliseconds_of_them = 1e3 * sum(event.seconds for event in passes)
        row = {"vector_operations": words, "passes": len(passes), "words_per_unknown": moved}
        rows.append({**row, "ms": milliseconds_of_them})
        shown.append(trace)
    picture = figures.draw(timeline_scene(shown, ITERATIONS, titles=list(methods)))
    notes = [
        "Of an iteration without the product with A, which takes as long in all.",
        f"{TWO_KERNELS}: Rupp, Weinbub, Jüngel, Grasser 2016, without a preconditioner as there; a vector as M takes a "
        "further pass.",
        *hybrid_machines.NOTES,
    ]
    title = "Figure 5: kernel fusion of vector operations, modelled"
    return Reproduction("fig5-2021", title, rows, notes, picture, shows=shown)


def _on_the_gpu(trace: Trace | None) -> Trace:
    """The events on the GPU; scalar lines on the host take no time in the model."""
    assert trace is not None
    made = Trace(trace.machine, trace.label, trace.notes)
    for event in trace:
        if event.lane == ACCELERATOR:
            made.append(dataclasses.replace(event, after=()))
    return made
