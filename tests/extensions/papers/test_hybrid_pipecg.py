"""The hybrid PIPECG papers: printed sizes, iteration counts, and the model with its assumptions."""

from __future__ import annotations

import pytest

from tests.extensions.papers.conftest import reproduced, small
from workbench.extensions.formats.comparison import Storage, storage_of
from workbench.extensions.models.host_and_gpu import HOSTS, machine, with_slower_cores
from workbench.extensions.models.schedules import LIBRARY, expected, largest_share, usable_memory
from workbench.extensions.papers import reproduce
from workbench.extensions.papers.hybrid_claims import over_cores, over_the_cores, share_for, with_loops
from workbench.extensions.papers.hybrid_measured import conversions
from workbench.extensions.papers.hybrid_model import min_entries_per_row, printed_best, systems
from workbench.extensions.papers.hybrid_pipecg import printed
from workbench.extensions.papers.standing import Standing
from workbench.run import configure


def test_printed_entries_per_row_are_those_of_the_printed_sizes_but_for_one_misprint():
    rows = small("hybrid-pipecg", "table1").rows
    far = {
        row["matrix"]: (row["printed_nnz/N"], round(row["printed_nnz"] / row["printed_N"], 2))
        for row in rows
        if row["printed_nnz/N"] and abs(row["printed_nnz/N"] - row["printed_nnz"] / row["printed_N"]) > 0.02
    }
    assert far == {"6M Poisson": (120.55, 122.53)}


def test_ranges_of_rows_are_those_printed():
    assert printed()["claims"]["best_method_by_rows"] == {
        "hybrid1": [100, 36_000],
        "hybrid2": [36_000, 260_000],
        "hybrid3": [260_000, 4_000_000],
    }


def test_sizes_are_those_printed():
    rows = reproduced("hybrid-pipecg", "table1", max_n=40).rows
    assert len(rows) == 14
    for row in rows:
        assert row["N"] == row["printed_N"]
        assert abs(row["nnz_off_percent"]) <= 2
        assert ("poisson125" in row["ours_is"]) == ("Poisson" in row["matrix"])
    assert next(row for row in rows if row["matrix"] == "bcsstk15")["ours_is"] == "a stand-in, built"


def test_real_matrices_are_used_if_available(monkeypatch, real_matrices):
    monkeypatch.setenv("WORKBENCH_MATRICES", str(real_matrices))
    # Other than `reproduced`, which would have the rows of the stand-ins.
    (row, *_) = reproduce("hybrid-pipecg", "table1", max_n=40).rows
    assert row["ours_is"] == "the real file"
    assert (row["N"], row["nnz"]) == (3948, 117816)
    (row, *_) = reproduce("hybrid-pipecg", "iterations", max_n=40).rows
    assert row["said"] == "converged"
    assert abs(row["cg"] - row["pipecg"]) <= 0.02 * row["cg"]


def test_missing_matrices_are_reported():
    rows = reproduced("hybrid-pipecg", "iterations", max_n=40).rows
    assert rows[0]["cg"] is None
    assert "bcsstk15" in rows[0]["said"]
    assert "put it at" not in rows[0]["said"]
    assert all(row["said"] == "converged" for row in rows[1:])


def test_the_same_systems_fit_the_gpus_in_the_papers_and_in_the_model():
    rows = reproduced("hybrid-pipecg", "best").rows
    at = {(row["machine"], row["matrix"]): row for row in rows}
    for name, _, machines in systems():
        for where in machines:
            fits = at[where, name]["hybrid1_ms"] is not None
            assert fits == ("Poisson" not in name), (name, where)
            assert at[where, name]["hybrid3_ms"] is not None
    assert all(row["best"] in ("hybrid3", "cg cpu", "pipecg cpu") for row in rows if row["hybrid1_ms"] is None)


def test_the_printed_ranges_of_rows():
    assert [printed_best(n) for n in (3948, 36000, 36001, 259789, 1391349, 10**7)] == [
        "hybrid1",
        "hybrid1",
        "hybrid2",
        "hybrid2",
        "hybrid3",
        "hybrid3",
    ]


def test_the_product_hides_the_copies_from_a_number_of_entries_per_row():
    from workbench.devices.dry_run import Sizes

    where = machine("v100")
    enough = min_entries_per_row(where, "hybrid1")
    n = 4 * 10**6
    alone, shared = [], []
    for entries in (0.5 * enough, 1.2 * enough):
        sizes = Sizes(n, round(n * entries))
        alone.append(expected("pipecg gpu", sizes, where).seconds)
        shared.append(expected("hybrid1", sizes, where).seconds)
    assert shared[0] > 1.3 * alone[0]
    assert shared[1] < 1.05 * alone[1]


def test_assumptions_are_noted():
    for target in ("best", "claims", "crossover"):
        notes = " ".join(reproduced("hybrid-pipecg", target).notes)
        assert "assumed" in notes
        assert "modelled" in notes
    for name in HOSTS:
        assert machine(name).accelerator.to_host_latency is not None


def test_measured_times_name_the_machine():
    made = small("hybrid-pipecg", "measured")
    assert made.notes[0].startswith("measured on ")
    assert all(row["cg cpu"] > 0 and row["pipecg cpu"] > 0 for row in made.rows)


def test_the_model_with_one_pass_per_line_agrees_with_most_claims():
    rows = [row for row in reproduced("hybrid-pipecg", "claims").rows if "over PCG on the GPU, " in row["claim"]]
    agreeing = [row for row in rows if (row["printed"] == "above 1") == (row["modelled_library"] > 1)]
    assert (len(agreeing), len(rows)) == (12, 14)


