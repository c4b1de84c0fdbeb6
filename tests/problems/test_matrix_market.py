"""Matrix Market files: reading back, and refusal of invalid files."""

import bz2
import csv
import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from workbench import limits
from workbench.errors import InputError
from workbench.files import number_stream
from workbench.files.unpacking import file_stem
from workbench.operators import Matrix
from workbench.problems import matrix_market
from workbench.problems.files import problem_from_text

Write = Callable[..., Path]
REAL = "%%MatrixMarket matrix coordinate real "
GENERAL, SYMMETRIC = REAL + "general\n", REAL + "symmetric\n"


def read_matrix(path: Path) -> Matrix:
    return matrix_market.read_matrix(path)[0]


def written(matrix: Any, **how: Any) -> bytes:
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, matrix, **how)
    return stream.getvalue()


@st.composite
def hermitian(draw: st.DrawFn, kind: str) -> np.ndarray:
    """A Hermitian matrix with a positive diagonal, some entries zero, magnitudes from 1e-8 to 1e8."""
    n = draw(st.integers(1, 6))
    stream = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    values = stream.normal(size=(n, n)) * 10.0 ** stream.integers(-8, 9, size=(n, n))
    if kind == "complex":
        values = values + 1j * stream.normal(size=(n, n))
    if kind == "integer":
        values = stream.integers(-(10**9), 10**9, size=(n, n)).astype(float)
    lower = np.tril(values * (stream.random((n, n)) < 0.5), -1)
    diagonal = stream.integers(1, 10**6, size=n) if kind == "integer" else stream.uniform(1e-3, 1e3, size=n)
    return lower + lower.conj().T + np.diag(diagonal)


@settings(max_examples=60)
@given(data=st.data())
@pytest.mark.parametrize("ending", [".mtx", ".mtx.gz"])
@pytest.mark.parametrize("form", ["coordinate", "array"])
@pytest.mark.parametrize(
    ("kind", "symmetry"),
    [
        ("real", "general"),
        ("real", "symmetric"),
        ("integer", "general"),
        ("integer", "symmetric"),
        ("complex", "general"),
        ("complex", "hermitian"),
    ],
)
def test_every_format_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kind: str, symmetry: str, form: str, ending: str
):
    dense = data.draw(hermitian(kind))
    typed = dense.astype(np.int64) if kind == "integer" else dense
    matrix = typed if form == "array" else sparse.coo_array(typed)
    text = written(matrix, symmetry=symmetry, field=kind, comment=data.draw(st.sampled_from(["", "two\nlines"])))
    assert text.startswith(f"%%MatrixMarket matrix {form} {kind} {symmetry}".encode())
    path = tmp_path_factory.mktemp("form") / f"matrix{ending}"
    path.write_bytes(gzip.compress(text, mtime=0) if ending.endswith("gz") else text)
    read = read_matrix(path)
    assert read.dtype == (np.complex128 if kind == "complex" else np.float64)
    np.testing.assert_array_equal(read.csr.toarray(), dense)


@pytest.mark.parametrize(
    "text",
    [
        SYMMETRIC.replace("\n", "\r\n") + "2 2 3\r\n1 1 2\r\n2 1 -1\r\n2 2 2\r\n",
        SYMMETRIC + "2 2 3\n1 1 2\n2 1 -1\n2 2 2",
        SYMMETRIC.upper().replace("%%MATRIXMARKET", "%%MatrixMarket")
        + "%\n\n  2\t2  3\n\n 1 1 2.\n2 1 -1e0 \n2 2 .2E+1\n\n",
        "%%matrixmarket MATRIX coordinate double symmetric\n% caf\xe9\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n",
        GENERAL + "2 2 4\n2 2 2\n1 2 -1\n1 1 2\n2 1 -1\n",
        "%%MatrixMarket matrix array real symmetric\n2 2\n2\n-1\n2\n",
        "%%MatrixMarket matrix coordinate unsigned-integer symmetric\n2 2 2\n1 1 2\n2 2 2\n",
    ],
)
def test_harmless_variations_are_read(write: Write, text: str):
    dense = read_matrix(write(text)).csr.toarray()
    expected = [[2, 0], [0, 2]] if "unsigned" in text else [[2, -1], [-1, 2]]
    assert dense.tolist() == expected


