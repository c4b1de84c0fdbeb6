"""The short description of a machine that every run and benchmark stores."""

from __future__ import annotations

import functools
import platform
from pathlib import Path
from typing import Any

import workbench
from workbench.machine import packages, processor

NVIDIA_BOARDS = Path("/proc/driver/nvidia/gpus")


def describe_machine() -> dict[str, Any]:
    """Plain data for JSON: processor, cores, memory in bytes, system, Python, versions of the installed packages.

    Costs about 10 ms; versions are looked up once. Nothing is measured and neither numba nor a driver is asked. Holds
    no name of host or user.
    """
    total, _ = processor.memory()
    return {
        "cpu": processor.model(),
        "cores_physical": processor.physical_cores(),
        "cores_logical": processor.logical_cores(),
        "cores_usable": processor.usable_cores(),
        "last_level_cache_bytes": processor.last_level_cache(),
        "memory_bytes": total,
        "gpus": nvidia_boards(),
        "os": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "workbench": workbench.__version__,
        "packages": dict(_packages()),
    }


@functools.cache
def _packages() -> dict[str, str]:
    """Versions of the installed packages. What is imported stays as it is, so one look is enough for a process."""
    wanted = {name for extra, names in packages.declared().items() if extra != "dev" for name in names}
    found = packages.versions(tuple(sorted(wanted)))
    return {name: version for name, version in found.items() if version}


def machine_line() -> str:
    """The machine in a line, as traces say where they were made. Two machines alike have the same."""
    about = describe_machine()
    return ", ".join([about["cpu"], f"{about['cores_usable']} cores", *about["gpus"]])


def nvidia_boards(folder: Path = NVIDIA_BOARDS) -> list[str]:
    """The names of NVIDIA's boards, as the kernel driver lists them; empty without one."""
    names = []
    for file in sorted(folder.glob("*/information")):
        for line in file.read_text().splitlines():
            if line.startswith("Model:"):
                names.append(line.partition(":")[2].strip())
    return names
