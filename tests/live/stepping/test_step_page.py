"""The page Step: what its fields choose, and what it says where a method cannot have all of the configuration."""

import re

import pytest
from scipy import io, sparse

from workbench.live.stepping.step_page import StepPage
from workbench.live.stepping.step_text import Listings, about, values
from workbench.live.stepping.step_view import StepView
from workbench.live.stepping.stepper import Stepper
from workbench.run import configure


@pytest.fixture
def page(opened):
    page = opened(StepPage(configure("two-layer", n=40, rhs="random", deflation="stripes:2")))
    page.cells.value = 9
    return page


def chosen(page, method):
    """What the page shows once its user has chosen a method."""
    page.form.receive({"kind": "set", "field": "solver", "value": method})
    assert page.wait()
    return page.view


def test_block_methods_get_right_hand_sides_and_others_one(page):
    view = chosen(page, "block-cg")
    assert isinstance(view, StepView)
    assert view.walk.columns == 4
    assert "columns" not in page.form.hidden
    view = chosen(page, "cg")
    assert view.walk.columns == 1
    assert "columns" in page.form.hidden


def test_two_methods_share_right_hand_sides_where_both_take_them(page):
    page.second.value = "block-cg-oleary"
    view = chosen(page, "block-cg")
    assert isinstance(view, Stepper)
    assert view.walks[0][0].vectors["X"].shape == (81, 4)
    page.second.value = "cg"
    view = chosen(page, "block-cg")
    assert view.walks[0][0].vectors["x"].shape == (81,)
    assert view.difference("x", 3) < 1e-8


def test_the_preconditioner_follows_the_configuration_and_can_be_chosen(page):
    page.form.receive({"kind": "set", "field": "preconditioner", "value": "schwarz"})
    view = chosen(page, "mpcg")
    assert view.walk.directions.count == 4
    page.rebase(configure("two-layer", n=40, rhs="random", preconditioner="ic"))
    assert page.wait()
    assert page.view.walk.configuration.preconditioner.name == "ic"


def test_a_schedule_that_cannot_deflate_runs_without_and_says_so(page):
    view = chosen(page, "hybrid3")
    assert view.walk.configuration.deflation.name == "none"
    assert page.status.text == "Hybrid CG 3: without deflation, since no side sees a whole vector."
    assert chosen(page, "hybrid1").walk.configuration.deflation.name == "stripes"


def test_the_method_of_the_form_is_shown_and_a_problem_without_a_small_copy_has_a_stand_in(opened, tmp_path):
    form = configure("bubbles-2d", layout="random", count=50, geometry_seed=3, solver="pipecg", preconditioner="jacobi")
    page = opened(StepPage(form))
    assert page.wait()
    # 16 cells per side are too few for the bubbles, and more are taken.
    assert page.view.walk.configuration.problem.count == 50
    assert page.view.walk.configuration.solver.name == "pipecg"
    assert "contains no cell centre of 16 cells per side" in page.status.text
    assert page.status.text.endswith(f"These steps are of {page.view.walk.configuration.problem.label}.")
    # No size of this one has few enough unknowns.
    io.mmwrite(tmp_path / "large.mtx", sparse.eye_array(10_001, format="coo"))
    page.rebase(configure(str(tmp_path / "large.mtx"), solver="cgcg"))
    assert page.wait()
    assert page.view.program["title"] == "Chronopoulos-Gear CG on 4 bubbles in a square, 16²"
    assert "These steps are of 4 bubbles in a square, 16²." in page.status.text
    assert page.view.walk.configuration.preconditioner.name == page.first.block().name


def test_squares_and_the_gamma_before_are_mathematics(page):
    view = chosen(page, "cg")
    texts = values(view.walk, 1, len(view.walk.lines(1)))["iterate"]
    names = [text.partition(" = ")[0] for text in texts]
    assert {"‖u‖²", "‖r‖²", "γₖ₋₁"} <= set(names)
    assert not {"uu", "rr", "previous"} & set(names)


@pytest.mark.parametrize(("method", "expected"), [("mpcg", {"Z", "P"}), ("mpgmres", {"Z", "V"})])
def test_letters_that_are_explained_are_those_of_the_method(page, method, expected):
    page.form.receive({"kind": "set", "field": "preconditioner", "value": "schwarz"})
    walk = chosen(page, method).walk
    meaning = about(walk, Listings(walk), "")["meaning"]
    assert set(re.findall(r"\b[PVZ]\b", meaning)) == expected
    shown = {line.target.partition(" ")[0] for line in walk.lines(1)}
    assert expected <= shown