TWO = "2 2 2\n1 1 2.0\n2 2 3.0\n"
BANNER = "line 1 must be a banner such as '%%MatrixMarket matrix coordinate real symmetric', got "


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("", BANNER + "''", id="empty file"),
        pytest.param("2 2 1\n1 1 1\n", BANNER + "'2 2 1'", id="no banner"),
        pytest.param("%%MatrixMarkt matrix coordinate real general\n" + TWO, BANNER, id="wrong banner"),
        pytest.param("%%MatrixMarket matrix coordinate real\n" + TWO, BANNER, id="short banner"),
        pytest.param(
            "%%MatrixMarket vector coordinate real general\n" + TWO, "line 1 announces 'vector';", id="vector"
        ),
        pytest.param(
            "%%MatrixMarket matrix elements real general\n" + TWO, "line 1 names the format 'elements';", id="format"
        ),
        pytest.param(
            "%%MatrixMarket matrix coordinate quaternion general\n" + TWO,
            "line 1 names the field 'quaternion'; known: real, double, integer, unsigned-integer, complex",
            id="field",
        ),
        pytest.param(REAL + "odd\n" + TWO, "line 1 names the symmetry 'odd'; known: general, symmetric", id="symmetry"),
        pytest.param(
            "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 2\n",
            "the file is a pattern without values; CG needs numbers, so write real entries",
            id="pattern",
        ),
        pytest.param(REAL + "skew-symmetric\n2 2 1\n2 1 1\n", "the matrix is skew-symmetric; CG needs", id="skew"),
        pytest.param(REAL + "hermitian\n" + TWO, "line 1 says hermitian of real entries;", id="real hermitian"),
        pytest.param(GENERAL + "% only\n", "the file ends before its size line", id="no size line"),
        pytest.param(GENERAL + "2 2\n1 1 1\n", "line 2 must have rows, columns and entries as", id="short size"),
        pytest.param(
            GENERAL + "%\n-2 2 1\n", "line 3 must have rows, columns and entries as integers", id="negative size"
        ),
        pytest.param(GENERAL + "9" * 5000 + " 2 1\n", "line 2 must have rows, columns and entries", id="endless size"),
        pytest.param(GENERAL + "0 0 0\n", "the matrix is empty: shape 0 x 0", id="empty matrix"),
        pytest.param(GENERAL + "2 3 2\n1 1 1\n2 2 1\n", "the matrix must be square, got 2 x 3;", id="not square"),
        pytest.param(SYMMETRIC + "2 3 2\n1 1 1\n2 2 1\n", "the matrix must be square, got 2 x 3;", id="not square 2"),
        pytest.param(
            GENERAL + "2 2 99999999999999\n1 1 1\n",
            "line 2 declares 99999999999999 entries, but the matrix has at most 4",
            id="impossible count",
        ),
        pytest.param(SYMMETRIC + "2 2 4\n", "line 2 declares 4 entries, but the matrix has at most 3", id="triangle"),
        pytest.param(GENERAL + "3 3 2\n1 1 1\n2 2 1\n", "line 2 declares 2 entries for 3 rows;", id="too sparse"),
        pytest.param(
            GENERAL + "2 2 3\n1 1 2.0\n2 2 3.0\n",
            "line 2 declares 3 entries, but the file ends after 2; it is truncated or its header is wrong",
            id="cut at a line",
        ),
        pytest.param(GENERAL + "2 2 2\n1 1 2.0\n2 2", "line 4 ends after '2', but an entry has 3 words;", id="cut"),
        pytest.param(
            GENERAL + "2 2 2\n1 1 2.0\n2 2 3.5e", "line 4: '3.5e' is not a finite number", id="cut in a number"
        ),
        pytest.param(
            GENERAL + TWO + "1 2 3\n",
            "line 5 is one more than the 2 entries that line 2 declares; remove it, or correct that number",
            id="one entry more",
        ),
        pytest.param(GENERAL + TWO + "the end\n", "line 5: 'the' is no row of 1 to 2", id="trailing garbage"),
        pytest.param(GENERAL + TWO + "\x00\x00", "line 5: '\\x00\\x00' is no row of 1 to 2", id="trailing zeros"),
        pytest.param(GENERAL + TWO.replace("2.0", "2.0 9.0"), "line 3: '9.0' is a surplus word", id="extra word"),
        pytest.param(GENERAL + TWO.replace("2.0", "abc"), "line 3: 'abc' is not a finite number", id="word"),
        pytest.param(GENERAL + TWO.replace("2.0", "2.0q0"), "line 3: '2.0q0' is not a finite", id="other exponent"),
        pytest.param(
            GENERAL + TWO.replace("2.0", "2.0-300"), "line 3: '2.0-300' is not a finite", id="no exponent mark"
        ),
        pytest.param(GENERAL + TWO.replace("2.0", "2.0.1"), "line 3: '2.0.1' is not a finite number", id="two dots"),
        pytest.param(GENERAL + TWO.replace("2.0", "1e2.5"), "line 3: '1e2.5' is not a finite", id="broken exponent"),
        pytest.param(GENERAL + TWO.replace("2.0", "1e2e3"), "line 3: '1e2e3' is not a finite", id="two exponents"),
        pytest.param(GENERAL + TWO.replace("2.0", "nan"), "line 3: 'nan' is not a finite number", id="nan"),
        pytest.param(GENERAL + TWO.replace("3.0", "-inf"), "line 4: '-inf' is not a finite number", id="infinity"),
        pytest.param(GENERAL + TWO.replace("3.0", "1e999"), "line 4: '1e999' is not a finite number", id="overflow"),
        pytest.param(GENERAL + TWO.replace("2 2 3.0", "3 2 3.0"), "line 4: '3' is no row of 1 to 2", id="row 3 of 2"),
        pytest.param(
            GENERAL + "% a\n%\n\n" + TWO.replace("2 2 3.0", "3 2 3.0"), "line 7: '3' is no row", id="after comments"
        ),
        pytest.param(GENERAL + TWO.replace("2 2 3.0", "2 0 3.0"), "line 4: '0' is no column of 1 to 2", id="column 0"),
        pytest.param(GENERAL + TWO.replace("2 2 3.0", "2.5 2 3.0"), "line 4: '2.5' is no row of 1 to 2", id="row 2.5"),
        pytest.param(
            GENERAL.replace("real", "integer") + TWO, "line 3: '2.0' is not an integer", id="integer fraction"
        ),
        pytest.param(
            GENERAL.replace("real", "integer") + "1 1 1\n1 1 99999999999999999999\n",
            "line 3: '99999999999999999999' is an integer out of range; declare real",
            id="integer overflow",
        ),
        pytest.param(
            GENERAL.replace("real", "complex") + TWO,
            "line 3 ends after '2.0', but an entry has 4 words;",
            id="complex without imaginary parts",
        ),
        pytest.param(
            SYMMETRIC + "2 2 3\n1 1 2\n1 2 -1\n2 2 2\n",
            "entry 2 (row 1, column 2) is above the diagonal, but line 1 says symmetric; store the lower triangle",
            id="upper triangle",
        ),
        pytest.param(
            SYMMETRIC + "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n2 1 -1\n3 3 1\n",
            "entry 4 (row 2, column 1) is stored twice; sum or drop such entries first",
            id="duplicate",
        ),
        pytest.param(
            GENERAL + "2 2 3\n1 1 2\n1 1 2\n2 2 2\n",
            "entry 2 (row 1, column 1) is stored twice",
            id="general duplicate",
        ),
        pytest.param(
            GENERAL + "2 2 3\n1 1 2\n1 2 2\n2 2 2\n", "the matrix is not symmetric: A[0, 1]", id="unsymmetric"
        ),
        pytest.param(
            SYMMETRIC.replace("real", "complex") + "2 2 3\n1 1 2 0\n2 1 1 1\n2 2 2 0\n",
            "the matrix is complex symmetric, not Hermitian;",
            id="complex symmetric",
        ),
        pytest.param(
            "%%MatrixMarket matrix coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 2 2 1\n",
            "line 1 says hermitian, but the diagonal entry 2 is not real",
            id="hermitian diagonal",
        ),
        pytest.param(
            "%%MatrixMarket matrix array complex hermitian\n1 1\n2 1\n",
            "line 1 says hermitian, but the diagonal entry 1 is not real",
            id="hermitian array",
        ),
        pytest.param(
            SYMMETRIC + "2 2 2\n1 1 2\n2 1 2\n",
            "the matrix is not positive definite: its diagonal entry 1 is 0",
            id="gap",
        ),
        pytest.param(
            "%%MatrixMarket matrix array real symmetric\n2 2\n2\n-1\n",
            "line 2 declares 3 entries, but the file ends after 2;",
            id="short array",
        ),
        pytest.param(
            "%%MatrixMarket matrix array real symmetric\n2 2\n2\n-1\n2\n0\n",
            "line 6 is one more than the 3 entries that line 2 declares;",
            id="long array",
        ),
        pytest.param(
            GENERAL + "2 2 2\n1 1 2.0" + " " * 70000 + "\n2 2 3.0\n",
            "the file has a line of more than 65536 characters",
            id="endless line",
        ),
    ],
)
def test_inconsistent_files_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch, text: str, sentence: str):
    monkeypatch.setattr(number_stream, "BLOCK", 7)
    path = write(text)
    with pytest.raises(InputError) as caught:
        read_matrix(path)
    assert str(caught.value).startswith(f"cannot read {path}: {sentence}")


