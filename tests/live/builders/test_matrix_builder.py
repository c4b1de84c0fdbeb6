"""The matrix builder without a page: uploads are kept and looked at, downloads wait for the button."""

import dataclasses
import gzip
import threading

import pytest
from scipy import io, sparse

from benchmarks.matrices import made
from tests.live.builders.forms import (
    COMPLEX_SYMMETRIC,
    HERMITIAN,
    INDEFINITE,
    SINGULAR,
    SMALL,
    UNSYMMETRIC,
    choose,
    state,
    take,
    upload,
    wrong,
)
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import Builder, MatrixBuilder
from workbench.live.builders import matrix_builder
from workbench.live.builders.matrix_facts import facts
from workbench.live.builders.matrix_form import MOST_UPLOAD, store
from workbench.problems.files import MatrixFile
from workbench.problems.suitesparse import SuiteSparse
from workbench.run import Run, configure
from workbench.run.choices import levels

PACKED = gzip.compress(SMALL, mtime=0)


@pytest.fixture
def builder():
    return MatrixBuilder()


@pytest.fixture
def here(tmp_path):
    """The path of a file with a matrix."""
    return written(tmp_path, "here")[0]


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


@pytest.mark.parametrize(("name", "content"), [("a.mtx.gz", PACKED), ("a.MTX", SMALL), ("a.mtx.gz", SMALL)])
def test_an_upload_is_read_by_its_content(builder, name, content):
    upload(builder, name, content)
    assert builder.status.text == "Matrix a is read."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.txt", SMALL, "not a matrix file; choose one whose name ends in .mtx, .mtx.gz, .mtx.bz2, .tar.gz"),
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
    assert wrong(builder) == {}


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
        (SMALL, {"deflation": "levelset:2"}, "Matrix a is read.", "", "cg jacobi"),
        (SINGULAR, {}, "A is singular: b = 1 is all of b", "Use right-hand side b: Random in [0, 1)", "cg jacobi"),
        (HERMITIAN, {}, "Matrix a is read.", "", "cg jacobi"),
        (HERMITIAN, {"solver": "cocg"}, "A is Hermitian", "Use CG", "cg jacobi"),
        (
            COMPLEX_SYMMETRIC,
            {"preconditioner": "neumann:2", "deflation": "blocks:1"},
            "A is complex symmetric",
            "Use COCG, Jacobi, no deflation",
            "cocg jacobi",
        ),
        (COMPLEX_SYMMETRIC, {"solver": "block-cocg"}, "Matrix a is read.", "", "block-cocg jacobi"),
    ],
    ids=["real", "singular", "hermitian", "hermitian for cocg", "complex symmetric", "for block-cocg"],
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
    made = dataclasses.replace(present[0], problem=builder.problem, deflation="none")
    assert f"{made.solver.text} {made.preconditioner.text}" == method
    assert Run(made).setup.system.operator.shape == builder.facts.like.shape


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


@pytest.fixture
def few(monkeypatch):
    """The rule of the default levels chooses from 20 unknowns on."""
    monkeypatch.setattr(levels, "FEW", 20)
    monkeypatch.setattr(levels, "FROM", 50)


def disk_of(size, folder):
    """The path of a file with triangles of random points."""
    path = folder / f"disk-{size}.mtx"
    io.mmwrite(path, sparse.coo_array(made.disk(size).matrix), symmetry="symmetric")
    return MatrixFile(path=str(path))


@pytest.mark.usefixtures("few")
def test_a_matrix_starts_with_the_levels_of_a_run_that_names_none(tmp_path):
    present = [configure("bubbles-2d", n=16, preconditioner="neumann:2", deflation="levelset:2")]
    builder = MatrixBuilder(configuration=lambda: present[0], use=lambda made: present.insert(0, made))

    def levels_with(size):
        builder.load(disk_of(size, tmp_path))
        assert builder.wait(LIMIT)
        assert present[0].problem == builder.problem
        return present[0].preconditioner.text, present[0].deflation.text

    # Those of a grid give way, and the default of one matrix to that of the next.
    assert levels_with(30) == ("ic", "none")
    assert builder.status.text == "Matrix disk-30 is read. Solve starts with its default: incomplete Cholesky."
    assert builder.facts.rows["levels by default"].startswith("Incomplete Cholesky, for 30 unknowns without ")
    assert levels_with(90) == ("ic", "parts:30")
    assert builder.status.text.endswith("Solve starts with its default: incomplete Cholesky and parts of 30 unknowns.")
    # What is chosen on a matrix stays for the next one.
    present.insert(0, configure(builder.problem, preconditioner="chebyshev:4"))
    builder.load(disk_of(60, tmp_path))
    assert builder.wait(LIMIT)
    assert (present[0].preconditioner.text, present[0].problem.label) == ("chebyshev:4", "Matrix disk-90")
    assert builder.status.text == "Matrix disk-60 is read."


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        ({"ranks": 2}, "jacobi"),
        ({"solver": "block-cg", "rhs": "random:2"}, "jacobi"),
        ({"device": "cuda:9"}, "jacobi"),
        ({"preconditioner": "jacobi"}, "ic"),
    ],
    ids=str,
)
def test_the_levels_by_default_are_those_that_the_other_choices_allow(choices, expected, tmp_path):
    present = [configure("stand-in", **choices)]
    builder = MatrixBuilder(configuration=lambda: present[0], use=lambda made: present.insert(0, made))
    builder.load(disk_of(30, tmp_path))
    assert builder.wait(LIMIT)
    assert present[0].preconditioner.name == expected


