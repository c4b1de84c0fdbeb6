"""The matrix builder without a page: uploads are kept and looked at, downloads wait for the button."""

import gzip
import io
import tarfile
import threading

import numpy as np
import pytest
from scipy import sparse

from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import Builder, MatrixBuilder
from workbench.live.builders import matrix_builder, matrix_facts, matrix_form
from workbench.live.builders.matrix_facts import facts
from workbench.live.builders.matrix_form import MOST_UPLOAD, store
from workbench.live.ui.form_fields import Field
from workbench.live.ui.words import shown
from workbench.problems.files import MatrixFile
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import SuiteSparse
from workbench.run import Run, configure

SMALL = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 4\n3 3 4\n3 1 -1\n"
HERMITIAN = b"%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 4 0\n2 2 4 0\n2 1 1 1\n"
COMPLEX_SYMMETRIC = b"%%MatrixMarket matrix coordinate complex symmetric\n2 2 3\n1 1 4 1\n2 2 -4 1\n2 1 1 1\n"
SINGULAR = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 1\n2 1 -1\n"
INDEFINITE = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 2 -1\n2 1 1\n"
UNSYMMETRIC = b"%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 2 4\n1 2 1\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("WORKBENCH_SUITESPARSE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "cache"


@pytest.fixture
def builder():
    return MatrixBuilder()


def upload(builder, name, content):
    given = {"name": name, "size": len(content)}
    builder.form.receive({"kind": "set", "field": "upload", "value": given, "content": content})
    assert builder.wait()


@pytest.fixture
def here(tmp_path):
    """The path of a file with a matrix."""
    return written(tmp_path, "here")[0]


def choose(builder, source, text):
    """As the page does."""
    builder.form.set("source", source)
    builder.form.set(source, text)


def state(builder, name, of="values"):
    return builder.form.box.state[of].get(name, "")


def can_load(builder):
    return "load" not in builder.form.box.state["off"]


def test_an_upload_is_kept_by_its_content_and_shown(builder, cache):
    reported = []
    builder.on_change(reported.append)
    upload(builder, "my matrix.mtx", SMALL)
    (path,) = (cache / "uploads").rglob("*.mtx")
    assert (path.name, path.read_bytes()) == ("my-matrix.mtx", SMALL)
    assert reported == [builder.problem] == [MatrixFile(path=str(path))]
    assert builder.status.text == "Matrix my-matrix is read."
    assert builder.facts.rows["symmetric"].startswith("yes")
    assert builder.facts.rows["entries per row"] == "1 to 2, 1.67 on average"
    assert builder.facts.lengths.tolist() == [2, 1, 2]
    assert builder.pattern.scene.values.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    (bars, mean) = builder.histogram.scene.layers
    assert bars.y.sum() == builder.facts.lengths.size
    assert mean.value == builder.facts.lengths.mean()
    assert store("my matrix.mtx", SMALL) == path