@pytest.mark.parametrize("name", ["a.mtx.gz", "a.tar.gz"])
def test_what_is_out_of_range_is_shown_of_packed_files_too(write: Write, name: str):
    wrong = GOOD.replace(b"2 2 3.0", b"+3 2 3.0")
    path = write(
        gzip.compress(wrong, mtime=0) if name == "a.mtx.gz" else archive({"a/a.mtx": wrong, "a/a_b.mtx": b""}), name
    )
    with pytest.raises(InputError, match=r"line 4: '\+3' is no row of 1 to 2"):
        read_matrix(path)


@pytest.mark.parametrize("block", [1, 5, 64])
def test_words_and_lines_are_counted_across_blocks(write: Write, monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr(number_stream, "BLOCK", block)
    lines = [f"{i} {i} {i}.25e+0" for i in range(1, 41)]
    text = SYMMETRIC + "40 40 40\n" + "\n".join(lines)
    assert read_matrix(write(text)).diagonal().tolist() == [i + 0.25 for i in range(1, 41)]
    with pytest.raises(InputError, match=r"line 32: '30\.25f' is not a finite number"):
        read_matrix(write(text.replace("30.25e+0", "30.25f")))


GOOD = (SYMMETRIC + TWO).encode()


def archive(members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def with_sparse_header(places: str) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a/a.mtx")
        info.size, info.pax_headers = len(GOOD), {"GNU.sparse.map": places, "GNU.sparse.size": "9"}
        tar.addfile(info, io.BytesIO(GOOD))
    return stream.getvalue()


def test_the_matrix_inside_an_archive_is_read(write: Write):
    content = archive({"a/a_b.mtx": b"not this one", "a/a.mtx": GOOD, "a/readme": b""})
    assert read_matrix(write(content, "a.tar.gz")).diagonal().tolist() == [2, 3]


OTHER = archive({"A/A_b.mtx": b"not this one", "A/A.mtx": GOOD})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.mtx", gzip.compress(GOOD, mtime=0)),
        ("a.mtx.gz", GOOD),
        ("a.tar.gz", GOOD),
        ("a.tar.gz", gzip.compress(GOOD, mtime=0)),
        ("a.mtx", archive({"a/a.mtx": GOOD})),
        ("a.mtx", gzip.decompress(archive({"a/a.mtx": GOOD}))),
        ("A.MTX", GOOD),
        ("A.Mtx.GZ", gzip.compress(GOOD, mtime=0)),
        ("A.TAR.GZ", archive({"a/a.mtx": GOOD})),
        ("a.txt", GOOD),
        ("a.mtx", b"\xef\xbb\xbf" + GOOD),
        ("A (1).tar.gz", archive({"./A/A.MTX": GOOD, "A/readme": b""})),
        ("A (1).tar.gz", OTHER),
    ],
)
def test_what_a_file_is_follows_from_its_content(write: Write, name: str, content: bytes):
    assert read_matrix(write(content, name)).diagonal().tolist() == [2, 3]


