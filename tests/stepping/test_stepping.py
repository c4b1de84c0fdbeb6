"""Line-by-line states agree with those of a run."""

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from workbench.errors import InputError
from workbench.registry import blocks as registry
from workbench.run import Run, Stopping, configure, run_through
from workbench.stepping.line_by_line import Walk, difference, orthogonality, walk

STEPPED = sorted(name for name, solver in registry.registered("solver").items() if not solver.not_stepped)


@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize("first", ["jacobi", "neumann:2"])
def test_states_agree_with_a_run(name, first):
    chosen = {"n": 9, "preconditioner": first, "rhs": "random", "stopping": Stopping(rtol=1e-30, maxiter=6)}
    if name in ("hybrid2", "hybrid3") and first != "jacobi":
        with pytest.raises(
            InputError, match=f"solver {name} applies M on both sides, so it needs one that acts element"
        ):
            walk(configure("poisson5", solver=name, **chosen), 6)
        return
    moments = walk(configure("poisson5", solver=name, **chosen), 6)
    # A schedule computes what pipecg does, in another order.
    run = "pipecg" if name.startswith("hybrid") else name
    result = run_through(Run(configure("poisson5", solver=run, **chosen)))
    np.testing.assert_allclose([moment.recurrence for moment in moments], result.history["residual"], rtol=1e-7)
    np.testing.assert_allclose(moments[-1].vectors["x"], result.x, rtol=1e-8)
    np.testing.assert_allclose(moments[-1].true_residual, moments[-1].recurrence, rtol=1e-7)
    # bf-block-cg has the alpha of CG but for the length of its direction, block-cg as delta^-1.
    if "alpha" in moments[3].scalars and name != "bf-block-cg":
        np.testing.assert_allclose(moments[3].scalars["alpha"], result.history["alpha"][3], rtol=1e-7)


@pytest.mark.parametrize(
    "name", ["mpcg", "mpcg:keep=1", "mpcg:restart=3", "mpcg-adaptive", "mpgmres", "mpgmres:full,restart=2", "sum-cg"]
)
def test_several_preconditioners_agree_with_a_run(name):
    chosen = {"n": 13, "solver": name, "preconditioner": "schwarz:3x2", "rhs": "random"}
    configuration = configure("two-layer", stopping=Stopping(rtol=1e-30, maxiter=7), **chosen)
    moments, run = walk(configuration, 7), Run(configuration)
    result = run_through(run)
    np.testing.assert_allclose([moment.recurrence for moment in moments], result.history["residual"], rtol=1e-6)
    np.testing.assert_allclose(moments[-1].vectors["x"], result.x, rtol=1e-6, atol=1e-9 * np.abs(result.x).max())
    dropped = [int(moment.scalars["dropped"]) for moment in moments[1:] if "dropped" in moment.scalars]
    assert dropped == [step.dropped for step in result.history.steps]


@pytest.mark.parametrize("name", ["hybrid1", "hybrid2", "hybrid3:share=0.4"])
def test_a_schedule_agrees_with_its_run_on_both_sides(name, accelerator):
    chosen = {"n": 9, "rhs": "random", "solver": name, "stopping": Stopping(rtol=1e-30, maxiter=6)}
    moments = walk(configure("poisson5", **chosen), 6)
    result = run_through(Run(configure("poisson5", device=accelerator.spec, **chosen)))
    np.testing.assert_allclose([moment.recurrence for moment in moments], result.history["residual"], rtol=1e-9)
    np.testing.assert_allclose(
        [moment.scalars["beta"] for moment in moments[1:]], result.history["beta"][1:], rtol=1e-9
    )
    np.testing.assert_allclose(moments[-1].vectors["x"], result.x, rtol=1e-9)


BLOCKS = sorted(name for name in STEPPED if registry.find("solver", name).takes_blocks)


