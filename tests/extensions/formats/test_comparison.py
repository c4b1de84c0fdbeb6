"""Words by format, the choice by bytes, and the forms of AZ."""

from __future__ import annotations

import collections
import json
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from workbench.cli.program import run as command
from workbench.extensions.formats import measured
from workbench.extensions.formats.comparison import storage_facts, storage_of
from workbench.extensions.formats.measured import medians, products_of
from workbench.run import configure
from workbench.settings import AZ_FORMS, FORMATS


def test_words_of_a_grid_by_hand():
    """4 x 4 cells, 5 points: 16 + 2*24 entries."""
    facts = storage_of(configure("poisson5", n=4))
    assert (facts.unknowns, facts.entries, facts.longest_row) == (16, 64, 5)
    words = {each.name: each.words for each in facts.formats}
    assert words["csr"] == 64 + (64 + 17) / 2
    assert words["coo"] == 64 + 64
    assert words["dia"] == 5 * 16 + 5 / 2
    assert words["ell"] == 5 * 16 * 1.5
    # Entry 4 is there in 12 of 16 rows, entry 5 in 4 of 16, less than a third.
    assert words["hyb"] == 4 * 16 * 1.5 + 4 * 2
    assert facts.choice.name == "dia"
    assert "moves the fewest bytes by the model; CSR " in facts.reason


def test_a_dense_row_leaves_csr():
    size = 2000
    matrix = sparse.lil_array(sparse.eye_array(size))
    matrix[7] = 1.0
    facts = storage_facts(matrix.tocsr())
    assert facts.of("ell").stored.padding == size * size - facts.entries
    assert facts.choice.name == "csr"


def test_the_papers_form_of_az_next_to_ours():
    """Stripes of a 2D grid: labels follow from the row, and a row has entries of at most 5 stripes."""
    facts = storage_of(configure("two-layer", n=16, deflation="stripes"))
    forms = {form.name: form for form in facts.az_forms}
    assert forms["dia"].words == 5 * 256 + 5 / 2
    assert forms["dia"].stored.padding == 5 * 256 - facts.az.nnz
    assert {name: form.value for name, form in forms.items() if form.value} == {"dia": "dia", "segments": "compact"}
    assert forms["segments"].words < forms["dia"].words


def test_a_stencil_as_the_problem_has_it():
    """A byte per cell, and bands whose zeros are at the walls of the grid."""
    (two_phases, *_), (bands, *_) = (
        storage_of(configure(problem, n=8)).formats for problem in ("bubbles-2d", "poisson-fd")
    )
    assert (two_phases.name, two_phases.nbytes, two_phases.stored.values) == ("problem", 64, 0)
    # 7 x 7 inner points, whose diagonal is one number.
    assert (bands.name, bands.stored.values, bands.stored.padding) == ("problem", 2 * 49, 2 * 7)


def test_products_are_timed_in_turns_where_they_fit():
    size = 400
    matrix = sparse.lil_array(sparse.eye_array(size))
    matrix[7] = 1.0
    found = storage_facts(matrix.tocsr())
    seconds = list(found.rounds(3))[-1]
    # ELL of one dense row has a hundred times the bytes of CSR.
    assert set(seconds) == {("format", name) for name in ("coo", "csr", "hyb")}
    assert {len(each) for each in seconds.values()} == {3}
    assert all(median > 0 for median in medians(seconds).values())


def test_a_short_work_is_repeated_until_the_clock_can_tell(monkeypatch):
    """By a clock that works alone move: 30 microseconds of one are 8 repetitions, a second of the other is one."""
    now, done = [0.0], collections.Counter()

    def work(name, taken):
        done[name] += 1
        now[0] += taken

    monkeypatch.setattr(measured.time, "perf_counter", lambda: now[0])
    works = {("format", name): partial(work, name, taken) for name, taken in (("csr", 3e-5), ("dia", 1.0))}
    *_, seconds = measured.in_turns(works, 3)
    assert seconds == {("format", "csr"): pytest.approx([3e-5] * 3), ("format", "dia"): pytest.approx([1.0] * 3)}
    # One that is not timed, 1 + 2 + 4 that are too short, and 8 in each of three rounds.
    assert done == {"csr": 1 + 7 + 3 * 8, "dia": 1 + 3}


def test_conversions_are_timed_and_cost_products():
    found = storage_of(configure("two-layer", n=9, deflation="stripes"))
    stored, timed = (medians(list(rounds)[-1]) for rounds in (found.conversions(2), found.rounds(2)))
    # The problem's own form is none that A is converted to.
    assert set(stored) == {("format", name) for name in FORMATS} | {("az", name) for name in AZ_FORMS}
    assert all(each > 0 for each in stored.values())
    seconds = {("format", "csr"): 2.0, ("format", "dia"): 1.0, ("az", "compact"): 0.5}
    converted = {("format", "csr"): 3.0, ("format", "dia"): 9.5, ("az", "compact"): 1.0}
    assert products_of("format", 9.5, seconds) == 4.75
    assert products_of("az", 1.0, seconds) == 2.0
    assert products_of("format", None, seconds) is None
    assert found.pays(seconds, converted) == "DIA pays for its conversion from CSR after 10 products"
    assert found.pays(seconds, {**converted, ("format", "dia"): 0.5}).endswith("after 1 product")
    assert "CSR has the fastest" in found.pays({**seconds, ("format", "dia"): 2.5}, converted)
    lines = found.text(timed, stored).splitlines()
    assert "conversion  = products" in lines[2]
    (own,) = (line for line in lines if line.startswith("Default of the problem"))
    assert len(own) < len(lines[2]) - 20
    assert lines[-1].rstrip(".") == found.pays(timed, stored)


def test_both_forms_of_az_are_timed_and_a_as_the_problem_has_it():
    found = storage_of(configure("two-layer", n=9, deflation="stripes"))
    timed = list(found.rounds(1))[-1]
    assert set(timed) == {("format", name) for name in ("problem", *FORMATS)} | {("az", name) for name in AZ_FORMS}


def test_what_a_run_cannot_have_is_said_with_the_reason():
    found = storage_of(configure("bubbles-2d", n=8, precision="mixed"))
    assert all("keeps A as a byte per cell" in found.of(name).refused for name in FORMATS)
    found = storage_of(configure("poisson5", n=8, deflation="eigenvectors:2"))
    assert "choose stripes" in found.no_az
    assert found.no_az in found.text()


def test_the_command(capsys):
    assert command(["formats", "two-layer", "--n", "16", "--deflation", "stripes", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["choice"] == "dia"
    assert len(plain["az"]) == 4
    assert command(["formats", "two-layer", "--n", "16", "--deflation", "stripes", "--time", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert {"format:csr", "az:dia"} < set(plain["seconds"])
    assert set(plain["seconds"]) - set(plain["conversion_seconds"]) == {"format:problem"}
    assert command(["formats", "poisson27", "--n", "6"]) == 0
    assert "moves the fewest bytes by the model" in capsys.readouterr().out
    assert np.isfinite(plain["formats"][0]["moved"])
