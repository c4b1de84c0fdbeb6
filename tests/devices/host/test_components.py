"""Connected components from runs, against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from workbench.devices.host.components import has_unnumbered_components, numbered_components


@pytest.mark.parametrize("grid", [(1,), (40,), (13, 17), (1, 9), (9, 1), (7, 8, 9), (1, 5, 6), (5, 1, 6), (5, 6, 1)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_components_are_those_of_scipy_in_the_order_of_their_first_cells(grid, dtype):
    rng = np.random.default_rng(0)
    for share in (0, 0.2, 0.5, 0.6, 0.8, 1):
        phase = (rng.random(grid) < share).astype(dtype)
        labels, count = ndimage.label(phase)
        assert np.array_equal(numbered_components(phase, grid), labels.ravel())
        assert has_unnumbered_components(phase.ravel(), grid) == (count > 1)


def test_phases_with_larger_numbers_have_been_numbered():
    phase = np.zeros((9, 11), np.uint8)
    phase[2, 3], phase[5, 7] = 1, 1
    assert has_unnumbered_components(phase, phase.shape)
    phase[5, 7] = 2
    assert not has_unnumbered_components(phase, phase.shape)