@pytest.mark.parametrize("name", BLOCKS)
@pytest.mark.parametrize("chosen", [{}, {"preconditioner": "none"}, {"deflation": "stripes:2", "preconditioner": "ic"}])
def test_every_column_of_a_block_method_agrees_with_a_run(name, chosen):
    """To the end, where columns converge one after another and keep their x from then on."""
    configuration = configure("poisson5", n=11, solver=name, rhs="random:3", stopping=Stopping(rtol=1e-8), **chosen)
    steps = Walk(configuration)
    while not steps.ended:
        steps.advance()
    result = run_through(Run(configuration))
    assert steps.iterations == result.iterations
    norms = np.array([steps.residuals(k)[0] / steps.scale for k in range(steps.iterations + 1)])
    np.testing.assert_allclose(norms, np.array(result.history.columns), rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(steps.residuals(steps.iterations)[1] / steps.scale, 0, atol=1e-7)


@pytest.mark.parametrize("variant", ["def1", "a-def2"])
def test_states_agree_with_a_deflated_run(variant):
    chosen = {"n": 12, "deflation": "stripes:2", "variant": variant, "preconditioner": "neumann:1"}
    configuration = configure("two-layer", **chosen, stopping=Stopping(rtol=1e-30, maxiter=5))
    moments = walk(configuration, 5)
    result = run_through(Run(configuration))
    np.testing.assert_allclose([moment.recurrence for moment in moments], result.history["residual"], rtol=1e-7)
    last = result.true_relative_residual / result.relative_residual * moments[-1].recurrence
    np.testing.assert_allclose(moments[-1].true_residual, last, rtol=1e-6)


def test_line_values_are_those_assigned_by_the_line():
    (start, first, *_) = walk(configure("poisson5", n=5, rhs="ones"), 2)
    by_text = {value.text: value for value in first.values}
    assert by_text["gamma = (r, u)"].value == first.scalars["gamma"]
    # r is assigned once per iteration, so the line's value is the final one; at the start r = b, of norm 5.
    assert by_text["r = r - alpha*s"].value == pytest.approx(np.linalg.norm(first.vectors["r"]))
    assert start.recurrence == pytest.approx(5)


def test_cg_and_pipecg_differ_by_growing_rounding_errors():
    walks = [walk(configure("two-layer", n=16, solver=name), 90) for name in ("cg", "pipecg")]
    assert difference(walks[0][5], walks[1][5], "r") < 1e-12
    assert difference(walks[0][90], walks[1][90], "r") > 1e-3
    assert np.isnan(difference(walks[0][5], walks[1][5], "z"))


def test_stepping_stops_at_a_breakdown():
    moments = walk(configure("two-layer", n=16, solver="pipecg"), 500)
    assert len(moments) < 500
    assert not (moments[-1].scalars["delta"] > 0 and moments[-1].scalars["gamma"] > 0)


def test_what_cannot_be_stepped_is_refused():
    with pytest.raises(InputError, match="solver hybrid has no lines to step through: it selects a schedule"):
        walk(configure("poisson5", n=9, solver="hybrid"), 3)
    with pytest.raises(InputError, match="for all right-hand sides together, not 3 times 3600; take fewer cells"):
        walk(configure("poisson5", n=60, solver="block-cg", rhs="random:3"), 3)
    with pytest.raises(InputError, match="solver hybrid3 cannot deflate, since no side sees a whole vector"):
        walk(configure("two-layer", n=9, solver="hybrid3", deflation="stripes:2"), 3)


def test_residuals_are_replaced_in_the_iterations_of_a_run():
    """The residual recomputed where the bound says so: without that it is off by orders of magnitude here."""
    configuration = configure("two-layer", n=16, solver="pipecg-rr", stopping=Stopping(rtol=1e-30, maxiter=90))
    moments, run = walk(configuration, 90), Run(configuration)
    result = run_through(run)
    last = moments[-1]
    assert last.scalars["replacements"] == run.workspace.scalar("replacements") > 0
    assert last.true_residual == pytest.approx(result.true_relative_residual * moments[0].recurrence, rel=0.5)
    replaced = [moment for moment in moments if moment.values[-1].name == "replacements"]
    assert len({len(moment.values) for moment in moments[1:]}) == 2
    # The start sets it too.
    assert len(replaced) == 1 + last.scalars["replacements"]


def test_cocg_is_stepped_in_complex_numbers():
    configuration = configure(
        "stand-in", of="helm_fem", scale=0.05, solver="cocg", rhs="random", stopping=Stopping(rtol=1e-30, maxiter=8)
    )
    moments, result = walk(configuration, 8), run_through(Run(configuration))
    np.testing.assert_allclose([moment.recurrence for moment in moments], result.history["residual"], rtol=1e-7)
    np.testing.assert_allclose(moments[-1].vectors["x"], result.x, rtol=1e-7)


def test_residuals_are_orthogonal_as_m_measures_them_until_rounding_shows():
    moments = walk(configure("two-layer", n=9, preconditioner="jacobi"), 40)
    found = orthogonality(moments)
    r, u = moments[4].vectors["r"], moments[9].vectors["u"]
    norms = [moment.vectors["r"] @ moment.vectors["u"] for moment in (moments[4], moments[9])]
    assert found[4, 9] == pytest.approx(abs(r @ u) / np.sqrt(norms[0] * norms[1]), rel=1e-9)
    np.testing.assert_allclose(found[:10, :10], np.eye(10), atol=1e-12)
    assert found[:, -1].max() > 1e-6
    assert orthogonality(walk(configure("poisson5", n=5, solver="lanczos-cg"), 3)) is None