def archive():
    """As the collection has them."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        entry = tarfile.TarInfo("a/a.mtx")
        entry.size = len(SMALL)
        opened.addfile(entry, io.BytesIO(SMALL))
    return packed.getvalue()


PACKED = gzip.compress(SMALL, mtime=0)


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.mtx.gz", PACKED), ("a.MTX", SMALL), ("a.mtx.gz", SMALL), ("a.tar.gz", archive())],
    ids=["gz", "text", "text in gz", "archive"],
)
def test_an_upload_is_read_by_its_content(builder, name, content):
    upload(builder, name, content)
    assert builder.status.text == "Matrix a is read."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", SMALL, "'a.txt' is not a matrix file; choose one whose name ends in .mtx, .mtx.gz, .mtx.bz2, .tar.gz"),
        ("a.mtx", b"", "'a.mtx' is empty"),
        ("a.mtx", b" " * (MOST_UPLOAD + 1), "uploads may have 10 MiB"),
        ("a.mtx", b"nonsense", "line 1 must be a banner"),
        ("cut off.mtx", SMALL[:-9], "cannot read cut-off.mtx: "),
        (
            "a.mtx",
            UNSYMMETRIC,
            "the matrix is not symmetric: the entry in row 1, column 2 and the entry in row 2, column 1 differ by 1",
        ),
        ("a.mtx.gz", gzip.compress(SMALL, mtime=0)[:-3], "the compressed file is truncated"),
    ],
)
def test_a_bad_upload_is_told_by_its_name_alone(builder, cache, name, content, sentence):
    upload(builder, name, content)
    assert sentence in state(builder, "upload", "wrong")
    assert str(cache) not in builder.wrong
    # It stands at the field alone.
    assert builder.status.text == ""
    assert builder.facts is None


def test_a_file_that_is_too_large_does_not_come_at_all(builder):
    given = {"name": "a.mtx", "size": 64 << 20}
    builder.form.receive({"kind": "set", "field": "upload", "value": given})
    assert builder.wait()
    assert "'a.mtx' has 64.0 MiB, uploads may have 10 MiB" in state(builder, "upload", "wrong")
    upload(builder, "a.mtx", SMALL)
    assert builder.form.box.state["wrong"] == {}


def test_a_matrix_that_is_refused_is_no_problem_and_the_next_one_is(builder):
    heard = []
    builder.on_change(lambda _problem: heard.append(builder.wrong))
    upload(builder, "a.mtx", SMALL)
    upload(builder, "b.mtx", UNSYMMETRIC)
    with pytest.raises(InputError, match="is not symmetric"):
        _ = builder.problem
    # Chosen, chosen, and refused.
    assert len(heard) == 3
    upload(builder, "a.mtx", SMALL)
    assert builder.problem.label == "Matrix a"


@pytest.mark.parametrize(
    ("content", "chosen", "says", "offers", "method"),
    [
        (SMALL, {"deflation": "levelset:2"}, "Matrix a is read.", "", "cg jacobi none"),
        (SINGULAR, {}, "A is singular: b = 1 is all of b", "Use right-hand side b: Random in [0, 1)", "cg jacobi none"),
        (HERMITIAN, {}, "Matrix a is read.", "", "cg jacobi none"),
        (HERMITIAN, {"solver": "cocg"}, "A is Hermitian", "Use CG", "cg jacobi none"),
        (
            COMPLEX_SYMMETRIC,
            {"preconditioner": "neumann:2", "deflation": "blocks:1"},
            "A is complex symmetric",
            "Use COCG, Jacobi, no deflation",
            "cocg jacobi none",
        ),
        (COMPLEX_SYMMETRIC, {"solver": "block-cocg"}, "Matrix a is read.", "", "block-cocg jacobi none"),
    ],
    ids=[
        "real",
        "singular",
        "hermitian",
        "hermitian for cocg",
        "complex symmetric",
        "complex symmetric for block-cocg",
    ],
)
def test_a_matrix_that_can_be_read_is_solved_with_after_one_press(content, chosen, says, offers, method):
    present = [configure("bubbles-2d", n=16, **chosen)]
    builder = MatrixBuilder(configuration=lambda: present[0], use=lambda made: present.insert(0, made))
    upload(builder, "a.mtx", content)
    assert says in builder.status.text
    assert (builder.correct.description, builder.correct.layout.display) == (offers, None if offers else "none")
    assert (builder.unfit == "") == (offers == "")
    assert builder.facts is not None
    if offers:
        builder.correct.click()
        assert (builder.unfit, builder.correct.layout.display, builder.status.tone) == ("", "none", "good")
        assert present[0].problem == builder.problem
    made = builder._solved()
    assert " ".join(getattr(made, kind).text for kind in ("solver", "preconditioner", "deflation")) == method
    assert Run(made).setup.system.operator.shape == builder.facts.like.shape


@pytest.mark.parametrize(
    ("of", "symmetry", "method"),
    [
        ("1138_bus", "symmetric", ""),
        ("bcsstk15", "symmetric", ""),
        ("helm_fem", "complex symmetric", "Use COCG, Jacobi"),
    ],
)
def test_a_sample_is_generated_here_and_shown(of, symmetry, method):
    chosen = configure("bubbles-2d", n=16, preconditioner="neumann", deflation="none")
    builder = MatrixBuilder(configuration=lambda: chosen, use=lambda made: None)
    choose(builder, "of", of)
    assert builder.wait()
    assert builder.problem == StandIn(of=of)
    assert builder.facts.rows["unknowns N"].replace("\u202f", "") == str(builder.problem.unknowns)
    assert builder.facts.rows[symmetry].startswith("yes")
    assert builder.correct.description == method
    builder.load(builder.problem)
    assert state(builder, "of") == of


def test_samples_are_shown_until_a_matrix_is_chosen_and_one_is_chosen_by_its_picture(opened):
    page = opened(Builder())
    page.kind.value = "Matrix"
    builder = page.builder
    assert builder.samples.wait(LIMIT)
    assert [view.scene.title for view in builder.samples.pictures.values()] == [
        "1138 unknowns",
        "3948 unknowns",
        "16\u202f384 unknowns",
    ]
    assert builder.samples.box.layout.display is None
    builder.samples.box.children[0].children[0].click()
    assert builder.wait()
    assert builder.problem == page.problem == StandIn(of="1138_bus")
    assert builder.samples.box.layout.display == "none"
    builder.form.set("source", "upload")
    assert builder.samples.box.layout.display is None


@pytest.mark.parametrize("content", [UNSYMMETRIC, INDEFINITE])
def test_a_matrix_that_no_method_solves_with_is_refused_and_was_read(builder, content):
    upload(builder, "a.mtx", content)
    assert builder.wrong.startswith("cannot use a.mtx: the matrix is not ")


def test_a_method_that_is_changed_elsewhere_is_weighed_when_the_page_is_in_front_again():
    present = [configure("bubbles-2d", n=16)]
    page = Builder(configuration=lambda: present[0], solve=lambda: None)
    page.kind.value = "Matrix"
    upload(page.builder, "a.mtx", COMPLEX_SYMMETRIC)
    assert page.press.disabled
    assert page.press.tooltip.startswith("A is complex symmetric")
    assert page.wrong == ""
    present[0] = configure("bubbles-2d", n=16, solver="cocg")
    page.hide(False)
    assert not page.press.disabled
    page.close()


def test_a_name_with_a_path_in_it_stays_in_the_folder(cache):
    path = store("../../evil dir/..mtx.mtx", SMALL)
    assert path.resolve().is_relative_to(cache.resolve() / "uploads")
    assert path.name == "evil-dir-..mtx.mtx"


def test_a_download_waits_for_the_button_and_a_failure_is_told(builder, cache):
    assert "bcsstk15" in builder.form.box.schema["settings"]["name"]["suggestions"]
    choose(builder, "name", "bcsstk15")
    assert builder.wait()
    assert isinstance(builder.problem, SuiteSparse)
    assert state(builder, "load") == "Download and load"
    assert "not on this machine yet" in state(builder, "name", "about")
    assert not (cache / "suitesparse").exists()
    builder.form.set("load", True)
    assert builder.wait()
    assert "cannot download http://127.0.0.1:9" in state(builder, "name", "wrong")
    assert can_load(builder)


def test_what_is_in_the_cache_is_read_at_once(builder, cache):
    folder = cache / "suitesparse" / "Mine"
    folder.mkdir(parents=True)
    (folder / "tiny.mtx").write_bytes(SMALL)
    choose(builder, "name", "Mine/tiny")
    assert builder.wait()
    assert builder.status.text == "Matrix Mine/tiny is read."


def test_a_path_and_what_is_no_matrix(builder, tmp_path, here):
    with pytest.raises(InputError, match="no matrix has been chosen"):
        _ = builder.problem
    choose(builder, "path", str(tmp_path / "nowhere.mtx"))
    assert "no file at" in state(builder, "path", "wrong")
    choose(builder, "path", "~nosuchuser/a.mtx")
    assert "cannot be a path" in state(builder, "path", "wrong")
    choose(builder, "path", here)
    assert builder.wait()
    assert builder.problem == MatrixFile(path=here)
    assert builder.form.box.state["wrong"] == {}
    choose(builder, "name", "bcsstk155")
    assert "did you mean bcsstk15?" in state(builder, "name", "wrong")
    assert (can_load(builder), builder.facts, builder.table.value) == (False, None, "")
    with pytest.raises(InputError, match="no matrix has been chosen"):
        _ = builder.problem


def test_an_upload_is_taken_again_when_its_source_is(builder):
    upload(builder, "a.mtx", SMALL)
    before = builder.problem
    builder.form.set("source", "path")
    with pytest.raises(InputError, match="no matrix has been chosen"):
        _ = builder.problem
    builder.form.set("source", "upload")
    assert builder.wait()
    assert builder.problem == before
    assert builder.facts.rows["unknowns N"] == "3"


@pytest.mark.parametrize("text", ["", "nowhere.mtx"])
def test_an_earlier_matrix_is_not_taken_for_a_path_that_is_wrong(builder, text, here):
    builder.load(MatrixFile(path=here))
    assert builder.wait()
    builder.form.set("path", text)
    assert not can_load(builder)
    with pytest.raises(InputError, match="no matrix has been chosen"):
        _ = builder.problem
    builder.form.set("path", here)
    assert builder.wait()
    assert builder.problem == MatrixFile(path=here)
    assert can_load(builder)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "there is not enough memory; take a smaller problem, or close other programs"),
        (RuntimeError("a wheel came off"), "reading the matrix failed by a RuntimeError: a wheel came off"),
    ],
)
def test_what_nobody_foresaw_is_told(builder, monkeypatch, error, sentence):
    def burst(_problem):
        raise error

    monkeypatch.setattr("workbench.live.builders.matrix_builder.facts", burst)
    upload(builder, "a.mtx", SMALL)
    assert builder.wrong == sentence


def test_what_was_read_for_an_earlier_choice_is_not_shown(builder, monkeypatch, here):

    def slow(problem):
        builder.form.set("path", "")
        return facts(problem)

    monkeypatch.setattr("workbench.live.builders.matrix_builder.facts", slow)
    choose(builder, "path", here)
    assert builder.wait()
    assert (builder.facts, builder.table.value, can_load(builder)) == (None, "", False)


def test_large_files_wait_for_the_button(monkeypatch, here):
    monkeypatch.setattr("workbench.live.builders.matrix_builder.MOST_BYTES", 10)
    builder = MatrixBuilder(MatrixFile(path=here))
    assert builder.wait()
    assert builder.facts is None
    assert "not loaded yet; press Load" in builder.status.text
    builder.show_matrix()
    assert builder.wait()
    assert builder.facts.lengths.tolist() == [2, 1, 2]


def test_only_matrices_can_be_loaded(builder):
    with pytest.raises(InputError, match="shows matrix-file, suitesparse and stand-in, got two-layer"):
        builder.load(configure("two-layer").problem)


def test_of_a_large_matrix_every_so_manyth_row_is_drawn(monkeypatch):
    monkeypatch.setattr(matrix_facts, "MOST_ENTRIES", 100)
    problem = configure("poisson27", n=4).problem
    found = facts(problem)
    csr = problem.assemble().operator.to_csr()
    every = -(-csr.nnz // 100)
    assert found.scene.notes == (f"every {every}th row is drawn",)
    rows, _ = sparse.csr_array(csr).tocoo().coords
    assert found.scene.values.sum() == np.count_nonzero(rows % every == 0)
    assert np.flatnonzero(found.scene.values.sum(axis=1)).tolist() == list(range(0, 64, every))
    assert found.lengths.sum() == csr.nnz


@pytest.fixture
def held(monkeypatch):
    """Holds a function of the builder's module until `go` is set; `begun` says that it has been called."""

    def hold(name):
        begun, go, real = threading.Event(), threading.Event(), getattr(matrix_builder, name)

        def waiting(*values):
            begun.set()
            assert go.wait(LIMIT)
            return real(*values)

        monkeypatch.setattr(matrix_builder, name, waiting)
        return begun, go

    return hold


