"""Boxes of slabs, and E summed from the rows of slabs, against those of the whole grid."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import sparse

from workbench.devices.host.box_parts import numbered_parts
from workbench.devices.host.slab import Slab, boxes_along, boxes_of_slab, of_all_slabs
from workbench.operators.slab_stencil import SlabStencil, planes_of
from workbench.problems.diffusion import assemble_two_phases

GRID, PER_SIDE = (12, 7, 5), (4, 3, 2)
ENDS = (0, 3, 9, 12)


def _slabs(depth):
    return [Slab(GRID, first, last, depth) for first, last in itertools.pairwise(ENDS)]


def _phase():
    return (np.random.default_rng(2).random(GRID) < 0.4).astype(np.uint8)


def test_parts_numbered_by_slabs_are_those_of_the_whole_grid():
    labels, boxes = numbered_parts(_phase(), GRID, PER_SIDE)
    of_slabs, first = [], 0
    for slab in _slabs(1):
        along = boxes_along(slab, PER_SIDE[0])
        mine, parts = numbered_parts(
            _phase().reshape(-1)[slab.rows], slab.own, (along.stop - along.start, *PER_SIDE[1:])
        )
        np.testing.assert_array_equal(mine + first, labels[slab.rows])
        cut, begin = boxes_of_slab(boxes, slab)
        assert (begin, cut.per_side, cut.grid) == (first, parts.per_side, slab.own)
        for name in ("box", "phases", "sizes"):
            np.testing.assert_array_equal(getattr(cut, name), getattr(parts, name))
        of_slabs.append(parts)
        first += parts.box.size
    joined = of_all_slabs(of_slabs, GRID, PER_SIDE)
    for field in dataclasses.fields(joined):
        np.testing.assert_array_equal(getattr(joined, field.name), getattr(boxes, field.name))


@pytest.mark.parametrize("ends", [(0, 4), (3, 5), (5, 12)])
def test_slabs_that_share_boxes_have_none_of_their_own(ends):
    assert boxes_along(Slab(GRID, *ends, 1), PER_SIDE[0]) is None


@pytest.mark.parametrize(
    ("grid", "per_side", "depth"), [(GRID, PER_SIDE, 1), (GRID, PER_SIDE, 3), ((12, 35), (4, 9), 1)]
)
def test_rows_of_e_of_all_slabs_are_e(device, grid, per_side, depth):
    phase = _phase().reshape(grid)
    labels, boxes = numbered_parts(phase, grid, per_side)
    whole = assemble_two_phases(phase, (8.0, 1.0), "y-:dirichlet", scale=64.0)
    z = sparse.csr_array((np.ones(labels.size), labels, np.arange(labels.size + 1)))
    made = []
    for first, last in itertools.pairwise(ENDS):
        slab = Slab(grid, first, last, depth)
        rows = SlabStencil(planes_of(whole, slab.planes), slab)
        parts, at = boxes_of_slab(boxes, slab)
        near = labels.reshape(grid)[slab.within(1).planes].reshape(-1) - np.int32(at)
        csr = rows.rows_of_e(device, near, parts, at)
        csr = tuple(values if isinstance(values, np.ndarray) else device.to_host(values) for values in csr)
        made.append(sparse.csr_array(csr, shape=(parts.count, boxes.count)))
    found = sparse.vstack(made).toarray()
    np.testing.assert_allclose(found, (z.T @ whole.to_csr() @ z).toarray(), atol=1e-12)
