"""Downloads, from a server of our own: good, wrong, cut short, missing, offline; and the cache behind them."""

import functools
import gzip
import hashlib
import http.server
import socket
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import tar_gz
from workbench.errors import DOWNLOADED_MB, InputError
from workbench.problems import catalogue, suitesparse
from workbench.problems.catalogue import Entry
from workbench.problems.suitesparse import SuiteSparse, cache_folder

MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 2\n2 1 -1\n3 1 0\n2 2 2\n3 3 2\n"
NNZ = 5
"""The file stores one explicit zero and its mirror in addition to them."""


@functools.cache
def packed(name="tiny", content=MATRIX):
    return tar_gz({f"{name}/{name}.mtx": content})


class Mirror:
    """What the server answers, and what it was asked."""

    def __init__(self):
        self.files: dict[str, bytes] = {"/Test/tiny.tar.gz": packed()}
        self.announced: int | None = -1
        self.asked: list[str] = []
        self.status = ""


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, mirror, *rest):
        self.mirror = mirror
        super().__init__(*rest)  # type: ignore[arg-type]

    def do_GET(self):
        self.mirror.asked.append(self.path)
        if self.mirror.status:
            # As a hostile server writes it: the library would refuse control characters.
            self.wfile.write(f"HTTP/1.0 {self.mirror.status}\r\n\r\n".encode("latin-1"))
            return
        content = self.mirror.files.get(self.path)
        if content is None:
            self.send_error(404, "Not Found")
            return
        self.send_response(200)
        if self.mirror.announced is not None:
            self.send_header(
                "Content-Length", str(len(content) if self.mirror.announced < 0 else self.mirror.announced)
            )
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format, *args):
        pass


@pytest.fixture
def mirror(monkeypatch):
    state = Mirror()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, state))
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", f"http://127.0.0.1:{server.server_port}/")
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def registry(monkeypatch):
    """Replace the registry by one entry called tiny."""

    def replace(**facts):
        entry = Entry(**{"name": "tiny", "group": "Test", "N": 3, "nnz": NNZ, **facts})  # type: ignore[arg-type]
        monkeypatch.setattr(catalogue, "catalogue", lambda: {"tiny": entry})

    return replace


