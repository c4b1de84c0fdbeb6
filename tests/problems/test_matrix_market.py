"""Matrix Market files: reading back, and refusal of invalid files."""

import bz2
import csv
import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.conftest import refusal, tar_gz
from workbench.errors import InputError
from workbench.files import market
from workbench.files.unpacking import file_stem
from workbench.problems import matrix_market
from workbench.process import limits

HEAD = "%%MatrixMarket matrix "
REAL = HEAD + "coordinate real "
GENERAL, SYMMETRIC = REAL + "general\n", REAL + "symmetric\n"


def read_matrix(path):
    return matrix_market.read_matrix(path)[0]


def written(matrix, **how):
    stream = io.BytesIO()
    scipy.io.mmwrite(stream, matrix, **how)
    return stream.getvalue()


@st.composite
def hermitian(draw, kind):
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
def test_every_format_is_read_back(tmp_path_factory, data, kind, symmetry):
    form, ending = data.draw(st.sampled_from(["coordinate", "array"])), data.draw(st.sampled_from([".mtx", ".mtx.gz"]))
    dense = data.draw(hermitian(kind))
    typed = dense.astype(np.int64) if kind == "integer" else dense
    matrix = typed if form == "array" else sparse.coo_array(typed)
    text = written(matrix, symmetry=symmetry, field=kind, comment=data.draw(st.sampled_from(["", "two\nlines"])))
    assert text.startswith(f"{HEAD}{form} {kind} {symmetry}".encode())
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
        HEAD + "array real symmetric\n2 2\n2\n-1\n2\n",
        HEAD + "coordinate unsigned-integer symmetric\n2 2 2\n1 1 2\n2 2 2\n",
        SYMMETRIC + "2 2 3\n1 1 2\n1 2 -1\n2 2 2\n",
    ],
)
def test_harmless_variations_are_read(write, text):
    dense = read_matrix(write(text)).csr.toarray()
    expected = [[2, 0], [0, 2]] if "unsigned" in text else [[2, -1], [-1, 2]]
    assert dense.tolist() == expected


TWO = "2 2 2\n1 1 2.0\n2 2 3.0\n"
BANNER = "line 1 must be a banner such as '%%MatrixMarket matrix coordinate real symmetric', got "


