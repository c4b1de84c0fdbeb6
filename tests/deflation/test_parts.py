"""Merged parts of boxes against sorted keys, for odd grids of boxes and random phases."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.deflation.parts import Parts


def random_parts(per_side, kinds, seed):
    """Parts with at least one phase in each box; also the box of each."""
    rng = np.random.default_rng(seed)
    there = rng.random((int(np.prod(per_side)), kinds)) < 0.4
    there[np.arange(there.shape[0]), rng.integers(0, kinds, there.shape[0])] = True
    box, phase = np.nonzero(there)
    firsts = np.append(0, np.cumsum(there.sum(axis=1)))
    return Parts(per_side, firsts, (phase * 7).astype(np.int32)), box


@settings(max_examples=80)
@given(
    per_side=st.lists(st.integers(1, 9), min_size=1, max_size=3).map(tuple),
    kinds=st.integers(1, 6),
    seed=st.integers(0, 2**31),
)
def test_merged_parts_are_numbered_by_merged_box_and_phase(per_side, kinds, seed):
    parts, box = random_parts(per_side, kinds, seed)
    coarse = [-(-boxes // 2) for boxes in per_side]
    coarse_box = np.ravel_multi_index(tuple(side // 2 for side in np.unravel_index(box, per_side)), coarse)
    keys, parents = np.unique(coarse_box * 100 + parts.phases, return_inverse=True)
    merged, found = parts.merged
    assert merged.per_side == tuple(coarse)
    assert np.array_equal(found, parents)
    assert np.array_equal(merged.phases, keys % 100)
    assert np.array_equal(np.repeat(np.arange(np.prod(coarse)), np.diff(merged.firsts)), keys // 100)
    assert parts.kinds == np.unique(parts.phases).size


@pytest.mark.parametrize("phases", [[0, 3, 1 << 30], [-2, 0, 1]])
def test_phases_of_any_size_are_counted(phases):
    assert Parts((1,), np.array([0, 3]), np.array(phases, np.int32)).kinds == 3
