"""Chen: the figures that explain: overlapping boxes, what a Jacobi sweep reads, what travels in an
iteration, and Algorithm 2 with the signs that are printed and with those that are right."""

from __future__ import annotations

import numpy as np

from workbench.extensions.papers.mpcg_sweeps import printed
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.plots.scenes.scene import Axis, CurveOf, Scene
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


POINTS, COEFFICIENT = 20, 1.0
"""Points per side of the box of Algorithm 2, and A = B at all of them, which the paper leaves open."""
SIGNS = {"as printed, minus": -1, "plus": 1}
"""Signs of the four neighbours in line 6."""


def sweeps_of(sign: int, sweeps: int, r: np.ndarray) -> list[np.ndarray]:
    """The results of Algorithm 2 after 0 to `sweeps` sweeps on a box, zero around it; each of the shape of r."""
    found = [np.zeros_like(r)]
    for _ in range(sweeps):
        v = np.pad(found[-1], 1)
        around = COEFFICIENT * (v[1:-1, :-2] + v[1:-1, 2:] + v[:-2, 1:-1] + v[2:, 1:-1])
        found.append((r + sign * around) / (4 * COEFFICIENT))
    return found


def algorithm2(max_n: int, progress: Progress) -> Reproduction:
    """The Jacobi sweeps of Algorithm 2 with the printed signs and with the right ones, and their errors."""
    line = np.eye(POINTS, k=1) + np.eye(POINTS, k=-1)
    neighbours = np.kron(line, np.eye(POINTS)) + np.kron(np.eye(POINTS), line)
    r, sweeps = np.ones((POINTS, POINTS)), printed()["claims"]["sweeps_per_unknown"] * POINTS**2
    matrices = {sign: COEFFICIENT * (4 * np.eye(POINTS**2) - sign * neighbours) for sign in SIGNS.values()}
    solutions = {sign: np.linalg.solve(each, r.ravel()) for sign, each in matrices.items()}
    exact, curves, rows = solutions[1], [], []
    for form, sign in SIGNS.items():
        found = np.array(sweeps_of(sign, sweeps, r)).reshape(sweeps + 1, -1)
        errors = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact)
        other = float(np.linalg.norm(found[-1] - solutions[-1]) / np.linalg.norm(solutions[-1]))
        curves.append(CurveOf(form, np.arange(sweeps + 1), errors, style=len(curves)))
        shown = {f"error_after_{k}": float(errors[k]) for k in (1, 2, 10, 100)}
        rows.append({"sign_of_neighbours": form, **shown, f"error_after_{sweeps}": float(errors[-1])})
        rows[-1]["from_the_other_system"] = other
    left = [row[f"error_after_{sweeps}"] for row in rows]
    notes = [
        "A misprint: line 6 subtracts the four neighbours from r. The first sweep is the same, since v = 0; from the "
        "second on the printed signs approach the solution for couplings of the other sign, and end "
        f"{100 * left[0]:.1f}% from that of the box; with plus {left[1]:.0e} is left.",
        f"A box of {POINTS} x {POINTS} points with A = B = {COEFFICIENT:g} and r = 1, {sweeps} sweeps, 5 a point "
        "as printed. Errors are relative to the solution; the last column is the distance from the solution for the "
        "other sign.",
        "The boxes of the workbench are swept with plus.",
    ]
    scene = Scene("algorithm2", Axis("Jacobi sweeps"), Axis("relative error", log=True), curves, logs="y")
    title = "Algorithm 2: Jacobi sweeps in a box, as printed and with plus"
    return Reproduction("algorithm2", title, rows, notes, draw(scene))