INCONSISTENT = {
    "empty file": ("", BANNER + "''"),
    "no banner": ("2 2 1\n1 1 1\n", BANNER + "'2 2 1'"),
    "wrong banner": ("%%MatrixMarkt matrix coordinate real general\n" + TWO, BANNER),
    "short banner": (HEAD + "coordinate real\n" + TWO, BANNER),
    "vector": ("%%MatrixMarket vector coordinate real general\n" + TWO, "line 1 announces 'vector';"),
    "format": (HEAD + "elements real general\n" + TWO, "line 1 names the format 'elements';"),
    "field": (
        HEAD + "coordinate quaternion general\n" + TWO,
        "line 1 names the field 'quaternion'; known: real, double, integer, unsigned-integer, complex",
    ),
    "symmetry": (REAL + "odd\n" + TWO, "line 1 names the symmetry 'odd'; known: general, symmetric"),
    "pattern array": (HEAD + "array pattern general\n1 1\n", "line 1 says pattern of an array, which has all entries"),
    "pattern with values": (
        HEAD + "coordinate pattern general\n2 2 2\n1 1 5\n2 2\n",
        "line 3: '5' is a surplus word; an entry has 2",
    ),
    "pattern of half a row": (
        HEAD + "coordinate pattern general\n2 2 2\n1 1\n2\n",
        "line 4 ends after '2', but an entry has 2 words;",
    ),
    "skew-symmetric with a diagonal": (
        REAL + "skew-symmetric\n2 2 1\n1 1 3\n",
        "line 1 says skew-symmetric, but the diagonal entry 1 is not 0",
    ),
    "real hermitian": (REAL + "hermitian\n" + TWO, "line 1 says hermitian of real entries;"),
    "no size line": (GENERAL + "% only\n", "the file ends before its size line"),
    "short size": (GENERAL + "2 2\n1 1 1\n", "line 2 must have rows, columns and entries as"),
    "negative size": (GENERAL + "%\n-2 2 1\n", "line 3 must have rows, columns and entries as integers"),
    "endless size": (GENERAL + "9" * 5000 + " 2 1\n", "line 2 must have rows, columns and entries"),
    "empty matrix": (GENERAL + "0 0 0\n", "the matrix is empty: shape 0 x 0"),
    "not square": (GENERAL + "2 3 2\n1 1 1\n2 2 1\n", "the matrix must be square, got 2 x 3;"),
    "not square 2": (SYMMETRIC + "2 3 2\n1 1 1\n2 2 1\n", "the matrix must be square, got 2 x 3;"),
    "impossible count": (
        GENERAL + "2 2 99999999999999\n1 1 1\n",
        "line 2 declares 99999999999999 entries, but the matrix has at most 4",
    ),
    "triangle": (SYMMETRIC + "2 2 4\n", "line 2 declares 4 entries, but the matrix has at most 3"),
    "too sparse": (GENERAL + "2001 2001 2\n1 1 1\n2 2 1\n", "line 2 declares 2 entries for 2001 rows, of which nearly"),
    "cut at a line": (
        GENERAL + "2 2 3\n1 1 2.0\n2 2 3.0\n",
        "line 2 declares 3 entries, but the file ends after 2; it is truncated or its header is wrong",
    ),
    "cut": (GENERAL + "2 2 2\n1 1 2.0\n2 2", "line 4 ends after '2', but an entry has 3 words;"),
    "cut in a number": (GENERAL + "2 2 2\n1 1 2.0\n2 2 3.5e", "line 4: '3.5e' is not a finite number"),
    "one entry more": (
        GENERAL + TWO + "1 2 3\n",
        "line 5 is one more than the 2 entries that line 2 declares; remove it, or correct that number",
    ),
    "trailing garbage": (GENERAL + TWO + "the end\n", "line 5: 'the' is no row of 1 to 2"),
    "trailing zeros": (GENERAL + TWO + "\x00\x00", "line 5: '\\x00\\x00' is no row of 1 to 2"),
    "extra word": (GENERAL + TWO.replace("2.0", "2.0 9.0"), "line 3: '9.0' is a surplus word"),
    **{
        f"number {word}": (GENERAL + TWO.replace("2.0", word), f"line 3: '{word}' is not a finite number")
        for word in ("abc", "2.0q0", "2.0-300", "2.0.1", "1e2.5", "1e2e3", "nan", "-inf", "1e999")
    },
    "row 3 of 2": (GENERAL + TWO.replace("2 2 3.0", "3 2 3.0"), "line 4: '3' is no row of 1 to 2"),
    "after comments": (GENERAL + "% a\n%\n\n" + TWO.replace("2 2 3.0", "3 2 3.0"), "line 7: '3' is no row"),
    "column 0": (GENERAL + TWO.replace("2 2 3.0", "2 0 3.0"), "line 4: '0' is no column of 1 to 2"),
    "row 2.5": (GENERAL + TWO.replace("2 2 3.0", "2.5 2 3.0"), "line 4: '2.5' is no row of 1 to 2"),
    "integer fraction": (GENERAL.replace("real", "integer") + TWO, "line 3: '2.0' is not an integer"),
    "integer overflow": (
        GENERAL.replace("real", "integer") + "1 1 1\n1 1 99999999999999999999\n",
        "line 3: '99999999999999999999' is an integer out of range; declare real",
    ),
    "complex without imaginary parts": (
        GENERAL.replace("real", "complex") + TWO,
        "line 3 ends after '2.0', but an entry has 4 words;",
    ),
    "both triangles": (
        SYMMETRIC + "2 2 3\n1 1 2\n1 2 -1\n2 1 -1\n",
        "entry 3 (row 2, column 1) is stored twice; sum or drop such entries first",
    ),
    "duplicate": (
        SYMMETRIC + "3 3 5\n1 1 2\n2 1 -1\n2 2 2\n2 1 -1\n3 3 1\n",
        "entry 4 (row 2, column 1) is stored twice; sum or drop such entries first",
    ),
    "general duplicate": (GENERAL + "2 2 3\n1 1 2\n1 1 2\n2 2 2\n", "entry 2 (row 1, column 1) is stored twice"),
    "unsymmetric": (GENERAL + "2 2 3\n1 1 2\n1 2 2\n2 2 2\n", "the matrix is not symmetric: A[0, 1]"),
    "complex symmetric": (
        SYMMETRIC.replace("real", "complex") + "2 2 3\n1 1 2 0\n2 1 1 1\n2 2 2 0\n",
        "the matrix is complex symmetric, not Hermitian;",
    ),
    "hermitian diagonal": (
        HEAD + "coordinate complex hermitian\n2 2 2\n1 1 2 0\n2 2 2 1\n",
        "line 1 says hermitian, but the diagonal entry 2 is not real",
    ),
    "hermitian array": (
        HEAD + "array complex hermitian\n1 1\n2 1\n",
        "line 1 says hermitian, but the diagonal entry 1 is not real",
    ),
    "gap": (SYMMETRIC + "2 2 2\n1 1 2\n2 1 2\n", "the matrix is not positive definite: its diagonal entry 1 is 0, in"),
    "long integer": (
        HEAD + "coordinate integer symmetric\n2 2 2\n1 1 2\n2 2 9007199254740993\n",
        "entry 2 (row 2, column 2) is 9007199254740993, of which double precision does not hold all digits;",
    ),
    "long integers": (
        HEAD + "array integer general\n2 2\n2\n-9223372036854775807\n0\n2\n",
        "entry 2 (row 2, column 1) is -9223372036854775807, of which double precision does not hold all digits;",
    ),
    "short array": (
        HEAD + "array real symmetric\n2 2\n2\n-1\n",
        "line 2 declares 3 entries, but the file ends after 2;",
    ),
    "long array": (
        HEAD + "array real symmetric\n2 2\n2\n-1\n2\n0\n",
        "line 6 is one more than the 3 entries that line 2 declares;",
    ),
    "endless line": (
        GENERAL + "2 2 2\n1 1 2.0" + " " * 70000 + "\n2 2 3.0\n",
        "the file has a line of more than 65536 characters",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), INCONSISTENT.values(), ids=INCONSISTENT)
