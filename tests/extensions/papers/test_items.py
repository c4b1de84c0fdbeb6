"""Items that can be turned: declared whole, printed as in the data of the papers, and
compared with print point by point.
"""

from __future__ import annotations

import dataclasses
import types
from typing import Any

import numpy as np
import pytest

from workbench.cli import main
from workbench.errors import InputError
from workbench.extensions.papers import PAPERS, item_of, papers, reproduction
from workbench.extensions.papers.agreement import agreement
from workbench.extensions.papers.block_cg_figures import BlockIteration
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.item_scene import item_layers
from workbench.extensions.papers.items import Case, Curve, Item, Solved, Work
from workbench.extensions.papers.printed import printed_in
from workbench.plots.scenes.scene import Axis, BarsOf
from workbench.run import Configuration, configure

ITEMS = [(paper.name, item.name) for paper in papers().values() for item in paper.items]


def cases_of(item, **values):
    return list(item.cases({**item.paper_values, **values}))


def works_of(item, **values):
    return [work for case in cases_of(item, **values) for work in case.works]


@pytest.mark.parametrize(("paper", "name"), ITEMS)
def test_an_item_is_whole(paper, name):
    """Something is computed or modelled for it; every printed point has a curve; the paper's value of each parameter is
    one of its values."""
    item = item_of(paper, name)
    cases, printed = cases_of(item), item.printed()
    assert any(case.works for case in cases) or any(case.modelled() for case in cases)
    # Equal work is done once, so that it has to be comparable.
    assert all(isinstance(hash(work.key), int) for work in works_of(item))
    assert all(each.words(value) for each in item.turned for value in each.choices)
    assert len({curve.name for curve in printed}) == len(printed)
    for each in (each for each in item.compared if each.curve):
        assert any(case.row.get(each.printed) is not None for case in cases)


@pytest.mark.parametrize("paper", list(PAPERS))
def test_results_of_the_papers_can_be_turned(paper):
    """All but what explains, sizes, operations and devices, claims of the text, and the tables about all methods."""
    still = {name for name, target in PAPERS[paper].items() if target.item is None}
    assert (
        still
        == {
            "two-level": {f"fig{k}" for k in range(2, 9)},
            "hybrid-pipecg": {"table1", "iterations", "best", "claims", "measured", "formats"}
            | {"crossover", *(f"fig{k}-2021" for k in (1, 2, 4, 5)), "fig3"},
            "block-cg": {"table1", "table2", "table3", "claims", "fig1", "fig2", "fig3", "fig4", "listing2"},
            "mpcg": {"claims", "fig1", "fig2", "fig3", "algorithm2"},
            "hysing": set(),
        }[paper]
    )


def test_printed_points_are_those_of_the_tables():
    row = printed_in("two-level")["table2"]["rows"][-1]
    curve = item_of("two-level", "table2").printed()[-1]
    assert (curve.name, *curve.y) == tuple(row)
    assert list(curve.x) == [128, 256, 512, 1024]
    seconds = {curve.name: list(curve.y) for curve in item_of("mpcg", "table3").printed()}
    assert seconds == {f"N = {n}": found for n, found in printed_in("mpcg")["table3"]["rows"]}
    both = {curve.name: list(curve.y) for curve in item_of("two-level", "table1").printed()}
    assert both == {"Q9550": [28.4, 25.48, 22.8, 20.15, 25.99], "C2070": [9.8, 10.15, 11.28, 1.29, 1.47]}


