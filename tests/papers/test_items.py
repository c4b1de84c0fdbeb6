"""Items that can be turned: declared whole, printed as in data/papers, and compared with print point by point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.papers import PAPERS, mpcg_printed, two_level
from workbench.papers.items import MODELLED, compared, far_off, item_of, joined, mean_deviation, papers, point
from workbench.papers.items_block_cg import BlockIteration
from workbench.papers.two_level import solved
from workbench.run import Configuration, Run, run_through

ITEMS = [(paper.name, item.name) for paper in papers().values() for item in paper.items]


@pytest.mark.parametrize(("paper", "name"), ITEMS)
def test_an_item_is_whole(paper, name):
    """Every printed point is compared with one of ours, by name; the paper's value of each parameter is one of its
    values."""
    item = item_of(paper, name)
    values = item.paper_values
    steps, printed = list(item.steps(values)), item.printed()
    assert steps or item.modelled(values)
    # Equal work is done once, so that it has to be comparable.
    assert len({step.work for step in steps}) == len(steps)
    assert all(each.words(value) for each in item.turned for value in each.choices)
    assert len({curve.name for curve in printed}) == len(printed)


def test_all_papers_that_are_reproduced_have_items():
    assert set(papers()) == set(PAPERS)


def test_printed_points_are_those_of_the_tables():
    row = two_level.printed()["table2"]["rows"][-1]
    curve = item_of("two-level", "table2").printed()[-1]
    assert (curve.name, *curve.y) == tuple(row)
    assert list(curve.x) == [128, 256, 512, 1024]
    seconds = {curve.name: list(curve.y) for curve in item_of("mpcg", "table3").printed()}
    assert seconds == {f"N = {n}": found for n, found in mpcg_printed.printed()["table3"]["rows"]}


def test_deviations_are_those_of_equal_x():
    printed = [joined([point("a", 1, 100, "printed"), point("a", 2, 200, "printed")])[0]]
    points = compared(printed, [point("ours", 2, 150, MODELLED, "a"), point("ours", 3, 1, MODELLED, "a")])
    assert [each.percent for each in points] == [None, -25]
    assert mean_deviation(points) == 25
    assert [each.x for each in far_off(points)] == [2]
    assert mean_deviation(points[:1]) is None


def test_a_step_of_table_2_is_the_solve_of_its_reproduction():
    item = item_of("two-level", "table2")
    step = next(iter(item.steps({**item.paper_values, "largest": 32})))
    ours = solved("two-layer", 32, "block-ic:2", "stripes", coarse="inverse")
    assert isinstance(step.work, Configuration)
    assert ours.iterations == run_through(Run(step.work)).iterations


def test_parameters_reach_the_solves():
    turned = {"contrast": 1.0, "stripes": 4, "order": 3, "largest": 32}
    works: list[Any] = [step.work for step in item_of("two-level", "table2").steps(turned)]
    assert {work.problem.contrast for work in works} == {1.0}
    assert {work.deflation.per_row for work in works} == {4}
    assert works[-1].preconditioner.order == 3


def test_a_wait_slows_the_modelled_device():
    item = item_of("block-cg", "fig6")
    values = {**item.paper_values, "size": 16}
    step = next(iter(item.steps(values)))
    assert step.work == BlockIteration("m_t1", 16, 1)
    found = BlockIteration("m_t1", 16, 1)()
    rate = next(iter(next(iter(item.steps({**values, "wait": 0.0}))).read(found))).y[0]
    waiting = next(iter(next(iter(item.steps({**values, "wait": 1000.0}))).read(found))).y[0]
    assert waiting < rate
    np.testing.assert_allclose(found.gflop / waiting - found.gflop / rate, 1e-3)


def test_faster_cores_make_the_hybrid_methods_less_of_a_gain():
    item = item_of("hybrid-pipecg", "fig4")
    best, faster = (
        item.modelled({**item.paper_values, "cores": factor})[0].y[-1] for factor in (1.0, item.turned[2].choices[-1])
    )
    assert faster < best


def test_an_unknown_paper_or_item_is_a_sentence_that_lists_them():
    with pytest.raises(InputError, match=r"a paper is one of two-level, hybrid-pipecg, block-cg, mpcg, got 'three'"):
        item_of("three", "table1")
    with pytest.raises(InputError, match=r"an item of mpcg is one of table1, table2, table3, fig4, got 'fig7'"):
        item_of("mpcg", "fig7")