BOMBS = {
    "comments": (GENERAL.encode() + b"% x\n" * (2 << 20), "no size line within the first 1 MiB"),
    "blank lines": (GENERAL.encode() + b"9 9 9\n" + b"\n" * (8 << 20), "unpacks to more than 4 MiB, over 50 times its"),
    "entries": (
        GENERAL.encode() + b"9 9 9\n" + b"1 1 1\n" * (2 << 20),
        "line 12 is one more than the 9 entries that line 2 declares",
    ),
    "member": (archive({"readme": b"\0" * (8 << 20), "a.mtx": GOOD}), "unpacks to more than 4 MiB"),
    "members": (archive({f"{k}.mtx": b"" for k in range(101)}), "the archive has more than 100 members"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_within_little_memory(write: Write, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 4 << 20)
    monkeypatch.setattr(limits, "MOST_MEMBERS", 100)
    content, sentence = BOMBS[name]
    path = write(content if content.startswith(b"\x1f") else gzip.compress(content, mtime=0), "a.mtx.gz")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=sentence):
            read_matrix(path)
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (SYMMETRIC + "1000000000 1000000000 1000000000\n1 1 1\n", "declares 1000000000 entries, but the file is too"),
        ("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "declares 1000000000000 entries, but the"),
    ],
)
def test_sizes_are_not_believed(write: Write, text: str, sentence: str):
    with pytest.raises(InputError, match=sentence):
        read_matrix(write(text))


