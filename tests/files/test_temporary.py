"""Temporary folders: gone with their process, or removed by the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import workbench
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.files import TemporaryFolder

KEPT = """
import sys
from workbench.files import TemporaryFolder
made = TemporaryFolder("ranks")
(made.path / "job").write_text("x")
print(made.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def within(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def started():
    """A process with a temporary folder, and the folder."""
    process = subprocess.Popen([sys.executable, "-c", KEPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_gone_with_its_context_its_object_and_its_process(within):
    with TemporaryFolder("files") as path:
        (path / "a").write_text("x")
        assert path.parent == within
    made = TemporaryFolder("files")
    del made
    process, path = started()
    process.communicate(timeout=LIMIT)
    assert not any(within.iterdir())


def test_what_a_killed_process_has_left_is_removed_by_the_next(within):
    foreign = within / "workbench-ranks-mine"
    foreign.mkdir()
    (killed, left), (running, kept) = started(), started()
    killed.kill()
    killed.communicate()
    assert left.is_dir()
    with TemporaryFolder("dask") as path:
        assert set(within.iterdir()) == {foreign, kept, path}
    running.communicate(timeout=LIMIT)
    assert list(within.iterdir()) == [foreign]


def test_a_new_folder_of_a_process_that_was_killed_at_once_is_removed_once_it_is_old(within):
    old, new, foreign = (
        within / name for name in ("new-workbench-ab_d1234", "new-workbench-abcdefgh", "new-workbench")
    )
    for each in (old, new, foreign):
        each.mkdir()
    for each in (old, foreign):
        os.utime(each, (0, 0))
    with TemporaryFolder("dask") as path:
        assert set(within.iterdir()) == {new, foreign, path}


@pytest.mark.parametrize("missing", ["tempdir", "every place"])
def test_where_there_is_no_place_for_one_a_sentence_says_so(tmp_path, monkeypatch, missing):
    def nowhere():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp']")

    if missing == "tempdir":
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    else:
        monkeypatch.setattr("tempfile.gettempdir", nowhere)
    with pytest.raises(InputError, match=r"no folder for temporary files can be made \(.*\); set TMPDIR to a folder"):
        TemporaryFolder("ranks")


def test_all_temporary_folders_are_made_in_one_place():
    root = Path(workbench.__file__).parent
    named = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        if any(word in path.read_text(encoding="utf-8") for word in ("mkdtemp", "TemporaryDirectory"))
    }
    assert named == {str(Path("files") / "temporary.py")}
