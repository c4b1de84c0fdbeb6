"""What is done to PoCL's library, on a library of a few bytes."""

from __future__ import annotations

import pytest

from scripts import pocl

UNKNOWN = "error: unknown target CPU 'generic'"


@pytest.fixture
def script(monkeypatch, tmp_path):
    library = tmp_path / "libpocl-1.so"
    library.write_bytes(b"x\0tail of generic\0generics\0")
    library.chmod(0o755)
    monkeypatch.setattr(pocl, "libraries", lambda: [library])
    monkeypatch.setattr(pocl, "flags", lambda: {*pocl.NEEDED, "sse2"})
    pocl.copied = library
    return pocl


def complaining(*texts):
    said = list(texts)
    return lambda: said.pop(0)


def test_a_processor_that_it_does_not_know_gets_a_name_that_it_knows(script, monkeypatch):
    monkeypatch.setattr(script, "complaint", complaining(UNKNOWN, ""))
    script.main()
    assert script.copied.read_bytes() == b"x\0tail of haswell\0generics\0"
    assert script.copied.stat().st_mode & 0o777 == 0o755
    assert not list(script.copied.parent.glob("*.draft"))


def test_what_does_not_help_is_taken_back(script, monkeypatch, capsys):
    before = script.copied.read_bytes()
    monkeypatch.setattr(script, "complaint", complaining(UNKNOWN, "another error"))
    script.main()
    assert script.copied.read_bytes() == before
    assert "needs another OpenCL driver" in capsys.readouterr().err


@pytest.mark.parametrize("said", ["", "another error"])
def test_nothing_is_done_where_it_compiles_or_fails_for_another_reason(script, monkeypatch, said):
    before = script.copied.read_bytes()
    monkeypatch.setattr(script, "complaint", complaining(said))
    script.main()
    assert script.copied.read_bytes() == before


def test_nothing_is_done_on_a_processor_that_has_less(script, monkeypatch):
    before = script.copied.read_bytes()
    monkeypatch.setattr(script, "complaint", complaining(UNKNOWN))
    monkeypatch.setattr(script, "flags", lambda: {"sse2", "avx2"})
    script.main()
    assert script.copied.read_bytes() == before


def test_here_the_installation_has_done_it(script):
    pytest.importorskip("pyopencl")
    assert UNKNOWN not in script.complaint()
