"""The command line in shells that close, fill or cut off its streams, and with names that no file can have."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.cli import main
from workbench.records import load

SOLVE = "solve poisson5 --n 8"
PRINTED = "converged, verified by the true residual"
FULL = "workbench: cannot read or write the output: No space left on device\n"


def shell(line, folder, **environment):
    """Run the command line in a shell; `$W` stands for it."""
    root = str(Path(__file__).parents[2])
    ours = {"W": f"{sys.executable} -m workbench.cli", "PYTHONPATH": root, **environment}
    found = subprocess.run(
        ["bash", "-c", line], cwd=folder, env={**os.environ, **ours}, capture_output=True, text=True, timeout=240
    )
    return found.returncode, found.stdout, found.stderr


@pytest.mark.parametrize(
    ("line", "status", "out", "err"),
    [
        (f"$W {SOLVE} 2>&-", 0, PRINTED, ""),
        pytest.param(f"$W {SOLVE} >&-", 0, "", "", marks=pytest.mark.slow),
        (f"$W {SOLVE} <&- >&- 2>&-", 0, "", ""),
        pytest.param(f"$W {SOLVE} --maxiter 1 2>&-", 1, "the iteration limit was reached", "", marks=pytest.mark.slow),
        ("$W solve nothing 2>&-", 2, "", ""),
        pytest.param("$W solve nothing >&- 2>&-", 2, "", "", marks=pytest.mark.slow),
        (f"$W {SOLVE} >/dev/full", 2, "", FULL),
        pytest.param(f"$W {SOLVE} --json >/dev/full", 2, "", FULL, marks=pytest.mark.slow),
        ("$W --help >/dev/full", 2, "", FULL),
        pytest.param("PYTHONUNBUFFERED=1 $W --help >/dev/full", 2, "", FULL, marks=pytest.mark.slow),
        ("PYTHONUNBUFFERED=1 $W solve nothing >/dev/full 2>/dev/full", 2, "", ""),
        pytest.param("$W solve nothing 2>/dev/full", 2, "", "", marks=pytest.mark.slow),
        pytest.param(f"$W {SOLVE} >/dev/full 2>/dev/full", 2, "", "", marks=pytest.mark.slow),
        pytest.param(f"$W {SOLVE} 2>/dev/full", 0, PRINTED, "", marks=pytest.mark.slow),
        ("exec 3> >(true); wait $!; $W blocks >&3", 1, "", ""),
    ],
)
def test_streams_that_are_closed_full_or_cut_off(tmp_path, line, status, out, err):
    found = shell(line, tmp_path, PYTHONUNBUFFERED="")
    assert found[0] == status
    assert out in found[1]
    assert bool(out) == bool(found[1])
    assert found[2] == err


def test_a_file_does_not_get_what_is_meant_for_a_closed_stream(tmp_path):
    """Without a standard error its number would be the next file's that is opened."""
    assert shell(f"$W {SOLVE} --save a.run --trace a.json >&- 2>&-", tmp_path)[0] == 0
    assert load(tmp_path / "a.run").summary["converged"]


def test_an_encoding_without_the_characters_of_a_text(tmp_path):
    status, out, err = shell("$W blocks", tmp_path, PYTHONIOENCODING="ascii:strict", LC_ALL="C")
    assert (status, err) == (0, "")
    assert "problem" in out


def test_a_name_of_bytes_that_are_no_text(tmp_path):
    name = os.fsdecode(b"\xff.mtx")
    (tmp_path / name).write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n")
    status, out, err = shell(r"$W solve ./$'\xff.mtx' --save $'\xff.run'", tmp_path)
    assert (status, err) == (0, "")
    assert PRINTED in out
    status, out, err = shell(r"$W show $'\xff.run'", tmp_path)
    assert (status, err) == (0, "")
    assert "path=?.mtx" in out


LONG = "a" * 300
NAMES = {
    "a problem": ["solve", f"{LONG}.mtx"],
    "a problem with a null": ["solve", "a\0b.mtx"],
    "a saved problem": ["solve", f"{LONG}.cg.json"],
    "a saved problem with a null": ["solve", "a\0.cg.json"],
    "a run to save": ["solve", "poisson5", "--n", "8", "--save", LONG],
    "a run to save with a null": ["solve", "poisson5", "--n", "8", "--save", "a\0b"],
    "a folder to save to": ["solve", "poisson5", "--n", "8", "--save", "/"],
    "a trace in no folder": ["solve", "poisson5", "--n", "8", "--trace", "nowhere/a.json"],
    "a run": ["show", LONG],
    "a run with a null": ["show", "a\0b"],
    "a trace": ["retime", LONG, "--machine", "v100"],
    "a machine": ["retime", "a", "--machine", f"{LONG}.toml"],
    "a table": ["sweep", "poisson5", "--csv", f"{LONG}.csv"],
    "a picture": ["reproduce", "two-level", "table1", "--picture", f"{LONG}.svg"],
    "a profile": ["calibrate", "--output", f"{LONG}.toml"],
    "vectors": ["solve", "poisson5", "--n", "8", "--deflation", f"file:{LONG}"],
    "vectors with a null": ["solve", "poisson5", "--n", "8", "--deflation", "file:a\0b"],
    "a size": ["solve", "poisson5", "--n", "8", "--memory-limit", "9" * 400],
    "a size of thousands of digits": ["solve", "poisson5", "--n", "8", "--memory-limit", "9" * 5000],
    "a seed of thousands of digits": ["solve", "poisson5", "--n", "8", "--seed", "9" * 5000],
}


@pytest.mark.parametrize("arguments", NAMES.values(), ids=NAMES.keys())
def test_what_no_path_or_number_can_be_is_one_sentence(capsys, arguments):
    assert main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("workbench: ")
    assert printed.err.count("\n") == 1


def test_an_interrupt_while_importing_is_no_traceback(tmp_path):
    (tmp_path / "numpy.py").write_text("import signal; signal.raise_signal(signal.SIGINT)")
    path = os.pathsep.join([str(tmp_path), str(Path(__file__).parents[2])])
    found = shell(f"$W {SOLVE}", tmp_path, PYTHONPATH=path)
    assert found == (130, "", "workbench: stopped by the user\n")
