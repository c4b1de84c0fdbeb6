"""Missing components are reported with install commands."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import workbench
from workbench.devices.discovery import Accelerator, Found, NvidiaDriver
from workbench.machines import advice, packages

DEVICE = Found((Accelerator("PoCL", "cpu", "CPU", 1 << 30, True, "OpenCL 3.0"),))
NONE = Found(problem="CuPy cannot be imported: No module named 'cupy'")
COMPLETE = {"base": {"numpy": "2.4"}, "lab": {"jupyterlab": "4.6"}, "opencl": {"pyopencl": "2026.1"}}


@pytest.fixture(autouse=True)
def browser(monkeypatch):
    """Pretend that a browser is installed."""
    monkeypatch.setattr(advice, "BROWSERS", ("sh",))


def named(versions=COMPLETE, opencl=DEVICE, driver=None, cuda=NONE) -> dict[str, advice.Missing]:
    return {lack.what: lack for lack in advice.missing(versions, opencl, driver, cuda)}


def driver(major: int, minor: int = 0) -> NvidiaDriver:
    return NvidiaDriver("570.1", (major, minor), ("NVIDIA H200",))


def test_a_complete_machine_without_cuda_lacks_nothing():
    assert named() == {}


@pytest.mark.parametrize("extra", ["lab", "opencl", "dev"])
def test_missing_packages_are_installed_by_their_extra(extra):
    lacks = named({**COMPLETE, extra: {"one": None, "two": "1.0", "three": None}})
    (command,) = lacks["one, three"].commands
    assert shlex.split(command)[-1].endswith(f"[{extra}]")


def test_missing_base_packages_need_no_extra():
    (command,) = named({**COMPLETE, "base": {"tqdm": None}})["tqdm"].commands
    assert shlex.split(command)[-2] == "-e"
    assert "[" not in command


def test_pocl_is_suggested_for_pyopencl_without_a_device():
    lack = named(opencl=Found(problem="no OpenCL platform has a device"))["an OpenCL device"]
    assert lack.why == "no OpenCL platform has a device"
    assert lack.commands == (advice.install_command("opencl"),)


def test_a_workbench_without_metadata_is_reported():
    assert "the package's metadata" in named(versions={})


@pytest.mark.parametrize(("major", "extra"), [(12, "cuda12"), (13, "cuda13"), (14, "cuda13")])
def test_cupy_is_chosen_by_the_cuda_that_the_driver_runs(major, extra):
    (command,) = named(driver=driver(major))["CuPy"].commands
    assert f"[{extra}]" in command


def test_an_old_driver_is_named_with_its_version():
    lacks = named(driver=driver(11, 4))
    assert "CuPy" not in lacks
    assert "570.1" in lacks["a newer NVIDIA driver"].why
    assert "CUDA 11.4" in lacks["a newer NVIDIA driver"].why


def test_a_missing_browser_is_named_with_a_command(monkeypatch, tmp_path):
    monkeypatch.setattr(advice, "BROWSERS", ("no-such-browser",))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    (command,) = named()["chromium"].commands
    assert "chromium" in command
    (tmp_path / "chromium-1200").mkdir()
    assert named() == {}


def test_pip_uses_the_constraints_of_a_checkout(monkeypatch):
    monkeypatch.chdir(Path(workbench.__file__).parent.parent)
    assert advice.install_command("lab").endswith('-m pip install -c "constraints.txt" -e ".[lab]"')


def test_pip_installs_by_name_without_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(workbench, "__file__", str(tmp_path / "site-packages" / "workbench" / "__init__.py"))
    assert advice.install_command("lab").endswith(f'-m pip install "{packages.DISTRIBUTION}[lab]"')
