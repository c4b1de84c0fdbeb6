"""Missing or broken drivers and libraries are reported as messages, not raised."""

from __future__ import annotations

import sys
import types

import pytest

from workbench.devices import discovery

TABLE = """
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 570.124.06             Driver Version: 570.124.06     CUDA Version: 12.8     |
"""
NEW_TABLE = """
| NVIDIA-SMI 610.1       KMD Version: 610.1       CUDA UMD Version: 13.3     |
"""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """Put a nvidia-smi on the PATH that prints this table and these rows."""

    def install(table: str, rows: str, status: int = 0) -> None:
        program = tmp_path / "nvidia-smi"
        program.write_text(
            f"#!/bin/sh\nif [ $# -gt 0 ]; then cat <<'X'\n{rows}\nX\nelse cat <<'X'\n{table}\nX\nfi\nexit {status}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return install


def test_the_driver_its_cuda_and_all_boards_are_read(smi):
    smi(TABLE, "570.124.06, NVIDIA H200\n570.124.06, NVIDIA H200")
    assert discovery.nvidia_driver() == discovery.NvidiaDriver("570.124.06", (12, 8), ("NVIDIA H200", "NVIDIA H200"))


def test_the_newer_heading_is_read_too(smi):
    smi(NEW_TABLE, "610.1, Tesla T4")
    driver = discovery.nvidia_driver()
    assert driver is not None
    assert driver.cuda == (13, 3)


def test_a_driver_that_does_not_answer_is_none(smi):
    smi("NVIDIA-SMI has failed", "", status=9)
    assert discovery.nvidia_driver() is None


def test_a_machine_without_the_program_has_no_driver(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert discovery.nvidia_driver() is None


@pytest.mark.parametrize(("module", "look"), [("pyopencl", discovery.opencl_devices), ("cupy", discovery.cuda_devices)])
def test_a_missing_library_is_reported(monkeypatch, module, look):
    monkeypatch.setitem(sys.modules, module, None)
    found = look()
    assert found.devices == ()
    assert "cannot be imported" in found.problem
    assert "\n" not in found.problem


def test_a_missing_opencl_platform_is_reported(monkeypatch):
    cl = pytest.importorskip("pyopencl")

    def none():
        raise cl.LogicError("clGetPlatformIDs failed: PLATFORM_NOT_FOUND_KHR")

    monkeypatch.setattr(cl, "get_platforms", none)
    assert "PLATFORM_NOT_FOUND_KHR" in discovery.opencl_devices().problem


def test_a_platform_without_devices_does_not_hide_the_others(monkeypatch):
    cl = pytest.importorskip("pyopencl")

    def broken():
        raise cl.RuntimeError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")

    platforms = [types.SimpleNamespace(name="Empty", get_devices=broken), *cl.get_platforms()]
    monkeypatch.setattr(cl, "get_platforms", lambda: platforms)
    found = discovery.opencl_devices()
    assert found.devices
    assert "Empty" in found.problem


def cupy(count, properties=None):
    """A stub of CuPy with the functions used here."""

    class CUDARuntimeError(RuntimeError):
        pass

    def device_count():
        if count is None:
            raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
        return count

    runtime = types.SimpleNamespace(
        CUDARuntimeError=CUDARuntimeError,
        getDeviceCount=device_count,
        getDeviceProperties=lambda index: properties[index],
    )
    return types.SimpleNamespace(cuda=types.SimpleNamespace(runtime=runtime))


def test_cuda_devices_are_described(monkeypatch):
    properties = {"name": b"NVIDIA H200", "totalGlobalMem": 150 << 30, "major": 9, "minor": 0}
    monkeypatch.setitem(sys.modules, "cupy", cupy(1, [properties]))
    (device,) = discovery.cuda_devices().devices
    assert (device.name, device.memory, device.version) == ("NVIDIA H200", 150 << 30, "compute capability 9.0")


def test_cupy_without_a_device_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", cupy(None))
    found = discovery.cuda_devices()
    assert found.devices == ()
    assert "no CUDA-capable device" in found.problem
