"""Sums and refusals of paper lines on every accelerator; `test_random_programs` has what lines mean."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import SIDE_BY_SIDE
from workbench.deflation.variants import TwoLevel
from workbench.devices.accelerator.restricted import ResidualOfBoxes
from workbench.devices.programs import LinesError
from workbench.run import Run, Stopping, configure, run_through


def test_sums_are_the_same_bit_by_bit(accelerator):
    x = np.random.default_rng(0).random(100003)
    update = accelerator.lines("g = (x, x)")
    assert len({update(x=accelerator.array(x, x.dtype))["g"] for _ in range(5)}) == 1


def test_single_precision_is_summed_in_double(accelerator):
    x = np.full(100003, 0.1, np.float32)
    found = accelerator.lines("g = (x, x)")(x=accelerator.array(x, x.dtype))["g"]
    np.testing.assert_allclose(found, x.size * float(np.float32(0.1)) ** 2, rtol=1e-12)


def test_not_a_number_and_infinity_are_kept(accelerator):
    x = np.array([1.0, np.nan, np.inf, -np.inf, 0.0])
    ours = accelerator.array(x, x.dtype)
    found = accelerator.lines("g = (x, x)\nx = 1/x")(x=ours)["g"]
    assert np.isnan(found)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(accelerator.to_host(ours), 1 / x)


def test_dot_products_that_a_group_has_no_room_for_are_refused(accelerator):
    x = accelerator.array(np.ones(9), np.dtype(float))
    lines = accelerator.lines("\n".join(f"g{k} = (x, x)" for k in range(100)))
    if accelerator.layout.chunked:
        assert set(lines(x=x).values()) == {9}
        return
    with pytest.raises(LinesError, match=r"a pass adds up 100 sums, .* has room for \d+; .*fewer dot products"):
        lines(x=x)


def test_one_array_under_two_names_is_refused(accelerator):
    x = accelerator.zeros(9, np.dtype(float))
    with pytest.raises(LinesError, match="shares memory"):
        accelerator.lines("x = x + y")(x=x, y=x)


@pytest.mark.parametrize("accelerator", [SIDE_BY_SIDE, "cuda"], indirect=True)
@pytest.mark.parametrize(("problem", "cells", "precision"), [("bubbles-3d", 4, "float64"), ("bubbles-2d", 9, "mixed")])
def test_the_coarse_part_of_a_def2_is_added_by_the_passes(accelerator, monkeypatch, problem, cells, precision):
    """As many iterations, the same norms, and the same vectors as where it is added in a pass of its own."""
    apply, calls = TwoLevel.apply_split, []
    monkeypatch.setattr(TwoLevel, "apply_split", lambda self, *given: (calls.append(1), apply(self, *given))[1])
    found = []
    for offered in (True, False):
        monkeypatch.setattr(ResidualOfBoxes, "pairs", offered)
        run = Run(
            configure(
                problem, {"n": 8 * cells, "sides": "x-:dirichlet"}, device=accelerator.spec, precision=precision,
                preconditioner="neumann:1", deflation="levelset:8", coarse="cholesky", variant="a-def2", x0="zero",
                stopping=Stopping(rtol=1e-7),
            )
        )  # fmt: skip
        result = run_through(run)
        space = run._iterations.workspace
        u, r = (accelerator.to_host(space.gathered(name)).astype(float) for name in "ur")
        norms = [result.history[norm] for norm in ("residual", "preconditioned")]
        found.append((bool(calls), result.iterations, *norms, u, r))
        calls.clear()
        assert result.converged
    (used, count, *histories, u, r), (unused, plain, *others) = found
    assert (used, unused, count) == (True, False, plain)
    tolerance = 1e-9 if precision == "float64" else 5e-2
    for ours, theirs in zip(histories, others, strict=False):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance)
    for ours, theirs in zip((u, r), others[2:], strict=True):
        assert np.abs(ours - theirs).max() <= 10 * tolerance * np.abs(theirs).max()
