"""Pictures of lessons 5 and 7: a dragged disc, tiny eigenvalues that go one by one, derivations, and their marks."""

import re
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions import lessons
from workbench.extensions.lessons.bubble_scenes import FACTORS
from workbench.extensions.lessons.bubbles import eigenvalues, errors, five_bubbles, reached, rim
from workbench.extensions.lessons.page.derivations import OF_BLOCKS
from workbench.extensions.lessons.residual_polynomials import SPECTRA
from workbench.files.data_files import PACKAGE
from workbench.live import (
    DiscVector,
    Geometry2D,
    MarkedSteps,
    PolynomialView,
    StepsOfBlockCG,
    StepsOfCG,
    StepsOfDeflation,
    TinyEigenvalues,
)


@pytest.fixture
def disc():
    made = DiscVector()
    yield made
    made.close()


def move(view, key, x, y):
    view.chart._receive(view.chart, {"kind": "moved", "key": key, "x": x, "y": y}, [])
    assert view.wait(LIMIT)


def test_a_disc_settles_on_a_bubble_and_a_cell_further_its_quotient_is_a_hundredfold(disc):
    x, y = five_bubbles().centres[1].tolist()
    move(disc, "middle", x + 0.3, y - 0.2)
    np.testing.assert_array_equal(disc.cells, five_bubbles().labels == 2)
    assert "18 × 0.002, so (v, Av) = 0.0360" in disc.words.text
    assert "4 positive eigenvalues are smaller" in disc.words.text
    on = disc.quotient
    move(disc, "middle", x + 1.3, y - 0.2)
    assert disc.quotient > 100 * on
    assert "× 1" in disc.words.text
    assert {"face that costs 1", "face that costs 0.001 or 0.002"} <= {*names(disc.chart.scene)}


def test_a_disc_of_no_cell_and_a_middle_out_of_sight(disc):
    move(disc, "middle", 500.0, -3.0)
    assert disc.middle.tolist() == [23.0, 0.0]
    move(disc, "middle", 3.5, 3.5)
    move(disc, "rim", 3.5, 3.5)
    assert disc.radius == 0.6
    assert "covers the middle of no cell" in disc.words.text
    assert np.isnan(disc.quotient)
    move(disc, "middle", 3.0, 3.0)
    assert disc.words.text.startswith("v is 1 in 1 cell. Faces of its rim: ")
    assert disc.chart.scene.spoken.startswith("v is 1 in 1 cell; ")


def test_vectors_take_eigenvalues_away_and_curves_stay():
    view = TinyEigenvalues()
    view.slider.value = 4
    assert view.wait(LIMIT)
    assert "With 4 vectors, 0 positive eigenvalues are below 0.001" in view.words.text
    assert "5 zeros" in view.spectrum.scene.spoken
    view.option.value = True
    assert view.wait(LIMIT)
    assert "of the cells before, 3 positive eigenvalues are below" in view.words.text
    # That without vectors, the two that were chosen, the names of both that are pale, and the line of the tolerance.
    assert names(view.curve.scene) == ["", "", "", "4 old vectors", ""]
    assert labels(view.curve.scene) == ["0", "4"]
    view.close()


def test_each_tiny_eigenvalue_costs_the_curve_a_plateau():
    for many in range(6):
        steps = errors(many)[1 : reached(errors(many))] / errors(many)[: reached(errors(many)) - 1]
        # Stretches of at least ten iterations, each of which takes less than 1.5 % of the error.
        slow = "".join("-" if each > 0.985 else "." for each in steps)
        assert len(re.findall("-{10,}", slow)) == (eigenvalues(many) < 1e-3).sum()


def test_the_condition_numbers_of_the_text_are_those_of_bubbles_and_of_eigenvectors():
    values, left = eigenvalues(0), eigenvalues(4)
    text = (PACKAGE.parent / "notebooks/lessons/source/5_deflation.py").read_text(encoding="utf-8")
    said = (
        f"{left[-1] / left[0]:.0f} with four bubbles, and would be {values[-1] / values[4]:.0f} with four eigenvectors"
    )
    assert said in " ".join(line.removeprefix("#").strip() for line in text.split("\n"))


def test_step_one_has_no_choice_of_vectors():
    view = StepsOfDeflation()
    assert view.wait(LIMIT)
    assert view.slider.layout.visibility == "hidden"
    view.go(1)
    assert view.wait(LIMIT)
    assert view.slider.layout.visibility == "visible"
    view.close()


def test_columns_raise_the_smallest_eigenvalue_of_the_bound():
    view = TinyEigenvalues("columns")
    view.slider.value = 5
    assert view.wait(LIMIT)
    kappa = eigenvalues(0)[-1] / eigenvalues(0)[4]
    assert f"s = 5: κₛ = {kappa:.0f}" in view.words.text
    iterations = view.curve.scene.layers[-2].x[-1]
    view.option.value = True
    assert view.wait(LIMIT)
    assert view.curve.scene.layers[-2].x[-1] == 5 * iterations
    view.close()


def test_another_way_is_refused():
    with pytest.raises(InputError, match="unknown way"):
        TinyEigenvalues("rows")


def names(scene):
    return [layer.name for layer in scene.layers]


def labels(scene):
    return [word for layer in scene.layers for word in getattr(layer, "labels", None) or ()]