def written(folder, *names):
    for name in names:
        (folder / f"{name}.mtx").write_bytes(SMALL)
    return [str(folder / f"{name}.mtx") for name in names]


def test_an_upload_that_is_stored_late_does_not_replace_what_was_chosen_since(builder, held, tmp_path):
    (path,) = written(tmp_path, "a")
    begun, go = held("store")
    given = {"name": "up.mtx", "size": len(SMALL)}
    builder.form.receive({"kind": "set", "field": "upload", "value": given, "content": SMALL})
    assert begun.wait(LIMIT)
    choose(builder, "path", path)
    go.set()
    assert builder.wait()
    assert builder.problem == MatrixFile(path=path)
    assert builder.facts is not None


def test_what_waited_to_be_read_is_not_said_to_be_loading_once_it_is_no_longer_chosen(builder, held, tmp_path):
    first, second = written(tmp_path, "a", "b")
    begun, go = held("facts")
    choose(builder, "path", first)
    assert begun.wait(LIMIT)
    builder.form.set("path", second)
    builder.form.set("path", str(tmp_path / "missing.mtx"))
    go.set()
    assert builder.wait()
    assert builder.wrong.startswith("no file at ")
    assert builder.status.text == ""


def test_an_uploaded_file_has_its_own_name_in_a_form_and_in_sentences(cache):
    path = str(store("small.mtx", SMALL))
    field = Field(MatrixFile.parameters()[0], "matrix-file")
    field.put(path)
    assert field.shown == "small.mtx"
    # What is shown is no new path.
    field.typed("small.mtx")
    assert field.read() == path
    field.typed("other.mtx")
    assert field.read() == "other.mtx"
    assert shown(f"{path} has x0 <= 1") == "small.mtx has x₀ ≤ 1"


