"""Opening files: regular ones only, never waiting, and a sentence for the rest."""

import os
import socket

import pytest

from workbench.errors import InputError
from workbench.files import opened, read_bytes


def test_a_file_and_a_link_to_it_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    (tmp_path / "link").symlink_to("a")
    for name in ("a", "link"):
        assert read_bytes(tmp_path / name, 7) == b"content"


def test_a_file_of_more_bytes_than_allowed_is_not_read(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    with pytest.raises(InputError, match="a has 7 bytes, a run file has at most 6; choose another file"):
        read_bytes(tmp_path / "a", 6, "run file")


def test_what_is_no_file_is_told_apart(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as bound:
        here = os.getcwd()
        # The path of a socket may have a hundred characters only.
        os.chdir(tmp_path)
        try:
            bound.bind("socket")
        finally:
            os.chdir(here)
        for path, sentence in (
            (tmp_path / "pipe", "pipe is a pipe, not a table; write what it holds to a file, and give that file"),
            (tmp_path / "socket", "socket is a socket, not a table"),
            ("/dev/zero", "/dev/zero is a device, not a table"),
            (tmp_path, "is a folder, not a table"),
            (tmp_path / "none", "no table at "),
            (tmp_path / "pipe" / "none", "no table at "),
            (tmp_path / ("a" * 300), "File name too long"),
            ("a\0b", r"cannot read 'a\\x00b': embedded null byte"),
        ):
            with pytest.raises(InputError, match=sentence):
                opened(path, "table")


def test_a_pipe_that_comes_in_place_of_the_file_is_not_waited_for(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"")
    stat = os.stat

    def then_changed(what, **how):
        found = stat(what, **how)
        path.unlink()
        os.mkfifo(path)
        return found

    monkeypatch.setattr(os, "stat", then_changed)
    with pytest.raises(InputError, match="is a pipe, not a file"):
        opened(path)
