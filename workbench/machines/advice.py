"""Missing software on this machine, and the commands that install it."""

from __future__ import annotations

import dataclasses
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import workbench
from workbench.devices.discovery import Found, NvidiaDriver
from workbench.machines import packages
from workbench.registry.extensions import Extension

Versions = Mapping[str, Mapping[str, str | None]]
"""Installed version by package by extra, None for an absent package."""

# scripts/chromium.py looks for the same ones.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@dataclasses.dataclass(frozen=True)
class Missing:
    """A missing component, its purpose, and the shell commands that install it."""

    what: str
    why: str
    commands: tuple[str, ...]


def missing(versions: Versions, opencl: Found, driver: NvidiaDriver | None, cuda: Found) -> tuple[Missing, ...]:
    """Everything of the core that could be installed on this machine; CuPy only with a working NVIDIA driver."""
    found = [*_packages(versions), *_opencl(versions, opencl), *_chromium()]
    return (*found, *(_cuda(driver, cuda) if driver is not None else ()))


def install_command(extra: str) -> str:
    """The pip command that installs an extra ("" for none) for this Python, from the checkout if there is one."""
    pip = f"{python()} -m pip install"
    suffix = f"[{extra}]" if extra else ""
    root = _root()
    if not in_checkout():
        return f'{pip} "{packages.DISTRIBUTION}{suffix}"'
    return f'{pip} -c "{_short(root / "constraints.txt")}" -e "{_short(root)}{suffix}"'


def install_command_of(extension: Extension) -> str:
    """The pip command that installs an extension with all it needs."""
    name, _, extra = extension.install.partition("[")
    if name == packages.DISTRIBUTION:
        return install_command(extra.rstrip("]"))
    return f'{python()} -m pip install "{extension.install}"'


def python() -> str:
    """The path of this Python, as short as a command may have it."""
    return _short(Path(sys.executable))


def in_checkout() -> bool:
    """True if the workbench runs from a checkout, whose Makefile installs more."""
    return (_root() / "pyproject.toml").exists()


def _packages(versions: Versions) -> list[Missing]:
    if not versions:
        command = install_command("lab,opencl")
        return [
            Missing("the package's metadata", "the workbench runs from its sources and is not installed", (command,))
        ]
    reasons = {
        packages.BASE: "required by the workbench",
        "lab": "required by notebooks and widgets",
        "opencl": "required by OpenCL devices",
        "dev": "required by tests and checks",
    }
    found = []
    for extra, why in reasons.items():
        absent = [name for name, version in versions.get(extra, {}).items() if version is None]
        if absent:
            command = install_command("" if extra == packages.BASE else extra)
            found.append(Missing(", ".join(absent), why, (command,)))
    return found


def _opencl(versions: Versions, opencl: Found) -> list[Missing]:
    """PoCL, if PyOpenCL is installed but finds no device."""
    if opencl.devices or None in versions.get("opencl", {"": None}).values():
        return []
    return [Missing("an OpenCL device", opencl.problem, (install_command("opencl"),))]


def _root() -> Path:
    """The folder of the checkout, or that of the installed packages."""
    return Path(workbench.__file__).resolve().parent.parent


def _chromium() -> list[Missing]:
    playwrights = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or "~/.cache/ms-playwright").expanduser()
    if any(map(shutil.which, BROWSERS)) or any(playwrights.glob("chromium-*")):
        return []
    if shutil.which("apt-get"):
        command = "apt-get install chromium" if os.geteuid() == 0 else "sudo apt-get install chromium"
    else:
        command = f"{python()} -m playwright install chromium"
    return [Missing("chromium", "required by browser tests; `make test` installs it too", (command,))]


def _cuda(driver: NvidiaDriver, cuda: Found) -> list[Missing]:
    if cuda.devices:
        return []
    major, minor = driver.cuda
    if major < 12:
        why = f"driver {driver.version} supports CUDA {major}.{minor} at most, and CuPy's wheels need 12 or newer"
        return [Missing("a newer NVIDIA driver", why, ())]
    return [Missing("CuPy", cuda.problem, (install_command("cuda12" if major == 12 else "cuda13"),))]


def _short(path: Path) -> str:
    """The path relative to the current folder if it is inside, which is easier to read."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
