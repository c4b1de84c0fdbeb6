"""The Poisson builder without a page: fields in, a problem and sentences out."""

import pytest

from tests.live.builders.forms import choose, press, state, wrong
from workbench.errors import InputError
from workbench.live import PoissonBuilder
from workbench.live.builders.poisson_form import EXAMPLES, STENCILS
from workbench.problems.poisson_formulas import PoissonFormulas2D
from workbench.run import configure


@pytest.fixture
def builder():
    made = PoissonBuilder(PoissonFormulas2D())
    assert made.wait()
    return made


def test_it_opens_with_a_coefficient_worth_seeing(opened):
    made = opened(PoissonBuilder())
    assert made.wait()
    a, f = made.problem.values("a"), made.problem.values("f")
    assert a.max() > 1000 * a.min() > 0
    assert f.max() > f.min()


def shown(builder):
    return {name: view.scene.title for name, view in builder.views.items() if view.layout.display != "none"}


def test_the_problem_is_what_the_fields_say(builder):
    choose(builder, "a", "1 + x")
    choose(builder, "n", "16")
    choose(builder, "sides", ["x-", "y-", "y+"])
    assert (
        builder.problem
        == configure("poisson-2d", n=16, a="1 + x", sides="x-:dirichlet,y-:dirichlet,y+:dirichlet").problem
    )
    assert state(builder, "n", "about") == "N = 256 unknowns; 2 to 46\u202f340"
    assert state(builder, "a", "about") == "1.031 to 1.969"
    assert state(builder, "b", "about") == "same as a"
    assert set(builder.form.box.state["hidden"]) == {"c", "form"}


@pytest.mark.parametrize(
    "problem",
    [
        configure("poisson-2d", n=9, a="1+x", b="2", f="x*y", sides="y+:dirichlet, x-:neumann").problem,
        configure("poisson-3d", n=5, c="1+z", sides="neumann").problem,
        configure("poisson27", n=6, form="matrix-free").problem,
        configure("poisson125", n=6).problem,
    ],
    ids=lambda problem: problem.name,
)
def test_what_is_loaded_is_what_it_says(problem):
    builder = PoissonBuilder(problem)
    assert builder.problem == problem
    assert builder.wait()
    assert builder.wrong == ""


def test_another_problem_is_refused(builder):
    before = builder.problem
    with pytest.raises(InputError, match="shows poisson-2d, poisson-3d, poisson27, poisson125, got two-layer"):
        builder.load(configure("two-layer").problem)
    assert builder.problem == before


def test_a_mistake_is_told_below_its_field_and_the_text_stays(builder):
    reported = []
    # None: that there is no problem.
    builder.on_change(lambda built: built and reported.append(built))
    choose(builder, "a", "1 + sine(x)")
    sentence = "column 5: unknown function 'sine'; did you mean sin?"
    assert state(builder, "a", "wrong") == sentence
    assert builder.wrong == f"Coefficient of ∂x: {sentence}"
    assert (state(builder, "a"), reported) == ("1 + sine(x)", [])
    choose(builder, "a", "x - 0.5")
    assert "a must be positive and finite, but a = -0.4961 at x = 0.003906" in state(builder, "a", "wrong")
    assert reported == []
    builder.form.set("a", "1+*x")
    with pytest.raises(InputError, match="in a, column 3: the formula cannot be read"):
        _ = builder.problem
    choose(builder, "a", "x")
    assert reported == [builder.problem]
    assert wrong(builder) == {}
    choose(builder, "n", "-1")
    assert state(builder, "n", "wrong") == builder.wrong == "Cells per side must be between 2 and 46340, got -1"
    with pytest.raises(InputError, match="n must be between"):
        _ = builder.problem


def test_what_is_typed_into_one_field_is_undone_at_once(builder):
    for text in ("2", "2 +", "2 + x"):
        choose(builder, "a", text)
    choose(builder, "stencil", "poisson-3d")
    assert builder.problem == configure("poisson-3d", n=128, a="2 + x").problem
    builder.undo()
    assert builder.problem == configure("poisson-2d", n=128, a="2 + x").problem
    builder.undo()
    assert builder.problem == configure("poisson-2d", n=128).problem
    press(builder, "redo")
    assert state(builder, "a") == "2 + x"
    press(builder, "reset")
    assert (builder.problem, builder.wrong) == (configure("poisson-2d", n=128).problem, "")


def test_a_label_is_that_of_the_problem_chosen(builder):
    assert state(builder, "n", "labels") == "Cells per side"
    choose(builder, "stencil", "poisson27")
    assert state(builder, "n", "labels") == "Unknowns per side"


def test_equal_coefficients_share_a_picture(builder):
    assert shown(builder) == {"a": "Coefficients a and b", "f": "Right-hand side f"}
    choose(builder, "b", "0.1")
    assert shown(builder) == {"a": "Coefficient a", "b": "Coefficient b", "f": "Right-hand side f"}
    assert [builder.views[name].scene.bar for name in "abf"] == ["a", "b", "f"]


def test_large_grids_are_drawn_coarser_and_say_so(builder):
    choose(builder, "n", "8192")
    assert builder.views["a"].scene.notes == ("drawn with n = 724",)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_every_example_makes_a_problem(builder, stencil, example):
    builder.form.set("n", "8")
    builder.form.set("stencil", stencil)
    press(builder, "example", example)
    assert builder.wrong == ""
    formulas = EXAMPLES[example][builder.problem.dimensions - 2]
    assert {name: state(builder, name) for name in formulas} == formulas
    builder.problem.assemble()


def test_the_section_of_a_cube_is_one_for_all_pictures():
    builder = PoissonBuilder(configure("poisson-3d", n=8, b="2").problem)
    assert builder.wait()
    builder.views["a"].normal = "z"
    builder.views["a"].index = 5
    assert {(view.normal, view.index) for view in builder.views.values()} == {("z", 5)}


def test_changes_of_a_field_are_undone_apart_when_another_was_changed_between(builder):
    for name, value in (("n", "64"), ("n", "abc"), ("a", "2"), ("n", "32")):
        choose(builder, name, value)
    builder.undo()
    assert (builder.problem.n, builder.problem.a) == (64, "1")


def test_a_complaint_about_values_goes_with_the_formula_it_is_about(builder):
    choose(builder, "a", "x - 2")
    assert "a must be positive" in state(builder, "a", "wrong")
    choose(builder, "n", "abc")
    choose(builder, "a", "1")
    assert set(wrong(builder)) == {"n"}


def test_what_was_found_out_about_another_problem_is_not_said(builder):
    before = builder.problem
    builder.form.set("n", "abc")
    assert not builder.form.explain(before, {"a": "late"}, {"a": "late"})
    assert builder.form.box.state["values"]["n"] == "abc"
    assert set(wrong(builder)) == {"n"}
