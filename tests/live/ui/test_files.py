"""Files in memory: what a writer wrote, and nothing of it on the disk; and the names of files."""

import io
import os
import tempfile
import zipfile
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.live.ui.download import Download
from workbench.live.ui.file_names import slug
from workbench.live.ui.files import File, as_one, written


@pytest.fixture
def disk(tmp_path, monkeypatch):
    """Where temporary files go."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_what_is_written_is_in_memory_and_nowhere_else(disk):
    def write(folder):
        assert folder.parent == disk
        (folder / "b.csv").write_bytes(b"1")
        (folder / "a.svg").write_bytes(b"22")
        return [folder / "a.svg"]

    assert written(write) == [File("a.svg", b"22"), File("b.csv", b"1")]
    assert list(disk.iterdir()) == []


def test_nothing_is_left_of_a_writer_that_fails(disk):
    def write(folder):
        (folder / "half").write_bytes(b"1")
        raise InputError("no run has ended yet")

    with pytest.raises(InputError, match="no run has ended yet"):
        written(write)
    assert list(disk.iterdir()) == []


def test_a_disk_that_takes_nothing_is_a_sentence(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(Path("/proc/nowhere")))
    with pytest.raises(InputError, match="no folder for temporary files can be made .*; set TMPDIR"):
        written(lambda folder: [])


def test_several_files_are_one_archive_and_one_stays_itself():
    one, other = File("a.csv", b"1,2"), File("b.csv", 1000 * b"3")
    assert as_one([one], "both") is one
    archive = as_one([one, other], "both")
    assert archive.name == "both.zip"
    assert len(archive.content) < 500
    with zipfile.ZipFile(io.BytesIO(archive.content)) as opened:
        assert {name: opened.read(name) for name in opened.namelist()} == {"a.csv": b"1,2", "b.csv": 1000 * b"3"}


def test_kernels_that_were_forked_from_one_process_are_told_apart(monkeypatch):
    """Of two pages on two kernels the one that was used last took the other's files, and saved none."""
    names = {Download().kernel, Download().kernel}
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert len(names) == 1
    assert Download().kernel not in names


def test_powers_of_a_name_are_read_in_the_name_of_a_file_and_a_long_one_keeps_the_runs_number():
    assert slug("Two layers, 96², 2 × 10⁻⁶, 4³, 10⁶, 2 × 2") == "Two-layers-96x96-2e-6-4x4x4-1e6-2x2"
    name = slug(f"convergence {'bubbles-3d:64 ' * 12} 20260131T120000 run12")
    assert len(name) == 120
    assert name.startswith("convergence-bubbles-3d-64")
    assert name.endswith("20260131T120000-run12")
