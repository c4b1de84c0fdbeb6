"""Samples of matrices, and facts of one without keeping all of it."""

import numpy as np
import pytest
from scipy import sparse

from tests.live.builders.forms import state, take
from tests.waiting import LIMIT
from workbench.live import Builder, MatrixBuilder
from workbench.live.builders import matrix_facts
from workbench.live.builders.matrix_facts import facts
from workbench.problems.stand_in import StandIn
from workbench.run import configure


@pytest.mark.parametrize(
    ("of", "symmetry", "method"),
    [
        ("1138_bus", "symmetric", ""),
        ("bcsstk15", "symmetric", ""),
        ("helm_fem", "complex symmetric", "Use COCG, Jacobi"),
    ],
)
def test_a_sample_is_generated_here_and_shown(of, symmetry, method):
    chosen = configure("bubbles-2d", n=16, preconditioner="neumann", deflation="none")
    builder = MatrixBuilder(configuration=lambda: chosen, use=lambda made: None)
    take(builder, "of", of)
    assert builder.problem == StandIn(of=of)
    assert builder.facts.rows["unknowns N"].replace("\u202f", "") == str(builder.problem.unknowns)
    assert builder.facts.rows[symmetry].startswith("yes")
    assert builder.correct.description == method
    builder.load(builder.problem)
    assert state(builder, "of") == of


def test_samples_are_shown_until_a_matrix_is_chosen_and_one_is_chosen_by_its_picture(opened):
    page = opened(Builder())
    page.kind.value = "Matrix"
    builder = page.builder
    assert builder.samples.wait(LIMIT)
    assert [view.scene.title for view in builder.samples.pictures.values()] == [
        "1138 unknowns",
        "3948 unknowns",
        "16\u202f384 unknowns",
    ]
    assert builder.samples.box.layout.display is None
    builder.samples.box.children[0].children[0].click()
    assert builder.wait()
    assert builder.problem == page.problem == StandIn(of="1138_bus")
    assert builder.samples.box.layout.display == "none"
    builder.form.set("source", "upload")
    assert builder.samples.box.layout.display is None


def test_of_a_large_matrix_every_so_manyth_row_is_drawn(monkeypatch):
    monkeypatch.setattr(matrix_facts, "MOST_ENTRIES", 100)
    problem = configure("poisson27", n=4).problem
    found = facts(problem)
    csr = problem.assemble().operator.to_csr()
    every = -(-csr.nnz // 100)
    assert found.scene.notes == (f"every {every}th row is drawn",)
    rows, _ = sparse.csr_array(csr).tocoo().coords
    assert found.scene.values.sum() == np.count_nonzero(rows % every == 0)
    assert np.flatnonzero(found.scene.values.sum(axis=1)).tolist() == list(range(0, 64, every))
    assert found.lengths.sum() == csr.nnz
