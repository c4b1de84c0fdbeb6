"""The contents of the convergence figure."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.figures import convergence
from workbench.run import Run, Stopping, configure, run_through
from workbench.scenes.style import COLOURS, DASHES, curve_style


def record_of(**choices):
    return run_through(Run(configure("two-layer", n=16, **choices))).record()


@pytest.fixture(scope="module")
def records():
    return [record_of(preconditioner="jacobi"), record_of(preconditioner="neumann:2", deflation="blocks:4")]


def curves(figure):
    return [line for line in figure.axes[0].lines if line.get_linestyle() != "None" and len(line.get_xdata()) > 2]


def test_each_run_is_one_curve_of_relative_residuals(records):
    figure = convergence(records)
    drawn = curves(figure)
    assert len(drawn) == 2
    for line, record in zip(drawn, records, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), np.arange(record.history.count))
        assert line.get_ydata()[-1] == pytest.approx(record.summary["relative_residual"])
    assert figure.axes[0].get_yscale() == "log"


def test_axes_are_labelled_and_curves_named_by_their_blocks(records):
    axes = convergence(records, title="two layers").axes[0]
    assert axes.get_xlabel() == "iteration"
    assert "‖r‖ / ‖b‖" in axes.get_ylabel()
    assert axes.get_title() == "two layers"
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names[0] == "cg + jacobi"
    assert "cg + neumann:2 + blocks:4" in names
    assert names.count("true residual") == 1


def test_labels_can_be_given(records):
    names = [text.get_text() for text in convergence(records, ["a", "b"]).axes[0].get_legend().get_texts()]
    assert {"a", "b"} <= set(names)
    with pytest.raises(ValueError, match="shorter"):
        convergence(records, ["only one"])


def test_true_residuals_are_marked(records):
    rings = [line for line in convergence(records[:1]).axes[0].lines if line.get_label() == "_ring"]
    assert rings[0].get_xdata()[-1] == records[0].summary["iterations"]
    assert rings[0].get_ydata()[-1] == pytest.approx(records[0].summary["true_relative_residual"])


def test_the_tolerance_is_a_line(records):
    lines = [line for line in convergence(records, tolerance=1e-6).axes[0].lines if line.get_label() == "tolerance"]
    assert set(lines[0].get_ydata()) == {1e-6}


def test_colour_and_dash_differ_for_64_runs():
    styles = {(curve_style(index).colour, curve_style(index).dash) for index in range(64)}
    assert len(styles) == 64
    assert len(set(COLOURS)) == len(set(DASHES)) == 8


def test_a_zero_residual_is_omitted():
    record = record_of(stopping=Stopping(rtol=1e-30, maxiter=3))
    record.history._columns["residual"][record.history.count - 1] = 0.0
    record.summary["relative_residual"] = 0.0
    line = curves(convergence([record]))[0]
    assert line.get_ydata()[0] == 1.0
    assert np.isnan(line.get_ydata()[-1])


def test_without_runs_the_figure_is_empty():
    assert not convergence([]).axes[0].lines


def test_the_drift_of_deflated_runs_is_drawn_on_request(records):
    labels = convergence(records, drift=True).axes[0].get_legend_handles_labels()[1]
    drawn = [label for label in labels if label.startswith("‖Zᵀr‖")]
    assert drawn == [f"‖Zᵀr‖ / ‖b‖ of {records[1].label}"]
    line = next(line for line in convergence(records, drift=True).axes[0].lines if line.get_label() == drawn[0])
    measured = records[1].history["drift"]
    np.testing.assert_array_equal(line.get_xdata(), np.flatnonzero(measured > 0))
    assert line.get_ydata().max() == pytest.approx(records[1].summary["drift"])
