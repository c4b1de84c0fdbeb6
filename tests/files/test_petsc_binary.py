"""PETSc's binary format of matrices: round trips, the layout byte by byte and by PETSc itself, damaged files."""

from __future__ import annotations

import gzip
import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tests.conftest import refusal
from workbench.cli import main
from workbench.files.petsc_binary import MATRIX, write_petsc
from workbench.problems import problem_from_text
from workbench.problems.matrix_market import read_entries, read_matrix

VECTOR = struct.pack(">2i2d", 1211214, 2, 5, 7)
"""b after a matrix of two rows."""


def written(matrix):
    stream = io.BytesIO()
    write_petsc(stream, sparse.csr_array(matrix))
    return stream.getvalue()


def read(content):
    return read_entries(io.BytesIO(content), "a.petsc", "cannot read a.petsc")[0]


def packed(integer="i", value="2d", values=(2.0, 3.0), sizes=(2, 2, 2), in_rows=(1, 1), columns=(0, 1)):
    """A file of two rows by the layout in PETSc's manual page of MatLoad, or one that deviates from it."""
    integers = (MATRIX, *sizes, *in_rows, *columns)
    return struct.pack(f">{len(integers)}{integer}", *integers) + struct.pack(f">{value}", *values)


@given(
    st.integers(1, 7),
    st.sampled_from([np.float64, np.complex128]),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
def test_what_is_written_is_read(n, dtype, seed, zipped):
    random = np.random.default_rng(seed)
    dense = random.normal(size=(n, n)).astype(dtype) * (random.random((n, n)) < 0.4) + 9 * np.eye(n)
    if dtype is np.complex128:
        dense = dense + 1j * random.normal(size=(n, n)) * (dense != 0)
    content = written(dense)
    found = read(gzip.compress(content, mtime=0) if zipped else content)
    assert found.dtype == dtype
    assert found.nnz == np.count_nonzero(dense)
    np.testing.assert_array_equal(found.toarray(), dense)


def test_the_layout_is_that_of_the_manual_page():
    assert written([[2.0, 0], [0, 3.0]]) == packed()
    assert written([[2.0 + 1j, 0], [0, 3.0]]) == packed(value="4d", values=(2, 1, 3, 0))


@pytest.mark.parametrize(
    "content",
    [
        packed("q"),
        packed() + VECTOR,
        packed(columns=(0, 1, 0), in_rows=(1, 2), sizes=(2, 2, 3), value="3d", values=(2, 3, 0)),
    ],
    ids=["64-bit integers", "a vector follows", "columns in another order"],
)
def test_other_builds_orders_and_objects_that_follow(content):
    np.testing.assert_array_equal(read(content).toarray(), [[2, 0], [0, 3]])


WRONG = {
    "cut head": (packed()[:10], "the file ends after 2 of 4 numbers of its sizes"),
    "cut values": (packed(value="d", values=(2,)), "its head declares 2 rows and 2 entries, which take 48 bytes, and"),
    "half complex": (packed() + b"\0" * 8, "8 bytes follow 2 values in float64, and 16 would make them complex;"),
    "dense": (packed(sizes=(2, 2, -1)), "it holds a dense matrix; write it as a sparse one, of type AIJ"),
    "negative": (packed(sizes=(-2, 2, 2)), "its head declares -2 rows, 2 columns and 2 entries"),
    "rectangular": (packed(sizes=(2, 3, 2)), "the matrix must be square, got 2 x 3"),
    "nearly empty": (
        packed(in_rows=(1, 1) + (0,) * 1999, sizes=(2001, 2001, 2)),
        "the head declares 2 entries for 2001 rows, of which nearly all would be empty; leave empty rows out",
    ),
    "huge": (
        packed(sizes=(2**30, 2**30, 2**31 - 1)),
        "its head declares 1073741824 rows and 2147483647 entries, which",
    ),
    "counts": (packed(in_rows=(1, 0)), "its rows have 1 entries, but its head declares 2; the file is damaged"),
    "column": (packed(columns=(0, 2)), "row 1 has an entry in column 2, which is none of 0 to 1"),
    "twice": (
        packed(in_rows=(1, 2), columns=(0, 1, 1), sizes=(2, 2, 3), value="3d", values=(2, 3, 3)),
        "row 1 has two entries in column 1; sum or drop such entries first",
    ),
}


@pytest.mark.parametrize(("content", "sentence"), WRONG.values(), ids=WRONG)
def test_damaged_files_are_refused(content, sentence):
    assert refusal(read, content).startswith(f"cannot read a.petsc: {sentence}")


def test_convert_writes_both_forms_of_one_matrix(tmp_path, capsys):
    first, text, second = (str(tmp_path / name) for name in ("a.petsc", "b.mtx", "c.petsc"))
    for source, target in (("two-layer:5", first), (first, text), (text, second)):
        assert main(["convert", source, target]) == 0
    expected = problem_from_text("two-layer:5").assemble().operator.to_csr()
    for path in (first, text, second):
        assert abs(problem_from_text(path).assemble().operator.to_csr() - expected).max() == 0
    assert main(["convert", first, str(tmp_path / "a.mat")]) == 2
    assert "convert writes .mtx or .petsc files, got 'a.mat'" in capsys.readouterr().err


def test_petsc_reads_and_writes_the_same_matrix(tmp_path):
    pytest.importorskip("petsc4py", reason="PETSc is built by `make petsc`")
    from workbench.extensions.petsc.library import library

    petsc, ours, theirs = library(), tmp_path / "ours.petsc", tmp_path / "theirs.petsc"
    expected = problem_from_text("two-layer:7").assemble().operator.to_csr()
    ours.write_bytes(written(expected))
    loaded = petsc.Mat().load(petsc.Viewer().createBinary(str(ours), "r", comm=petsc.COMM_SELF))
    indptr, indices, data = loaded.getValuesCSR()
    assert abs(sparse.csr_array((data, indices, indptr), shape=expected.shape) - expected).max() == 0
    loaded.view(petsc.Viewer().createBinary(str(theirs), "w", comm=petsc.COMM_SELF))
    assert theirs.read_bytes() == ours.read_bytes()
    assert abs(read_matrix(theirs)[0].csr - expected).max() == 0
