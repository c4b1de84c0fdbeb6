"""Tiwari, Vadhiyar: figures of the modelled schedules."""

from __future__ import annotations

from typing import Any

from workbench import figures
from workbench.analysis.schedules import METHODS, all_expected, expected, fastest
from workbench.analysis.size_sweep import unknowns_up_to
from workbench.devices.dry_run import Sizes
from workbench.papers import hybrid_machines
from workbench.papers.hybrid_machines import machine
from workbench.papers.hybrid_model import MODEL, milliseconds, printed_best
from workbench.papers.reproduction import Progress, Reproduction
from workbench.scenes.crossover import crossover_scene
from workbench.scenes.timeline import timeline_scene

ENTRIES = 50
"""Non-zeros per row, about as many as in the papers' structural matrices."""
LARGEST = 30_000_000
SERENA = ("k20m", Sizes(1391349, 64531701))
"""Machine and sizes of the timeline: matrix Serena on the first paper's machine."""


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
    return Reproduction("crossover", title.replace("\n", " "), rows, notes, picture)


def timeline(max_n: int, progress: Progress) -> Reproduction:
    """Two modelled iterations of hybrid 3 for Serena on the K20m and its host, and the busy time of each lane."""
    name, sizes = SERENA
    progress(f"timeline: {name}")
    trace = expected("hybrid3", sizes, machine(name)).trace
    assert trace is not None
    rows: list[dict[str, Any]] = [
        {"lane": lane, "busy_ms": 1e3 * busy, "busy_percent": 100 * busy / trace.seconds}
        for lane, busy in trace.busy().items()
    ]
    picture = figures.draw(timeline_scene(trace, (4, 5), title="Hybrid-PIPECG-3, Serena"))
    return Reproduction("timeline", "Hybrid 3, modelled", rows, [*trace.notes, *hybrid_machines.NOTES], picture)
