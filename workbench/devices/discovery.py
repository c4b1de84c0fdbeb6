"""Discovery of OpenCL and CUDA devices, and of the NVIDIA driver.

Nothing here raises: a missing library or a driver that does not answer is reported as a sentence in `problem`. PyOpenCL
and CuPy are imported on demand, since the import alone takes 0.1 s to seconds.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyopencl import Device


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """One device as its driver describes it; `memory` in bytes, `fp64` whether it computes in double precision."""

    platform: str
    name: str
    kind: str
    memory: int
    fp64: bool
    version: str


@dataclasses.dataclass(frozen=True)
class Found:
    """The devices of one programming interface, and a sentence about why there are none or fewer."""

    devices: tuple[Accelerator, ...] = ()
    problem: str = ""


@dataclasses.dataclass(frozen=True)
class NvidiaDriver:
    """Output of nvidia-smi: the driver's version, the newest CUDA that it runs, as (major, minor), and the boards."""

    version: str
    cuda: tuple[int, int]
    boards: tuple[str, ...]


def opencl_devices() -> Found:
    """All devices of all OpenCL platforms. Costs about 0.2 s the first time."""
    try:
        import pyopencl as cl
    except ImportError as error:
        return Found(problem=f"PyOpenCL cannot be imported: {_sentence(error)}")
    devices: list[Accelerator] = []
    problems: list[str] = []
    try:
        platforms = cl.get_platforms()
    except cl.Error as error:
        return Found(problem=f"PyOpenCL finds no OpenCL platform: {_sentence(error)}")
    for platform in platforms:
        try:
            devices += [_opencl_device(platform.name, device) for device in platform.get_devices()]
        except cl.Error as error:
            problems.append(f"the OpenCL platform {platform.name} names no devices: {_sentence(error)}")
    if not devices and not problems:
        problems.append("no OpenCL platform has a device")
    return Found(tuple(devices), "; ".join(problems))


def _opencl_device(platform: str, device: Device) -> Accelerator:
    import pyopencl as cl

    kinds = {"CPU": cl.device_type.CPU, "GPU": cl.device_type.GPU, "accelerator": cl.device_type.ACCELERATOR}
    kind = next((name for name, bit in kinds.items() if device.type & bit), "other")
    return Accelerator(
        platform=platform,
        name=device.name.strip(),
        kind=kind,
        memory=device.global_mem_size,
        fp64="cl_khr_fp64" in device.extensions,
        version=device.version.strip(),
    )


def cuda_devices() -> Found:
    """All CUDA devices that CuPy sees. Costs about a second the first time."""
    try:
        import cupy  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        return Found(problem=f"CuPy cannot be imported: {_sentence(error)}")
    runtime = cupy.cuda.runtime
    try:
        count = runtime.getDeviceCount()
        return Found(tuple(_cuda_device(runtime.getDeviceProperties(index)) for index in range(count)))
    except runtime.CUDARuntimeError as error:
        return Found(problem=f"CuPy finds no CUDA device: {_sentence(error)}")


def _cuda_device(properties: Mapping[str, Any]) -> Accelerator:
    return Accelerator(
        platform="CUDA",
        name=properties["name"].decode(),
        kind="GPU",
        memory=properties["totalGlobalMem"],
        fp64=True,
        version=f"compute capability {properties['major']}.{properties['minor']}",
    )


def nvidia_driver() -> NvidiaDriver | None:
    """The NVIDIA driver, or None where none answers. Costs 0.1 s to seconds with a driver, else nothing."""
    program = shutil.which("nvidia-smi")
    if not program:
        return None
    try:
        table = _output(program)
        rows = _output(program, "--query-gpu=driver_version,name", "--format=csv,noheader").splitlines()
    except (OSError, subprocess.SubprocessError):
        return None
    # Newer drivers write "CUDA UMD Version", older ones "CUDA Version".
    cuda = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+)\.(\d+)", table)
    if not rows or not cuda:
        return None
    boards = [tuple(cell.strip() for cell in row.split(",", 1)) for row in rows]
    return NvidiaDriver(boards[0][0], (int(cuda[1]), int(cuda[2])), tuple(name for _, name in boards))


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=30).stdout


def _sentence(error: Exception) -> str:
    """The first line of an error, without its full stop."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].rstrip(". ")