def test_inconsistent_files_are_refused(write, monkeypatch, text, sentence):
    monkeypatch.setattr(market, "BLOCK", 7)
    path = write(text)
    # What was read is refused for what it is.
    verb = "use" if sentence.startswith("the matrix is not") or "complex symmetric" in sentence else "read"
    assert refusal(read_matrix, path).startswith(f"cannot {verb} {path}: {sentence}")


@pytest.mark.parametrize("name", ["a.mtx.gz", "a.tar.gz"])
def test_what_is_out_of_range_is_shown_of_packed_files_too(write, name):
    wrong = GOOD.replace(b"2 2 3.0", b"+3 2 3.0")
    path = write(
        gzip.compress(wrong, mtime=0) if name == "a.mtx.gz" else tar_gz({"a/a.mtx": wrong, "a/a_b.mtx": b""}), name
    )
    with pytest.raises(InputError, match=r"line 4: '\+3' is no row of 1 to 2"):
        read_matrix(path)


@pytest.mark.parametrize("block", [1, 5, 64])
def test_words_and_lines_are_counted_across_blocks(write, monkeypatch, block):
    monkeypatch.setattr(market, "BLOCK", block)
    lines = [f"{i} {i} {i}.25e+0" for i in range(1, 41)]
    text = SYMMETRIC + "40 40 40\n" + "\n".join(lines)
    assert read_matrix(write(text)).diagonal().tolist() == [i + 0.25 for i in range(1, 41)]
    with pytest.raises(InputError, match=r"line 32: '30\.25f' is not a finite number"):
        read_matrix(write(text.replace("30.25e+0", "30.25f")))


GOOD = (SYMMETRIC + TWO).encode()
ZIPPED = gzip.compress(GOOD, mtime=0)


def with_sparse_header(places):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("a/a.mtx")
        info.size, info.pax_headers = len(GOOD), {"GNU.sparse.map": places, "GNU.sparse.size": "9"}
        tar.addfile(info, io.BytesIO(GOOD))
    return stream.getvalue()


