"""The subdomains of deflation on the levels of the coarse solver: nested, of one phase, as many as the factor has."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from workbench.deflation.nested import NestedParts
from workbench.registry import blocks as registry
from workbench.run import Run, configure

CASES = {
    "bubbles in 3D": ("bubbles-3d", {"n": 24}, "levelset:8"),
    "random bubbles, odd": ("bubbles-3d", {"n": 21, "layout": "random", "count": 6, "radius": 0.12}, "levelset:7"),
    "bubbles in 2D": ("bubbles-2d", {"n": 61}, "levelset:15"),
    "blocks": ("poisson7", {"n": 16}, "blocks:8"),
    "stripes, merged along couplings": ("two-layer", {"n": 40}, "stripes:40"),
}


def factored(name, bottom=20):
    problem, parameters, space = CASES[name]
    chosen = {"deflation": space, "coarse": f"multilevel:bottom={bottom}", "variant": "a-def2"}
    return Run(configure(problem, parameters, **chosen))


@pytest.mark.parametrize("name", list(CASES))
def test_each_level_is_a_union_of_parts_of_the_finer_one(name):
    run = factored(name)
    projection = run.setup.projection
    nested = NestedParts.of(projection.levels)
    assert len(nested.sizes) > 1
    assert np.array_equal(nested.parts[0], np.arange(projection.count))
    for finer, coarser in itertools.pairwise(nested.parts):
        # One parent for each part: as many pairs as parts.
        assert np.unique(np.stack([finer, coarser]), axis=1).shape[1] == finer.max() + 1


@pytest.mark.parametrize("name", [name for name, (_, _, space) in CASES.items() if space.startswith("levelset")])
def test_no_part_of_any_level_has_two_phases(name):
    run = factored(name)
    system, labels = run.setup.system, run.setup.labels
    for parts in NestedParts.of(run.setup.projection.levels).parts:
        found = np.unique(np.stack([parts[labels], system.phase]), axis=1)
        assert found.shape[1] == parts.max() + 1


def test_the_widest_box_of_a_level_is_measured_in_the_labels():
    run = factored("bubbles in 3D", bottom=60)
    labels = run.setup.labels.reshape(24, 24, 24)
    nested = NestedParts.of(run.setup.projection.levels)
    assert nested.widest(labels) == [(3, 3, 3), (6, 6, 6), (12, 12, 12)][: len(nested.sizes)]
    for level, parts in enumerate(nested.parts):
        spans = [np.ptp(np.argwhere(parts[labels] == part), axis=0) + 1 for part in range(parts.max() + 1)]
        assert tuple(np.max(spans, axis=0)) == nested.widest(labels)[level]


@pytest.mark.parametrize("name", [name for name, (_, _, space) in CASES.items() if space != "stripes:40"])
def test_a_recorded_run_has_the_levels_that_it_noted(name):
    run = factored(name)
    system = run.setup.system
    _, boxes = registry.find("deflation", CASES[name][2]).labels_and_boxes(run.x.size, system.grid, system.phase)
    again = NestedParts.recorded(boxes, run.setup.notes)
    expected = NestedParts.of(run.setup.projection.levels)
    assert again.sizes == expected.sizes
    for made, noted in zip(again.parts, expected.parts, strict=True):
        # Numbered in another order.
        assert np.unique(np.stack([made, noted]), axis=1).shape[1] == made.max() + 1
    assert NestedParts.recorded(boxes, ["coarse solver multilevel has levels of 9, 8 vectors, in"]) is None
    assert NestedParts.recorded(boxes, ["E is singular"]) is None


def test_levels_that_follow_from_e_are_not_made_again_of_a_recorded_run():
    run = factored("stripes, merged along couplings")
    assert NestedParts.of(run.setup.projection.levels).sizes[0] == run.setup.projection.count
    assert NestedParts.recorded(None, run.setup.notes) is None
