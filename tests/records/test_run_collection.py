"""Files with several runs: what was written is read, and anything else is refused in a sentence."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from workbench.errors import InputError
from workbench.process import limits
from workbench.records import NamedRun, load_runs, save_runs
from workbench.run import Run, configure, run_through


@pytest.fixture(scope="module")
def record():
    return run_through(Run(configure("poisson5", n=6))).record()


@pytest.fixture
def path(record, tmp_path):
    return save_runs([NamedRun(record, "one", "Solve", 3, True), NamedRun(record, "two")], tmp_path / "a.runs.zip")


def test_runs_come_back_with_names_and_styles(path, record):
    first, second = load_runs(path)
    assert (first.name, first.origin, first.style, first.pinned) == ("one", "Solve", 3, True)
    assert (second.name, second.style, second.hidden) == ("two", 0, False)
    assert first.record.summary == record.summary


def changed(path, name, content, **options):
    """The file with one member replaced, or left out where content is None."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    members[name] = content
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as archive:
        for member, text in members.items():
            if text is not None:
                archive.writestr(member, text)
    path.write_bytes(buffer.getvalue())


def content(path, name):
    with zipfile.ZipFile(path) as archive:
        return archive.read(name)


def head(path):
    return json.loads(content(path, "runs.json"))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-30]), "damaged"),
        (lambda path: path.write_bytes(b"no archive"), "is damaged or not a file of runs"),
        (lambda path: changed(path, "2.run.npz", None), "run 2 of 2 is missing"),
        (lambda path: changed(path, "2.run.npz", b"junk"), "run 2 of 2: "),
        (lambda path: changed(path, "runs.json", "{"), "it is not valid JSON"),
        (
            lambda path: changed(path, "runs.json", '{"format": "x", "version": 1, "runs": []}'),
            "not a file of runs of this",
        ),
        (lambda path: changed(path, "runs.json", json.dumps({**head(path), "version": 99})), "format version 99"),
        (lambda path: changed(path, "x", b"", compression=zipfile.ZIP_DEFLATED), "members are compressed"),
    ],
)
def test_a_spoilt_file_is_refused_in_a_sentence(path, spoil, sentence):
    spoil(path)
    with pytest.raises(InputError, match=sentence) as caught:
        load_runs(path)
    assert str(path) in str(caught.value)


def test_the_runs_of_a_file_have_one_limit(path, monkeypatch):
    members = sum(member.file_size for member in zipfile.ZipFile(io.BytesIO(content(path, "1.run.npz"))).infolist())
    monkeypatch.setattr(limits, "UNPACKED_RATIO", 1)
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2 * members)
    assert len(load_runs(path)) == 2
    monkeypatch.setattr(limits, "UNPACKED_BYTES", 2 * members - 1)
    with pytest.raises(InputError, match=r"cannot be opened: it would unpack to .* MB are allowed"):
        load_runs(path)


def test_nothing_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(InputError, match="no run with a result"):
        save_runs([], tmp_path / "none.zip")
    with pytest.raises(InputError, match="missing.zip"):
        load_runs(tmp_path / "missing.zip")
