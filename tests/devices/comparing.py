"""What tests of operators compare on every device: a product and its dot products with those of NumPy."""

from __future__ import annotations

import numpy as np

from workbench.lines.types import accumulator


def on_host(dots):
    """Dot products as an array, whether the device computes in host memory or not."""
    return dots if isinstance(dots, np.ndarray) else dots.to_host()


def assert_dots(dots, left, right):
    """(left, right), (right, right), (left, left), to the random walk of N roundings of double precision."""
    found, wide = on_host(dots), accumulator(left.dtype)
    left, right = left.astype(wide), right.astype(wide)
    expected = [np.vdot(left, right), np.vdot(right, right), np.vdot(left, left)]
    scale = np.linalg.norm(left) ** 2 + np.linalg.norm(right) ** 2
    assert found.dtype == wide
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * (1 + left.size**0.5) * scale)


def same(device, bound, product, x, *, eps=100):
    """The bound operator gives product(x) and its dot products; x stays, and nothing before it matters.

    eps: tolerance in units of the last place of the largest entry.
    """
    out, placed = device.array(np.full_like(x, np.nan), x.dtype), device.array(x.copy(), x.dtype)
    not_a_number = device.array(np.full_like(x, np.nan), x.dtype)
    assert np.isnan(on_host(bound.apply(not_a_number, out, "xy", "yy", "xx"))[[0, 2]]).all()
    dots = bound.apply(placed, out, "xy", "yy", "xx")
    found, expected = device.to_host(out), product(x)
    tolerance = eps * np.finfo(x.dtype).eps * max(1, np.abs(expected).max(initial=0))
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert_dots(dots, x, found)
    np.testing.assert_array_equal(device.to_host(placed), x)
