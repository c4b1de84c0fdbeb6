"""Pieces of vectors: runs and segments by hand, and every operation against dense algebra on every device."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, random_values
from workbench import devices
from workbench.devices.pieces import ROWS_AT_ONCE, Couplings, Pieces, colours


def test_runs_and_segments_by_hand():
    pieces = Pieces(7, [np.array([0, 1, 2, 5]), np.array([2, 3])])
    assert pieces.count == 2
    assert pieces.local_size == 6
    np.testing.assert_array_equal(pieces.runs.start, [0, 5, 2])
    np.testing.assert_array_equal(pieces.runs.length, [3, 1, 2])
    np.testing.assert_array_equal(pieces.runs.local, [0, 3, 4])
    np.testing.assert_array_equal(pieces.indices, [0, 1, 2, 5, 2, 3])
    segments = pieces.segments
    np.testing.assert_array_equal(segments.bounds, [0, 2, 3, 4, 5, 6, 7])
    # Unknown 2 lies in both pieces, 4 and 6 in none.
    np.testing.assert_array_equal(np.diff(segments.first), [1, 2, 1, 0, 1, 0])
    np.testing.assert_array_equal(segments.local, [0, 2, 4, 5, 3])


def test_one_piece_of_all_unknowns_is_the_vector(device):
    pieces, same = Pieces(61, [range(61)]), Pieces(61, [np.arange(61)])
    assert (pieces.whole, same.whole, Pieces(62, [range(61)]).whole) == (True, True, False)
    for name in ("start", "length", "local", "piece"):
        np.testing.assert_array_equal(getattr(pieces.runs, name), getattr(same.runs, name))
    v, dtype = np.random.default_rng(0).random(61), np.dtype(float)
    local = device.zeros(61, dtype)
    device.pieces(pieces, dtype).gather(device.array(v, dtype), local)
    np.testing.assert_array_equal(device.to_host(local), v)


def test_colours_of_columns_that_overlap_differ():
    columns = sparse.csc_array(np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]]))
    np.testing.assert_array_equal(colours(columns), [0, 1, 0, 1])


def some(seed, size, count):
    """Pieces of random sets and ranges, where A times each may be nonzero, and vectors."""
    rng = np.random.default_rng(seed)
    parts = [np.sort(rng.choice(size, rng.integers(1, size + 1), replace=False)) for _ in range(count)]
    parts[0] = np.arange(size // 3, max(size // 3 + 1, size // 2))
    pieces = Pieces(size, parts)
    reach = sparse.csc_array((rng.random((size, count)) < 0.4) | (pieces.pattern.toarray() > 0)).astype(np.int32)
    return rng, pieces, sparse.csc_array(reach)


def check(device, seed, size, count, rows, dtype):
    rng, pieces, reach = some(seed, size, count)
    made = device.pieces(pieces, np.dtype(dtype))
    tolerance = 1e-4 if np.finfo(dtype).bits == 32 else 1e-12
    covers = [sparse.eye_array(size, format="csr")[pieces.part(k)] for k in range(count)]
    v = random_values(size, dtype, rng)
    local = device.zeros(pieces.local_size, dtype)
    made.gather(device.array(v, dtype), local)
    np.testing.assert_array_equal(device.to_host(local), v[pieces.indices])

    values = [random_values(pieces.local_size, dtype, rng) for _ in range(rows)]
    terms = [
        np.stack([covers[k].T @ z[pieces.firsts[k] : pieces.firsts[k + 1]] for k in range(count)], 1) for z in values
    ]
    on_device = [device.array(z, dtype) for z in values]
    weights = rng.standard_normal((rows, count))
    for add in (False, True):
        target = device.array(v.copy(), dtype)
        made.combine(on_device, weights, target, add=add)
        expected = sum(term @ weights[k] for k, term in enumerate(terms)) + add * v
        np.testing.assert_allclose(device.to_host(target), expected, rtol=tolerance, atol=tolerance * 10 * rows)

    panel_of = colours(reach)
    couplings = Couplings(pieces, reach, panel_of)
    panel = made.panel(panel_of.max() + 2)
    columns = np.zeros((size, count + 1), dtype)
    columns[:, :count] = reach.toarray() * random_values(size * count, dtype, rng).reshape(size, count)
    columns[:, count] = random_values(size, dtype, rng)
    for place, target in enumerate(panel):
        inside = columns[:, [*np.flatnonzero(panel_of == place), *([count] if place == panel_of.max() + 1 else [])]]
        device.assign(target, device.array(inside.sum(axis=1), dtype))
    found = made.products(couplings)(on_device, panel)
    dense = np.zeros((rows, count, count + 1), found.dtype)
    for row in range(rows):
        dense[row, couplings.pairs[:, 0], couplings.pairs[:, 1]] = found[:, row]
        np.testing.assert_allclose(
            dense[row], terms[row].conj().T @ columns, rtol=tolerance, atol=tolerance * 10 * size
        )


@on_devices(rows=[1, 3, ROWS_AT_ONCE], dtype=DTYPES, form=[(0, 61, 5), (2, 5003, 3)])
def test_on_devices(device, case):
    check(device, *case["form"], case["rows"], np.dtype(case["dtype"]))


def test_many_elements_on_all_cores():
    check(devices.device("cpu"), 1, 40_001, 4, 2, np.float64)


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6), st.integers(1, ROWS_AT_ONCE))
def test_random_pieces(seed, size, count, rows):
    check(devices.device("cpu"), seed, size, count, rows, np.float64)