def test_points_are_compared_row_by_row_and_curves_are_columns():
    item = Item(
        name="table9",
        title="Table 9",
        cases=lambda _: [],
        named=("method", "n"),
        x=Axis("n"),
        y=Axis("iterations"),
        across="n",
        compared=(Compared(printed="printed", ours="ours", curve="{method}", sizes=("of", "n")),),
    )
    works = [Work("a", abs, {"ours": "real"}), Work("b", abs, "seconds")]
    rows = [{"method": "cg", "n": n, "of": n, "printed": 100 * n} for n in (2, 1)]
    cases = [Case(row, works) for row in rows] + [Case({"method": "cg", "n": 3}, works)]
    found = item.rows(cases, {(0, 0): 150, (2, 0): 7, (0, 1): 0.5})
    assert [row["seconds"] for row in found] == [0.5, None, None]
    points = item.points(found)
    assert [(point.curve, point.x, point.value.percent) for point in points] == [("cg", 2, -25), ("cg", 1, None)]
    assert agreement(points).mean == 25
    assert agreement(points[1:]).mean is None
    (printed,), (ours,) = item.curves(found, "printed"), item.curves(found)
    assert (list(printed.x), list(printed.y)) == ([1, 2], [100, 200])
    assert (ours.of, list(ours.x), list(ours.y)) == ("cg", [2, 3], [150, 7])


def test_a_printed_point_stands_at_the_bar_that_it_belongs_to():
    item = item_of("hybrid-pipecg", "fig8-2021")
    printed = item.printed()
    ours = [Curve(name, np.arange(3.0), np.ones(3), "modelled", of) for name, of in (("a", ""), ("b", "Hybrid CG 3"))]
    *bars, rings, _ = item_layers(item, printed, ours)
    assert [type(bar) for bar in bars] == [BarsOf, BarsOf]
    np.testing.assert_allclose(rings.x, bars[1].x)
    assert bars[0].x[0] + bars[0].wide / 2 < bars[1].x[0] - bars[1].wide / 2 + 1e-9


def test_measured_points_of_a_smaller_size_lie_at_that_size():
    item = item_of("mpcg", "table2")
    rows = [{"N": 250, "N_here": 64, "measured_cpu_s": 2.0, "printed_cpu_s": 216.0}]
    (curve,) = item.curves(rows)
    assert (list(curve.x), list(curve.y)) == ([64], [2])
    (printed,) = item.curves(rows, "printed")
    assert list(printed.x) == [250]


def test_a_work_of_table_2_is_the_solve_of_its_report(made):
    """The same configuration on the page and in a report, there from several starts and to a tolerance beyond."""
    (work, *_) = works_of(item_of("two-level", "table2"), largest=128)[10:]
    assert isinstance(work.what, Configuration)
    PAPERS["two-level"]["table2"].made(128, print)
    assert dataclasses.replace(made[0], stopping=work.what.stopping) == work.what
    assert made[0].stopping.rtol < work.what.stopping.rtol == 1e-6
    assert [one.seed for one in made[:5]] == [0, 1, 2, 3, 4]


def test_parameters_reach_the_solves():
    works: list[Any] = works_of(item_of("two-level", "table2"), density_ratio=1.0, stripes=4, order=3, largest=32)
    assert {work.what.problem.density_ratio for work in works} == {1.0}
    assert {work.what.deflation.per_row for work in works} == {4}
    assert works[-1].what.preconditioner.order == 3
    works = works_of(item_of("two-level", "table1"), n=64, coarse="dense-cholesky", stripes=8)
    assert {(work.what.coarse.name, work.what.deflation.per_row) for work in works} == {("dense-cholesky", 8)}


def test_another_order_of_the_series_is_named():
    item = item_of("two-level", "table3")
    (case, *_) = [case for case in cases_of(item, order=4, largest=16) if "DPCG" in case.row["method"]]
    rows = item.rows([case], {(0, 0): Solved((7,), True, 1.0, 2.0)})
    assert item.curves(rows)[0].name == "DPCG Neumann(4), 128 planes"
    assert item.curves(rows)[0].of == "DPCG Neumann(2), 128 planes"


def test_short_solves_are_repeated_and_long_ones_are_not(made):
    def solve(configuration, seconds):
        made.append(configuration)
        return types.SimpleNamespace(**vars(run_through(None)) | {"iteration_seconds": seconds})

    run_through = reproduction.run_through
    work = Work("a", configure("two-layer", n=16), "a", timed=True)
    for seconds, count in ((0.1, 4), (1.5, 3), (3.0, 2)):
        made.clear()
        assert work.done(lambda one, seconds=seconds: solve(one, seconds)).iteration_seconds == seconds
        assert len(made) == count
        assert [one.stopping.maxiter for one in made] == [2] + [None] * (count - 1)


