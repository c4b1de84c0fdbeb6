"""Gupta, van Gijzen, Vuik 2013: the figures that explain, drawn from small problems and deflation spaces."""

from __future__ import annotations

import dataclasses

import numpy as np

from workbench.deflation.base import Deflation
from workbench.devices.host.storage import stored_az
from workbench.extensions.formats.scenes import az_scene, compressed_az_scene
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.lazy import sparse
from workbench.plots.figures import draw
from workbench.plots.scenes.labelled_cells import labelled_cells
from workbench.plots.scenes.scene import CurveOf, Scene
from workbench.registry import blocks as registry
from workbench.run import configure

SIDE = 8
"""Cells per side, as in the paper's Figures 5 to 8."""
FINE = 24
"""Cells per side of the geometries in 3D."""


def labels(space: str, grid: tuple[int, ...]) -> np.ndarray:
    """The subdomain of every cell, in the shape of the grid."""
    block = registry.as_block("deflation", space)
    assert isinstance(block, Deflation)
    found = block.labels(int(np.prod(grid)), grid)
    assert found is not None
    return found.reshape(grid)


def phases(problem: str, n: int, **parameters: int) -> np.ndarray:
    """The phase of every cell, in the shape of the grid."""
    system = configure(problem, {"n": n, **parameters}).problem.assemble()
    assert system.grid is not None
    assert system.phase is not None
    return np.asarray(system.phase).reshape(system.grid)


def domain() -> Scene:
    """The unit square with two layers and its walls."""
    phase, low, high = phases("two-layer", SIDE), -0.5, SIDE - 0.5
    cells = _phases("domain", phase, ("density 1", "density 1000"))
    others = np.array([low, low, high, high]), np.array([low, high, high, low])
    walls = [
        CurveOf("u = 0", np.array([low, high]), np.array([low, low]), style=3, plain=True),
        CurveOf("∂u/∂n = 0", *others, style=0, plain=True),
    ]
    return dataclasses.replace(cells, layers=[*cells.layers, *walls])


def fig2(max_n: int, progress: Progress) -> Reproduction:
    """The unit square with two layers and its walls."""
    phase = phases("two-layer", SIDE)
    rows = [{"layer": k, "cells": int(np.count_nonzero(phase == k)), "density": 1000**k} for k in (0, 1)]
    notes = [
        "The interface is at y = 0.5. The conditions on the boundary are in the paper's figure alone; ours, u = 0 at "
        "y = 0 and ∂u/∂n = 0 elsewhere, were fitted to its Table 2.",
    ]
    return Reproduction("fig2", "Figure 2: unit square with two layers", rows, notes, draw(domain()))


def fig3(max_n: int, progress: Progress) -> Reproduction:
    """The unit cube with three slabs, in a plane across them."""
    phase = phases("slabs-3d", FINE)
    return _geometry("fig3", "Figure 3: unit cube with three slabs", {"three slabs": phase})


def fig4(max_n: int, progress: Progress) -> Reproduction:
    """One and eight bubbles, in a plane through centres."""
    made = {f"{count} bubble{'s' * (count > 1)}": phases("bubbles-3d", FINE, count=count) for count in (1, 8)}
    return _geometry("fig4", "Figure 4: bubbles in the unit cube", made)


def _geometry(name: str, title: str, made: dict[str, np.ndarray]) -> Reproduction:
    rows, scenes = [], []
    for named, phase in made.items():
        # The plane with most of the phase that is not at the corner goes through centres.
        other = phase != phase[0, 0, 0]
        z = int(np.argmax(np.count_nonzero(other, axis=(1, 2))))
        scenes.append(_phases(named, other[z].astype(int), ("around", named)))
        rows.append({"geometry": named, "n": FINE, "share_percent": 100 * float(other.mean()), "plane": z})
    notes = ["The plane z with most of the inner phase, of a cube of 24 cells per side. All boundaries are Neumann."]
    return Reproduction(name, title, rows, notes, draw(*scenes, side_by_side=True))


def _phases(name: str, phase: np.ndarray, named: tuple[str, str]) -> Scene:
    kinds = {words: phase == k for k, words in enumerate(named)}
    return labelled_cells(name, phase.shape, kinds, x="x", y="y", down=False, styles=(6, 1))


