"""The report of `workbench doctor`: hardware, devices, extensions, packages, and commands that install the rest."""

from __future__ import annotations

import dataclasses
from typing import Any

from workbench.devices import discovery
from workbench.devices.discovery import Accelerator, Found, NvidiaDriver
from workbench.devices.host.triad import BYTES_PER_ELEMENT, DEFAULT_ARRAY_BYTES, Triad, triad_bandwidth
from workbench.jit.environment import Threads, threads
from workbench.machines import advice, packages
from workbench.machines.describe import describe_machine
from workbench.machines.extension_reports import ExtensionReport, examine_extensions
from workbench.process import limits

TIMES_CACHE = 4
"""Size of each triad array in multiples of the last-level cache, so that almost nothing is served from cache."""

SHARE_OF_MEMORY = 8
"""The three triad arrays together take at most one eighth of the free memory."""


@dataclasses.dataclass(frozen=True)
class Report:
    """Findings about this machine: sizes in bytes, bandwidths in bytes per second; `triad` is None if not measured."""

    machine: dict[str, Any]
    memory_free: int
    threads: Threads
    triad: Triad | None
    opencl: Found
    cuda: Found
    driver: NvidiaDriver | None
    extensions: tuple[ExtensionReport, ...]
    versions: advice.Versions
    missing: tuple[advice.Missing, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; what an extension found is also under its name, such as `mpi`."""
        facts = {each.name: dict(each.facts) for each in self.extensions if each.facts}
        return facts | dataclasses.asdict(self)

    def text(self) -> str:
        """The report for a terminal: aligned, one fact per line, commands on separate lines."""
        parts = self._machine(), self._devices(), self._extensions(), self._packages(), self._missing()
        return "\n".join(line for part in parts for line in part)

    def _machine(self) -> list[str]:
        about = self.machine
        cores = f"{about['cores_usable']} usable of {about['cores_logical']}, on {about['cores_physical']} physical"
        facts = {
            "system": f"{about['os']}, {about['python']}, workbench {about['workbench']}",
            "processor": about["cpu"],
            "cores": cores,
            "cache": _size(about["last_level_cache_bytes"]) if about["last_level_cache_bytes"] else "unknown",
            "memory": f"{_size(about['memory_bytes'])}, {_size(self.memory_free)} free",
            "bandwidth": self._bandwidth(),
            "threads": str(self.threads.count) + (f", by {self.threads.variable}" if self.threads.variable else ""),
        }
        return ["Machine", *_table(facts)]

    def _bandwidth(self) -> str:
        if self.triad is None:
            return "not measured"
        triad = self.triad
        cached = triad.array_bytes < TIMES_CACHE * (self.machine["last_level_cache_bytes"] or 0)
        return (
            f"{triad.median / 1e9:.1f} GB/s median, {triad.best / 1e9:.1f} best of {triad.repeats}; triad a = b + 3 c, "
            f"{_size(triad.array_bytes)} each, {BYTES_PER_ELEMENT} bytes per element, counted without write-allocate"
            + ("; overestimated, the arrays are too small for the cache" if cached else "")
        )

    def _devices(self) -> list[str]:
        lines = ["OpenCL", *_accelerators(self.opencl), "CUDA"]
        if self.driver is None:
            return [*lines, *_table({"driver": "none: nvidia-smi is missing or failed"})]
        boards = ", ".join(self.driver.boards)
        runs = f"{self.driver.version}, supports CUDA up to {self.driver.cuda[0]}.{self.driver.cuda[1]}; {boards}"
        return [*lines, *_table({"driver": runs}), *_accelerators(self.cuda)]

    def _extensions(self) -> list[str]:
        lines = ["Extensions", *_table({each.name: each.summary for each in self.extensions})]
        for each in self.extensions:
            if each.lines:
                lines += [each.heading or each.title, *(f"  {line}" for line in each.lines)]
        return lines

    def _packages(self) -> list[str]:
        if not self.versions:
            return ["Packages", "  not installed; running from the sources"]
        described = {
            extra: ", ".join(f"{name} {version or '(absent)'}" for name, version in sorted(found.items()))
            for extra, found in self.versions.items()
        }
        return ["Packages", *_table(described)]

    def _missing(self) -> list[str]:
        if not self.missing:
            return ["Missing", "  nothing"]
        lines = ["Missing"]
        for lack in self.missing:
            lines.append(f"  {lack.what}: {lack.why}")
            lines += [f"      {command}" for command in lack.commands]
        return lines


def examine(measure: bool = True) -> Report:
    """Examine this machine. Cost: about 3 s, a third of it for the triad."""
    about = describe_machine()
    _, free = limits.memory()
    triad = triad_bandwidth(array_bytes=triad_array_bytes(about["last_level_cache_bytes"], free)) if measure else None
    versions = {extra: packages.versions(names) for extra, names in packages.declared().items()}
    opencl, cuda = discovery.opencl_devices(), discovery.cuda_devices()
    driver = discovery.nvidia_driver()
    extensions = examine_extensions()
    return Report(
        machine=about,
        memory_free=free,
        threads=threads(),
        triad=triad,
        opencl=opencl,
        cuda=cuda,
        driver=driver,
        extensions=extensions,
        versions=versions,
        missing=(
            *advice.missing(versions, opencl, driver, cuda),
            *(lack for each in extensions for lack in each.missing),
        ),
    )


def triad_array_bytes(cache: int | None, free: int) -> int:
    """The size in bytes of each of the triad's three arrays: much larger than the cache, much less than free memory."""
    wanted = max(DEFAULT_ARRAY_BYTES, TIMES_CACHE * (cache or 0))
    return min(wanted, free // (3 * SHARE_OF_MEMORY))


def _accelerators(found: Found) -> list[str]:
    lines = [f"  {_accelerator(device)}" for device in found.devices]
    return [*lines, f"  {found.problem}"] if found.problem else lines


def _accelerator(device: Accelerator) -> str:
    double = "fp64" if device.fp64 else "no fp64"
    return f"{device.name}: {device.kind}, {_size(device.memory)}, {double}; {device.platform}, {device.version}"


def _table(facts: dict[str, str]) -> list[str]:
    width = max(map(len, facts))
    return [f"  {name:<{width}}  {fact}" for name, fact in facts.items()]


def _size(count: int) -> str:
    """A size in bytes as text, in the unit with the fewest digits."""
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"