@pytest.mark.usefixtures("few")
def test_a_configuration_that_comes_with_a_matrix_has_its_own_levels(tmp_path):
    chosen = configure(disk_of(30, tmp_path))
    used = []
    builder = MatrixBuilder(chosen.problem, configuration=lambda: chosen, use=used.append)
    assert builder.wait(LIMIT)
    assert builder.facts.rows["levels by default"].startswith("Incomplete Cholesky, for 30")
    assert used == []


def test_a_download_waits_for_the_button_and_a_failure_is_told(builder, cache):
    assert "bcsstk15" in builder.form.box.schema["settings"]["name"]["suggestions"]
    take(builder, "name", "bcsstk15")
    assert isinstance(builder.problem, SuiteSparse)
    assert state(builder, "load") == "Download and load"
    assert "not on this machine yet" in state(builder, "name", "about")
    assert not (cache / "suitesparse").exists()
    choose(builder, "load", True)
    assert "cannot download http://127.0.0.1:9" in state(builder, "name", "wrong")
    assert can_load(builder)


def test_what_is_in_the_cache_is_read_at_once(builder, cache):
    folder = cache / "suitesparse" / "Mine"
    folder.mkdir(parents=True)
    (folder / "tiny.mtx").write_bytes(SMALL)
    take(builder, "name", "Mine/tiny")
    assert builder.status.text == "Matrix Mine/tiny is read."


def test_a_path_and_what_is_no_matrix(builder, tmp_path, here):
    with pytest.raises(InputError, match="no matrix has been chosen"):
        _ = builder.problem
    take(builder, "path", str(tmp_path / "nowhere.mtx"))
    assert "no file at" in state(builder, "path", "wrong")
    take(builder, "path", "~nosuchuser/a.mtx")
    assert "cannot be a path" in state(builder, "path", "wrong")
    take(builder, "path", here)
    assert builder.problem == MatrixFile(path=here)
    assert wrong(builder) == {}
    # An earlier matrix is not taken for a path that is wrong.
    for text in ("", "nowhere.mtx"):
        choose(builder, "path", text)
        assert not can_load(builder)
        with pytest.raises(InputError, match="no matrix has been chosen"):
            _ = builder.problem
    choose(builder, "path", here)
    assert (builder.problem, can_load(builder)) == (MatrixFile(path=here), True)
    take(builder, "name", "bcsstk155")
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
    choose(builder, "source", "upload")
    assert builder.problem == before
    assert builder.facts.rows["unknowns N"] == "3"


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (MemoryError(), "there is not enough memory; take a smaller problem, or close other programs"),
        (RuntimeError("a wheel came off"), "reading the matrix failed by a RuntimeError: a wheel came off"),
    ],
)
def test_what_nobody_foresaw_is_told(builder, monkeypatch, error, sentence):
    def burst(*_):
        raise error

    monkeypatch.setattr("workbench.live.builders.matrix_builder.facts", burst)
    upload(builder, "a.mtx", SMALL)
    assert builder.wrong == sentence


def test_what_was_read_for_an_earlier_choice_is_not_shown(builder, monkeypatch, here):

    def slow(problem, choose):
        builder.form.set("path", "")
        return facts(problem, choose)

    monkeypatch.setattr("workbench.live.builders.matrix_builder.facts", slow)
    take(builder, "path", here)
    assert (builder.facts, builder.table.value, can_load(builder)) == (None, "", False)


def test_large_files_wait_for_the_button(monkeypatch, here):
    monkeypatch.setattr("workbench.live.builders.matrix_form.MOST_BYTES", 10)
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
    builder.form.set("source", "path")
    builder.form.set("path", path)
    go.set()
    assert builder.wait()
    assert builder.problem == MatrixFile(path=path)
    assert builder.facts is not None


def test_what_waited_to_be_read_is_not_said_to_be_loading_once_it_is_no_longer_chosen(builder, held, tmp_path):
    first, second = written(tmp_path, "a", "b")
    begun, go = held("facts")
    builder.form.set("source", "path")
    builder.form.set("path", first)
    assert begun.wait(LIMIT)
    builder.form.set("path", second)
    builder.form.set("path", str(tmp_path / "missing.mtx"))
    go.set()
    assert builder.wait()
    assert builder.wrong.startswith("no file at ")
    assert builder.status.text == ""


def test_a_matrix_can_be_solved_with_while_there_is_one(here, tmp_path):
    page = Builder(solve=lambda: None)
    page.kind.value = "Matrix"
    for path, enabled in ((here, True), (str(tmp_path / "missing.mtx"), False), (here, True)):
        take(page.builder, "path", path)
        assert page.press.disabled != enabled
    page.close()
