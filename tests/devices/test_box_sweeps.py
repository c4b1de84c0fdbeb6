"""Jacobi sweeps on many boxes: against a NumPy loop, and every kernel against the plain sweeps bit by bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.all_pairs import all_pairs, name_of, on_accelerators
from workbench import devices
from workbench.devices.accelerator import tile_plan
from workbench.devices.cpu import box_sweeps as on_cores
from workbench.devices.jacobi_boxes import PRECISIONS
from workbench.errors import InputError

SHAPES = (
    ((1, 1),),
    ((3, 2),),
    ((1, 9),),
    ((9, 1),),
    ((37, 53),),
    ((65, 64),),
    ((64, 65), (3, 17), (40, 16), (1, 1), (16, 33)),
)


def coefficients(shapes, *, constant, seed=0):
    """main, lower_x and lower_y of diagonally dominant boxes, in float64."""
    rng = np.random.default_rng(seed)
    if constant:
        return 4 + rng.random(len(shapes)), -rng.random(len(shapes)), -rng.random(len(shapes))
    main, lower_x, lower_y = [], [], []
    for shape in shapes:
        west, south = -rng.random(shape), -rng.random(shape)
        west[:, 0] = south[0] = 0
        main.append((4 + rng.random(shape)).ravel())
        lower_x.append(west.ravel())
        lower_y.append(south.ravel())
    return tuple(np.concatenate(arrays) for arrays in (main, lower_x, lower_y))


def reference(shapes, main, lower_x, lower_y, sweeps, r):
    """The sweeps in NumPy, box by box, in float64."""
    found, start = [], 0
    for k, (rows, width) in enumerate(shapes):
        here = slice(start, start + rows * width)
        start += rows * width
        if main.size == len(shapes):
            D, west, south = (np.full((rows, width), values[k]) for values in (main, lower_x, lower_y))
        else:
            D, west, south = (values[here].reshape(rows, width) for values in (main, lower_x, lower_y))
        b, z = r[here].reshape(rows, width).astype(float), np.zeros((rows, width))
        for _ in range(sweeps):
            rest = b.copy()
            rest[:, 1:] -= west[:, 1:] * z[:, :-1]
            rest[:, :-1] -= west[:, 1:] * z[:, 1:]
            rest[1:] -= south[1:] * z[:-1]
            rest[:-1] -= south[1:] * z[1:]
            z = rest / D
        found.append(z.ravel())
    return np.concatenate(found)


def swept(device, shapes, bands, sweeps, precision, kernel, r):
    operator = device.box_sweeps(shapes, *bands, sweeps, precision, kernel)
    z = device.zeros(r.size, r.dtype)
    operator.apply(device.array(r, r.dtype), z)
    return device.to_host(z).copy()


def right_hand_side(shapes, precision, seed=1):
    size = sum(rows * width for rows, width in shapes)
    return (1e-3 * np.random.default_rng(seed).standard_normal(size)).astype(PRECISIONS[precision][0])


def close(z, expected, precision):
    scale = max(np.abs(expected).max(), 1e-300)
    assert np.abs(z - expected).max() <= 60 * np.finfo(PRECISIONS[precision][1]).eps * scale


@pytest.fixture(scope="module")
def cpu():
    return devices.device("cpu")


@pytest.mark.parametrize("kernel", ["auto", "plain", "blocked"])
def test_one_unknown_is_divided_by_d(cpu, kernel):
    for sweeps in (1, 2, 9):
        np.testing.assert_array_equal(
            swept(cpu, [(1, 1)], (4, -1, -1), sweeps, "float64", kernel, np.array([6.0])), 1.5
        )


@pytest.mark.parametrize("kernel", ["plain", "blocked"])
def test_two_sweeps_by_hand(cpu, kernel):
    """Three rows of two unknowns, D = 4, couplings -1 along x and -2 along y, r = 8: first 2 everywhere, then
    (8 + 2 + 4)/4 at the corners and (8 + 2 + 4 + 4)/4 in the middle row."""
    z = swept(cpu, [(3, 2)], (4, -1, -2), 2, "float64", kernel, np.full(6, 8.0))
    np.testing.assert_array_equal(z, [3.5, 3.5, 4.5, 4.5, 3.5, 3.5])


CASES = all_pairs(shapes=SHAPES, precision=tuple(PRECISIONS), constant=(True, False), sweeps=(1, 2, 7, 40, 61))


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of({**case, "shapes": len(case["shapes"])}))
def test_both_kernels_of_the_cores_are_the_numpy_loop(cpu, case):
    shapes, precision, sweeps = case["shapes"], case["precision"], case["sweeps"]
    bands, r = coefficients(shapes, constant=case["constant"]), right_hand_side(case["shapes"], case["precision"])
    plain, blocked = (swept(cpu, shapes, bands, sweeps, precision, kernel, r) for kernel in ("plain", "blocked"))
    close(plain, reference(shapes, *bands, sweeps, r), precision)
    np.testing.assert_array_equal(plain, blocked)


@settings(max_examples=60)
@given(
    shapes=st.lists(st.tuples(st.integers(1, 40), st.integers(1, 70)), min_size=1, max_size=5),
    sweeps=st.integers(1, 90),
    precision=st.sampled_from(tuple(PRECISIONS)),
    constant=st.booleans(),
    depth=st.integers(1, 12),
    threads=st.integers(1, 7),
)
def test_blocking_never_changes_a_bit(shapes, sweeps, precision, constant, depth, threads):
    """Whatever the parts of the boxes, their height and the number of sweeps of a pass."""
    cpu = devices.device("cpu")
    bands, r = coefficients(shapes, constant=constant), right_hand_side(shapes, precision)
    plain = swept(cpu, shapes, bands, sweeps, precision, "plain", r)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(on_cores, "DEPTH", depth)
        patch.setattr(on_cores, "CACHE", 4096)
        patch.setattr(on_cores, "cores", lambda: threads)
        np.testing.assert_array_equal(plain, swept(cpu, shapes, bands, sweeps, precision, "blocked", r))


@pytest.mark.parametrize("shapes", [[(200, 300)], [(150, 90), (200, 130), (90, 111)]])
@pytest.mark.parametrize("alone", [True, False], ids=["boxes", "threads in one box"])
def test_threads_side_by_side_change_no_bit(cpu, monkeypatch, shapes, alone):
    """Large enough for all threads, in several launches."""
    monkeypatch.setattr(on_cores, "LAUNCH", 10**7)
    if not alone:
        monkeypatch.setattr(on_cores, "cores", lambda: 7)
    bands, r = coefficients(shapes, constant=True), right_hand_side(shapes, "float32")
    plain, blocked = (swept(cpu, shapes, bands, 700, "float32", kernel, r) for kernel in ("plain", "blocked"))
    np.testing.assert_array_equal(plain, blocked)


@on_accelerators(shapes=SHAPES, precision=tuple(PRECISIONS), constant=[True, False], sweeps=[1, 2, 7, 40])
def test_kernels_of_accelerators_give_the_bits_of_the_cores(accelerator, case):
    shapes, precision, sweeps = case["shapes"], case["precision"], case["sweeps"]
    bands, r = coefficients(shapes, constant=case["constant"]), right_hand_side(case["shapes"], case["precision"])
    host = swept(devices.device("cpu"), shapes, bands, sweeps, precision, "plain", r)
    for kernel in ("plain", "blocked", *(["persistent"] if accelerator.runtime.multiprocessors else [])):
        np.testing.assert_array_equal(swept(accelerator, shapes, bands, sweeps, precision, kernel, r), host)


@pytest.mark.parametrize("constant", [True, False])
def test_a_long_run_of_launches_gives_the_bits_of_the_cores(accelerator, constant):
    """As many launches as are recorded and replayed, and some more."""
    bands, r = coefficients([(70, 45)], constant=constant), right_hand_side([(70, 45)], "float32")
    host = swept(devices.device("cpu"), [(70, 45)], bands, 1203, "float32", "blocked", r)
    for kernel in ("auto", "plain", "blocked"):
        np.testing.assert_array_equal(swept(accelerator, [(70, 45)], bands, 1203, "float32", kernel, r), host)


def test_mixed_precision_takes_any_magnitude(cpu):
    """Each box is scaled by its own; zeros remain zeros."""
    shapes, bands = [(5, 7), (4, 4), (3, 3)], (4, -1, -1)
    r = np.concatenate([np.full(35, 1e-200), np.full(16, 1e200), np.zeros(9)])
    z = swept(cpu, shapes, bands, 30, "mixed", "auto", r)
    expected = swept(cpu, shapes, bands, 30, "float64", "auto", r)
    np.testing.assert_allclose(z, expected, rtol=1e-5)
    assert not z[-9:].any()


def test_sweeps_approach_the_solution(cpu):
    """5 times the number of unknowns, as in Chen's subdomain solver."""
    from tests.conftest import grid_stencil

    stencil = grid_stencil((9, 11), seed=3)
    r = np.random.default_rng(0).standard_normal(99)
    z = swept(cpu, [(9, 11)], (stencil.main, *stencil.lower), 5 * 99, "float64", "auto", r)
    np.testing.assert_allclose(stencil.to_csr() @ z, r, atol=1e-9)


