"""Constant vectors: what they hold, what they cost, and that devices make the same of them as of written ones."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.conftest import DTYPES
from workbench import devices
from workbench.devices.constant import constant, constant_of, entries, largest
from workbench.operators import BoxStencil
from workbench.run import configure, run_through
from workbench.run.driver import Run


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_constant_vector_takes_no_memory(dtype):
    made = constant(-2.5, 10**12, dtype)
    assert (made.shape, made.dtype, constant_of(made)) == ((10**12,), np.dtype(dtype), -2.5)
    assert not made.flags.writeable
    assert largest(made) == 2.5
    assert entries(made).tolist() == [-2.5]


def test_a_part_of_one_entry_is_constant_as_the_whole():
    """Ranks with parts of one vector see the same in them."""
    assert constant_of(constant(2, 5, float)[3:4]) == constant_of(constant(2, 1, float)) == 2


def test_what_is_written_out_is_no_constant():
    for values in (np.ones(3), np.ones(1), np.ones((3, 1))[:, 0], np.ones((3, 3)), None, 4.0):
        assert constant_of(values) is None
    assert largest(np.array([1.0, -3.0, 2.0])) == 3
    assert largest(np.array([3j, 4.0])) == 4
    assert np.isnan(largest(np.array([1.0, np.nan])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_accelerators_make_it_themselves(accelerator, dtype):
    value = 1.5 - 2j if np.dtype(dtype).kind == "c" else 1.5
    made = accelerator.array(constant(value, 1003, dtype), np.dtype(dtype))
    np.testing.assert_array_equal(accelerator.to_host(made), np.full(1003, value, dtype))


def test_the_cores_write_it_out():
    made = devices.device("cpu").array(constant(2, 7, np.float64), np.dtype(np.float64))
    made[0] = 3
    assert made.tolist() == [3, 2, 2, 2, 2, 2, 2]


def test_the_diagonal_of_a_box_is_one_number():
    assert constant_of(BoxStencil((1024,) * 3, 1, 26.0, -1.0).diagonal()) == 26


def test_the_setup_of_a_box_moves_no_vector(accelerator, transfers):
    """Right-hand side, start, diagonal and the look for a null space are made on the device."""
    n = 48
    run = Run(configure("poisson27", n=n, form="matrix-free", device=accelerator.spec))
    # The parts of dot products, and scalars.
    assert max(values.nbytes for arrays in transfers.values() for values in arrays) < 8 * n**3 / 4
    found, expected = run_through(run), run_through(Run(configure("poisson27", n=n, form="matrix-free")))
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-6)


def test_a_singular_matrix_is_still_found_and_a_nearly_singular_one_is_not(accelerator):
    for spec in ("cpu", accelerator.spec):
        assert Run(configure("bubbles-2d", n=16, rhs="random", device=spec)).setup.null_space
        assert not Run(configure("two-layer", n=16, contrast=1e9, device=spec)).setup.null_space


@pytest.mark.parametrize(("problem", "given"), [("bubbles-2d", True), ("bubbles-2d", False), ("two-layer", False)])
def test_the_setup_copies_b_and_the_start_once(accelerator, transfers, problem, given):
    """The norms that tell whether they have to be scaled, and the solve, share the copies; a b of the problem is made
    there."""
    n = 64
    system = configure(problem, n=n).problem.assemble()
    if given:
        system = dataclasses.replace(system, given_b=np.array(system.b))
    start = np.random.default_rng(3).random(n * n)
    Run(configure(problem, n=n, device=accelerator.spec), system, start)
    copied = [sum(np.array_equal(found, values) for found in transfers["upload"]) for values in (system.b, start)]
    assert copied == [int(given), 1]
