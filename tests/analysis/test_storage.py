"""Words by format, the choice by bytes, and the forms of AZ."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from workbench.analysis.storage import storage_facts, storage_of
from workbench.cli.program import run as command
from workbench.errors import InputError
from workbench.run import configure


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
    assert "csr moves" in facts.reason


def test_a_dense_row_leaves_csr():
    size = 2000
    matrix = sparse.lil_array(sparse.eye_array(size))
    matrix[7] = 1.0
    facts = storage_facts(matrix.tocsr())
    assert facts.of("ell").stored.padding == size * size - facts.entries
    assert facts.choice.name == "csr"


def test_the_papers_form_of_az_beside_ours():
    """Stripes of a 2D grid: rows next to a border have entries of two stripes and more, at most 5."""
    facts = storage_of(configure("two-layer", n=16, deflation="stripes"))
    forms = {form.name.partition(" ")[0]: form for form in facts.az}
    assert forms["N"].words == 5 * 256
    assert forms["N"].fits
    assert forms["runs"].words < forms["N"].words


def test_the_command(capsys):
    assert command(["formats", "two-layer", "--n", "16", "--deflation", "stripes", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["choice"] == "dia"
    assert len(plain["az"]) == 4
    assert command(["formats", "poisson27", "--n", "6"]) == 0
    assert "Device cpu would choose" in capsys.readouterr().out
    with pytest.raises(InputError, match="has no labels, and AZ is compared for spaces that have; choose stripes"):
        storage_of(configure("poisson5", n=8, deflation="eigenvectors:2"))
    assert np.isfinite(plain["formats"][0]["moved"])
