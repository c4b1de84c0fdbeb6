"""Machine code on disk: what is damaged, foreign or cannot be written is as if it were not there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from workbench.jit import store

KEY, CODE = "a1" * 32, bytes(range(256)) * 40


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "other"))
    return tmp_path / "cache" / "machine-code"


def test_what_was_written_is_read(folder):
    assert store.read(KEY) is None
    assert not store.has_any()
    assert store.write(KEY, CODE)
    assert store.has_any()
    assert store.read(KEY) == CODE
    assert [path.name for path in folder.iterdir()] == [f"{KEY}.kernel"]
    assert (folder / f"{KEY}.kernel").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("place", [0, 5, len(store.MAGIC), len(store.MAGIC) + 31, len(store.MAGIC) + 32, 5000, -1])
def test_one_flipped_bit_anywhere_is_noticed(folder, place):
    store.write(KEY, CODE)
    path = folder / f"{KEY}.kernel"
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)
    assert store.read(KEY) is None
    assert store.write(KEY, CODE)
    assert store.read(KEY) == CODE


@pytest.mark.parametrize("length", [0, 1, len(store.MAGIC), len(store.MAGIC) + 32, 1000, -1])
def test_a_file_that_is_cut_is_noticed(folder, length):
    store.write(KEY, CODE)
    path = folder / f"{KEY}.kernel"
    path.write_bytes(path.read_bytes()[:length])
    assert store.read(KEY) is None


def test_another_kernels_file_is_not_taken_for_this_one(folder):
    other = "b2" * 32
    store.write(other, CODE)
    os.replace(folder / f"{other}.kernel", folder / f"{KEY}.kernel")
    assert store.read(KEY) is None


def test_what_others_may_have_written_is_not_trusted(folder, tmp_path):
    store.write(KEY, CODE)
    path = folder / f"{KEY}.kernel"
    path.chmod(0o620)
    assert store.read(KEY) is None
    path.chmod(0o600)
    assert store.read(KEY) == CODE
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert store.read(KEY) is None
    path.unlink()
    # A pipe would keep the reader waiting for ever.
    os.mkfifo(path)
    assert store.read(KEY) is None


@pytest.mark.skipif(os.getuid() != 0, reason="only the administrator can give a file away")
def test_a_file_of_another_user_is_not_trusted(folder):
    store.write(KEY, CODE)
    os.chown(folder / f"{KEY}.kernel", 12345, 12345)
    assert store.read(KEY) is None


def test_where_the_cache_is_no_folder_a_private_one_serves(folder, tmp_path):
    folder.parent.write_text("in the way")
    assert store.write(KEY, CODE)
    assert store.read(KEY) == CODE
    assert list((tmp_path / "other").glob("cg-workbench-*/*.kernel"))
    assert (next((tmp_path / "other").iterdir()).stat().st_mode & 0o777) == 0o700


def test_where_no_folder_can_be_written_nothing_is_kept_and_nothing_left(folder, tmp_path):
    folder.parent.write_text("in the way")
    (tmp_path / "other").write_text("in the way too")
    assert not store.write(KEY, CODE)
    assert store.read(KEY) is None


def test_without_any_folder_for_temporary_files_nothing_is_kept(folder, monkeypatch):
    def nowhere():
        raise FileNotFoundError("No usable temporary directory found")

    folder.parent.write_text("in the way")
    monkeypatch.setattr("tempfile.gettempdir", nowhere)
    assert not store.write(KEY, CODE)
    assert store.read(KEY) is None


FULL = """
import os, resource, sys
from workbench.jit import store
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
assert not store.write("a1" * 32, bytes(10_000))
assert store.read("a1" * 32) is None
"""


@pytest.mark.skipif(importlib.util.find_spec("resource") is None, reason="no such limit here")
def test_a_full_disk_leaves_nothing_behind(folder, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FULL], env=environment, check=True, timeout=120)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
