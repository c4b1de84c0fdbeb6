"""Block vectors: one text for 1, 3 and several columns plans, counts and runs as NumPy does it, on every device."""

from __future__ import annotations

import numpy as np
import pytest

from tests.all_pairs import on_devices, pairwise
from tests.conftest import grid_stencil, random_values
from workbench.devices.accelerator.block_algebra import STATE, SmallMatrices
from workbench.devices.cpu import Cpu
from workbench.devices.element_wise import ElementWise
from workbench.devices.kernels import small
from workbench.devices.programs import Workspace
from workbench.devices.programs.counting import CountingDevice
from workbench.lines.interpret import evaluate
from workbench.lines.types import LinesError

START = """
    S = A(X)
    R = B - S
    U = M(R)
    gamma = (R, U)
    P = U
"""
ITERATE = """
    S = A(P)
    delta = (P, S)
    alpha = solve(delta, gamma)
    R = R - S@alpha
    U = M(R)
    previous = gamma
    gamma = (R, U)
    beta = solve(previous, gamma)
    X = X + P@alpha
    P = U + P@beta
"""
GRID = (5, 7, 11)
SIZE = 5 * 7 * 11


def system(columns, dtype="float64"):
    """A stencil, its matrix, the reciprocal diagonal of Jacobi, and a right-hand side."""
    stencil = grid_stencil(GRID, np.dtype(dtype).type)
    return stencil, stencil.to_csr(), (1 / stencil.main).astype(dtype), random_values((SIZE, columns), dtype)


def reference(matrix, d, B, iterations):
    values = {"B": B.copy(), "X": np.zeros_like(B), "d": d}
    operators = {"A": lambda V: matrix @ V, "M": lambda V: d[:, None] * V}
    for text in (START, *[ITERATE] * iterations):
        evaluate(text, values, operators)
    return values


def bound_to(device, kind, stencil, matrix, dtype):
    if kind == "csr":
        return device.csr(matrix.data, matrix.indices, matrix.indptr)
    if kind == "stencil":
        return stencil.bind(device)
    return device.callable(lambda v: matrix @ v, SIZE, np.dtype(dtype))


def solved(device, kind, columns, iterations=6, dtype="float64"):
    stencil, matrix, d, B = system(columns, dtype)
    vectors = {"B": device.array(B, B.dtype), "X": device.zero_block(SIZE, columns, B.dtype)}
    M = ElementWise("d*v", {"d": device.array(d, d.dtype)})
    operators = {"A": bound_to(device, kind, stencil, matrix, dtype), "M": M}
    space = device.workspace(SIZE, B.dtype, vectors=vectors, operators=operators)
    start, iterate = space.lines(START, ITERATE)
    start()
    for _ in range(iterations):
        iterate()
    return space, iterate, reference(matrix, d, B, iterations)


# A tile that is not whole, a whole one, and one of each. The cores take 8 too, which OpenCL compiles for a minute.
@on_devices(columns=[1, 3, 4, 5], kind=["csr", "stencil", "callable"], dtype=["float64", "complex128"])
def test_a_device_does_what_numpy_does(device, case):
    assert_as_numpy(device, **case)


@pairwise(columns=[8], kind=["csr", "stencil", "callable"], dtype=["float64", "complex128"])
def test_the_cores_do_what_numpy_does_with_tiles_of_eight(case):
    assert_as_numpy(Cpu(), **case)


def assert_as_numpy(device, **case):
    space, _, expected = solved(device, **case)
    for name in "XRP":
        scale = np.abs(expected[name]).max()
        np.testing.assert_allclose(device.to_host(space.vector(name)), expected[name], rtol=0, atol=1e-8 * scale)


def test_blocks_solve_a_system():
    space, _, _ = solved(Cpu(), "csr", 3, iterations=40)
    _, matrix, _, B = system(3)
    np.testing.assert_allclose(matrix @ space.vector("X"), B, atol=1e-8)


@pytest.mark.parametrize("columns", [1, 3, 8])
def test_bytes_and_flops_are_those_of_the_columns(columns):
    _, iterate, _ = solved(Cpu(), "csr", columns, iterations=0)
    _, matrix, _, _ = system(columns)
    word, s = 8 * SIZE, columns
    nbytes = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    # A: x, y; (P, S): both; R, S in, R out with d; R, d, X, P in and X, P out.
    passes = 2 * s + (3 * s + 1) + (5 * s + 1)
    assert iterate.bytes == nbytes + (2 * s + passes) * word
    # Products with a small matrix: s products and s - 1 sums an entry, and one sum or difference with the rest.
    update, gram = s * (2 * s - 1) + s, 2 * s * s
    assert iterate.flops == 2 * matrix.nnz * s + SIZE * (gram + update + s + gram + s + 2 * update)


def test_the_matrix_is_read_once_for_all_columns():
    _, matrix, _, _ = system(1)
    product = Cpu().csr(matrix.data, matrix.indices, matrix.indptr)
    assert product.block(3).traffic - product.block(1).traffic == 2 * 2 * 8 * SIZE