def test_table_1_is_modelled_with_our_iterations_where_the_paper_prints_none():
    """At the paper's values with those that are printed; a smaller ratio moves the time with the count."""
    item = item_of("two-level", "table1")
    assert cases_of(item)[0].modelled()["modelled_cpu_s"] > 1
    (case, *_) = cases_of(item, n=64, density_ratio=1e-6)
    assert case.modelled() == {}
    one, two = (case.works[0].columns(Solved(counts, True, 1.0, 2.0)) for counts in ((10,), (20,)))
    assert two["modelled_gpu_s"] == pytest.approx(2 * one["modelled_gpu_s"])


def test_a_wait_slows_the_modelled_device():
    item = item_of("block-cg", "fig6")
    work, *_ = works_of(item, size=16, wait=0.0)
    assert work.what == BlockIteration("m_t1", 16, 1)
    found = BlockIteration("m_t1", 16, 1)()
    waiting, *_ = works_of(item, size=16, wait=1000.0)
    rate, slower = (one.columns(found)["modelled_2080S"] for one in (work, waiting))
    np.testing.assert_allclose(found.gflop / slower - found.gflop / rate, 1e-3)


def test_faster_cores_make_the_hybrid_methods_less_of_a_gain():
    item = item_of("hybrid-pipecg", "fig4")

    def best(cores):
        cases = [case.with_model() for case in cases_of(item, cores=cores)]
        return next(row["over_pcg"] for row in item.rows(cases, {}) if row["matrix"] == "max")

    assert best(item.turned[2].choices[-1]) < best(1.0)


def test_a_barrier_moves_the_persistent_kernel_alone():
    item = item_of("mpcg", "fig6")
    first, slower = (cases_of(item, barrier=barrier)[1].modelled() for barrier in (1.0, 2.0))
    assert [one["modelled_persistent_s"] for one in (first, slower)] == pytest.approx([50_000e-6, 100_000e-6])
    assert slower["modelled_launches_s"] == first["modelled_launches_s"]


def test_another_overlap_is_modelled_with_the_iterations_that_it_needs():
    item = item_of("mpcg", "fig5")
    case = cases_of(item, n=50, overlap=2)[0]
    assert case.modelled() == {}
    row = case.works[0].columns((20, 1.0, 0.25))
    assert row["modelled_s"] == pytest.approx(row["modelled_in_boxes_s"] + row["modelled_line_10_s"])
    assert (row["measured_other_s"], case.row["printed_s"]) == (0.75, None)


def test_the_command_names_every_paper(capsys):
    main(["reproduce", "--help"])
    # It is wrapped at hyphens too.
    said = "".join(capsys.readouterr().out.split())
    assert [paper for paper in PAPERS if paper not in said] == []


def test_the_help_of_the_command_lists_every_table_and_figure(capsys):
    main(["reproduce", "--help"])
    said = "".join(capsys.readouterr().out.split())
    for paper, targets in PAPERS.items():
        assert f"{paper}:{','.join(targets)}" in said


def test_speed_ups_are_drawn_where_the_paper_draws_them():
    item = item_of("two-level", "fig10")
    row = {"preconditioner": "Neumann(2)", "n": 64, "where": "on the cores", "inverse_s": 1.0, "dense_s": 4.0}
    row |= {"modelled_cpu_s": 6.0, "modelled_gpu_s": 2.0}
    rows = item.joined([Case(row)], [{}])
    assert (item.y.title, {curve.name: list(curve.y) for curve in item.curves(rows)}) == (
        "speed-up",
        {
            "Neumann(2), C2070 over Q9550, modelled": [3.0],
            "Neumann(2), inverse over dense solves, on the cores": [4.0],
        },
    )


def test_an_unknown_paper_or_item_is_a_sentence_that_lists_them():
    with pytest.raises(
        InputError, match=r"a paper is one of two-level, hybrid-pipecg, block-cg, mpcg, hysing, got 'three'"
    ):
        item_of("three", "table1")
    with pytest.raises(InputError, match=r"is one of table1, table2, table3, fig4, fig5, fig6, got 'fig7'"):
        item_of("mpcg", "fig7")