def test_a_symbol_of_the_text_is_marked_in_the_disc_and_in_its_spectrum(disc):
    disc.cover(2)
    disc.mark("inner")
    within = next(layer for layer in disc.chart.scene.layers if layer.name.startswith("face within"))
    # Twice their sum and the rim are (v, Dv), and each costs 1.
    assert within.x.size == round(rim(disc.cells, five_bubbles().labels > 0).inner)
    disc.mark("v")
    assert labels(disc.chart.scene).count("1") == 1 + disc.cells.sum()
    disc.mark("tiny")
    assert "tiny" in labels(disc.spectrum.scene)
    disc.pointing._receive(None, {"kind": "points", "key": ""}, None)
    assert disc.wait(LIMIT)
    assert "tiny" not in labels(disc.spectrum.scene)


@pytest.mark.parametrize("made", [DiscVector, Geometry2D, StepsOfBlockCG, StepsOfDeflation, TinyEigenvalues])
def test_what_is_asked_for_after_a_mark_does_not_drop_it(made):
    """The pointer leaves a symbol while a picture is computed, and then a control is moved."""
    view, may = made(), threading.Event()
    key = view.pointing.symbols[0]
    view.pointing._receive(None, {"kind": "points", "key": key}, None)
    assert view.wait(LIMIT)
    marked = view.marked
    view._worker.ask(lambda: may.wait(LIMIT), None)
    view.pointing._receive(None, {"kind": "points", "key": ""}, None)
    view._worker.ask(view._show)
    may.set()
    assert view.wait(LIMIT)
    assert marked in (key, (key,))
    assert not view.marked
    view.close()


def test_a_mark_and_a_slider_drop_no_choice_and_no_drag_before_them():
    view, steps = PolynomialView("evenly spread"), StepsOfCG()
    for each in (view, steps):
        may = threading.Event()
        each._worker.ask(may.wait, None)
        if each is view:
            each.preset.value = "three clusters"
            each.slider.value = 2
        else:
            each.chart._receive(each.chart, {"kind": "moved", "key": "start", "x": 1.0, "y": 1.0}, [])
        each.pointing._receive(None, {"kind": "points", "key": each.pointing.symbols[0]}, None)
        may.set()
        assert each.wait(LIMIT)
    np.testing.assert_array_equal(view.values, SPECTRA["three clusters"](view.values.size))
    assert view.preset.value == "three clusters"
    assert steps.start.tolist() == [1.0, 1.0]
    view.close()
    steps.close()


def test_rows_of_eigenvalues_mark_the_ends_that_the_bound_counts():
    view = TinyEigenvalues("columns")
    view.slider.value = 5
    assert view.wait(LIMIT)
    view.mark("kappa")
    assert labels(view.spectrum.scene) == ["λ₅", "λₙ"]
    view.mark("gone")
    assert labels(view.spectrum.scene) == ["taken away"]
    view.close()


def test_the_steps_of_deflation_show_where_the_residual_has_no_part():
    view = StepsOfDeflation()
    for step, said in enumerate(
        (
            "M⁻¹A has 1 zero",
            "Z has 4 columns",
            "M⁻¹PA has 5 zeros; M⁻¹b",
            "u₀ has parts of",
            "u₈ has",
            "M⁻¹PA",
            "4 vectors",
        )
    ):
        view.go(step)
        assert view.wait(LIMIT)
        assert said in view.words.text
    view.go(99)
    assert view.steps.at == 6
    view.slider.value = 2
    assert view.wait(LIMIT)
    assert "2 vectors" in view.words.text
    view.close()


def test_the_steps_of_block_cg_show_which_products_are_zero():
    view = StepsOfBlockCG()
    for step, name in enumerate(("|(Pᵢ, Rₖ)|", "|(Uᵢ, Rₖ)|", "|(Sᵢ, Uₖ)|", "|(Sᵢ, Pₖ)|")):
        view.go(step)
        assert view.wait(LIMIT)
        assert names(view.chart.scene) == [""]
        assert view.words.text.startswith(name)
    # In the text δ is (P, S), and each picture is that of a step or of a symbol.
    view.mark("delta")
    assert view.words.text.startswith("|(Pᵢ, Sₖ)|")
    assert {*FACTORS} == {*OF_BLOCKS.values(), *(each.picture for each in view.thoughts)}
    view.close()


def test_a_letter_of_the_text_is_marked_in_the_stepper():
    view = MarkedSteps("block-cg-oleary", "poisson5", n=8, rhs="random:2")
    view.pointing._receive(None, {"kind": "points", "key": "delta"}, None)
    assert view.stepper.pointed == "delta"
    view.pointing._receive(None, {"kind": "points", "key": "p"}, None)
    assert view.stepper.pointed == "P"
    view.pointing._receive(None, {"kind": "points", "key": ""}, None)
    assert view.stepper.pointed == ""
    view.close()


def test_the_style_sheet_of_lessons_lays_out_nothing_of_the_core():
    """A page has both sheets: tables of the core have classes that no lesson may take."""
    sheet = (Path(lessons.__file__).parent / "page/static/lessons/style.css").read_text(encoding="utf-8")
    scripts = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "live/static").rglob("*.js"))
    styled = set(re.findall(r"^\.(wb-[a-z-]+)", sheet, re.MULTILINE))
    assert styled
    assert not styled & set(re.findall(r"wb-[a-z-]+", scripts))