def test_uploads_in_all_are_bounded_and_those_that_are_kept_stay(cache, monkeypatch):
    path = store("a.mtx", SMALL)
    monkeypatch.setattr(matrix_form, "MOST_STORED", 2 * len(SMALL) - 1)
    with pytest.raises(InputError, match="uploads that are kept have .* GiB, at most .* ask whoever runs this server"):
        store("b.mtx", SMALL + b"\n")
    assert store("a.mtx", SMALL) == path


def test_an_upload_is_kept_while_another_page_renames_its_own(cache):
    path = store("a.mtx", SMALL)
    # A file that is listed, and gone when its size is asked for.
    (path.parent / "gone").symlink_to(path.parent / "renamed")
    assert store("b.mtx", SMALL + b"\n").read_bytes() == SMALL + b"\n"


def test_a_matrix_can_be_solved_with_while_there_is_one(here, tmp_path):
    page = Builder(solve=lambda: None)
    assert not page.press.disabled
    page.kind.value = "Matrix"
    assert page.press.disabled
    assert page.press.tooltip == "no matrix has been chosen yet; drop a file, or choose a sample"
    builder = page.builder
    choose(builder, "path", here)
    assert builder.wait()
    assert not page.press.disabled
    choose(builder, "path", str(tmp_path / "missing.mtx"))
    assert page.press.disabled
    choose(builder, "path", here)
    assert not page.press.disabled
    page.kind.value = "Bubbles"
    assert not page.press.disabled
    page.close()
