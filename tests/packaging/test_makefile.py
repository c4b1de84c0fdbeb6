"""The targets of the Makefile: help names them all, and a Python that will not do is refused in one sentence."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="the Makefile is for machines with make")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "--no-print-directory", "-C", str(ROOT), *arguments]
    # What the make that runs these tests was given (MAKEFLAGS, TESTS, ARGS, PYTHON) is not for this one.
    clean = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=clean)


@needs_make
def test_help_is_the_default_and_names_every_target_for_users():
    shown = make().stdout
    targets = "help lab app test test-all test-oldest check docs docs-recording bench constraints clean"
    for target in targets.split():
        assert re.search(rf"^  make {target} +\w", shown, re.MULTILINE), target


@needs_make
@pytest.mark.parametrize("target", ["lab", "app", "test", "check"])
def test_an_old_python_is_refused_in_one_sentence(tmp_path, target):
    old = tmp_path / "python3.9"
    old.write_text('#!/bin/sh\ncase "$1" in --version) echo Python 3.9.2;; *) exit 1;; esac\n')
    old.chmod(0o755)
    result = make(target, f"PYTHON={old}")
    assert result.returncode != 0
    assert "needs Python 3.11 or newer" in result.stderr
    assert "Python 3.9.2" in result.stderr
    assert "Traceback" not in result.stderr


@needs_make
def test_no_python_at_all_is_told_in_one_sentence():
    result = make("lab", "PYTHON=no-such-python")
    assert result.returncode != 0
    assert "there is no no-such-python on the PATH" in result.stderr


@needs_make
@pytest.mark.parametrize(("target", "option"), [("test", ""), ("test-all", "--all ")])
def test_what_make_test_is_given_reaches_the_script_that_runs_the_tests(target, option):
    given = ("PYTHON=python3", "TESTS=tests/machines", "ARGS=-k stencil")
    printed = make("--dry-run", "--always-make", target, *given).stdout
    assert f"scripts/run_tests.py {option}tests/machines -- -k stencil" in printed