def test_the_matrix_inside_an_archive_is_read(write):
    content = tar_gz({"a/a_b.mtx": b"not this one", "a/a.mtx": GOOD, "a/readme": b""})
    assert read_matrix(write(content, "a.tar.gz")).diagonal().tolist() == [2, 3]


OTHER = tar_gz({"A/A_b.mtx": b"not this one", "A/A.mtx": GOOD})


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.mtx", ZIPPED),
        ("a.mtx.gz", GOOD),
        ("a.tar.gz", GOOD),
        ("a.tar.gz", ZIPPED),
        ("a.mtx", tar_gz({"a/a.mtx": GOOD})),
        ("a.mtx", gzip.decompress(tar_gz({"a/a.mtx": GOOD}))),
        ("A.MTX", GOOD),
        ("A.Mtx.GZ", ZIPPED),
        ("A.TAR.GZ", tar_gz({"a/a.mtx": GOOD})),
        ("a.txt", GOOD),
        ("a.mtx", b"\xef\xbb\xbf" + GOOD),
        ("A (1).tar.gz", tar_gz({"./A/A.MTX": GOOD, "A/readme": b""})),
        ("A (1).tar.gz", OTHER),
        ("a.mtx.bz2", bz2.compress(GOOD)),
        ("a.mtx", bz2.compress(GOOD)),
        ("a.tar.bz2", bz2.compress(gzip.decompress(tar_gz({"a/a.mtx": GOOD})))),
    ],
    # Not the bytes, which have the time of their making.
    ids=[f"file {k}" for k in range(16)],
)
def test_what_a_file_is_follows_from_its_content(write, name, content):
    assert read_matrix(write(content, name)).diagonal().tolist() == [2, 3]


BOMBS = {
    "comments": (GENERAL.encode() + b"% x\n" * (2 << 20), "no size line within the first 1 MiB"),
    "blank lines": (GENERAL.encode() + b"9 9 9\n" + b"\n" * (8 << 20), "unpacks to more than 4 MiB, over 50 times its"),
    "entries": (
        GENERAL.encode() + b"9 9 9\n" + b"1 1 1\n" * (2 << 20),
        "line 12 is one more than the 9 entries that line 2 declares",
    ),
    "member": (tar_gz({"readme": b"\0" * (8 << 20), "a.mtx": GOOD}), "unpacks to more than 4 MiB"),
    "members": (tar_gz({f"{k}.mtx": b"" for k in range(101)}), "the archive has more than 100 members"),
}


# Of bzip2 the one that is packed in little time.
@pytest.mark.parametrize(
    ("name", "packed"), [*((name, gzip.compress) for name in BOMBS), ("blank lines", bz2.compress)]
)
def test_bombs_are_refused_within_little_memory(write, monkeypatch, name, packed):
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 4 << 20)
    monkeypatch.setattr(limits, "MOST_MEMBERS", 100)
    content, sentence = BOMBS[name]
    path = write(packed(gzip.decompress(content) if content.startswith(b"\x1f") else content), "a.mtx.gz")
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
        (HEAD + "array real general\n1000000 1000000\n1\n", "declares 1000000000000 entries, but the"),
    ],
)
def test_sizes_are_not_believed(write, text, sentence):
    with pytest.raises(InputError, match=sentence):
        read_matrix(write(text))


noise = np.random.default_rng(0).bytes(4000)