def fig5(max_n: int, progress: Progress) -> Reproduction:
    """The first rows of Z and of AZ, for 2n stripes."""
    Z, AZ, stripes = _stripes()
    scenes = [
        labelled_cells("Z", (2 * SIDE, 8), {"as Z": Z.toarray()[: 2 * SIDE, :8] != 0}, x="column of Z", styles=(1,)),
        az_scene(AZ, stripes, 2 * SIDE, 8, KINDS),
    ]
    rows = [
        {"matrix": name, "rows": M.shape[0], "columns": M.shape[1], "nnz": M.nnz} for name, M in (("Z", Z), ("AZ", AZ))
    ]
    notes = [
        f"The first {2 * SIDE} rows and 8 columns, for the grid of Figure 7. As Z: in the stripe of the row itself."
    ]
    title = "Figure 5: parts of Z and AZ, 2n stripes"
    return Reproduction("fig5", title, rows, notes, draw(*scenes, side_by_side=True))


def fig6(max_n: int, progress: Progress) -> Reproduction:
    """AZ in 5 N numbers: a column for each neighbour of a stripe."""
    _, AZ, stripes = _stripes()
    values = stored_az(AZ, stripes).values
    scene = compressed_az_scene(AZ, stripes, 2 * SIDE, KINDS)
    rows = [{"N": AZ.shape[0], "d": AZ.shape[1], "nnz": AZ.nnz, "words_5N": values}]
    notes = [f"The first {2 * SIDE} rows. {values} words hold {AZ.nnz} entries, the others are zeros."]
    return Reproduction("fig6", "Figure 6: AZ after compression", rows, notes, draw(scene))


KINDS = ("as Z", "fill-in across", "fill-in up and down")
"""Entries of AZ, whose column is the stripe of the row, the next one, or two stripes away."""


def _stripes() -> tuple[sparse.csr_array, sparse.csr_array, np.ndarray]:
    """Z and AZ of the 2D problem with 2n stripes, and the stripe of each unknown."""
    A = configure("two-layer", n=SIDE).problem.assemble().operator.to_csr()
    found = labels("stripes", (SIDE, SIDE)).ravel()
    Z = sparse.csr_array((np.ones(found.size), (np.arange(found.size), found)))
    AZ = sparse.csr_array(A @ Z)
    AZ.eliminate_zeros()
    return Z, AZ, found


def fig7(max_n: int, progress: Progress) -> Reproduction:
    """The stripes of the 8 x 8 grid."""
    found = labels("stripes", (SIDE, SIDE))
    words = {(row, column): str(found[row, column]) for row in range(SIDE) for column in range(SIDE)}
    kinds = {"even": found % 2 == 0, "odd": found % 2 == 1}
    scene = labelled_cells("stripes", found.shape, kinds, words, x="x", y="y", down=False, styles=(6, 1))
    rows = [{"n": SIDE, "vectors": int(found.max()) + 1, "cells_of_a_vector": int(np.count_nonzero(found == 0))}]
    notes = ["The number of the deflation vector of each cell."]
    return Reproduction("fig7", "Figure 7: deflation vectors for the 8 x 8 grid", rows, notes, draw(scene))


def fig8(max_n: int, progress: Progress) -> Reproduction:
    """Planes and stripes of a cube, in the plane x = 0."""
    rows, scenes = [], []
    for space in ("planes", "stripes"):
        found = labels(space, (SIDE,) * 3)
        side = found[:, :, 0]
        kinds = {"even": side % 2 == 0, "odd": side % 2 == 1}
        words = {(row, column): str(side[row, column]) for row in range(SIDE) for column in range(SIDE)}
        scenes.append(labelled_cells(space, side.shape, kinds, words, x="y", y="z", down=False, styles=(6, 1)))
        rows.append(
            {"space": space, "vectors": int(found.max()) + 1, "cells_of_a_vector": int(np.count_nonzero(found == 0))}
        )
    notes = ["The number of the vector of each cell at x = 0: n planes of n^2 cells, and n^2 stripes of n along x."]
    title = "Figure 8: planes and stripes of 8^3 cells"
    return Reproduction("fig8", title, rows, notes, draw(*scenes, side_by_side=True, width=8.0))
