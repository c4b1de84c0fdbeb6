"""The machine description stored with every run and benchmark."""

from __future__ import annotations

import functools
import platform
import time
from pathlib import Path
from typing import Any

import workbench
from workbench.machines import packages, processor
from workbench.process import limits

NVIDIA_BOARDS = Path("/proc/driver/nvidia/gpus")


def describe_machine() -> dict[str, Any]:
    """Plain data for JSON: processor, cores, memory in bytes, system, Python, versions of the installed packages.

    Contains no host or user name. Nothing is measured, and no driver is called. Cost: microseconds, once a second a
    millisecond; what does not change within a process is cached, and takes 10 ms at first.

    Examples:
        >>> from workbench.machines import describe_machine
        >>> describe_machine()["cores_usable"] >= 1
        True
    """
    described = _described(processor.allowed_threads(), int(time.monotonic()))
    return described | {"gpus": list(described["gpus"]), "packages": dict(described["packages"])}


@functools.lru_cache(1)
def _described(threads: frozenset[int], _second: int) -> dict[str, Any]:
    """The description, whose limits are from tens of files that may be changed at any time: read once a second."""
    model, physical, cache, boards = _hardware(threads)
    return {
        "cpu": model,
        "cores_physical": physical,
        "cores_logical": processor.logical_cores(),
        "cores_usable": processor.usable_cores(),
        "last_level_cache_bytes": cache,
        "memory_bytes": limits.memory()[0],
        "gpus": boards,
        "os": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "workbench": workbench.__version__,
        "packages": _packages(),
    }


@functools.cache
def _hardware(threads: frozenset[int]) -> tuple[str, int, int | None, tuple[str, ...]]:
    """Model, physical cores, last-level cache and GPUs for these hardware threads, from hundreds of small files."""
    return processor.model(), processor.physical_cores(), processor.last_level_cache(), tuple(nvidia_boards())


@functools.cache
def _packages() -> dict[str, str]:
    """Versions of the installed packages, cached because imported packages do not change within a process."""
    declared = {name for extra, names in packages.declared().items() if extra != "dev" for name in names}
    versions = packages.versions(tuple(sorted(declared)))
    return {name: version for name, version in versions.items() if version}


def machine_line() -> str:
    """A one-line description of the machine for traces; equal for machines with the same hardware."""
    about = describe_machine()
    return ", ".join([about["cpu"], f"{about['cores_usable']} cores", *about["gpus"]])


def nvidia_boards(folder: Path = NVIDIA_BOARDS) -> list[str]:
    """Names of NVIDIA GPUs as listed by the kernel driver; empty without one."""
    names = []
    for file in sorted(folder.glob("*/information")):
        for line in file.read_text().splitlines():
            if line.startswith("Model:"):
                names.append(line.partition(":")[2].strip())
    return names
