"""Tiwari, Vadhiyar: pictures of the modelled schedules, of an iteration and over the number of unknowns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench import figures
from workbench.analysis.schedules import METHODS, all_expected, best, expected
from workbench.analysis.sweep import unknowns_up_to
from workbench.devices.dry_run import Sizes
from workbench.papers import hybrid_machines
from workbench.papers.hybrid_machines import machine
from workbench.papers.hybrid_model import MODEL, milliseconds, printed_best
from workbench.papers.reproduction import Reproduction

ENTRIES = 50
"""Non-zeros a row, about those of the papers' matrices of structures."""
LARGEST = 30_000_000
SHOWN = ("k20m", Sizes(1391349, 64531701))
"""Serena, on the first paper's machine."""


def crossover(max_n: int, tell: Callable[[str], None]) -> Reproduction:
    """Time per iteration over N on the K20m and its host, the fastest method marked."""
    tell("crossover: k20m")
    where, unknowns = machine("k20m"), unknowns_up_to(LARGEST)
    found = [all_expected(Sizes(n, ENTRIES * n), where) for n in unknowns]
    rows = [
        {"N": n, "best": best(each), "printed_best_hybrid": printed_best(n)}
        | {name: milliseconds(each[name]) for name in METHODS}
        for n, each in zip(unknowns, found, strict=True)
    ]
    seconds = {name: [each[name].seconds for each in found] for name in METHODS}
    title = f"modelled on {where.cores.title}\nwith {where.accelerator.title}, {ENTRIES} entries a row"
    notes = [
        "Milliseconds per iteration; a curve ends where the system does not fit the GPU.",
        *MODEL,
        *hybrid_machines.NOTES,
    ]
    return Reproduction(
        "crossover", title.replace("\n", " "), rows, notes, figures.crossover(unknowns, seconds, title=title)
    )


def timeline(max_n: int, tell: Callable[[str], None]) -> Reproduction:
    """Two modelled iterations of hybrid 3 for Serena on the K20m and its host, and how busy its lanes are."""
    name, sizes = SHOWN
    tell(f"timeline: {name}")
    trace = expected("hybrid3", sizes, machine(name)).trace
    assert trace is not None
    rows: list[dict[str, Any]] = [
        {"lane": lane, "busy_ms": 1e3 * busy, "busy_percent": 100 * busy / trace.seconds}
        for lane, busy in trace.busy().items()
    ]
    picture = figures.timeline(trace, (4, 5), title="Hybrid-PIPECG-3, Serena")
    return Reproduction("timeline", "Hybrid 3, modelled", rows, [*trace.notes, *hybrid_machines.NOTES], picture)
