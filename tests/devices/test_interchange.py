"""Arrays of other libraries through DLPack, in host memory and, by a stand-in for CuPy's, in that of a device."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.conftest import random_matrix
from workbench.devices import interchange
from workbench.devices.accelerator.user_vector import UserVector
from workbench.errors import InputError
from workbench.run import solve

N = 60
MATRIX = random_matrix(N).csr
B = np.random.default_rng(3).random(N)


class Tensor:
    """An array of another library: NumPy's, but for its type."""

    def __init__(self, values, place=(1, 0)):
        self.values, self.place = values, place
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __array__(self, *_, **__):
        raise TypeError("an array of the other library is read through DLPack")

    def __dlpack_device__(self):
        return self.place

    def __dlpack__(self, **choices):
        return self.values.__dlpack__(**choices)

    def __array_namespace__(self):
        return SimpleNamespace(from_dlpack=lambda x: Tensor(np.from_dlpack(x)))


class Single(Tensor):
    """Of a library that has single precision alone."""

    def __array_namespace__(self):
        return SimpleNamespace(from_dlpack=lambda x: Tensor(np.from_dlpack(x).astype(np.float32)))


@pytest.mark.parametrize("b", [B, np.stack([B, 1 - B], axis=1), B.astype(np.float32)], ids=["one", "two", "single"])
def test_x_is_of_the_library_of_b(b):
    found = solve(MATRIX, Tensor(b), x0=Tensor(np.ones_like(b)), rtol=1e-9)
    expected = solve(MATRIX, b, x0=np.ones_like(b), rtol=1e-9)
    assert isinstance(found.x, Tensor)
    assert np.array_equal(found.x.values, expected.x)
    assert np.array_equal(found.record(with_solution=True).solution, expected.x)


def test_every_argument_may_be_of_another_library():
    labels = np.arange(N) // 20
    arguments = {"M": np.linalg.inv(MATRIX.toarray()), "deflation": labels}
    found = solve(Tensor(MATRIX.toarray()), B, **{name: Tensor(values) for name, values in arguments.items()})
    expected = solve(MATRIX, B, **arguments)
    assert type(found.x) is np.ndarray
    assert found.iterations == expected.iterations
    np.testing.assert_allclose(found.x, expected.x, rtol=1e-12)


def test_a_sparse_tensor_of_pytorch():
    parts = SimpleNamespace(layout="torch.sparse_csr", shape=MATRIX.shape, values=lambda: Tensor(MATRIX.data))
    parts.col_indices, parts.crow_indices = lambda: Tensor(MATRIX.indices), lambda: Tensor(MATRIX.indptr)
    np.testing.assert_array_equal(solve(parts, B).x, solve(MATRIX, B).x)


def test_a_zero_b():
    assert not solve(MATRIX, Tensor(0 * B)).x.values.any()


def test_host_memory_is_shared():
    b = Tensor(B)
    assert np.shares_memory(interchange.on_host(b, "b"), B)
    assert np.shares_memory(interchange.returned_as(b, B).values, B)


def test_a_library_without_the_precision_of_x_does_not_round_it():
    found = solve(MATRIX, Single(B), rtol=1e-12)
    assert np.linalg.norm(B - MATRIX @ found.x) <= 1e-12 * np.linalg.norm(B)


def test_other_memory_is_refused():
    with pytest.raises(InputError, match="b lies on a device of another kind .number 8 in DLPack.*copy b to the host"):
        solve(MATRIX, Tensor(B, place=(8, 0)))


def test_what_dlpack_cannot_read_is_refused():
    class Unreadable(Tensor):
        def __dlpack__(self, **_):
            raise BufferError("requires gradients")

    with pytest.raises(InputError, match="x0, a Unreadable, cannot be read: requires gradients"):
        solve(MATRIX, B, x0=Unreadable(B))

    class Nowhere(Tensor):
        def __dlpack_device__(self):
            raise ValueError("a meta tensor has no memory")

    with pytest.raises(InputError, match="b, a Nowhere, cannot be read: a meta tensor"):
        solve(MATRIX, Nowhere(B))
    with pytest.raises(InputError, match=r"b has shape \(59,\), but the matrix has 60 rows"):
        solve(MATRIX, Tensor(B[1:]))


class OnDevice:
    """What a held vector needs of a CuPy array, on whatever accelerator there is."""

    def __init__(self, device, values):
        self._values, self.shape, self.dtype = values, values.shape, values.dtype
        self.vector = device.array(values, values.dtype)

    def get(self):
        return self._values.copy()

    def any(self):
        return self._values.any()

    def astype(self, dtype, copy):
        assert dtype == self.dtype
        return self

    def __getitem__(self, place):
        return SimpleNamespace(get=lambda: self._values[place])


def held(device, values):
    made = OnDevice(device, values)
    vector = UserVector(made, device.name)
    vector.vector = made.vector
    # `astype` makes another one, which a stand-in cannot.
    vector.astype = lambda *_, **__: vector
    return vector


@pytest.mark.parametrize("scale", [1, 1e-300], ids=["in range", "scaled"])
def test_vectors_on_the_device_stay_there(accelerator, monkeypatch, transfers, scale):
    device = accelerator
    b, x0 = held(device, scale * B), held(device, np.full(N, float(scale)))
    monkeypatch.setattr("workbench.run.loop.diagnostics.array_of", lambda vector: ("stayed", device.to_host(vector)))
    monkeypatch.setattr("workbench.run.in_place", lambda values, name: {"b": b, "x0": x0}[name])
    transfers["upload"].clear()
    found = solve(MATRIX, scale * B, x0=x0, device=device.spec, rtol=1e-9, M=None)
    expected = solve(MATRIX, scale * B, x0=np.full(N, float(scale)), rtol=1e-9, M=None)
    assert found.converged
    assert found.iterations == expected.iterations
    if scale == 1:
        place, x = found.x
        assert place == "stayed"
        assert not any(values.shape == (N,) for values in transfers["upload"])
    else:
        x = found.x
    np.testing.assert_allclose(x, expected.x, rtol=1e-8)
    assert np.array_equal(device.to_host(b.vector), scale * B)
    assert np.array_equal(device.to_host(x0.vector), np.full(N, float(scale)))