def test_bars_are_speedups_over_the_baseline_of_each_figure():
    for name, baseline in (("fig4", "pipecg cpu library"), ("fig7-2021", "pipecg gpu library")):
        rows = small("hybrid-pipecg", name).rows
        assert [row["matrix"] for row in rows] == [line[0] for line in printed()["matrices"]["rows"]]
        assert all(row[baseline] == 1 for row in rows)
        where, (_, sizes, _) = machine(rows[0]["machine"]), systems()[0]
        seconds = [expected(method, sizes, where).seconds for method in (LIBRARY[baseline[:-8]], "hybrid2")]
        assert rows[0]["hybrid2"] == pytest.approx(seconds[0] / seconds[1])
    both = small("hybrid-pipecg", "fig6").rows
    assert {row["machine"] for row in both} == {"k40", "v100"}
    # Within the printed range; above and below it by the distance to its end.
    at = {row["matrix"]: row for row in both}
    assert at["20M Poisson"]["deviation_percent"] == 0
    assert at["25M Poisson"]["deviation_percent"] == pytest.approx(100 * (at["25M Poisson"]["hybrid3"] / 2.5 - 1))


def test_what_the_printed_speedups_of_hybrid_3_would_need():
    at = {name: sizes for name, sizes, _ in systems()}
    where = machine("k20m")
    share = share_for(2.25, at["4.5M Poisson"], where)
    assert 0.5 < share < largest_share(at["4.5M Poisson"], usable_memory(where))
    assert over_cores(at["4.5M Poisson"], where, LIBRARY["pipecg cpu"], share) == pytest.approx(2.25, rel=0.03)
    assert share_for(2.5, at["6M Poisson"], where) is None
    rows = {(row["claim"], row["machine"]): row for row in small("hybrid-pipecg", "claims").rows}
    mean = rows["mean over PCG on the CPU", "k20m"]
    assert abs(mean["slower_cores"] / mean["printed"] - 1) < 0.15 < 1 - mean["modelled_library"] / mean["printed"]


def test_the_entries_per_row_stated_in_docs_and_notebook():
    assert [round(min_entries_per_row(machine(name), "hybrid1")) for name in ("k20m", "v100")] == [54, 157]


def test_fused_vector_operations_by_hand():
    """Fused: z, n, s, w, p, x, r and 1/D are read, z, s, p, x, r, w and m written. By lines: nine updates of three
    words, two dot products of two vectors and two of one."""
    fused, by_lines, _ = reproduced("hybrid-pipecg", "fig5-2021").rows
    assert (fused["passes"], by_lines["passes"]) == (1, 9 + 4)
    assert (fused["words_per_unknown"], by_lines["words_per_unknown"]) == (15, 9 * 3 + 2 * 2 + 2)
    assert 1 / 3 < fused["ms"] / by_lines["ms"] < 15 / 33 + 0.02


def test_cg_in_two_kernels_has_one_pass_beside_the_product():
    """x, p, r and s are read, x, r and p written."""
    *_, rupp = reproduced("hybrid-pipecg", "fig5-2021").rows
    assert (rupp["vector_operations"], rupp["passes"], rupp["words_per_unknown"]) == ("CG in two kernels", 1, 7)


def test_not_all_hybrids_beat_all_versions_on_the_cores_in_the_model_and_loops_are_why():
    made = small("hybrid-pipecg", "claims")
    found = {value.row: value for value in made.compared if "slowest hybrid" in value.row}
    assert set(found) == {
        f"slowest hybrid over the fastest version on the CPU, bcsstk15, {name}" for name in ("k20m", "k40")
    }
    for value in found.values():
        assert 0.3 < value.modelled < 0.5
        assert value.standing is Standing.PLAUSIBLE
    # What the reason says.
    least = {
        (name, slower): over_the_cores(with_loops((with_slower_cores if slower else machine)(where), 5))[0]
        for name in ("k20m", "k40")
        for slower, where in ((False, name), (True, machine(name)))
    }
    assert {key: each > 1 for key, each in least.items()} == {
        ("k20m", False): False,
        ("k20m", True): True,
        ("k40", False): True,
        ("k40", True): True,
    }
    (trend,) = (note for note in made.notes if note.startswith("Not explained: the rise of the printed speedup"))
    assert "by 10% at most, and 57% are needed" in trend


def test_claims_on_libraries_that_are_not_here_cannot_be_compared():
    found = [value for value in small("hybrid-pipecg", "claims").compared if "Paralution" in value.row]
    assert len(found) == 3
    for value in found:
        assert value.standing is Standing.NOT_COMPARED
        assert value.remark.startswith("not compared: Paralution is not available here")


def test_conversions_from_csr_are_measured():
    made = small("hybrid-pipecg", "formats")
    assert {row["format"] for row in made.rows} == {"coo", "csr", "dia", "ell", "hyb"}
    csr = next(row for row in made.rows if row["format"] == "csr")
    for row in made.rows:
        assert row["conversion_in_products"] == pytest.approx(row["conversion_ms"] / csr["product_ms"])
    assert "hence CSR" in made.notes[0]


def test_a_format_that_does_not_fit_beside_the_others_has_a_conversion_alone(monkeypatch):
    whole = {row["format"]: row for row in small("hybrid-pipecg", "formats").rows}
    sizes = storage_of(configure("poisson125", n=8))
    room = sizes.of("csr").nbytes + sizes.of("coo").nbytes + sizes.formats[0].nbytes
    monkeypatch.setattr(Storage, "_free", room)
    rows = {row["format"]: row for row in conversions(8, lambda _: None).rows}
    assert rows.keys() <= whole.keys()
    alone = [row for row in rows.values() if row["product_ms"] is None]
    assert rows["csr"]["product_ms"] > 0
    assert alone
    assert all(row["conversion_ms"] > 0 for row in alone)
