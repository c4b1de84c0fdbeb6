"""The stored description of the machine: plain data, cheap, without host or user names."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from importlib import metadata

from workbench.machines import describe, describe_machine, packages
from workbench.machines.describe import nvidia_boards
from workbench.process import limits

HEAVY = ("numpy", "llvmlite", "pyopencl", "cupy", "matplotlib", "IPython")


def test_the_description_is_plain_data():
    about = describe_machine()
    assert json.loads(json.dumps(about)) == about
    assert about["cpu"]
    assert 1 <= about["cores_usable"] <= about["cores_logical"] == os.cpu_count()
    assert 1 <= about["cores_physical"] <= about["cores_logical"]
    assert about["memory_bytes"] > 1 << 28
    assert platform.python_version() in about["python"]
    assert about["packages"]["numpy"] == metadata.version("numpy")
    assert "pytest" not in about["packages"]


def test_the_description_has_no_host_name():
    words = set(json.dumps(describe_machine()).replace('"', " ").replace(",", " ").split())
    assert platform.node() not in words


def test_describing_imports_no_library():
    code = (
        "import sys\n"
        "from workbench.machines import describe_machine\n"
        "describe_machine()\n"
        f"print([name for name in {HEAVY} if name in sys.modules])\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_packages_are_those_of_the_metadata_without_duplicates():
    declared = packages.declared()
    assert next(iter(declared)) == "base"
    assert {"base", "lab", "app", "opencl", "cluster", "mpi", "cuda12", "cuda13", "docs", "dev"} == set(declared)
    assert {"numpy", "llvmlite", "psutil"} <= set(declared["base"])
    assert declared["opencl"] == ("pyopencl",)


def test_an_absent_package_has_no_version(monkeypatch):
    assert packages.versions(("numpy", "no-such-package"))["no-such-package"] is None
    monkeypatch.setattr(packages, "DISTRIBUTION", "no-such-package")
    assert packages.declared() == {}


def test_nvidia_boards_are_read_from_the_kernel_driver(tmp_path):
    assert nvidia_boards(tmp_path) == []
    for number, model in enumerate(["NVIDIA H200", "Tesla V100-SXM2-32GB"]):
        folder = tmp_path / f"0000:0{number}:00.0"
        folder.mkdir()
        (folder / "information").write_text(f"Model: \t\t {model}\nIRQ:   \t\t 42\n")
    assert nvidia_boards(tmp_path) == ["NVIDIA H200", "Tesla V100-SXM2-32GB"]


def test_limits_are_read_once_a_second(monkeypatch):
    read, memory = [], limits.memory
    monkeypatch.setattr(limits, "memory", lambda: read.append(1) or memory())
    for second, count in ((1e6, 1), (1e6 + 0.5, 1), (1e6 + 1, 2)):
        monkeypatch.setattr(describe.time, "monotonic", lambda second=second: second)
        describe_machine()
        assert len(read) == count
