"""The first command of an installation compiles and says so; a damaged cache makes the next one do it again."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from workbench.cli.common import CompilationNotice

MANY = ("two-layer", "--n", "16", "--preconditioner", "neumann:2", "--deflation", "stripes")
"""Kernels that take longer than half a second, after which a solve says so."""
COMMAND = [sys.executable, "-m", "workbench.cli", "solve", *MANY, "--json"]
LINE = "workbench: compiling kernels for this machine, once; this takes some seconds\n"


def solve(cache):
    """What a solve prints, as data, and what it says on standard error."""
    environment = os.environ | {"WORKBENCH_CACHE": str(cache)}
    done = subprocess.run(COMMAND, env=environment, capture_output=True, text=True, timeout=280, check=True)
    return json.loads(done.stdout)["residual_history"], done.stderr


# Four processes, two of which compile everything.
@pytest.mark.slow
def test_compiling_is_said_once_and_a_damaged_cache_is_rebuilt(tmp_path):
    first, said = solve(tmp_path)
    assert said == LINE
    files = list((tmp_path / "machine-code").iterdir())
    assert solve(tmp_path) == (first, "")
    for path in files:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    assert solve(tmp_path) == (first, LINE)
    assert solve(tmp_path) == (first, "")
    assert set((tmp_path / "machine-code").iterdir()) == set(files)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_the_line_is_taken_away_when_nothing_is_compiled_any_more(monkeypatch):
    terminal, line = Terminal(), CompilationNotice()
    monkeypatch.setattr("sys.stderr", terminal)
    line(None)
    assert not terminal.getvalue()
    line(1.0)
    line(2.4)
    line(None)
    erase = "\r\033[K"
    assert terminal.getvalue().split(erase)[1:] == [
        "compiling kernels for this machine, once: 1 s",
        "compiling kernels for this machine, once: 2 s",
        "",
    ]
    line(None)
    assert terminal.getvalue().endswith("2 s" + erase)
