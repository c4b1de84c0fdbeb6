"""The pass over a large matrix: what it calls sound on every device, and the sentences on what is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tests.preconditioners.test_kcycle import network, triangles
from workbench import devices
from workbench.devices.ops.checks import seen
from workbench.errors import InputError
from workbench.operators import ComplexSymmetricMatrix, Matrix, UnsymmetricMatrix, as_operator, matrix
from workbench.operators.null_space import null_space_of
from workbench.run import solve

CPU = devices.device("cpu")
EPS = float(np.finfo(float).eps)


def seen_on(device, given, *, plain=False):
    return seen(given.data, given.indices, given.indptr, device, 1e-12, (32 * EPS, EPS), plain=plain)


def turned(given):
    """A Hermitian matrix with the sizes of a real one."""
    phases = sparse.diags_array(np.exp(1j * np.arange(given.shape[0])))
    made = sparse.csr_array(phases @ given @ phases.conj())
    return sparse.csr_array((made + made.conj().T) / 2)


DAMAGES = {
    "NaN": lambda made: made.data.__setitem__(77, np.nan),
    "infinity": lambda made: made.data.__setitem__(78, np.inf),
    "a partner that differs": lambda made: made.data.__setitem__(slice(70, 80), made.data[70:80] * (1 + 1e-9)),
    "a negative diagonal": lambda made: made.setdiag(-1),
    "columns out of order": lambda made: made.indices.__setitem__([0, 1], made.indices[[1, 0]]),
    "a column twice": lambda made: made.indices.__setitem__(1, made.indices[0]),
    "a column too large": lambda made: made.indices.__setitem__(77, made.shape[0]),
    "a negative column": lambda made: made.indices.__setitem__(77, -3),
    "negative columns in order": lambda made: made.indices.__setitem__([0, 1], [-400_000_000, -399_999_999]),
    "sizes that overflow in sum": lambda made: made.data.__imul__(0.9 * np.finfo(float).max / made.data.max()),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_a_good_matrix_is_sound_with_its_diagonal(device, dtype):
    mesh, _ = triangles(1500)
    good = sparse.csr_array(turned(mesh) if np.dtype(dtype).kind == "c" else mesh).astype(dtype)
    # Single precision rounds both triangles alike.
    good = sparse.csr_array((good + good.conj().T) / 2)
    found = seen_on(device, good)
    assert found.sound
    assert not found.constants
    assert np.array_equal(found.diagonal, good.diagonal())
    assert bool(found.copies) == (device is not CPU)


@pytest.mark.parametrize("damage", DAMAGES)
def test_whatever_is_wrong_needs_another_look(device, damage):
    made, _ = triangles(1500)
    DAMAGES[damage](made)
    assert not seen_on(device, made).sound


@pytest.mark.parametrize("side", [0, 1])
def test_an_entry_without_a_partner_needs_another_look_on_either_side(device, side):
    made = triangles(1500)[0].tolil()
    made[(3, 900) if side else (900, 3)] = 1e-3
    assert not seen_on(device, sparse.csr_array(made)).sound


def test_constants_are_told_as_by_products(device):
    laplacian = network(400, 1500) + network(400, 1500, seed=2)
    laplacian.sort_indices()
    assert seen_on(device, laplacian).constants
    laplacian.setdiag(laplacian.diagonal() * (1 + 1e-12))
    assert not seen_on(device, laplacian).constants


def test_a_matrix_equal_to_its_transpose_is_sound_for_cocg_alone(device):
    made = sparse.csr_array(turned(triangles(1500)[0]).real + 0j)
    made.data = made.data * (1 + 0.5j)
    assert seen_on(device, made, plain=True).sound
    assert not seen_on(device, made).sound


def refusal(make):
    try:
        make()
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize("damage", [*DAMAGES, "nothing"])
def test_large_matrices_are_refused_with_the_sentences_of_small_ones(damage, monkeypatch):
    made, _ = triangles(1500)
    DAMAGES.get(damage, lambda _: None)(made)
    for kind in (Matrix, ComplexSymmetricMatrix, UnsymmetricMatrix):
        small = refusal(lambda kind=kind: as_operator(made.copy(), kind))
        with monkeypatch.context() as patched:
            patched.setattr(matrix, "LARGE", 1)
            assert refusal(lambda kind=kind: as_operator(made.copy(), kind)) == small


def test_columns_of_64_bits_are_not_cut_before_they_are_checked(monkeypatch):
    made, _ = triangles(1500)
    long = sparse.csr_array((made.data, made.indices.astype(np.int64), made.indptr.astype(np.int64)), shape=made.shape)
    monkeypatch.setattr(matrix, "LARGE", 1)
    assert refusal(lambda: as_operator(long)) is None
    long.indices[77] += 2**32
    assert "damaged: indices must be <" in refusal(lambda: as_operator(long))


def test_what_is_known_of_a_large_matrix_is_what_the_checks_tell(monkeypatch):
    for made in (triangles(1500)[0], network(400, 4000)):
        usual = Matrix(made)
        with monkeypatch.context() as patched:
            patched.setattr(matrix, "LARGE", 1)
            large = Matrix(made)
        assert (large.maps_constants, usual.maps_constants) == (made.shape[0] == 400, None)
        assert np.array_equal(large.main, usual.main)
        assert large.empty_rows.size == 0
        bound = large.bind(CPU)
        assert bool(null_space_of(large, None, bound, CPU)) == bool(null_space_of(usual, None, bound, CPU))


def test_an_accelerator_that_has_checked_a_matrix_has_it(accelerator, monkeypatch):
    monkeypatch.setattr(matrix, "LARGE", 1)
    A, b = triangles(1500)
    uploads = []
    upload = accelerator.runtime.upload

    def counted(handle, values):
        uploads.append(values.nbytes)
        return upload(handle, values)

    monkeypatch.setattr(accelerator.runtime, "upload", counted)
    found = solve(A, b, M="jacobi", device=accelerator.spec)
    assert found.converged
    assert uploads.count(A.data.nbytes) == 1
    # Another solve takes what the arrays hold then.
    A.data *= 2
    assert np.allclose(solve(A, b, M="jacobi", device=accelerator.spec).x * 2, found.x, rtol=1e-4)