noise = np.random.default_rng(0).bytes(4000)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        pytest.param(
            "a.mtx.gz",
            gzip.compress(GOOD + b"\n" * 100 + noise, mtime=0)[:-2000],
            "the compressed file is truncated;",
            id="cut gz",
        ),
        pytest.param(
            "a.mtx.gz",
            gzip.compress(GOOD, mtime=0)[:-6],
            "the compressed file is truncated;",
            id="gz without its last bytes",
        ),
        pytest.param(
            "a.mtx.gz",
            gzip.compress(GOOD, mtime=0)[:-8] + b"\0" * 8,
            "the compressed file is damaged (CRC check failed",
            id="wrong check sum",
        ),
        pytest.param(
            "a.mtx.gz",
            gzip.compress(GOOD, mtime=0)[:10] + b"\x07" * 20,
            "the compressed file is damaged (",
            id="garbled gz",
        ),
        pytest.param(
            "a.tar.gz",
            archive({"b/c.mtx": GOOD, "b/d.mtx": GOOD}),
            "the archive has no 'a/a.mtx', but 'b/c.mtx, b/d.mtx'",
            id="two other matrices",
        ),
        pytest.param("a.tar.gz", archive({"b/readme": GOOD}), "the archive has no 'a/a.mtx', but 'no .mtx", id="none"),
        pytest.param(
            "a.tar.gz", archive({"a/a.mtx": GOOD + noise})[:2000], "the compressed file is ", id="cut archive"
        ),
        pytest.param(
            "a.tar.gz", with_sparse_header("a"), "the compressed file is damaged (", id="damaged sparse header"
        ),
        pytest.param(
            "a.mtx.gz",
            gzip.compress(gzip.compress(GOOD, mtime=0), mtime=0),
            "it is a gzip file in a gzip file;",
            id="twice",
        ),
        pytest.param("a.mtx", bz2.compress(GOOD), "it is a bzip2 file; read are Matrix Market files", id="bz2"),
        pytest.param("a.mtx", lzma.compress(GOOD), "it is an xz file; read are", id="xz"),
        pytest.param("a.mtx", noise, BANNER + "binary data", id="noise"),
        pytest.param("a.mtx", b"PK\x03\x04" + noise, "it is a ZIP archive, as .npz files are; read", id="zip"),
        pytest.param("a.mtx", b"MATLAB 5.0 MAT-file", "it is a MATLAB file; read", id="mat"),
        pytest.param("a.mtx", GOOD.decode().encode("utf-16"), "it is a text in UTF-16; read", id="utf-16"),
    ],
)
def test_damaged_files_are_refused(write: Write, name: str, content: bytes, sentence: str):
    path = write(content, name)
    with pytest.raises(InputError) as caught:
        read_matrix(path)
    assert str(caught.value).startswith(f"cannot read {path}: {sentence}")