def test_one_text_runs_on_vectors_as_well():
    stencil, matrix, d, B = system(1)
    vectors = {"B": B[:, 0].copy(), "X": np.zeros(SIZE)}
    operators = {"A": stencil.bind(Cpu()), "M": ElementWise("d*v", {"d": d})}
    space = Cpu().workspace(SIZE, B.dtype, vectors=vectors, operators=operators)
    start, iterate = space.lines(START, ITERATE)
    start()
    for _ in range(6):
        iterate()
    expected = reference(matrix, d, B, 6)
    np.testing.assert_allclose(space.vector("X"), expected["X"][:, 0], atol=1e-10)


def test_an_entry_of_a_product_is_not_overwritten_before_it_is_read():
    X, Y = np.arange(12.0).reshape(4, 3), np.arange(12.0)[::-1].reshape(4, 3).copy()
    expected = {"X": X.copy(), "Y": Y.copy()}
    text = "g = (X, Y)\nX = X@g\nh = (X, Y)\nh = h@g\nY = Y@h - Y"
    evaluate(text, expected)
    Cpu().lines(text)(X=X, Y=Y)
    np.testing.assert_allclose(X, expected["X"])
    np.testing.assert_allclose(Y, expected["Y"])


def test_a_block_that_is_not_row_major_is_refused():
    with pytest.raises(LinesError, match="not row-major"):
        Cpu().lines("X = 2*X")(X=np.asfortranarray(np.ones((4, 3))))


def test_small_matrices_keep_their_values_when_more_programs_come():
    device, X = Cpu(), np.arange(12.0).reshape(4, 3)
    space = device.workspace(4, X.dtype, vectors={"X": X, "Y": np.zeros((4, 3))})
    (first,) = space.lines("g = (X, X)\na = 2")
    first()
    (second,) = space.lines("h = g@g\nY = a*X@h")
    second()
    gram = X.T @ X
    np.testing.assert_allclose(space.vector("Y"), 2 * X @ gram @ gram)
    np.testing.assert_allclose(space.scalars[space.slots["g"] :][:9].reshape(3, 3), gram)


def test_small_matrices_are_returned_whole():
    X = np.arange(12.0).reshape(4, 3)
    found = Cpu().lines("g = (X, Y)\na = 2")(X=X, Y=X[:, :2].copy())
    np.testing.assert_allclose(found["g"], X.T @ X[:, :2])
    assert found["a"] == 2


def test_a_scalar_does_not_become_a_small_matrix():
    X = np.arange(12.0).reshape(4, 3)
    with pytest.raises(LinesError, match=r"line 'g = \(X, X\)' assigns a 3 x 3 matrix to g, a scalar; rename it"):
        Cpu().lines("a = 2*g\ng = (X, X)")(X=X, g=1.0)
    space = Cpu().workspace(4, X.dtype, vectors={"X": X})
    space.lines("g = 2")
    with pytest.raises(LinesError, match="to g, a scalar; rename it"):
        space.lines("g = (X, X)")


def test_more_programs_read_the_scalars_of_the_earlier_ones_at_once():
    class Device(CountingDevice):
        reads = 0

        def to_host(self, vector):
            self.reads += 1
            return vector

    device = Device()
    space = Workspace(device, 4, np.dtype(float), vectors={"x": np.zeros(4)}, scalars="abc")
    for name, value in zip("abc", (1, 2, 3), strict=True):
        space.set_scalar(name, value)
    space.lines("d = a + b\nx = d*x")
    assert device.reads == 1
    assert [space.scalar(name) for name in "abc"] == [1, 2, 3]


def test_programs_of_blocks_are_counted_without_a_device():
    vectors = {"B": np.zeros((SIZE, 3)), "X": np.zeros((SIZE, 3))}
    _, matrix, d, _ = system(3)
    operators = {"A": Cpu().csr(matrix.data, matrix.indices, matrix.indptr)}
    operators["M"] = ElementWise("d*v", {"d": d})
    space = Workspace(CountingDevice(), SIZE, np.dtype(float), vectors=vectors, operators=operators)
    _, planned = space.lines(START, ITERATE)
    _, iterate, _ = solved(Cpu(), "csr", 3, iterations=0)
    assert (planned.bytes, planned.flops, planned.passes) == (iterate.bytes, iterate.flops, iterate.passes)


def test_a_gram_matrix_that_a_group_has_no_room_for_is_refused(accelerator):
    if accelerator.layout.chunked:
        pytest.skip("a processor has room for all sums")
    with pytest.raises(LinesError, match="take block vectors of fewer columns"):
        solved(accelerator, "csr", 24, iterations=0)


@pytest.mark.parametrize(("dtype", "stops"), [("float32", True), ("float64", False)])
def test_columns_within_rounding_of_others_stop_the_device_that_orthonormalizes(accelerator, dtype, stops):
    """The third pivot is some units of roundoff of single precision; the sums are in double precision."""
    matrices = SmallMatrices(accelerator, np.dtype(dtype), 3)
    cosine = np.sqrt(1 - 3e-6)
    for name, values in (("G", [[1, 0, cosine], [0, 1, 0], [cosine, 0, 1]]), ("T", np.zeros((3, 3)))):
        matrices[name] = np.array(values)
    matrices["spanned"] = np.ones(3)
    matrices.kernel(small.small("pivoted", 3, np.dtype(dtype), matrices.dtype), 3)()
    matrices.changed()
    assert matrices[STATE][small.STOPPED] == small.IN_ORTHONORMALIZATION * stops
