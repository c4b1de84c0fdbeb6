"""The view of a run with many right-hand sides."""

import contextlib

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.live import BlockView
from workbench.live._dependent import DEPENDENCIES, dependent_columns
from workbench.run import Reason


@pytest.mark.parametrize(("dependency", "rank"), list(zip(DEPENDENCIES, (6, 3, 6, 4, 5), strict=True)))
def test_columns_have_the_rank_that_their_dependency_says(dependency, rank):
    B = dependent_columns(50, 6, dependency)
    assert B.shape == (50, 6)
    assert np.linalg.matrix_rank(B) == rank


@pytest.fixture
def view():
    made = BlockView("poisson7", s=5, dependency="rank 4")
    yield made
    made.close()


def test_run_solves_what_is_chosen_and_another_figure_needs_no_new_run(view):
    view.run()
    assert view.go.disabled
    assert not view.halt.disabled
    result = view.wait(60)
    first = view.picture.value
    assert result.x.shape == (12**3, 5)
    assert result.history.rank[0] == 4
    assert (view.go.disabled, view.halt.disabled) == (False, True)
    view.view.value = "rank and pivot"
    assert view.result is result
    assert view.picture.value not in (first, "")
    assert result.reason.value in view.message.value


def test_a_curve_names_its_column_under_the_pointer(view):
    view.wait(60)
    assert view.picture.value.startswith("<svg")
    for j in range(5):
        assert view.picture.value.count(f"<title>column {j}</title>") == 1


def test_a_run_can_be_stopped_and_keeps_what_it_has(view):
    view.solver.value = "pseudo-block-cg"
    view.run()
    view.stop()
    # Stopped before its first iteration it is an error, later a cancelled run.
    with contextlib.suppress(InputError):
        assert view.wait(60).reason in (Reason.CANCELLED, Reason.CONVERGED)
    view.show()
    assert not view.go.disabled


def test_what_a_refused_method_says_is_shown(view):
    view.solver.value = "block-cg-oleary"
    view.run()
    with contextlib.suppress(InputError):
        view.wait(60)
    view.show()
    assert view.message.value
    assert not view.go.disabled


def test_wrong_choices_are_refused():
    for wrong in ({"problem": "nothing"}, {"solver": "cg"}, {"dependency": "odd"}, {"s": 0}):
        with pytest.raises(InputError):
            BlockView(**wrong)
    view = BlockView()
    with pytest.raises(InputError, match="press Run"):
        view.figure()
    view.close()
