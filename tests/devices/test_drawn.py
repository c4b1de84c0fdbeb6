"""Random vectors that are made in device memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.all_pairs import on_accelerators
from workbench.arrays.validation import Drawn
from workbench.run import Run, configure


@pytest.mark.parametrize(("seed", "size", "first"), [(0, 1, 0), ([3, 1], 100003, 0), (7, 50001, 12345)])
def test_the_numbers_are_those_of_numpy(accelerator, seed, size, first):
    numbers = Drawn(seed, size, first)
    expected = np.random.default_rng(seed).random(first + size)[first:]
    for dtype in (np.float64, np.float32, np.complex128):
        made = accelerator.drawn(numbers, np.dtype(dtype))
        assert (made.shape, made.dtype) == ((size,), dtype)
        np.testing.assert_array_equal(np.asarray(made), expected.astype(dtype))
        np.testing.assert_array_equal(made[:1], expected[:1].astype(dtype))
        assert made.any() == expected.any()
        centred = accelerator.drawn(Drawn(seed, size, first, centred=True), np.dtype(dtype))
        near = 4 * np.finfo(dtype).eps
        np.testing.assert_allclose(np.asarray(centred), expected - expected.mean(), rtol=0, atol=near)


@on_accelerators(rhs=["problem", "random"], sides=["neumann", "z-:dirichlet"])
def test_a_run_starts_from_the_vectors_of_the_cores(accelerator, case):
    rhs, sides = case["rhs"], case["sides"]
    runs = [
        Run(configure("bubbles-3d", n=11, sides=sides, rhs=rhs, device=device)) for device in ("cpu", accelerator.spec)
    ]
    for run in runs:
        run.step()
    near = 1e-14 * abs(runs[0].x).max()
    np.testing.assert_allclose(runs[1].x, runs[0].x, rtol=0, atol=near)
    assert runs[1].norm_of_b == pytest.approx(runs[0].norm_of_b, rel=1e-13)


def test_b_of_a_problem_is_made_on_the_host_where_it_is_asked_for(accelerator):
    system = configure("bubbles-3d", n=9, sides="z-:dirichlet").problem.assemble()
    run = Run(configure("bubbles-3d", n=9, sides="z-:dirichlet", device=accelerator.spec), system)
    while run.step():
        pass
    result = run.result()
    assert result.converged
    assert "b" not in vars(system)
    np.testing.assert_array_equal(run.setup.device.to_host(run.setup.b), system.b)
    assert not system.b.flags.writeable
    assert system.with_operator(system.operator).b is system.b
    with pytest.raises(AttributeError, match="c"):
        system.c  # noqa: B018
