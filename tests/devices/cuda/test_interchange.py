"""Arrays in the memory of a CUDA device: vectors stay there, and x comes out as what b is."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import DTYPES, random_matrix, random_values
from workbench import devices
from workbench.devices import interchange
from workbench.errors import InputError
from workbench.run import Reason, solve

N = 4001
MATRIX = random_matrix(N).csr


@pytest.fixture(scope="module")
def cupy():
    try:
        devices.device("cuda")
    except InputError as sentence:
        pytest.skip(str(sentence))
    return pytest.importorskip("cupy")


def b_of(dtype=np.float64):
    return 1 + random_values(N, dtype, 1)


@pytest.mark.parametrize("accelerator", ["cuda"], indirect=True)
@pytest.mark.parametrize("dtype", DTYPES)
def test_vectors_stay_on_the_device(cupy, accelerator, transfers, dtype):
    A, b, x0 = MATRIX.astype(dtype), b_of(dtype), np.ones(N, dtype)
    rtol = 1e-5 if np.finfo(dtype).eps > 1e-10 else 1e-10
    b_there, x0_there = cupy.asarray(b), cupy.asarray(x0)
    for arrays in transfers.values():
        arrays.clear()
    found = solve(A, b_there, x0=x0_there, M=None, device="cuda", rtol=rtol)
    assert N not in {values.size for arrays in transfers.values() for values in arrays}
    assert isinstance(found.x, cupy.ndarray)
    assert (found.x.dtype, found.x.shape) == (np.dtype(dtype), (N,))
    assert found.converged
    expected = solve(A, b, x0=x0, M=None, device="cuda", rtol=rtol)
    assert found.iterations == expected.iterations
    np.testing.assert_array_equal(found.x.get(), expected.x)
    np.testing.assert_array_equal(b_there.get(), b)
    np.testing.assert_array_equal(x0_there.get(), x0)
    assert np.linalg.norm(b - A @ found.x.get()) <= 1.01 * rtol * np.linalg.norm(b)


def test_a_vector_that_begins_between_is_copied(cupy):
    """Kernels read several numbers at once, at multiples of their bytes."""
    whole = cupy.arange(N + 1.0)
    for first, copied in ((0, False), (1, True)):
        made = interchange.in_place(whole[first:], "b").values
        assert (made.data.ptr % interchange.ALIGNED, made.data.ptr != whole[first:].data.ptr) == (0, copied)
        np.testing.assert_array_equal(made.get(), whole[first:].get())


def test_work_of_another_stream_is_waited_for(cupy):
    b = b_of()
    expected = solve(MATRIX, b, device="cuda", rtol=1e-10).x
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        b_there = cupy.zeros(N)
        for _ in range(200):
            b_there += cupy.asarray(b) / 200
        found = solve(MATRIX, b_there, device="cuda", rtol=1e-10)
        doubled = 2 * found.x
    stream.synchronize()
    np.testing.assert_allclose(doubled.get(), 2 * expected, rtol=1e-6, atol=1e-9)


def test_x_is_not_the_memory_of_the_run(cupy):
    runs = []
    found = solve(MATRIX, cupy.asarray(b_of()), device="cuda", callback=runs.append)
    kept = found.x.get()
    found.x[:] = 0
    np.testing.assert_array_equal(runs[-1].x, kept)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_b_that_has_to_be_scaled(cupy, scale):
    found = solve(MATRIX, cupy.asarray(scale * b_of()), device="cuda", rtol=1e-10)
    assert found.converged
    assert isinstance(found.x, cupy.ndarray)
    np.testing.assert_allclose(found.x.get() / scale, solve(MATRIX, b_of(), device="cuda", rtol=1e-10).x, rtol=1e-6)


def test_many_right_hand_sides(cupy):
    B = np.stack([b_of(), 1 - b_of()], axis=1)
    found = solve(MATRIX, cupy.asarray(B), device="cuda", rtol=1e-8)
    assert isinstance(found.x, cupy.ndarray)
    assert (np.linalg.norm(B - MATRIX @ found.x.get(), axis=0) <= 1e-8 * np.linalg.norm(B, axis=0)).all()


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_matrices_vectors_and_labels_of_cupy(cupy, device):
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    labels = np.arange(N) // 501
    A, b = sparse.csr_matrix(MATRIX), cupy.asarray(b_of())
    found = solve(A, b, deflation=cupy.asarray(labels), device=device)
    expected = solve(MATRIX, b_of(), deflation=labels, device=device)
    assert isinstance(found.x, cupy.ndarray)
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x.get(), expected.x, rtol=1e-9)


def test_what_is_wrong_is_refused(cupy):
    b = cupy.asarray(b_of())
    with pytest.raises(InputError, match="b has shape"):
        solve(MATRIX, b[:-1], device="cuda")
    b[7] = np.nan
    with pytest.raises(InputError, match="b holds nan at entry 7"):
        solve(MATRIX, b, device="cuda")
    with pytest.raises(InputError, match="x0 holds nan at entry 7"):
        solve(MATRIX, cupy.asarray(b_of()), x0=b, device="cuda")
    assert solve(MATRIX, cupy.zeros(N), device="cuda").reason is Reason.CONVERGED


@pytest.mark.parametrize("place", ["cuda", "cpu"])
def test_tensors_of_pytorch(cupy, place):
    torch = pytest.importorskip("torch")
    if place == "cuda" and not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    b = torch.from_numpy(b_of()).to(place)
    found = solve(MATRIX, b, device="cuda", rtol=1e-10)
    assert isinstance(found.x, torch.Tensor)
    assert found.x.device.type == place
    residual = b.cpu().numpy() - MATRIX @ found.x.cpu().numpy()
    assert np.linalg.norm(residual) <= 1e-10 * np.linalg.norm(b_of())
