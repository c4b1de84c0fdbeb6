"""The picture before the run: cheap for large grids, honest about it, a sentence where only the run will show it."""

import dataclasses

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.live.field.preview import MOST_CELLS, NotYetError, Preview
from workbench.run import configure


def preview(name, deflation="none", **values):
    chosen = configure(name, deflation=deflation, **values)
    return Preview().scene(chosen)


@pytest.mark.parametrize(
    ("name", "deflation", "n", "shape", "note"),
    [
        ("two-layer", "stripes", 64, (64, 64), "128 deflation subdomains of 32 unknowns"),
        ("two-layer", "stripes", 8192, (1024, 1024), "drawn with n = 1024 until the run starts"),
        ("bubbles-3d", "blocks:4", 256, None, "drawn with n = "),
        ("poisson7", "blocks:4", 64, (64, 64, 64), "64 deflation subdomains of 4096 unknowns"),
        # Without assembling a large matrix.
        ("poisson125", "blocks:4", 200, None, "constant coefficient"),
    ],
)
def test_a_problem_is_shown_as_it_is_or_coarser_and_that_is_said(name, deflation, n, shape, note):
    drawn = preview(name, deflation, n=n)
    assert drawn.values.size <= MOST_CELLS
    assert drawn.values.ndim == (3 if name != "two-layer" else 2)
    assert drawn.labels.shape == drawn.values.shape == (shape or drawn.values.shape)
    assert note in drawn.notes[-1]


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("bubbles-3d", {"n": 256, "layout": "random", "count": 2, "radius": 0.004}, "too fine"),
        ("suitesparse", {}, "downloaded when the run starts"),
        ("stand-in", {"of": "Queen_4147"}, "Stand-in for Queen_4147 is large"),
    ],
)
def test_what_takes_long_waits_for_the_run(name, values, sentence, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotYetError, match=sentence):
        preview(name, **values)


def test_a_small_stand_in_is_shown():
    assert preview("stand-in").is_matrix


def test_a_matrix_shows_its_pattern_and_tells_of_its_subdomains(tmp_path):
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n")
    drawn = preview("matrix-file", "blocks:3", path=str(path))
    assert drawn.is_matrix
    np.testing.assert_array_equal(drawn.values, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert drawn.labels.tolist() == [0, 1, 2]
    assert "3 deflation subdomains of 1 unknowns" in drawn.notes[-1]


@pytest.mark.parametrize(("n", "drawn"), [(24, True), (64, False)])
def test_parts_are_shown_where_the_matrix_of_the_run_is_there(n, drawn):
    """Of the larger grid A is not assembled before the run."""
    found = preview("poisson7", "parts:64", n=n)
    assert (found.labels is not None) == drawn
    if drawn:
        assert np.bincount(found.labels.ravel()).max() <= 2 * 64
        assert " deflation subdomains of " in found.notes[-1]


def test_subdomains_may_follow_the_bubbles():
    drawn = preview("bubbles-2d", "levelset", n=64)
    assert drawn.labels.max() > 63
    assert preview("bubbles-2d", "levelset", n=4096).labels is not None


def test_a_wrong_deflation_is_an_error():
    with pytest.raises(InputError, match="at most 32"):
        preview("poisson5", "blocks:64", n=32)


def test_only_the_deflation_changes_without_a_second_assembly():
    one = Preview()
    chosen = configure("two-layer", n=64, deflation="blocks:2")
    first = one.scene(chosen)
    second = one.scene(dataclasses.replace(chosen, deflation=configure("two-layer", deflation="blocks:4").deflation))
    assert first.values is second.values
    assert first.labels.max() == 3
    assert second.labels.max() == 15
