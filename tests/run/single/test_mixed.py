"""Precision mixed: vectors in single precision, x in double, and the same accuracy as in double precision."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.conftest import relative_residual
from workbench.errors import InputError
from workbench.run import Run, Stopping, configure, run_through
from workbench.run.loop.single import iterations
from workbench.run.loop.single.check_interval import CheckInterval
from workbench.run.loop.single.mixed import INTERVAL, REDUCTION, MixedRecurrence
from workbench.run.loop.traffic import iteration_bytes

SIDE = {"sides": "z-:dirichlet"}


def finished(precision, problem="bubbles-3d", device="cpu", rtol=1e-8, **choices):
    run = Run(configure(problem, device=device, precision=precision, stopping={"rtol": rtol}, **choices))
    while run.step():
        pass
    return run


@pytest.mark.parametrize(
    ("problem", "parameters", "deflation"),
    [
        ("bubbles-3d", {"n": 24, **SIDE}, "levelset:6"),
        ("bubbles-3d", {"n": 24}, "levelset:6"),
        ("bubbles-2d", {"n": 64, "contrast": 1e-4, "sides": "y+:dirichlet"}, "levelset:16"),
        ("slabs-3d", {"n": 20}, "blocks:5"),
        ("two-layer", {"n": 64}, "levelset:16"),
    ],
)
def test_as_many_iterations_as_in_double_precision(problem, parameters, deflation):
    choices = {"preconditioner": "neumann:2", "deflation": deflation, "variant": "a-def2", **parameters}
    double, mixed = (finished(precision, problem, **choices) for precision in ("float64", "mixed"))
    assert double.reason.converged
    assert mixed.reason.converged
    assert mixed.iterations <= double.iterations + 3
    assert mixed.result().true_relative_residual <= 1e-8


def test_the_true_residual_is_that_of_extended_precision():
    run = finished("mixed", n=8, count=1, preconditioner="neumann:2", **SIDE)
    assert run.reason.converged
    system = run.setup.system
    assert relative_residual(system.operator.to_csr(), system.b, run.x) <= 1.01e-8


@pytest.mark.parametrize("first", ["none", "jacobi", "ic", "chebyshev:3", "ssor", "fsai", "block-ic:8", "neumann:5"])
def test_every_first_level_reaches_the_accuracy_of_double_precision(first):
    run = finished("mixed", n=12, preconditioner=first, **SIDE)
    assert run.reason.converged, run.detail
    assert run.result().true_relative_residual <= 1e-8


@pytest.mark.parametrize("variant", ["auto", "a-def1", "a-def2", "bnn", "ad"])
@pytest.mark.parametrize("coarse", ["cholesky", "inverse", "sparse", "multilevel:bottom=10"])
def test_every_variant_and_coarse_solver(variant, coarse):
    if variant == "a-def1" and coarse.startswith("multilevel"):
        pytest.skip("A-DEF1 needs E solved to rounding")
    choices = {"preconditioner": "neumann:2", "deflation": "levelset:4", "coarse": coarse, "variant": variant}
    run = finished("mixed", n=16, **choices, **SIDE)
    assert run.reason.converged, run.detail
    assert run.setup.variant.name != "def1"


@pytest.mark.parametrize("variant", ["auto", "a-def2"])
def test_two_levels_without_a_first_one_are_refused(variant):
    choices = {"preconditioner": "none", "deflation": "levelset:3", "variant": variant}
    with pytest.raises(InputError, match="use variant bnn, preconditioner jacobi, or precision float64"):
        finished("mixed", n=8, **choices, **SIDE)


def test_what_is_stored_in_which_precision():
    run = finished("mixed", n=16, preconditioner="neumann:2", deflation="levelset:4", **SIDE)
    stored = {name: str(vector.dtype) for name, vector in run.workspace.vectors.items()}
    kept = {"b": "float64", "x": "float64", "w": "float64"}
    assert stored == {**kept, "r": "float32", "u": "float32", "p": "float32", "s": "float32"}
    assert run.x.dtype == np.float64
    plain = finished("float64", n=16, preconditioner="neumann:2", deflation="levelset:4", variant="a-def2", **SIDE)
    # Twelve passes over vectors of which x alone keeps its eight bytes.
    assert iteration_bytes(run.setup) < 0.65 * iteration_bytes(plain.setup)


def test_r_is_replaced_by_the_residual(monkeypatch):
    made, recurrence = [], iterations.MixedRecurrence
    monkeypatch.setattr(iterations, "MixedRecurrence", lambda *given: made.append(recurrence(*given)) or made[-1])
    run = Run(configure("bubbles-3d", n=16, precision="mixed", preconditioner="neumann:2", **SIDE))
    run.step()
    for _ in range(INTERVAL):
        run.step()
    r = run.workspace.vectors["r"].copy()
    made[-1].replace_residual()
    system = run.setup.system
    expected = system.b - system.operator.to_csr() @ run.x
    np.testing.assert_allclose(run.workspace.vectors["r"], expected.astype(np.float32), rtol=1e-5, atol=1e-6)
    assert np.linalg.norm(r - expected) < 1e-3 * np.linalg.norm(expected), "it hardly differs in ten iterations"


def test_accelerators_take_as_many_iterations(accelerator):
    choices = {"n": 24, "preconditioner": "neumann:2", "deflation": "levelset:6", **SIDE}
    here, there = finished("mixed", **choices), finished("mixed", device=accelerator.spec, **choices)
    assert there.reason.converged
    assert abs(here.iterations - there.iterations) <= 2
    assert there.result().true_relative_residual <= 1e-8


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"problem": "poisson7"}, "precision mixed needs a problem of two phases"),
        ({"problem": "poisson-2d"}, "precision mixed needs a problem of two phases"),
        ({"solver": "pipecg"}, "precision mixed replaces r, which solver pipecg does not allow"),
        ({"deflation": "levelset:2", "variant": "def1"}, r"variant def1 relies on Z\^T r = 0"),
        ({"deflation": "levelset:2", "variant": "def2"}, r"variant def2 relies on Z\^T r = 0"),
        ({"stopping": {"norm": "natural"}}, "precision mixed stops by the norm of the residual, got norm natural"),
        ({"precision": "float32"}, "unknown precision 'float32'"),
    ],
)
def test_refusals(choices, message):
    with pytest.raises(InputError, match=message):
        Run(configure(**{"problem": "bubbles-3d", "n": 8, "precision": "mixed", **choices}))


def test_the_precision_is_named_in_the_result():
    result = finished("mixed", n=8, count=1, rtol=1e-4).result()
    assert result.summary["precision"] == "mixed"
    assert finished("float64", n=8, count=1, rtol=1e-4).result().summary["precision"] == "float64"


@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_a_method_that_converges_within_an_interval_needs_no_more_iterations(device):
    choices = {"n": 24, "preconditioner": "mg", "device": device, "x0": "zero", **SIDE}
    double, mixed = (finished(precision, rtol=1e-9, **choices) for precision in ("float64", "mixed"))
    assert double.iterations < 2 * INTERVAL
    assert mixed.reason.converged
    assert mixed.iterations <= double.iterations + 1
    assert mixed.result().true_relative_residual <= 1e-9


def between_checks(monkeypatch, *lengths):
    """Checks after so many iterations, the last number again and again, as far as a recurrence allows."""

    def length(self, *_, longest, most=None, **__):
        self.asked = getattr(self, "asked", 0) + 1
        return max(1, min(longest, lengths[min(self.asked, len(lengths)) - 1]))

    monkeypatch.setattr(CheckInterval, "next", length)


@pytest.mark.parametrize("lengths", [(1,), (4,), (64,), (1, 2, 64), (1, 1, 1, 64), (2, 64)], ids=str)
def test_iterations_do_not_depend_on_when_the_host_reads_the_norms(monkeypatch, lengths):
    """It depends on the load of the machine. With 1, 2 and 6 iterations r was replaced too late, and CG stagnated."""
    choices = {"n": 24, "preconditioner": "mg", "x0": "zero", **SIDE}
    here = finished("mixed", rtol=1e-9, **choices)
    between_checks(monkeypatch, *lengths)
    there = finished("mixed", device="opencl", rtol=1e-9, **choices)
    assert there.reason.converged
    assert there.iterations == here.iterations


@pytest.mark.parametrize("device", ["cpu", "opencl"])
@pytest.mark.parametrize("preconditioner", ["jacobi", "neumann:2", "mg"])
def test_r_is_replaced_where_it_has_fallen_by_a_thousand_and_after_ten_iterations(monkeypatch, preconditioner, device):
    places, real, advance = [], MixedRecurrence.replace_residual, MixedRecurrence.advance

    def noted(self):
        places.append(self.iterations)
        real(self)

    def counted(self, count, below, above, iteration):
        self.iterations = iteration
        return advance(self, count, below, above, iteration)

    monkeypatch.setattr(MixedRecurrence, "iterations", 0, raising=False)
    monkeypatch.setattr(MixedRecurrence, "replace_residual", noted)
    monkeypatch.setattr(MixedRecurrence, "advance", counted)
    run = finished("mixed", n=16, preconditioner=preconditioner, device=device, **SIDE)
    norms = run.history["residual"]
    assert len(places) >= 3
    for first, last in itertools.pairwise(places):
        seen = norms[max(first - 1, 0) : last]
        fallen = seen <= REDUCTION * np.maximum.accumulate(seen)
        assert not fallen[:-1].any()
        assert fallen[-1] or last - first == INTERVAL


def test_a_failure_names_the_precision():
    """A contrast of 1e-9 leaves float64 above 1e-6, and single precision above that."""
    heavy = {"n": 13, "contrast": 1e-9, "preconditioner": "block-ic", "x0": "zero"}
    result = run_through(Run(configure("two-layer", precision="mixed", stopping=Stopping(rtol=1e-8), **heavy)))
    assert not result.converged
    assert "try precision float64" in result.detail
