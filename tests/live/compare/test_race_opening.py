"""The methods with which a race opens: each of them can be set up on its problem."""

import pytest

from tests.live.builders.forms import COMPLEX_SYMMETRIC, SMALL
from workbench.live.compare import race_opening
from workbench.live.compare.race_form import refused
from workbench.live.compare.race_opening import MOST, opening, variations
from workbench.registry import known, lookup, registered
from workbench.run import Stopping, configure
from workbench.run.choices.conflicts import conflicts

NOT_HERE = ("matrix-file", "suitesparse", "recorded")
"""Problems that need a file."""
PROBLEMS = [name for name in registered("problem") if name not in NOT_HERE]


def operator_of(chosen):
    kind = "assemble_complex_symmetric" if chosen.solver.complex_symmetric else "assemble"
    return getattr(chosen.problem, kind)().operator


def levels(chosen):
    """The levels of the first entries, none of which is refused once A is there."""
    found = opening(chosen, operator_of)
    for made in found:
        assert made.problem == chosen.problem
        assert not conflicts(made, operator_of)
    texts = [f"{made.preconditioner.text} {made.deflation.text}" for made in found if made.solver == found[0].solver]
    assert len(set(texts)) == len(texts)
    return texts


@pytest.mark.parametrize("name", PROBLEMS)
def test_four_methods_fit_every_problem(name):
    small = {"n": 16} if any(each.name == "n" for each in lookup("problem", name).parameters()) else {}
    found = levels(configure(name, **small))
    assert len(found) == MOST
    assert found[0] == "jacobi none"
    assert "neumann none" in found or "ic parts" in found


@pytest.mark.parametrize(
    ("chosen", "first", "others"),
    [
        (
            {"preconditioner": "neumann:2", "deflation": "levelset:8"},
            "neumann levelset",
            "jacobi none, mg none, neumann none",
        ),
        ({"preconditioner": "ic"}, "ic none", "jacobi none, mg none, neumann levelset:6"),
        ({"solver": "pipecg"}, "jacobi none", "ic none, neumann levelset:6"),
        ({"solver": "cg", "rhs": "random:3"}, "jacobi none", "mg none, neumann levelset:6, neumann none"),
    ],
    ids=["the page", "one level", "pipelined", "block"],
)
def test_the_method_that_is_chosen_is_the_first(chosen, first, others):
    found = levels(configure("bubbles-2d", n=24, **chosen))
    assert found[0] == first
    assert found[1:] == others.split(", ")


def test_the_second_level_of_the_method_that_is_chosen_is_its_own():
    first, *others = opening(configure("bubbles-2d", n=24, deflation="stripes", variant="bnn", coarse="cholesky"))
    assert (first.variant.name, first.coarse.name) == ("bnn", "cholesky")
    assert {(made.variant.name, made.coarse.name) for made in others} == {("auto", "auto")}


def test_few_cells_are_not_cut_into_subdomains():
    assert all(text.endswith(" none") for text in levels(configure("poisson5", n=7)))


def test_what_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(race_opening, "known", lambda kind, name: name != "mg" and known(kind, name))
    assert levels(configure("bubbles-2d", n=24))[1] == "ic none"


@pytest.mark.parametrize(("content", "expected"), [(SMALL, "jacobi ic ic kcycle"), (COMPLEX_SYMMETRIC, "jacobi none")])
def test_of_a_file_they_are_algebraic_and_fit_its_symmetry(tmp_path, content, expected):
    (tmp_path / "a.mtx").write_bytes(content)
    found = levels(configure("matrix-file", path=str(tmp_path / "a.mtx"), preconditioner="jacobi"))
    assert [text.partition(" ")[0] for text in found] == expected.split()


def test_variations_are_of_the_first_entry_and_leave_out_what_the_race_has():
    first = configure("bubbles-2d", n=32, preconditioner="neumann:2", deflation="levelset:4")
    found = variations([first])
    assert {"pipelined CG", "multigrid", "mixed precision"} <= set(found)
    assert found["pipelined CG"].solver.name == "pipecg"
    assert (found["multigrid"].preconditioner.name, found["multigrid"].deflation.name) == ("mg", "none")
    assert all(each.problem == first.problem and not conflicts(each) for each in found.values())
    assert "pipelined CG" not in variations([first, found["pipelined CG"]])
    assert variations([]) == {}


def test_variations_of_a_matrix_without_a_grid_are_algebraic_where_pyamg_is_installed(monkeypatch):
    first = configure("stand-in", scale=0.2)
    found = variations([first])
    assert "multigrid" not in found
    assert found["multigrid of PyAMG"].preconditioner.spec == "amg:sa"
    monkeypatch.setattr(race_opening.util, "find_spec", lambda name: None)
    assert "multigrid of PyAMG" not in variations([first])


def test_variations_of_a_method_for_complex_symmetric_matrices_stay_such():
    helm = configure("stand-in", of="helm_fem", solver="cocg", scale=0.1)
    found = variations([helm])
    assert not {"pipelined CG", "multigrid", "multigrid of PyAMG"} & set(found)
    assert all(each.solver.complex_symmetric for each in found.values())


def test_plain_cg_is_raced_against_another_solver_where_it_fits():
    pipelined = configure("poisson5", n=32, solver="pipecg")
    first, plain, *others = opening(pipelined)
    assert first == pipelined
    assert plain == configure("poisson5", n=32)
    assert len(others) == 2
    assert {each.solver.name for each in others} == {"pipecg"}
    assert [each.solver.name for each in opening(configure("poisson5", n=32))].count("cg") == 4


def test_a_problem_that_a_server_refuses_stays_and_the_race_says_why(monkeypatch, view_in, eventually):
    monkeypatch.setenv("WORKBENCH_MOST_UNKNOWNS", "100")
    asked = configure("poisson5", n=16)
    assert {made.problem for made in opening(asked)} == {asked.problem}
    view = view_in("race", asked, opening=opening)
    assert {entry.configuration.problem for entry in view.race.entries} == {asked.problem}
    eventually(lambda: view.status.run.disabled)
    said = "this problem has 256 unknowns and may have 100 on pages of this server; use n 10"
    assert said in view.status.text
    view.rebase(configure("poisson5", n=10))
    eventually(lambda: not view.status.run.disabled)
    assert said not in view.status.text
    assert len(view.race.entries) == len(opening(configure("poisson5", n=10)))


def test_a_right_hand_side_and_a_norm_that_do_not_fit_stay_and_the_race_says_why():
    asked = configure("poisson5", n=16, stopping=Stopping(norm="error"))
    assert refused(asked) == "norm error needs a known solution; use the right-hand side ones-scaled"
    assert {(made.rhs, made.stopping) for made in opening(asked)} == {(asked.rhs, asked.stopping)}
    # Other methods end these.
    assert refused(configure("poisson5", n=16, solver="pipecg", precision="mixed")) == ""
    boxes = configure("poisson5", n=16, cluster="local:2", preconditioner="schwarz:2x2")
    assert refused(boxes) == refused(configure("poisson5", n=16, cluster="local:2")) == ""
    assert all(made.cluster is None or made.preconditioner.name == "schwarz" for made in opening(boxes))
