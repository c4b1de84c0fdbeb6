"""Chen: the figures that explain: overlapping boxes, what a Jacobi sweep reads, and what travels in an iteration."""

from __future__ import annotations

import numpy as np

from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.preconditioners.schwarz import subdomains

SIDE, OVERLAP = 9, 1
"""Points per side of a small domain, and the overlap of its boxes in points."""


def boxes() -> list[tuple[slice, ...]]:
    """2 x 2 overlapping boxes."""
    return subdomains.of_grid((SIDE, SIDE), (2, 2), OVERLAP)


def fig1(max_n: int, progress: Progress) -> Reproduction:
    """A domain in four overlapping subdomains."""
    counts = np.zeros((SIDE, SIDE), int)
    for box in boxes():
        counts[box] += 1
    kinds = {f"in {k} box{'es' * (k > 1)}": counts == k for k in map(int, np.unique(counts))}
    words = {(row, column): str(counts[row, column]) for row in range(SIDE) for column in range(SIDE)}
    rows = [
        {"box": k, "points": int(np.prod([side.stop - side.start for side in box])), "of": SIDE**2}
        for k, box in enumerate(boxes())
    ]
    scene = labelled_cells("boxes", counts.shape, kinds, words, x="x", y="y", down=False, styles=(6, 1, 3))
    notes = [f"{SIDE} x {SIDE} points in 2 x 2 boxes with an overlap of {OVERLAP} point; the paper prints no overlap."]
    return Reproduction("fig1", "Figure 1: four overlapping subdomains", rows, notes, draw(scene))


def fig2(max_n: int, progress: Progress) -> Reproduction:
    """The points that a Jacobi sweep reads to write one."""
    middle = SIDE // 2
    around = [(middle - 1, middle), (middle + 1, middle), (middle, middle - 1), (middle, middle + 1)]
    kinds = {"written, from r, A, B": [(middle, middle)], "read, of the old z": around}
    words = {(middle, middle): "z new"}
    scene = labelled_cells("access", (SIDE, SIDE), kinds, words, x="x", y="y", down=False, styles=(1, 6))
    rows = [{"reads_of_z": len(around), "reads_of_r": 1, "reads_of_coefficients": 2, "writes": 1}]
    notes = ["A 5-point stencil, so that a tile reads a ring of points around it."]
    return Reproduction("fig2", "Figure 2: access pattern of the subdomain solver", rows, notes, draw(scene))


def fig3(max_n: int, progress: Progress) -> Reproduction:
    """The work of the master and its workers in an iteration, and how many numbers travel."""
    named = ("master: restrict r", "workers: solve", "master: prolong, combine", "master: A Z, new step")
    sizes = [int(np.prod([side.stop - side.start for side in box])) for box in boxes()]
    travel = [sum(sizes), sum(sizes), 0, 0]
    rows = [
        {"step": k + 1, "what": what, "numbers_sent": sent}
        for k, (what, sent) in enumerate(zip(named, travel, strict=True))
    ]
    workers = [(k, 1 + box) for k in (1,) for box in range(len(sizes))]
    kinds = {"master": [(0, 0), (2, 0), (3, 0)], "workers": workers}
    scene = labelled_cells("process", (4, 1 + len(sizes)), kinds, x="master, then workers", y="step", styles=(6, 1))
    notes = [
        f"Steps of an iteration, for the boxes of Figure 1: {sum(sizes)} numbers travel each way, of {SIDE**2} points."
    ]
    return Reproduction("fig3", "Figure 3: process of an iteration", rows, notes, draw(scene))
