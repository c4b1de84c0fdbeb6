"""The view of a run with many right-hand sides."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.live import BlockView
from workbench.live._dependent import DEPENDENCIES, dependent_columns


@pytest.mark.parametrize(("dependency", "rank"), list(zip(DEPENDENCIES, (6, 3, 6, 4, 5), strict=True)))
def test_columns_have_the_rank_that_their_dependency_says(dependency, rank):
    B = dependent_columns(50, 6, dependency)
    assert B.shape == (50, 6)
    assert np.linalg.matrix_rank(B) == rank


def test_run_solves_what_is_chosen_and_another_figure_needs_no_new_run():
    view = BlockView("poisson7", s=5, dependency="rank 4")
    view.run()
    result, first = view.result, view.picture.value
    assert result.x.shape == (12**3, 5)
    assert result.history.rank[0] == 4
    view.view.value = "rank and pivot"
    assert view.result is result
    assert view.picture.value not in (first, b"")


def test_wrong_choices_are_refused():
    for wrong in ({"problem": "nothing"}, {"solver": "cg"}, {"dependency": "odd"}, {"s": 0}):
        with pytest.raises(InputError):
            BlockView(**wrong)
    with pytest.raises(InputError, match="press Run"):
        BlockView().figure()
