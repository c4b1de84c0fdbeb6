"""The picture before the run: cheap for large grids, honest about it, a sentence where only the run will show it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.live.field.preview import MOST_CELLS, NotYetError, Preview
from workbench.run import configure


def preview(name, deflation="none", **values):
    chosen = configure(name, deflation=deflation, **values)
    return Preview().scene(chosen)


def test_a_small_problem_is_shown_as_it_is():
    drawn = preview("two-layer", "stripes", n=64)
    assert drawn.values.shape == drawn.labels.shape == (64, 64)
    assert "128 deflation subdomains of 32 unknowns" in drawn.notes[-1]


def test_a_large_one_is_drawn_coarser_and_says_so():
    drawn = preview("two-layer", "stripes", n=8192)
    assert drawn.values.size <= MOST_CELLS
    assert drawn.labels is not None
    assert drawn.notes == ("drawn with n = 1024 until the run starts",)


def test_a_large_cube_is_drawn_coarser():
    drawn = preview("bubbles-3d", "blocks:4", n=256)
    assert drawn.values.size <= MOST_CELLS
    assert drawn.values.ndim == 3


def test_a_constant_coefficient_needs_no_assembly_of_a_large_matrix():
    drawn = preview("poisson125", "blocks:4", n=200)
    assert drawn.values.size < MOST_CELLS
    assert drawn.labels.shape == drawn.values.shape
    assert drawn.notes == ("constant coefficient",)


def test_a_constant_coefficient_that_fits_is_shown_with_its_own_subdomains():
    drawn = preview("poisson7", "blocks:4", n=64)
    assert drawn.values.shape == (64, 64, 64)
    assert "64 deflation subdomains of 4096 unknowns" in drawn.notes[-1]


def test_bubbles_that_no_coarse_grid_holds_wait_for_the_run():
    with pytest.raises(NotYetError, match="too fine"):
        preview("bubbles-3d", n=256, layout="random", count=2, radius=0.004)


def test_a_download_waits_for_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    with pytest.raises(NotYetError, match="downloaded when the run starts"):
        preview("suitesparse")


def test_a_large_stand_in_waits_for_the_run_and_a_small_one_does_not():
    with pytest.raises(NotYetError, match="Stand-in for Queen_4147 is large"):
        preview("stand-in", of="Queen_4147")
    assert preview("stand-in").is_matrix


def test_a_matrix_shows_its_pattern_and_tells_of_subdomains_in_words(tmp_path):
    path = tmp_path / "small.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 2 2\n3 3 2\n2 1 -1\n")
    drawn = preview("matrix-file", "blocks:3", path=str(path))
    assert drawn.is_matrix
    np.testing.assert_array_equal(drawn.values, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert drawn.labels is None
    assert "3 deflation subdomains of 1 unknowns" in drawn.notes[-1]


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
