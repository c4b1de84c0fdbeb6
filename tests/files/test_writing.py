"""Writing files: what a path stands for stays what it is, and nothing is left behind, however it ends."""

import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from workbench.errors import InputError
from workbench.files import check_target, replacing, write

ROOT = Path(__file__).parents[2]


@contextlib.contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mask", [0o022, 0o027, 0o077, 0o000])
def test_a_new_file_has_what_the_umask_leaves(tmp_path, mask):
    with umask(mask):
        assert write(tmp_path / "a", b"new") == tmp_path / "a"
    assert mode(tmp_path / "a") == 0o666 & ~mask
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o644, 0o664, 0o755])
def test_a_file_keeps_its_mode(tmp_path, kept):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(kept)
    with umask(0o022):
        write(path, b"new")
    assert (mode(path), path.read_bytes()) == (kept, b"new")
    assert os.listdir(tmp_path) == ["a"]


def test_what_replaces_a_private_file_is_never_readable_by_others(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with umask(0o022), replacing(path) as stream:
        stream.write(b"secret")
        assert {mode(entry) for entry in tmp_path.iterdir()} == {0o600}


def test_a_path_that_no_file_system_can_encode_is_refused():
    with pytest.raises(InputError, match=r"cannot write 'a\\ud800': .*; choose another place"):
        check_target(Path("a\ud800"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    write(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "inner").mkdir()
    target = tmp_path / "inner" / "target"
    target.write_bytes(b"old")
    target.chmod(0o600)
    (tmp_path / "link").symlink_to("middle")
    (tmp_path / "middle").symlink_to("inner/target")
    write(tmp_path / "link", b"new")
    assert os.readlink(tmp_path / "link") == "middle"
    assert (target.read_bytes(), mode(target)) == (b"new", 0o600)
    assert os.listdir(tmp_path / "inner") == ["target"]
    (tmp_path / "dangling").symlink_to("inner/later")
    write(tmp_path / "dangling", b"made")
    assert (tmp_path / "inner" / "later").read_bytes() == b"made"
    assert (tmp_path / "dangling").is_symlink()


def test_links_in_a_circle_are_a_sentence(tmp_path):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    with pytest.raises(InputError, match="cannot write .*one: Too many levels of symbolic links; choose another place"):
        write(tmp_path / "one", b"new")


def test_devices_are_written_into(tmp_path):
    before = os.stat("/dev/null")
    write(Path("/dev/null"), b"new")
    (tmp_path / "link").symlink_to("/dev/null")
    write(tmp_path / "link", b"new")
    after = os.stat("/dev/null")
    assert (after.st_ino, after.st_mode, after.st_rdev) == (before.st_ino, before.st_mode, before.st_rdev)
    with pytest.raises(InputError, match="cannot write /dev/full: No space left on device"):
        write(Path("/dev/full"), b"new")


def test_a_pipe_is_written_into_and_needs_a_reader(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(InputError, match="pipe: no process reads from it; choose another place"):
        write(path, b"new")
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    # While this end is open, a pipe without its writer is not at its end.
    other = os.open(path, os.O_WRONLY)
    os.set_blocking(reader, True)
    # More than a pipe holds, so that writing has to wait.
    content = bytes(range(256)) * 1024
    writer = threading.Thread(target=write, args=(path, content))
    writer.start()
    with os.fdopen(reader, "rb") as stream:
        assert stream.read(len(content)) == content
        writer.join()
    os.close(other)
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_standard_output_is_written_into_where_it_is(tmp_path):
    code = "from workbench.files import write; from pathlib import Path; write(Path('/dev/stdout'), b'content')"
    out = tmp_path / "out"
    with out.open("wb") as stream:
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, stdout=stream, check=True)
        assert os.fstat(stream.fileno()).st_ino == out.stat().st_ino
    assert out.read_bytes() == b"content"


@pytest.mark.parametrize("check", [lambda path: write(path, b"new"), check_target])
def test_what_cannot_be_written_is_a_sentence(tmp_path, check):
    (tmp_path / "file").write_bytes(b"")
    for path, reason in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "a", "there is no folder|No such file or directory"),
        (tmp_path / "file" / "a", "Not a directory"),
        (tmp_path / ("a" * 300), "File name too long"),
        (tmp_path / "a\0b", "embedded null byte"),
        (Path("/"), "it is a folder"),
    ):
        with pytest.raises(InputError, match=f"^cannot write .*({reason}).*; choose another place$"):
            check(path)
    assert os.listdir(tmp_path) == ["file"]


def test_a_name_as_long_as_a_name_may_be(tmp_path):
    write(tmp_path / ("a" * 255), b"new")
    write(tmp_path / ("a" * 255), b"newer")
    assert (tmp_path / ("a" * 255)).read_bytes() == b"newer"


SOMEBODY = """
import os, sys
from pathlib import Path
from workbench.errors import InputError
from workbench.files import check_target, write

# Root may write everything.
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    write(Path(sys.argv[2]), b"new") if sys.argv[1] == "write" else check_target(Path(sys.argv[2]))
except InputError as error:
    print(error)
"""


def said_to_somebody(what, path):
    """The sentence for a user who is not root."""
    for parent in (path.parent.parent, *path.parent.parent.parents[:2]):
        parent.chmod(0o755)
    found = subprocess.run(
        [sys.executable, "-c", SOMEBODY, what, str(path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return found.stdout


@pytest.mark.parametrize("what", ["write", "check"])
@pytest.mark.parametrize("there", [False, True])
def test_a_folder_that_may_not_be_written_is_a_sentence(tmp_path, what, there):
    folder = tmp_path / "locked"
    folder.mkdir()
    if there:
        (folder / "a").write_bytes(b"old")
        (folder / "a").chmod(0o666)
    folder.chmod(0o555)
    said = said_to_somebody(what, folder / "a")
    assert said == f"cannot write {folder / 'a'}: Permission denied; choose another place\n"
    assert os.listdir(folder) == (["a"] if there else [])


@pytest.mark.parametrize("what", ["write", "check"])
def test_a_file_that_may_not_be_written_is_a_sentence(tmp_path, what):
    folder = tmp_path / "open"
    folder.mkdir()
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(0o444)
    folder.chmod(0o777)
    said = said_to_somebody(what, folder / "a")
    assert said == f"cannot write {folder / 'a'}: Permission denied; choose another place\n"
    assert (folder / "a").read_bytes() == b"old"
    assert os.listdir(folder) == ["a"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Python ignores the signal, so that writing more fails as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with pytest.raises(InputError, match="cannot write .*a: File too large; choose another place"):
            write(path, bytes(1 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("ending", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, ending):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as stream:
            stream.write(b"new")
            stream.flush()
            raise ending

    with pytest.raises(ending):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_an_interrupt_between_naming_and_renaming_leaves_nothing(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupt(_source, _target):
        assert len(os.listdir(tmp_path)) == 2
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


CHILD = """
import os, signal, sys
from pathlib import Path
from workbench.files import replacing, write

# Tests that run under nohup or in the background hand on signals that are ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

folder, where = Path(sys.argv[1]), sys.argv[2]

def wait(*_):
    print("ready", flush=True)
    sys.stdin.read()

if where == "renaming":
    os.replace = wait
    write(folder / "a", b"new")
else:
    with replacing(folder / "a") as stream:
        stream.write(b"new")
        stream.flush()
        wait()
"""


@pytest.mark.parametrize("where", ["writing", "renaming"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_writing_ends_the_process_and_leaves_nothing(tmp_path, number, where):
    (tmp_path / "a").write_bytes(b"old")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(tmp_path), where],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(number)
    child.communicate(timeout=200)
    assert child.returncode == -number
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_stream_goes_only_into_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: it is no regular file"), replacing(tmp_path / "pipe"):
        pytest.fail("the block must not be entered")


def test_what_was_written_can_be_read_before_it_is_kept(tmp_path):
    with replacing(tmp_path / "a") as stream:
        stream.write(b"new")
        stream.seek(0)
        assert stream.read() == b"new"
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"new"