def contents(folder):
    """What was downloaded; kernels are kept in the same cache."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and path.suffix != ".kernel")


def refusal(matrix="Test/tiny"):
    with pytest.raises(InputError) as caught:
        SuiteSparse(matrix=matrix).assemble()
    return str(caught.value)


def test_a_good_download_is_kept_and_used_without_the_server(mirror, cache, monkeypatch):
    system = SuiteSparse(matrix="Test/tiny").assemble()
    assert system.operator.to_csr().toarray().tolist() == [[2, -1, 0], [-1, 2, 0], [0, 0, 2]]
    assert system.b.tolist() == [1, 1, 1]
    assert contents(cache) == ["tiny.tar.gz", "tiny.tar.gz.sha256"]
    assert (cache / "suitesparse" / "Test" / "tiny.tar.gz").read_bytes() == packed()
    recorded = (cache / "suitesparse" / "Test" / "tiny.tar.gz.sha256").read_text()
    assert recorded == f"{hashlib.sha256(packed()).hexdigest()}  tiny.tar.gz\n"
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", "http://127.0.0.1:9")
    again = SuiteSparse(matrix="Test/tiny").assemble()
    np.testing.assert_array_equal(again.operator.to_csr().toarray(), system.operator.to_csr().toarray())
    assert mirror.asked == ["/Test/tiny.tar.gz"]


def test_a_page_downloads_no_more_than_its_server_keeps(mirror, cache, monkeypatch):
    size = len(packed())
    other = cache / "suitesparse" / "Test2" / "other.tar.gz"
    other.parent.mkdir(parents=True)
    other.write_bytes(bytes(1000))
    monkeypatch.setenv(DOWNLOADED_MB, f"{(size + 999) / 1e6:.6f}")
    assert "since this server keeps at most 0.00" in refusal()
    assert contents(cache) == ["other.tar.gz"]
    monkeypatch.setenv(DOWNLOADED_MB, f"{(size + 1000) / 1e6:.6f}")
    SuiteSparse(matrix="Test/tiny").assemble()


def test_a_registered_name_knows_its_group_size_and_checksum(mirror, registry):
    registry(sha256=hashlib.sha256(packed()).hexdigest(), zeros=2)
    assert SuiteSparse(matrix="tiny").assemble().operator.nnz == NNZ + 2, "explicit zeros are kept"
    assert SuiteSparse(matrix="tiny").label == "Matrix Test/tiny"
    assert mirror.asked == ["/Test/tiny.tar.gz"]


def test_another_checksum_than_the_registrys_leaves_nothing(mirror, cache, registry):
    registry(sha256="ab" * 32)
    sentence = refusal("tiny")
    assert sentence.startswith("http://127.0.0.1:")
    assert f"/Test/tiny.tar.gz sent a file with another SHA-256 than the registry's {'ab' * 32};" in sentence
    assert mirror.asked
    assert contents(cache) == []


@pytest.mark.parametrize("facts", [{"N": 4}, {"nnz": NNZ + 2}])
def test_other_facts_than_the_registrys_are_refused(mirror, cache, registry, facts):
    registry(**facts)
    path = cache / "suitesparse" / "Test" / "tiny.tar.gz"
    assert "/Test/tiny.tar.gz sent 3 rows and 5 non-zeros, but Test/tiny has " in refusal("tiny")
    assert mirror.asked
    assert contents(cache) == []
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed())
    assert refusal("tiny").startswith(f"{path} holds 3 rows and 5 non-zeros, but Test/tiny has ")


def test_a_file_that_changed_in_the_cache_is_refused(mirror, cache):
    SuiteSparse(matrix="Test/tiny").assemble()
    path = cache / "suitesparse" / "Test" / "tiny.tar.gz"
    path.write_bytes(packed(content=MATRIX.replace(b"-1", b"-2")))
    assert refusal() == f"{path} has another SHA-256 than {path}.sha256 says; delete both to fetch it again"
    path.unlink()
    path.with_name("tiny.tar.gz.sha256").unlink()
    SuiteSparse(matrix="Test/tiny").assemble()
    assert len(mirror.asked) == 2


def test_a_file_in_the_cache_with_another_checksum_than_the_registrys(mirror, cache, registry):
    SuiteSparse(matrix="Test/tiny").assemble()
    registry(sha256="ab" * 32)
    path = cache / "suitesparse" / "Test" / "tiny.tar.gz"
    assert refusal("tiny") == f"{path} has another SHA-256 than the registry; delete it to fetch it again"


def test_a_short_download_leaves_nothing(mirror, cache):
    mirror.announced = len(packed()) + 10
    sentence = refusal()
    assert f"/Test/tiny.tar.gz sent {len(packed())} of {len(packed()) + 10} bytes; try again" in sentence
    assert sentence.endswith(f"put it at {cache / 'suitesparse' / 'Test' / 'tiny.tar.gz'}")
    assert contents(cache) == []


def test_without_an_announced_length_the_archive_itself_is_tested(mirror, cache, monkeypatch):
    monkeypatch.setattr(suitesparse, "CHUNK", 16)
    mirror.announced = None
    mirror.files["/Test/tiny.tar.gz"] = packed()[:-20]
    assert "sent what cannot be read: the compressed file is truncated" in refusal()
    assert contents(cache) == []
    mirror.files["/Test/tiny.tar.gz"] = packed()
    assert SuiteSparse(matrix="Test/tiny").assemble().operator.shape == (3, 3)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("302 Found\r\nLocation: /Test/tiny.tar.gz", "answered 302 The HTTP server returned a redirect error"),
        ("302 Found\r\nLocation: ftp://127.0.0.1:9/a", "(redirected to ftp://127.0.0.1:9/a, which is neither http nor"),
        (
            "302 Found\r\nLocation: file:///etc/passwd",
            "answered 302 Found - Redirection to url 'file:///etc/passwd'",
        ),
        ("404 \x1b[31mred\x07\x9b", "answered 404 ?[31mred??; try again"),
        ("404 " + "x" * 5000, "x…; try again"),
    ],
)
def test_what_a_server_says_is_one_printable_line(mirror, cache, answer, said):
    mirror.status = answer
    sentence = refusal()
    assert said in sentence
    assert sentence.isprintable()
    assert len(sentence) < 800
    assert contents(cache) == []


def test_a_matrix_that_the_server_does_not_have(mirror, cache):
    sentence = refusal("Test/huge")
    path = cache / "suitesparse" / "Test" / "huge.tar.gz"
    assert mirror.asked == ["/Test/huge.tar.gz"]
    assert sentence.endswith(
        f"/Test/huge.tar.gz answered 404 Not Found; try again, or fetch that file elsewhere and put it at {path}"
    )
    assert contents(cache) == []


def test_offline_names_the_url_and_the_place(cache, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", f"http://127.0.0.1:{port}")
    sentence = refusal("bcsstk15")
    assert sentence.startswith(f"cannot download http://127.0.0.1:{port}/HB/bcsstk15.tar.gz (")
    assert sentence.endswith(f"put it at {cache / 'suitesparse' / 'HB' / 'bcsstk15.tar.gz'}")
    assert contents(cache) == []


def test_an_interrupted_download_leaves_nothing(mirror, cache, monkeypatch):
    received = []

    class Interrupted(suitesparse.tqdm):
        def update(self, n=1):
            received.append(n)
            raise KeyboardInterrupt

    monkeypatch.setattr(suitesparse, "tqdm", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        SuiteSparse(matrix="Test/tiny").assemble()
    assert received == [len(packed())]
    assert contents(cache) == []


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


BAD = {
    "a page, packed": gzip.compress(b"<html>moved</html>", mtime=0),
    "another matrix inside": packed("other"),
    "no numbers": packed(content=MATRIX.replace(b"2 2 2", b"2 2 x")),
    "an entry missing": packed(content=MATRIX[:-6]),
    "a page in the archive": packed(content=b"<html>moved</html>"),
    "the checksum at its end": flipped(packed(), len(packed()) - 6),
}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD.keys())
def test_a_bad_download_is_not_kept_and_the_next_one_is_taken(mirror, cache, content):
    mirror.files["/Test/tiny.tar.gz"] = content
    sentence = refusal()
    assert "/Test/tiny.tar.gz sent what cannot be read: " in sentence
    assert sentence.endswith(f"put it at {cache / 'suitesparse' / 'Test' / 'tiny.tar.gz'}")
    assert contents(cache) == []
    mirror.files["/Test/tiny.tar.gz"] = packed()
    assert SuiteSparse(matrix="Test/tiny").assemble().operator.shape == (3, 3)


def test_a_matrix_that_cg_cannot_use_is_downloaded_once(mirror, cache):
    mirror.files["/Test/tiny.tar.gz"] = packed(content=MATRIX.replace(b"1 1 2", b"1 1 -2"))
    for _ in range(2):
        assert "not positive definite" in refusal()
    assert mirror.asked == ["/Test/tiny.tar.gz"]
    assert contents(cache) == ["tiny.tar.gz", "tiny.tar.gz.sha256"]


def test_a_matrix_that_another_method_solves_with_says_which(cache):
    folder = cache / "suitesparse" / "Test"
    folder.mkdir(parents=True)
    (folder / "tiny.mtx").write_text(
        "%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 4 1\n2 2 4 1\n2 1 1 1\n"
    )
    with pytest.raises(InputError, match="cannot use .* complex symmetric, not Hermitian") as caught:
        SuiteSparse(matrix="Test/tiny").assemble()
    assert caught.value.changes == {"solver": "cocg"}
    assert SuiteSparse(matrix="Test/tiny").assemble_complex_symmetric().operator.nnz == 4


@pytest.mark.parametrize("url", ["http://" + "a" * 300, "http://a..b", "http://a:port", "http://[a"])
def test_a_mirror_that_is_no_host_is_a_sentence(cache, monkeypatch, url):
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", url)
    assert "WORKBENCH_SUITESPARSE_URL" in refusal() or "cannot download" in refusal()
    assert contents(cache) == []


def test_a_wrong_mirror_is_named(monkeypatch):
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", "nowhere")
    assert (
        refusal() == "nowhere/Test/tiny.tar.gz is not a URL; check the environment variable WORKBENCH_SUITESPARSE_URL"
    )


def test_a_cache_that_cannot_be_written_is_named(mirror, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("WORKBENCH_CACHE", str(blocked))
    assert refusal().startswith(f"cannot write {blocked / 'suitesparse' / 'Test' / 'tiny.tar.gz'}: ")
    assert mirror.asked == []


@pytest.mark.parametrize(
    ("name", "content"),
    [("tiny.mtx", MATRIX), ("tiny.mtx.gz", gzip.compress(MATRIX, mtime=0)), ("tiny.tar.gz", packed())],
    ids=["mtx", "mtx.gz", "tar.gz"],
)
def test_a_file_put_there_by_hand_is_taken(cache, registry, name, content):
    registry(sha256=hashlib.sha256(packed()).hexdigest())
    folder = cache / "suitesparse" / "Test"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    assert SuiteSparse(matrix="tiny").assemble().operator.shape == (3, 3)


def test_the_cache_is_the_users_own_unless_the_environment_says_otherwise(monkeypatch):
    monkeypatch.delenv("WORKBENCH_CACHE")
    assert cache_folder() == Path(suitesparse.platformdirs.user_cache_dir("cg-workbench"))