def test_missing_files_and_folders_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"^no matrix file at .*missing\.mtx$"):
        read_matrix(tmp_path / "missing.mtx")
    with pytest.raises(InputError, match=r"is a folder, not a matrix file$"):
        read_matrix(tmp_path)


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz", "a.tar.gz"])
def test_pipes_and_devices_are_refused_without_blocking(tmp_path: Path, name: str):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=r"is a pipe, not a matrix file; write what it holds to a file"):
        problem_from_text(str(tmp_path / name)).assemble()
    (tmp_path / f"link.{name}").symlink_to("/dev/zero")
    with pytest.raises(InputError, match=r"is a device, not a matrix file"):
        read_matrix(tmp_path / f"link.{name}")


@pytest.mark.parametrize("filler", [b"\n", b"%\n", b"% " + b"x" * 1000 + b"\n", b" " * 4096, b"%" * 4096])
def test_reading_stops_in_an_endless_header(write: Write, filler: bytes, monkeypatch: pytest.MonkeyPatch):
    repeated = 100_000 if len(filler) < 3 else (8 << 20) // len(filler)
    content = (GENERAL + "%").encode() + filler * repeated + b"\n" + TWO.encode()
    path = write(gzip.compress(content, mtime=0), "a.mtx.gz")
    read = []

    class Counting(gzip.GzipFile):
        def readinto(self, buffer: Any) -> int:
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(gzip, "GzipFile", Counting)
    with pytest.raises(InputError, match=r"no size line within the first 1 MiB and 10000 lines; shorten the comments"):
        read_matrix(path)
    assert sum(read) <= (1 << 20) + 4 * io.DEFAULT_BUFFER_SIZE


@pytest.mark.parametrize("length", [65_535, 65_536, 65_537, 300_000])
def test_a_long_comment_is_one_comment(write: Write, length: int):
    # What stands at its end would do as a size line, were the comment cut.
    comment = "%" + "9" * (length - 7) + " 7 7 7"
    assert read_matrix(write(GENERAL + comment + "\n" + TWO)).csr.toarray().tolist() == [[2, 0], [0, 3]]


@pytest.mark.parametrize("name", ["bcsstk15.mtx", "bcsstk15.mtx.gz", "bcsstk15.tar.gz"])
def test_the_stem_is_the_name_without_ending(name: str):
    assert file_stem(Path("some.mtx") / name) == "bcsstk15"


def real_matrices() -> list[dict[str, str]]:
    """The rows of the manifest of real matrices where there is one, otherwise one row for a generated matrix."""
    default = Path(__file__).parents[2].parent / "shared" / "matrices"
    folder = Path(os.environ.get("WORKBENCH_MATRICES") or default)
    manifest = folder / "manifest.csv"
    if not manifest.is_file():
        return [{"name": "generated", "N": "40", "nnz_nonzero": "118", "SPD": "yes", "folder": ""}]
    with manifest.open(newline="") as stream:
        return [{**row, "folder": str(folder)} for row in csv.DictReader(stream)]


@pytest.mark.parametrize("row", real_matrices(), ids=lambda row: row["name"])
def test_real_matrices(write: Write, row: dict[str, str]):
    if row["folder"]:
        path = Path(row["folder"]) / f"{row['name']}.mtx.gz"
    else:
        band = 2 * np.eye(40) - np.eye(40, k=1) - np.eye(40, k=-1)
        path = write(gzip.compress(written(sparse.coo_array(band), symmetry="symmetric"), mtime=0), "generated.mtx.gz")
    if row["SPD"] == "yes":
        matrix = read_matrix(path)
        assert matrix.shape[0] == int(row["N"])
        assert np.count_nonzero(matrix.csr.data) == int(row["nnz_nonzero"])
        reference = sparse.csr_array(scipy.io.mmread(path, spmatrix=False))
        assert abs(matrix.csr - reference).max() == 0
    else:
        with pytest.raises(InputError, match="complex symmetric, not Hermitian"):
            read_matrix(path)
