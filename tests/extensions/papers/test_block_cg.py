"""The block CG paper: printed sizes and counts, their model, and what is measured here."""

from __future__ import annotations

import numpy as np
import pytest

from tests.extensions.papers.conftest import small
from workbench.costs.block_costs import flops_of_one, gflops
from workbench.extensions.papers import PAPERS, reproduce, text_claims
from workbench.extensions.papers.block_cg import _sum, by_table2, flops_printed, printed, systems
from workbench.extensions.papers.block_cg import system as system_named
from workbench.extensions.papers.block_cg_iteration import WAIT, host_sums, iteration, scipy_seconds
from workbench.machines.profile import profile
from workbench.run import Run, configure

SIZE = 16
"""max_n of the tests: stand-ins of at most 17,600 rows, or as small as they get."""


def test_sizes_are_those_printed(monkeypatch, real_matrices):
    monkeypatch.setenv("WORKBENCH_MATRICES", str(real_matrices))
    for row in reproduce("block-cg", "table1").rows:
        assert (row["n"], row["nnz"]) == (row["printed_n"], row["printed_nnz"])
        np.testing.assert_allclose(row["row_min_mean_max"], row["printed_row"], atol=5e-3)
        assert row["ours_is"].startswith(("stand-in for", "the real matrix"))


def test_a_matrix_that_is_not_at_hand_has_a_stand_in_of_its_size():
    rows = {row["matrix"]: row for row in small("block-cg", "table1").rows}
    for name in ("1138_bus", "mhd1280b"):
        assert rows[name]["ours_is"] == f"stand-in for {name}"
        assert (rows[name]["n"], rows[name]["nnz"]) == (rows[name]["printed_n"], rows[name]["printed_nnz"])


def test_printed_operations_are_those_of_the_formulas():
    """2 nnz + 10 n + 2, and 8 nnz + 40 n + 28 for complex numbers."""
    found = {system.name: flops_printed(system) for system in systems(SIZE, lambda _: None)}
    assert found["1138_bus"] == 2 * 4054 + 10 * 1138 + 2
    assert found["helm_fem"] == 8 * 113666 + 40 * 16384 + 28


def test_operations_before_the_first_iteration_and_clock_rates_are_those_printed():
    sums = {_sum("once", is_complex=kind): _sum("per_iteration", is_complex=kind) for kind in (False, True)}
    assert sums == {"2 nnz + 3 n": "2 nnz + 10 n + 2", "8 nnz + 10 n": "8 nnz + 40 n + 28"}
    assert [line[-1] for line in printed()["table3"]["rows"]] == ["1.65-1.82 MHz", "1.60-3.40 GHz"]


def test_our_operations_are_counted_from_the_lines():
    """A product, dot products of p with A p and twice of r, and three updates: 2 nnz + 12 n."""
    system = system_named("parabolic_fem", SIZE)
    n, nnz = system.ours.shape[0], system.ours.nnz
    found = iteration(system.ours, 1)
    assert found.flops == 2 * nnz + 12 * n
    # Twice as many columns: all passes twice, the matrix once.
    assert iteration(system.ours, 2).flops == 2 * found.flops
    matrix = 12 * nnz + 4 * (n + 1)
    assert iteration(system.ours, 2).bytes - matrix == 2 * (found.bytes - matrix)


def test_four_dot_products_more_are_all_that_separates_cocg_from_the_printed_count():
    """Of the print only the few operations on scalars are not in ours."""
    system = system_named("helm_fem", SIZE)
    n = system.ours.shape[0]
    assert iteration(system.ours, 1).flops - 4 * 8 * n == flops_printed(system, system.ours) - 28


def test_the_model_is_bytes_over_bandwidth_and_latencies():
    system = system_named("m_t1", SIZE)
    single = iteration(system.single, 4)
    assert single.bytes < 0.7 * iteration(system.ours, 4).bytes
    where = profile("rtx2080s")
    expected = single.bytes / 421.57e9 + single.passes * 3.46e-6
    assert single.modelled(where) == pytest.approx(expected)
    assert single.modelled(profile("i5-8250u")) == pytest.approx(single.bytes / 38.4e9)


def test_partial_sums_on_the_host_limit_parabolic_fem_as_in_the_print():
    where = profile("rtx2080s")
    # Two dot products of three right-hand sides, four groups each.
    assert host_sums(where, 1000, 3, 4, group=256) == pytest.approx(24 * (4 / where.to_host_bandwidth.value + 0.8e-9))
    system = system_named("parabolic_fem", 512)
    work = 1e-9 * flops_printed(system)
    rates = [
        b * work / (iteration(system.single, b).modelled(where) + WAIT + host_sums(where, system.n, b, 4))
        for b in (1, 8)
    ]
    first, *_, last = printed()["fig6"]["rates"]["parabolic_fem"][:8]
    assert rates[1] == pytest.approx(last, rel=0.05)
    assert rates[1] / rates[0] == pytest.approx(last / first, rel=0.25)


def test_rates_by_both_counts():
    """poisson5 has 5 n^2 - 4 n entries; block CG's own operations grow with s^2, those of the table with s."""
    run = Run(configure("poisson5", n=20, solver="block-cg", rhs="random:8"))
    while run.step():
        pass
    theirs, ours = gflops(run)
    nnz = 5 * 400 - 80
    counted = run.iterations * 8 * (2 * nnz + 10 * 400 + 2)
    assert theirs == pytest.approx(counted / run.iteration_seconds / 1e9)
    assert ours > 3 * theirs
    for is_complex in (False, True):
        assert flops_of_one(400, nnz, is_complex=is_complex) == by_table2(400, nnz, is_complex=is_complex)


def test_measured_rates_are_operations_over_seconds():
    system = system_named("helm_fem", SIZE)
    assert iteration(system.single, 1).seconds > 0
    assert scipy_seconds(system.single) > 0


def test_printed_gains_and_limits():
    claims = printed()["claims"]
    rows = small("block-cg", "fig6").rows
    gains = [row["printed_gain"] for row in rows if row["matrix"] == "m_t1"]
    assert max(gains) > claims["block_over_single"]
    gpu, cpu = small("block-cg", "table3").rows
    assert gpu["printed_most"] == 47 < gpu["block-cg_most"] < cpu["block-cg_most"]
    # The matrix, and five block vectors of 97578 numbers of 4 bytes for each column, on 8 GB.
    assert gpu["block-cg_most"] == (8 * 10**9 - 9753570 * 8 - 4 * 97579) // (5 * 4 * 97578)


def test_the_rate_with_the_most_right_hand_sides_falls_in_print_alone(monkeypatch):
    """Few columns in place of 47: the model's rate does not fall with b."""
    monkeypatch.setattr(text_claims, "DRAWN", 2)
    monkeypatch.setattr(text_claims, "WAVE_MATRICES", ("1138_bus",))
    made = PAPERS["block-cg"]["claims"].made(16, lambda _: None)
    most, over, *waves = made.rows
    assert (most["printed"], over["printed"]) == (32.6, pytest.approx(32.6 / 41.85))
    assert over["modelled"] > 1
    first, second, *_ = made.compared
    assert first.percent is None
    assert second.remark.startswith("not compared: ")
    assert "falls by 22%" in made.notes[0]
    for row in waves:
        assert row["printed_words"] == "no significant role in CPU speed"
        assert row["here"]