DAMAGED = {
    "cut gz": (
        "a.mtx.gz",
        gzip.compress(GOOD + b"\n" * 100 + noise, mtime=0)[:-2000],
        "the compressed file is truncated;",
    ),
    "gz without its last bytes": ("a.mtx.gz", ZIPPED[:-6], "the compressed file is truncated;"),
    "wrong check sum": ("a.mtx.gz", ZIPPED[:-8] + b"\0" * 8, "the compressed file is damaged (CRC check failed"),
    "garbled gz": ("a.mtx.gz", ZIPPED[:10] + b"\x07" * 20, "the compressed file is damaged ("),
    "two other matrices": (
        "a.tar.gz",
        tar_gz({"b/c.mtx": GOOD, "b/d.mtx": GOOD}),
        "the archive has no 'a/a.mtx', but 'b/c.mtx, b/d.mtx'",
    ),
    "none": ("a.tar.gz", tar_gz({"b/readme": GOOD}), "the archive has no 'a/a.mtx', but 'no .mtx"),
    "cut archive": ("a.tar.gz", tar_gz({"a/a.mtx": GOOD + noise})[:2000], "the compressed file is "),
    "damaged sparse header": ("a.tar.gz", with_sparse_header("a"), "the compressed file is damaged ("),
    "twice": ("a.mtx.gz", gzip.compress(ZIPPED), "it is a gzip file in a packed file;"),
    "twice otherwise": ("a.mtx.gz", gzip.compress(bz2.compress(GOOD)), "it is a bzip2 file in a packed file;"),
    "cut bz2": ("a.mtx.bz2", bz2.compress(GOOD)[:-6], "the compressed file is truncated;"),
    "garbled bz2": ("a.mtx.bz2", b"BZh9" + noise, "Invalid data stream"),
    "xz": ("a.mtx", lzma.compress(GOOD), "it is an xz file; read are"),
    "noise": ("a.mtx", noise, BANNER + "binary data"),
    "zip": ("a.mtx", b"PK\x03\x04" + noise, "it is a ZIP archive, as .npz files are; read"),
    "mat": ("a.mtx", b"MATLAB 5.0 MAT-file", "it is a MATLAB file; read"),
    "utf-16": ("a.mtx", GOOD.decode().encode("utf-16"), "it is a text in UTF-16; read"),
}


@pytest.mark.parametrize(("name", "content", "sentence"), DAMAGED.values(), ids=DAMAGED)
def test_damaged_files_are_refused(write, name, content, sentence):
    path = write(content, name)
    assert refusal(read_matrix, path).startswith(f"cannot read {path}: {sentence}")


