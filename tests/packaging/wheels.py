"""Wheels that are built without a network, and environments in which they are installed, outside any checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from pathlib import Path

PIP = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]


def clean() -> dict[str, str]:
    """The environment without variables that name other packages."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}


def done(command: Sequence[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    """A command that has run in a folder."""
    return subprocess.run(command, cwd=folder, env=clean(), capture_output=True, text=True, check=False, timeout=250)


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Run a command in a folder; return its standard output."""
    ran = done(command, folder)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


def built(source: Path, folder: Path) -> Path:
    """A wheel of the project in a folder, built into another one without network access."""
    run([sys.executable, "-m", "pip", "wheel", *PIP, "--no-build-isolation", "--wheel-dir", folder, source], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path, *wheels: Path) -> Path:
    """The folder of commands of an environment with wheels, which takes its dependencies from this environment."""
    venv.create(folder, with_pip=False)
    commands = folder / "bin"
    packages = sysconfig.get_path("purelib", scheme="venv", vars={"base": str(folder)})
    # A folder in a .pth file is searched last, and the .pth files in it, as of an editable install, are not read.
    Path(packages, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    install = [sys.executable, "-m", "pip", "--python", commands / "python", "install", *PIP, "--ignore-installed"]
    run([*install, *wheels], folder)
    return commands
