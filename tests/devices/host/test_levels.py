"""Levels of triangular solves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import grid_stencil
from workbench.devices.accelerator.factors import lower_of_stencil
from workbench.devices.host.levels import levels_of_blocks


@pytest.mark.parametrize("block", [1, 7, 12, 36, 40, 84])
def test_rows_need_only_levels_before_theirs(block):
    operator = grid_stencil((7, 12))
    lower = lower_of_stencil(operator.lower, operator.strides, block)
    order, bounds, firsts = levels_of_blocks(lower.indices, lower.indptr, block)
    np.testing.assert_array_equal(np.sort(order), np.arange(84))
    assert firsts.size == -(-84 // block) + 1
    assert firsts[-1] == bounds.size - 1
    level = np.empty(84, int)
    for k in range(bounds.size - 1):
        level[order[bounds[k] : bounds[k + 1]]] = k
    rows, columns = lower.tocoo().coords
    assert np.all(level[rows] > level[columns])
    for k in range(firsts.size - 1):
        inside = order[bounds[firsts[k]] : bounds[firsts[k + 1]]]
        np.testing.assert_array_equal(inside // block, k)


def test_a_stencil_row_after_row_has_as_many_levels_as_a_path_through_it():
    operator = grid_stencil((8, 100))
    lower = lower_of_stencil(operator.lower, operator.strides, 800)
    _, bounds, _ = levels_of_blocks(lower.indices, lower.indptr, 800)
    assert bounds.size - 1 == 8 + 100 - 1


def test_a_matrix_without_couplings_is_one_level():
    empty = sparse.csr_array((5, 5))
    _, bounds, firsts = levels_of_blocks(empty.indices, empty.indptr, 5)
    assert bounds.tolist() == [0, 5]
    assert firsts.tolist() == [0, 1]
