"""Right-hand sides from files."""

import gzip

import numpy as np
import pytest
from scipy import io

from workbench.errors import InputError
from workbench.run import configure, run_through, start_run

B = np.random.default_rng(0).standard_normal((144, 3))


@pytest.fixture(params=["npy", "mtx", "mtx.gz"])
def columns_file(request, tmp_path):
    path = tmp_path / f"b.{request.param}"
    if request.param == "npy":
        np.save(path, B)
    else:
        io.mmwrite(tmp_path / "b.mtx", B, precision=17)
        if request.param == "mtx.gz":
            path.write_bytes(gzip.compress((tmp_path / "b.mtx").read_bytes()))
    return path


def solved(path, **chosen):
    return run_through(start_run(configure("poisson5", n=12, rhs=str(path), **chosen)))


def test_all_columns_are_solved(columns_file):
    result = solved(columns_file, solver="block-cg", preconditioner="none")
    assert (result.converged, result.x.shape) == (True, (144, 3))
    expected = run_through(
        start_run(configure("poisson5", n=12, rhs="random:3", solver="block-cg", preconditioner="none"))
    )
    np.testing.assert_allclose(result.x, expected.x)


def test_a_single_column_is_the_right_hand_side_of_any_solver(tmp_path):
    np.save(tmp_path / "b.npy", B[:, 0])
    result = solved(tmp_path / "b.npy")
    assert (result.converged, result.x.shape) == (True, (144,))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "cannot read"),
        (b"not an array", "no head of an array"),
        (np.lib.format.magic(1, 0) + b"\x10\x00{'shape': (9, 9)}", "cannot read"),
    ],
)
def test_damaged_files_are_refused_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "b.npy"
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        solved(path, solver="block-cg")


def test_a_damaged_compressed_file(tmp_path):
    path = tmp_path / "b.mtx.gz"
    path.write_bytes(gzip.compress(b"%%MatrixMarket matrix array real general\n144 2\n")[:-9])
    with pytest.raises(InputError, match="cannot read"):
        solved(path, solver="block-cg")


def test_other_shapes_and_missing_files(tmp_path):
    np.save(tmp_path / "b.npy", B[:-1])
    with pytest.raises(InputError, match=r"has shape \(143, 3\), but the matrix has 144 rows; it must be 144 x s"):
        solved(tmp_path / "b.npy", solver="block-cg")
    with pytest.raises(InputError, match="no file of right-hand sides at"):
        solved(tmp_path / "absent.npy", solver="block-cg")
    np.save(tmp_path / "b.npy", B)
    with pytest.raises(InputError, match="solver cg takes one right-hand side"):
        solved(tmp_path / "b.npy")
