"""Parts of boxes: their numbers, sizes, sums, and E, on every device, for random grids, boxes and phases."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.all_pairs import on_accelerators
from workbench import devices
from workbench.deflation.levelset import LevelSet
from workbench.devices.accelerator.scan import scan
from workbench.devices.host.box_parts import numbered_parts
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.counting import nonzeros
from workbench.errors import InputError
from workbench.operators import BandStencil


def random_stencil(grid, rng):
    """Random couplings inside the grid, zero across its edges."""
    size = int(np.prod(grid))
    lower = []
    for axis in reversed(range(len(grid))):
        low = -rng.random(grid)
        np.moveaxis(low, axis, 0)[0] = 0
        lower.append(low.ravel())
    return BandStencil(tuple(grid), 7 + rng.random(size), tuple(lower))


@st.composite
def cases(draw):
    grid = tuple(draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    per_side = tuple(draw(st.integers(1, side)) for side in grid)
    return grid, per_side, draw(st.integers(1, 5)), draw(st.integers(0, 2**31))


def numbered(case):
    grid, per_side, kinds, seed = case
    rng = np.random.default_rng(seed)
    phase = rng.integers(0, kinds, int(np.prod(grid)))
    return phase, rng, *numbered_parts(phase, grid, per_side)


@settings(max_examples=60)
@given(case=cases())
def test_parts_are_numbered_box_by_box_and_by_phase(case):
    grid, per_side, _, _ = case
    phase, _, labels, boxes = numbered(case)
    sides = [np.arange(cells) * parts // cells for cells, parts in zip(grid, per_side, strict=True)]
    box = np.ravel_multi_index(np.meshgrid(*sides, indexing="ij"), per_side).ravel()
    expected = np.unique(box * 10 + phase, return_inverse=True)[1]
    assert np.array_equal(labels, expected)
    assert np.array_equal(boxes.sizes, np.bincount(labels))
    assert np.array_equal(boxes.box[labels], box)
    assert np.array_equal(boxes.phases[labels], phase)
    assert np.array_equal(np.repeat(np.arange(boxes.firsts.size - 1), np.diff(boxes.firsts)), boxes.box)


@settings(max_examples=60)
@given(case=cases())
def test_E_is_the_galerkin_matrix(case):
    grid = case[0]
    _, rng, labels, boxes = numbered(case)
    operator = random_stencil(grid, rng)
    Z = np.eye(boxes.box.size)[labels]
    expected = Z.T @ operator.to_csr().toarray() @ Z
    for device in map(devices.device, ("cpu", "opencl")):
        csr = device.box_matrix(operator.main, operator.lower, operator.strides, labels, boxes)
        found = sparse.csr_array(tuple(map(device.to_host, csr)), shape=(boxes.box.size,) * 2).toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


@on_accelerators(grid=[(40, 44), (9, 10, 11), (64, 64, 64)], kinds=[1, 3], dtype=("float32", "float64", "complex128"))
def test_sums_over_parts(accelerator, case):
    grid, dtype = case["grid"], np.dtype(case["dtype"])
    rng = np.random.default_rng(1)
    size = int(np.prod(grid))
    phase = rng.integers(0, case["kinds"], size)
    labels, boxes = LevelSet(5).labels_and_boxes(size, grid, phase)
    z = accelerator.subdomains(labels, boxes.box.size, dtype, boxes)
    w = rng.standard_normal(size).astype(dtype)
    expected = np.zeros(boxes.box.size, np.result_type(dtype, np.float64))
    np.add.at(expected, labels, w)
    found = accelerator.to_host(z.restrict(accelerator.array(w, dtype)))
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max() + 1e-4 * (dtype == np.float32))
    a = rng.standard_normal(boxes.box.size).astype(accelerator.wide(dtype))
    x = accelerator.array(w, dtype)
    r = accelerator.array(np.roll(w, 3), dtype)
    dots = z.add_paired(x, accelerator.array(a, a.dtype), r).to_host()
    moved = w + a[labels]
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(accelerator.to_host(x), moved, rtol=tolerance, atol=tolerance)
    products = [np.vdot(np.roll(w, 3), moved), np.vdot(moved, moved), np.vdot(w, w)]
    np.testing.assert_allclose(dots, products, rtol=10 * tolerance, atol=10 * tolerance * size)


def test_boxes_that_are_not_split():
    boxes = Boxes.whole((5, 7), (2, 3))
    assert boxes.sizes.tolist() == [9, 6, 6, 6, 4, 4]
    assert boxes.sizes.sum() == 35


@given(size=st.integers(1, 50000), seed=st.integers(0, 99))
@settings(max_examples=20)
def test_counting(size, seed):
    values = np.random.default_rng(seed).integers(0, 3, size).astype(float)
    assert nonzeros(values) == np.count_nonzero(values)


def test_a_setup_shares_copies_of_arrays_and_the_next_does_not():
    device = devices.device("opencl")
    values = np.arange(5.0)
    first = device.to_device(values)
    assert device.to_device(values) is first
    assert device.to_device(values.copy()) is not first
    values[0] = 9
    device.forget_copies()
    assert device.to_host(device.to_device(values))[0] == 9


@on_accelerators(
    dtype=[np.uint8, np.uint16, np.int32, np.int64],
    grid_and_per_side=[((7,), (3,)), ((12, 11), (4, 3)), ((9, 8, 10), (3, 4, 2))],
)
def test_parts_numbered_on_an_accelerator_are_those_of_the_cores(accelerator, case):
    dtype = case["dtype"]
    grid, per_side = case["grid_and_per_side"]
    phase = np.random.default_rng(0).integers(0, 4, grid).astype(dtype)
    labels, boxes = numbered_parts(phase, grid, per_side)
    theirs, found = accelerator.numbered_parts(phase, grid, per_side)
    np.testing.assert_array_equal(accelerator.to_host(theirs), labels)
    assert (found.count, found.most) == (boxes.count, boxes.most)
    for same in (found, pickle.loads(pickle.dumps(found))):
        for name in ("box", "phases", "sizes", "firsts"):
            np.testing.assert_array_equal(getattr(same, name), getattr(boxes, name))


def less_two(i, values, order):
    return values[order[i]] - 2


@pytest.mark.parametrize("size", [1, 255, 70001])
def test_running_sums_on_an_accelerator(accelerator, size):
    values = np.random.default_rng(size).integers(0, 9, size).astype(np.int32)
    order = np.random.default_rng(1).permutation(size).astype(np.int32)
    given = [accelerator.array(values, np.int32), accelerator.array(order, np.int32)]
    for dtype in (np.int32, np.int64):
        found = scan(accelerator, less_two, given, size, dtype)
        expected = values[order].astype(dtype) - 2
        np.testing.assert_array_equal(accelerator.to_host(found.ends), np.append(0, np.cumsum(expected)))
        assert found[1:] == (expected.sum(), min(0, expected.min()), max(0, expected.max()))


@pytest.mark.parametrize("name", ["cpu", "opencl"])
def test_more_parts_than_32_bits_number_are_refused(name):
    with pytest.raises(InputError, match="give 8589934592 deflation vectors.*use fewer boxes per side"):
        devices.device(name).numbered_parts(np.zeros(8, np.uint8), (2048,) * 3, (2048,) * 3)


def test_boxes_of_very_many_phases_are_numbered_on_the_host(accelerator):
    phase = np.arange(64, dtype=np.uint8).reshape(8, 8)
    labels, boxes = accelerator.numbered_parts(phase, (8, 8), (1, 1))
    assert isinstance(labels, np.ndarray)
    assert boxes.sizes.tolist() == [1] * 64
