"""The view of a run with many right-hand sides."""

import numpy as np
import pytest

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.figures import read_provenance
from workbench.live import BlockView
from workbench.live.inspect.dependent_columns import DEPENDENCIES, dependent_columns
from workbench.run import Reason


@pytest.fixture
def view_of():
    views = []

    def make(*args, **choices):
        views.append(BlockView(*args, **choices))
        return views[-1]

    yield make
    for view in views:
        view.close()


@pytest.mark.parametrize(("dependency", "rank"), list(zip(DEPENDENCIES, (6, 3, 6, 4, 5), strict=True)))
def test_columns_have_the_rank_that_their_dependency_says(dependency, rank):
    B = dependent_columns(50, 6, dependency)
    assert B.shape == (50, 6)
    assert np.linalg.matrix_rank(B) == rank


def test_run_solves_what_is_chosen_and_another_figure_needs_no_new_run(view_of, eventually):
    view = view_of("poisson7", s=5, dependency="rank 4")
    result = view.run().wait(LIMIT)
    assert view.result is result
    assert result.x.shape == (13**3, 5)
    assert result.history.rank[0] == 4
    shown = {
        "residuals against products": ["products"],
        "heat map of columns": ["columns"],
        "rank and pivot": ["rank", "pivot"],
    }
    for figure in view.view.options[1:]:
        view.view.value = figure
        eventually(lambda names=shown[figure]: [scene.name for scene in view.charts.scenes] == names)
    rank = view.charts.scenes[0].layers[0]
    assert rank.y.tolist() == result.history.rank.tolist()
    assert view.result is result
    eventually(lambda: "GFLOP/s by Table II" in view.about.value and "rank 4" in view.about.value)


def test_every_column_of_the_last_run_has_a_curve_with_its_samples(view_of, page_of, eventually):
    view = view_of(s=3)
    page = page_of(view.convergence)
    view.run().wait(LIMIT)
    result = view.run().wait(LIMIT)
    assert [curve.label for curve in view.convergence.curves] == ["column 0", "column 1", "column 2"]
    keys = [curve.key for curve in view.convergence.curves]
    eventually(lambda: all(page.curves().get(key, np.empty(0)).size == result.history.count for key in keys))
    columns = np.array([page.curves()[key] for key in keys]).T
    np.testing.assert_allclose(columns, result.history.columns, rtol=1e-6)
    assert page.messages[-1]["curves"][0]["tolerance"] == 1e-6


def test_run_returns_at_once_and_stop_ends_it(view_of, eventually):
    view = view_of("two-layer", unknowns=200_000)
    session = view.run()
    assert view.run() is session
    eventually(lambda: session.run is not None and session.run.iterations > 1)
    eventually(lambda: view.go.disabled and not view.halt.disabled and "running, iteration" in view.status.text)
    view.stop()
    assert session.wait(LIMIT).reason is Reason.CANCELLED
    eventually(lambda: view.halt.disabled and not view.go.disabled and "Stopped by the user" in view.status.text)


def test_the_figure_is_saved(view_of, tmp_path):
    view = view_of(s=2, dependency="one zero", folder=tmp_path)
    view.run().wait(LIMIT)
    view.view.value = "heat map of columns"
    (path,) = view.save_bar.save("svg")
    assert path.name.startswith("heat-map-of-columns-Poisson-45-2-Block-CG")
    assert read_provenance(path)["right-hand sides"] == "s = 2, one zero"


def test_wrong_choices_are_refused(view_of):
    for wrong in ({"problem": "nothing"}, {"solver": "cg"}, {"dependency": "odd"}, {"unknowns": 5}, {"s": 0}):
        with pytest.raises(InputError):
            view_of(**wrong)
    with pytest.raises(InputError, match="press Run"):
        view_of().figure()
