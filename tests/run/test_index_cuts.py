"""A note says which blocks of a run cut a matrix without a grid by index."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil
from tests.contracts.cases import SECOND
from workbench.errors import InputError
from workbench.registry import find, registered
from workbench.run import Run, configure, solve

A = sparse.csr_array(3 * np.eye(36) - np.eye(36, k=1) - np.eye(36, k=-1))
b = np.ones(36)
CUTTING = {
    (kind, name) for kind in ("preconditioner", "deflation") for name, block in registered(kind).items()
    if block.cuts_by_index
}  # fmt: skip


def notes(A=A, **choices):
    return [note for note in solve(A, b, **choices).provenance["notes"] if "by index" in note]


def test_what_cuts_by_index():
    assert {("preconditioner", "block-ic"), ("preconditioner", "schwarz"), ("deflation", "blocks")} == CUTTING


@pytest.mark.parametrize("spec", SECOND)
def test_every_second_level_that_labels_a_matrix_without_a_grid(spec):
    block = find("deflation", spec)
    try:
        labels = block.labels(36, None)
    except InputError:
        labels = None
    assert (labels is not None) == block.cuts_by_index


def test_a_run_says_it_once_of_all_its_blocks():
    (note,) = notes(M="block-ic:1", deflation="blocks:4")
    assert note.startswith("preconditioner block-ic and deflation blocks cut this matrix, which has no grid, by index;")
    assert notes(M="schwarz:2x2")[0].startswith("preconditioner schwarz cuts this matrix")
    (note,) = notes(M="jacobi + coarse:4", solver="mpcg")
    assert note.startswith("preconditioner coarse cuts this matrix")


def test_labels_and_grids_are_not_cut_by_index():
    assert not notes(M="jacobi", deflation=np.arange(36) // 6)
    assert not notes(grid_stencil((6, 6)), M="block-ic", deflation="blocks:2")
    run = Run(configure("poisson5", n=6, preconditioner="block-ic", deflation="blocks:2"))
    assert not [note for note in run.setup.notes if "by index" in note]
