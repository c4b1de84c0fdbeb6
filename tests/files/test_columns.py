"""Right-hand sides from files."""

import bz2
import dataclasses
import gzip

import numpy as np
import pytest
from scipy import io

from workbench.errors import InputError
from workbench.files.columns import VectorFile
from workbench.run import Run, configure, run_through
from workbench.run.choices.share_link import from_link, to_command, to_link

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
    return run_through(Run(configure("poisson5", n=12, rhs=str(path), **chosen)))


def test_all_columns_are_solved(columns_file):
    result = solved(columns_file, solver="block-cg", preconditioner="none")
    assert (result.converged, result.x.shape) == (True, (144, 3))
    expected = run_through(Run(configure("poisson5", n=12, rhs="random:3", solver="block-cg", preconditioner="none")))
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
    with pytest.raises(InputError, match="no file of vectors at"):
        solved(tmp_path / "absent.npy", solver="block-cg")
    np.save(tmp_path / "b.npy", B)
    with pytest.raises(InputError, match="solver cg takes one right-hand side"):
        solved(tmp_path / "b.npy")


ARRAY = "%%MatrixMarket matrix array real general\n3 1\n"
COORDINATE = "%%MatrixMarket matrix coordinate real general\n"


def read(path, content, size=3):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return VectorFile(path).read(size)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (ARRAY + "1.5D+02\n2.5D-01\n3.0D+01\n", [150, 0.25, 30]),
        (ARRAY + "1d3\n2\n3\n", [1000, 2, 3]),
        (ARRAY + "+4.\n+0.4E+01\n-.5\n", [4, 4, -0.5]),
        (ARRAY.replace("real", "integer") + "+1\n-2\n003\n", [1, -2, 3]),
        (COORDINATE + "3 1 0\n", [0, 0, 0]),
        (COORDINATE + "3 1 2\n+1 1 +1D0\r\n3\t1 2\n", [1, 0, 2]),
    ],
)
def test_signs_and_exponents_are_read(tmp_path, text, values):
    for name in ("b.mtx", "B.MTX"):
        assert read(tmp_path / name, text)[:, 0].tolist() == values
    assert read(tmp_path / "b.mtx.gz", gzip.compress(text.encode()))[:, 0].tolist() == values
    assert read(tmp_path / "b.mtx.bz2", bz2.compress(text.encode()))[:, 0].tolist() == values


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (ARRAY + "1 9\n2\n3\n", "line 3: '9' is a surplus word"),
        (ARRAY + "1\n2,5\n3\n", "line 4: '2,5' is not a finite number"),
        (ARRAY + "1\n2\n1abc\n", "line 5: '1abc' is not a finite number"),
        (ARRAY + "0x10\n2\n3\n", "line 3: '0x10' is not a finite number"),
        (ARRAY + "1_000\n2\n3\n", "line 3: '1_000' is not a finite number"),
        (ARRAY + "1.5+102\n2\n3\n", r"line 3: '1.5\+102' is not a finite number"),
        (ARRAY + "nan\n2\n3\n", "line 3: 'nan' is not a finite number"),
        (ARRAY + ".\n2\n3\n", "line 3: '.' is not a finite number"),
        (ARRAY + "1\n2\n", "declares 3 entries, but the file ends after 2"),
        (ARRAY.replace("real", "integer") + "1.7\n2\n3\n", "line 3: '1.7' is not an integer"),
        (ARRAY.replace("real", "integer") + "1d1\n2\n3\n", "line 3: '1d1' is not an integer"),
        (ARRAY.replace("real", "pattern"), "line 1 says pattern of an array"),
        (COORDINATE + "3 1 3\n1 1 1\n1 1 1\n2 1 1\n", r"entry 2 \(row 1, column 1\) is stored twice"),
        (COORDINATE + "3 1 1\n1.0 1 4\n", "line 3: '1.0' is no row of 1 to 3"),
        (COORDINATE + "3 1 1\n1 2 4\n", "line 3: '2' is no column of 1 to 1"),
        (COORDINATE + "3 30000000 1\n1 1 1\n", "declares 30000000 columns and 1 entries; leave out"),
        (COORDINATE + "1000000000 1000000000 1\n1 1 1\n", "declares 1000000000 columns and 1 entries"),
        (ARRAY.replace("3 1", "3 100000000000") + "1\n", "but the file is too short"),
    ],
)
def test_what_is_no_number_is_refused_with_its_line(tmp_path, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read(tmp_path / "b.mtx", text)


def test_a_file_of_objects_and_other_formats(tmp_path):
    path = tmp_path / "b.npy"
    np.save(path, np.array([1, None, {}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="it holds Python objects, which are not read"):
        VectorFile(path).read(3)
    np.savez(tmp_path / "b.npz", np.ones(3))
    with pytest.raises(InputError, match="it is a ZIP archive, as .npz files are; read are"):
        VectorFile(tmp_path / "b.npz").read(3)
    for name in ("b.npz", "b.mat", "b.mtx.xz", "folder/b"):
        with pytest.raises(InputError, match=r"is no file that is read; its name must end in .npy, .mtx, .mtx.gz"):
            configure("poisson5", n=4, rhs=name)
    np.save(path, np.arange(3.0))
    assert VectorFile(path.rename(tmp_path / "b.mtx")).read(3)[:, 0].tolist() == [0, 1, 2]


def test_a_start_from_a_file(columns_file, tmp_path):
    chosen = configure("poisson5", n=12, rhs=str(columns_file), solver="block-cg", preconditioner="none")
    solution = run_through(Run(chosen)).x
    with (tmp_path / "x0.NPY").open("wb") as stream:
        np.save(stream, solution)
    again = dataclasses.replace(chosen, x0=str(tmp_path / "x0.NPY"))
    assert from_link(to_link(again)) == again
    assert f"--x0 {tmp_path / 'x0.NPY'}" in to_command(again)
    result = run_through(Run(again))
    assert (result.iterations, result.record().provenance["configuration"]["x0"]) == (0, again.x0)
    io.mmwrite(tmp_path / "x0.mtx", B[:, :1], precision=17)
    one = Run(configure("poisson5", n=12, x0=str(tmp_path / "x0.mtx")))
    np.testing.assert_array_equal(one.x, B[:, 0])
    with pytest.raises(InputError, match="has 3 columns, but there is one right-hand side"):
        Run(configure("poisson5", n=12, x0=str(columns_file)))
    with pytest.raises(InputError, match=r"x0 has shape \(144, 1\), but B has shape \(144, 3\)"):
        Run(dataclasses.replace(chosen, x0=str(tmp_path / "x0.mtx")))