class Pipe:
    """A stream that cannot be sought."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def read(self) -> bytes:
        return self._content


def test_streams_are_read_to_their_end(write):
    path = write(GOOD)
    with path.open("rb") as of_bytes, path.open() as of_text:
        sources = [of_bytes, of_text, str(path), io.BytesIO(ZIPPED), io.StringIO(GOOD.decode()), Pipe(GOOD)]
        assert [read_matrix(source).diagonal().tolist() for source in sources] == 6 * [[2, 3]]
    later = io.BytesIO(b"something before" + GOOD)
    later.seek(16)
    assert read_matrix(later).diagonal().tolist() == [2, 3]


def test_what_is_wrong_with_a_stream_is_said_of_the_stream():
    assert refusal(read_matrix, io.BytesIO(GOOD[:-8])).startswith("cannot read the stream: line 2 declares 2 entries")
    assert refusal(read_matrix, io.BytesIO(GOOD.replace(b"3.0", b"-3"))).startswith("cannot use the stream: the matrix")
    assert refusal(read_matrix, 7).endswith("pass a path, or a file that is open for reading")


KINDS = [
    (form, field, symmetry, upper)
    for form in ("coordinate", "array")
    for field in ("real", "integer", "complex", "pattern")
    for symmetry in ("general", "symmetric", "skew-symmetric", "hermitian")
    for upper in (False, True)
    if (form, field) != ("array", "pattern") and (symmetry != "hermitian" or field == "complex")
    # Of these one triangle can be stored.
    if not upper or (symmetry != "general" and form != "array")
]


@pytest.mark.parametrize(("form", "field", "symmetry", "upper"), KINDS)
def test_every_kind_of_file_is_read_as_scipy_reads_it(write, form, field, symmetry, upper):
    rng = np.random.default_rng(0)
    places = [(i, j) for j in range(1, 6) for i in range(j + (symmetry == "skew-symmetric"), 6)]
    places += [(j, i) for i, j in places if i != j] if symmetry == "general" else []
    places = [(j, i) if upper else (i, j) for i, j in places]
    words = {"real": "{0}.5", "integer": "{0}", "complex": "{0} {1}", "pattern": ""}[field]
    lines = []
    for i, j in places if form == "coordinate" else sorted(places, key=lambda place: place[::-1]):
        value = words.format(rng.integers(-9, 9), 0 if i == j else rng.integers(1, 9))
        lines.append(f"{i} {j} {value}" if form == "coordinate" else value)
    sizes = f"5 5 {len(lines)}" if form == "coordinate" else "5 5"
    path = write("\n".join([f"{HEAD}{form} {field} {symmetry}", sizes, *lines, ""]))
    with path.open("rb") as stream:
        found = matrix_market.read_entries(stream, path.name, "cannot read it").matrix.toarray()
    expected = scipy.io.mmread(path)
    np.testing.assert_array_equal(found, expected if isinstance(expected, np.ndarray) else expected.toarray())


def test_a_pattern_and_a_skew_symmetric_matrix_that_cg_cannot_use(write):
    assert read_matrix(write(HEAD + "coordinate pattern symmetric\n2 2 2\n1 1\n2 2\n")).diagonal().tolist() == [1, 1]
    path = write(HEAD + "coordinate pattern symmetric\n2 2 1\n2 1\n")
    assert refusal(read_matrix, path).startswith(
        f"cannot use {path}: it is a pattern, whose entries count as 1, and the matrix is not positive definite: its "
        "diagonal entry 0 is 0"
    )
    write(REAL + "skew-symmetric\n2 2 1\n2 1 1\n")
    assert refusal(read_matrix, path) == (
        f"cannot use {path}: it is skew-symmetric, A^T = -A, and CG needs a symmetric positive definite matrix"
    )


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"^no matrix file at .*missing\.mtx$"):
        read_matrix(tmp_path / "missing.mtx")
    with pytest.raises(InputError, match=r"is a folder, not a matrix file$"):
        read_matrix(tmp_path)


@pytest.mark.parametrize("filler", [b"\n", b"%\n", b"% " + b"x" * 1000 + b"\n", b" " * 4096, b"%" * 4096])
def test_reading_stops_in_an_endless_header(write, filler, monkeypatch):
    repeated = 100_000 if len(filler) < 3 else (8 << 20) // len(filler)
    content = (GENERAL + "%").encode() + filler * repeated + b"\n" + TWO.encode()
    path = write(gzip.compress(content, mtime=0), "a.mtx.gz")
    read = []

    class Counting(gzip.GzipFile):
        def readinto(self, buffer):
            read.append(super().readinto(buffer))
            return read[-1]

    monkeypatch.setattr(gzip, "GzipFile", Counting)
    with pytest.raises(InputError, match=r"no size line within the first 1 MiB and 10000 lines; shorten the comments"):
        read_matrix(path)
    assert sum(read) <= (1 << 20) + 4 * io.DEFAULT_BUFFER_SIZE


@pytest.mark.parametrize("length", [65_535, 65_536, 65_537, 300_000])
def test_a_long_comment_is_one_comment(write, length):
    # What stands at its end would do as a size line, were the comment cut.
    comment = "%" + "9" * (length - 7) + " 7 7 7"
    assert read_matrix(write(GENERAL + comment + "\n" + TWO)).csr.toarray().tolist() == [[2, 0], [0, 3]]


@pytest.mark.parametrize("name", ["bcsstk15.mtx", "bcsstk15.mtx.gz", "bcsstk15.tar.gz"])
def test_the_stem_is_the_name_without_ending(name):
    assert file_stem(Path("some.mtx") / name) == "bcsstk15"


def real_matrices():
    """The rows of the manifest of real matrices where there is one, otherwise one row for a generated matrix."""
    default = Path(__file__).parents[2].parent / "shared" / "matrices"
    folder = Path(os.environ.get("WORKBENCH_MATRICES") or default)
    manifest = folder / "manifest.csv"
    if not manifest.is_file():
        return [{"name": "generated", "N": "40", "nnz_nonzero": "118", "SPD": "yes", "folder": ""}]
    with manifest.open(newline="") as stream:
        return [{**row, "folder": str(folder)} for row in csv.DictReader(stream)]


@pytest.mark.parametrize("row", real_matrices(), ids=lambda row: row["name"])
def test_real_matrices(write, row):
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