def test_bytes_and_operations(cpu):
    shapes = [(30, 40)]
    plain = cpu.box_sweeps(shapes, 4, -1, -1, 101, "float32", "plain")
    assert plain.flops == 1200 * (1 + 100 * 6)
    assert plain.traffic == 1200 * (100 * 3 * 4 + 5 * 4)
    assert cpu.box_sweeps(shapes, 4, -1, -1, 101, "float32", "blocked").traffic < plain.traffic / 4
    variable = cpu.box_sweeps(shapes, *coefficients(shapes, constant=False), 101, "float64", "plain")
    assert variable.flops == 1200 * (1 + 100 * 9)
    assert variable.fused_dots == ()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sweeps": 0}, "a Jacobi box solver makes at least 1 sweep, got 0"),
        ({"precision": "half"}, "unknown precision 'half'"),
        ({"shapes": []}, "at least one box"),
        ({"shapes": [(3, 0)]}, "at least one unknown per side"),
        ({"main": [4.0, 4.0, 4.0]}, "coefficients have shape"),
        ({"main": 0.0}, "main has a zero at 0"),
        ({"lower_x": np.nan}, "lower_x holds NaN or infinity at 0"),
        ({"lower_y": 1j}, "real numbers"),
        ({"kernel": "fast"}, "has no Jacobi kernel 'fast'; choose one of auto, plain, blocked"),
        ({"main": np.ones(6), "lower_x": np.ones(6), "lower_y": np.zeros(6)}, "lower_x couples box 0 across its edge"),
    ],
)
def test_wrong_input_is_refused(cpu, changes, sentence):
    chosen = {"shapes": [(2, 3)], "main": 4.0, "lower_x": -1.0, "lower_y": -1.0, "sweeps": 2, "precision": "float64"}
    with pytest.raises(InputError, match=sentence):
        cpu.box_sweeps(**(chosen | changes))


def test_tiles_of_the_persistent_kernel_fit_the_chip():
    for side in (1, 20, 99, 249, 600):
        tile = tile_plan.persistent_tile([(side, side)], 4, 132, 1, 1000)
        assert tile is not None
        assert tile_plan.count([(side, side)], tile.edge) <= 132
        assert tile.local_bytes(4) <= tile_plan.LOCAL_MEMORY
    assert tile_plan.persistent_tile([(5000, 5000)], 4, 132, 4, 1000) is None
    assert tile_plan.persistent_tile([(9, 9)], 4, 132, 1, 2).halo <= 2
