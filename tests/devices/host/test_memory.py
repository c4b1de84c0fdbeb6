"""Where vectors lie in memory."""

import numpy as np
import pytest

from workbench.devices.cpu import Cpu
from workbench.devices.host.memory import LINE, MARGIN, vector


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [1, 7, 16385])
def test_vectors_start_on_a_line_and_have_a_margin(size, dtype):
    made = vector(size, np.dtype(dtype))
    assert made.shape == (size,)
    assert made.dtype == dtype
    assert not made.any()
    assert made.ctypes.data % LINE == 0
    room = made.base if made.base.dtype == np.uint8 and made.base.base is None else made.base.base
    assert made.ctypes.data - room.ctypes.data >= MARGIN
    assert room.nbytes - (made.ctypes.data - room.ctypes.data) - made.nbytes >= MARGIN


def test_dot_products_do_not_depend_on_where_the_heap_puts_vectors():
    cpu = Cpu()
    update = cpu.lines("r = r - alpha*s\ng = (r, r)")
    rng = np.random.default_rng(0)
    first, second = rng.random(1001), rng.random(1001)
    found = set()
    for gap in range(0, 64, 4):
        keep = np.zeros(gap)
        r, s = cpu.copy(first), cpu.copy(second)
        found.add(update(r=r, s=s, alpha=0.25)["g"])
        assert keep.size == gap
    assert len(found) == 1
