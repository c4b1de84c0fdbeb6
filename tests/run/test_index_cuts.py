"""A matrix without a grid is cut along its couplings; by index where that is chosen, or nothing else is possible, which
a note says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from tests.conftest import grid_stencil
from workbench.deflation import DeflationContext
from workbench.devices import device
from workbench.operators import as_operator
from workbench.registry import find, registered
from workbench.run import Run, configure, solve

CHAIN = sparse.csr_array(3 * np.eye(36) - np.eye(36, k=1) - np.eye(36, k=-1))
ORDER = np.random.default_rng(3).permutation(36)
SHUFFLED = sparse.csr_array(CHAIN[ORDER][:, ORDER])
"""A chain whose unknown i is at place ORDER[i]."""
b = np.ones(36)
CUTTING = {
    (kind, name) for kind in ("preconditioner", "deflation") for name, block in registered(kind).items()
    if "cut" in [declared.name for declared in block.parameters()]
}  # fmt: skip


def notes(A=CHAIN, words="by index", **choices):
    return [note for note in solve(A, b, **choices).provenance["notes"] if words in note]


def labels_of(spec, A):
    operator = as_operator(A)
    bound = operator.bind(device())
    return find("deflation", spec).space(DeflationContext(operator, bound, bound, device())).labels


def test_what_cuts_a_matrix():
    assert {
        ("preconditioner", "block-ic"), ("preconditioner", "schwarz"),
        ("deflation", "blocks"),
    } == CUTTING  # fmt: skip


def test_blocks_are_intervals_of_a_chain_whatever_its_numbering():
    for A, order in ((CHAIN, np.arange(36)), (SHUFFLED, ORDER)):
        along = np.empty(36, int)
        along[order] = labels_of("blocks:4", A)
        assert np.count_nonzero(np.diff(along)) == along.max()
        assert 3 <= along.max() + 1 <= 5
        assert np.bincount(along).min() >= 3
    by_index = labels_of("blocks:k=4,cut=index", SHUFFLED)
    assert by_index.tolist() == (np.arange(36) // 9).tolist()


def test_parts_take_fewer_iterations_than_ranges_on_a_shuffled_mesh():
    grid = configure("poisson5", n=40).problem.assemble().operator.to_csr()
    order = np.random.default_rng(1).permutation(1600)
    A, right = sparse.csr_array(grid[order][:, order]), np.random.default_rng(2).standard_normal(1600)
    for name, levels in (
        ("blocks", {"M": "jacobi", "deflation": "blocks:{}"}),
        ("block-ic", {"M": "block-ic:{}"}),
        ("schwarz", {"M": "schwarz:{}", "solver": "cg"}),
    ):
        first = {"blocks": "k=60", "block-ic": "unknowns=100", "schwarz": "boxes=4x4"}[name]
        grown, ranges = (
            solve(A, right, **{kind: text.format(each) for kind, text in levels.items()})
            for each in (first, f"{first},cut=index")
        )
        assert grown.converged
        assert ranges.converged
        assert grown.iterations <= 0.8 * ranges.iterations, name


def test_notes_give_the_parts_and_their_sizes():
    for levels, words in (
        ({"deflation": "blocks:4"}, "deflation blocks: "),
        ({"deflation": "parts:9"}, "deflation parts: "),
        ({"M": "block-ic:unknowns=9"}, "block-ic: "),
        ({"M": "schwarz:2x2"}, "schwarz: "),
        ({"M": "jacobi + coarse:4", "solver": "mpcg"}, "coarse: "),
    ):
        (note,) = notes(words=words, **levels)
        assert " parts of " in note
        assert "grown along strong couplings in" in note
        assert not notes(**levels)


def test_a_run_says_once_that_its_blocks_cut_by_index():
    (note,) = notes(M="block-ic:rows=1,cut=index", deflation="blocks:k=4,cut=index")
    assert note.startswith("preconditioner block-ic and deflation blocks cut this matrix, which has no grid, by index;")
    assert "leave out cut=index" in note
    assert notes(M="schwarz:boxes=2x2,cut=index")[0].startswith("preconditioner schwarz cuts this matrix")
    (note,) = notes(M="jacobi + coarse:k=4,cut=index", solver="mpcg")
    assert note.startswith("preconditioner coarse cuts this matrix")


def test_products_alone_are_cut_by_index():
    (note,) = notes(aslinearoperator(CHAIN), M="none", deflation="blocks:4")
    assert note.startswith("deflation blocks cuts this matrix")
    assert "cut=index" not in note


def test_labels_and_grids_are_not_cut_by_index():
    assert not notes(M="jacobi", deflation=np.arange(36) // 6)
    assert not notes(grid_stencil((6, 6)), M="block-ic", deflation="blocks:2")
    run = Run(configure("poisson5", n=6, preconditioner="block-ic", deflation="blocks:2"))
    assert not [note for note in run.setup.notes if "by index" in note]


@pytest.mark.parametrize("name", ["cut=index", "cut=couplings"])
def test_a_grid_is_cut_into_boxes_whatever_the_cut(name):
    stencil = grid_stencil((6, 6))
    expected = find("deflation", "blocks:2").labels(36, (6, 6))
    assert labels_of(f"blocks:k=2,{name}", stencil).tolist() == expected.tolist()
