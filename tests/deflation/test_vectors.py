"""Dense deflation vectors: their projection, recycled Ritz vectors, eigenvectors, and a user's Z."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.conftest import projection_of, random_matrix
from workbench.deflation import DenseSubspace, PiecewiseConstant, as_subspace
from workbench.errors import InputError
from workbench.registry import blocks as registry
from workbench.run import RitzKeeper, Run, Stopping, configure, run_through, solve


def test_linearly_dependent_vectors_are_dropped_and_noted():
    operator = random_matrix(30)
    Z = np.random.default_rng(1).random((30, 3))
    both = projection_of(operator, DenseSubspace(np.column_stack([Z, Z @ [1, 2, 3], np.zeros(30)])))
    assert both.count == 3
    assert both.notes == ["2 linearly dependent deflation vectors were dropped"]


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200])
def test_the_scale_of_the_vectors_does_not_matter(scale):
    projection = projection_of(random_matrix(30), DenseSubspace(scale * np.random.default_rng(1).random((30, 3))))
    assert (projection.count, projection.notes) == (3, [])


def test_a_null_vector_is_dropped_and_noted():
    run = Run(configure("bubbles-2d", n=12, count=1, deflation=registry.find("deflation", "eigenvectors:5")))
    assert run.setup.projection.count == 4
    assert "E is singular: 1 deflation vectors that A maps to zero were dropped" in run.setup.notes
    assert run_through(run).converged


def test_an_indefinite_matrix_is_refused():
    with pytest.raises(InputError, match=r"\(v, A v\) = -1"):
        solve(np.array([[1.0, 2], [2, 1]]), np.ones(2), deflation=np.array([[1.0], [-1]]), M="none")


@pytest.mark.parametrize("of", ["A", "D^-1 A"])
def test_eigenvectors_deflate_the_smallest_eigenvalues(of):
    operator = configure("two-layer", n=12).problem.assemble().operator
    A = operator.to_csr().toarray()
    scale = np.diag(A) if of == "D^-1 A" else np.ones(A.shape[0])
    values = np.sort(np.linalg.eigvals(A / scale[:, None]).real)
    first = "jacobi" if of == "D^-1 A" else "none"
    from workbench.spectra import spectrum

    deflation = registry.find("deflation", "eigenvectors:6", of=of)
    found = spectrum(configure("two-layer", n=12, preconditioner=first, deflation=deflation))
    np.testing.assert_allclose(found[:6], 0, atol=1e-12 * values[-1])
    np.testing.assert_allclose(found[6:], values[6:], rtol=1e-8)


def test_eigenvectors_are_limited_in_size():
    with pytest.raises(InputError, match=r"at most 70000 unknowns, got 90000; use deflation ritz"):
        Run(configure("poisson5", n=300, deflation="eigenvectors"))
    with pytest.raises(InputError, match="leave nothing to CG"):
        Run(configure("poisson5", n=3, deflation="eigenvectors"))


@pytest.mark.parametrize("first", ["jacobi", "neumann:2", "ic"])
def test_ritz_vectors_converge_to_eigenvectors(first):
    def run(deflation):
        configuration = configure("bubbles-2d", n=16, preconditioner=first, deflation=deflation)
        return run_through(Run(configuration)).iterations

    few = run(registry.find("deflation", "ritz:8", steps=200))
    assert few < 0.75 * run("none")


def test_recycled_vectors_are_the_ritz_vectors_of_the_run():
    matrix = random_matrix(60)
    keeper = RitzKeeper(60)
    result = solve(matrix, np.random.default_rng(0).random(60), rtol=1e-13, callback=keeper)
    A, d = matrix.to_csr().toarray(), matrix.diagonal()
    from workbench.spectra import ritz_values

    made = result.iterations
    vectors = keeper.vectors(3)
    # Ritz: the residual D^-1 A y - theta y is D-orthogonal to the Krylov space, of which y is a part.
    for y, theta in zip(vectors.T, ritz_values(result.history, made), strict=False):
        assert abs(y @ A @ y / (y @ (d * y)) - theta) < 1e-9 * theta


def test_as_many_ritz_vectors_as_iterations():
    keeper, A = RitzKeeper(9), np.diag([1.0, 2.0, 3.0])
    assert solve(A, np.ones(3), M="none", callback=keeper).iterations == 3
    vectors = keeper.vectors(3)
    quotients = [y @ A @ y / (y @ y) for y in vectors.T]
    np.testing.assert_allclose(quotients, [1, 2, 3], rtol=1e-9)


def test_ritz_vectors_are_recycled_for_the_next_right_hand_side():
    system = configure("bubbles-2d", n=32, sides="x-:dirichlet").problem.assemble()
    A, rng = system.operator, np.random.default_rng(2)
    keeper = RitzKeeper(200)
    first = solve(A, rng.random(1024), callback=keeper, M="neumann:2")
    second = rng.random(1024)
    plain = solve(A, second, M="neumann:2")
    recycled = solve(A, second, M="neumann:2", deflation=keeper.vectors(12))
    assert recycled.converged
    assert recycled.iterations < 0.7 * plain.iterations <= 0.8 * first.iterations
    np.testing.assert_allclose(recycled.x, plain.x, atol=1e-4 * np.abs(plain.x).max())


def test_invalid_recycling_is_refused():
    with pytest.raises(InputError, match="Ritz vectors need .* iterations, but the run made 0"):
        RitzKeeper(5).vectors(3)
    with pytest.raises(InputError, match="at least 2"):
        RitzKeeper(1)
    with pytest.raises(InputError, match="without deflation"):
        solve(random_matrix(20), np.ones(20), deflation="blocks:2", callback=RitzKeeper(5))
    with pytest.raises(InputError, match="need more iterations than 5"):
        Run(configure("two-layer", n=8, deflation=registry.find("deflation", "ritz:5", steps=5)))


def test_user_vectors_of_every_shape_solve_the_system():
    matrix, b = random_matrix(40), np.random.default_rng(0).random(40)
    labels = np.arange(40) // 10
    dense = np.eye(4)[labels]
    expected = np.linalg.solve(matrix.to_csr().toarray(), b)
    for Z in (labels, dense, sparse.csr_array(dense), np.random.default_rng(1).random((40, 2)), dense[:, :2].tolist()):
        result = solve(matrix, b, rtol=1e-10, deflation=Z)
        np.testing.assert_allclose(result.x, expected, atol=1e-8)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40), st.floats(0.1, 10), st.booleans())
@settings(max_examples=50)
def test_columns_with_disjoint_supports_become_labels(numbers, weight, as_sparse):
    labels = np.unique(numbers, return_inverse=True)[1]
    Z = weight * np.eye(labels.max() + 1)[labels]
    found = as_subspace(sparse.csr_array(Z) if as_sparse else Z, labels.size)
    assert isinstance(found, PiecewiseConstant)
    np.testing.assert_array_equal(found.labels, labels)


@pytest.mark.parametrize(
    "Z", [[[1, 0], [1, 1], [0, 1]], [[1, 0], [0, 1], [0, 0]], [[1, 0], [2, 0], [0, 1]]], ids=["overlap", "gap", "slope"]
)
def test_other_columns_become_a_dense_subspace(Z):
    assert isinstance(as_subspace(np.array(Z, dtype=float), 3), DenseSubspace)


@pytest.mark.parametrize(
    ("Z", "sentence"),
    [
        (np.zeros(4, int), r"shape \(4,\), but the matrix has 3 rows"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (np.zeros((3, 1, 1)), r"shape \(3, 1, 1\)"),
        (np.array([0.0, 1, 1]), "integers 0..d-1, got float64"),
        (np.array([0, -1, 1]), "numbers from 0, got -1"),
        (np.array([["a"], ["b"], ["c"]]), "Z must hold numbers"),
    ],
)
def test_invalid_vectors_raise_one_sentence(Z, sentence):
    with pytest.raises(InputError, match=sentence):
        as_subspace(Z, 3)


@pytest.mark.parametrize("labels", [[0, 2, 2], [7, 900, 900], [0, 10**12, 10**12]], ids=["gap", "far", "huge"])
def test_labels_with_gaps_are_renumbered_with_a_note(labels):
    assert as_subspace(np.array(labels), 3).labels.tolist() == [0, 1, 1]
    A = np.array([[2.0, -1, 0], [-1, 2, -1], [0, -1, 2]])
    result = solve(A, np.ones(3), deflation=np.array(labels))
    (note,) = [note for note in result.provenance["notes"] if note.startswith("labels")]
    assert note.endswith("unknowns have 2, which were renumbered to 0 to 1")
    assert result.converged
    assert result.summary["deflation_vectors"] == 2


def test_nonfinite_vectors_are_refused():
    with pytest.raises(InputError, match="holds nan at entry 0, 0; entries must be finite"):
        solve(random_matrix(5), np.ones(5), deflation=np.full((5, 1), np.nan))


def test_vectors_from_a_file(tmp_path):
    labels = np.repeat(np.arange(8), 8)
    np.save(tmp_path / "z.npy", labels)
    found = run_through(Run(configure("two-layer", n=8, deflation=f"file:{tmp_path / 'z.npy'}")))
    own = run_through(Run(configure("two-layer", n=8, deflation="blocks:1")))
    assert found.summary["deflation_vectors"] == 8
    np.testing.assert_allclose(found.x, own.x, atol=1e-4 * np.abs(own.x).max())


def test_invalid_vector_files_raise_one_sentence(tmp_path):
    (tmp_path / "text.npy").write_text("no array")
    np.savez(tmp_path / "several.npz", a=np.ones(3))
    os.mkfifo(tmp_path / "pipe.npy")
    with (tmp_path / "huge.npy").open("wb") as stream:
        # 8 TB, of which 64 bytes are there.
        np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)})
        stream.write(bytes(64))
    np.save(tmp_path / "objects.npy", np.array([None, {}], dtype=object), allow_pickle=True)
    for path, sentence in (
        ("", "needs the path"),
        (tmp_path / "none.npy", "no file of vectors"),
        (tmp_path / "text.npy", "no head of an array"),
        (tmp_path / "several.npz", "it is a ZIP archive, as .npz files are"),
        (tmp_path / "objects.npy", "it holds Python objects, which are not read"),
        (tmp_path, "is a folder, not a file of vectors"),
        (tmp_path / "pipe.npy", "is a pipe, not a file of vectors"),
        (tmp_path / "huge.npy", "its head announces 8000000000000 bytes of entries, but 64 follow"),
    ):
        with pytest.raises(InputError, match=sentence):
            Run(configure("two-layer", n=8, deflation=f"file:{path}"))


def test_drift_is_recorded_for_variants_with_zero_drift():
    def drift(variant):
        stopping = Stopping(rtol=1e-6)
        choices = {"preconditioner": "neumann:2", "deflation": "stripes", "variant": variant}
        return run_through(Run(configure("two-layer", n=32, stopping=stopping, **choices)))

    kept = drift("def1")
    measured = kept.history["drift"]
    assert np.isfinite(measured[::10]).all()
    assert np.isnan(np.delete(measured, np.arange(0, measured.size, 10))).all()
    assert kept.summary["drift"] < 1e-10
    assert drift("ad").summary["drift"] is None
