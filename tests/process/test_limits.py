"""Limits of containers are read from both versions of control groups."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from workbench.machines.processor import usable_cores
from workbench.process import limits


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Pretend to be in the control group that a line like /proc/self/cgroup's names; returns the mount's root."""

    def enter(line: str) -> Path:
        membership = tmp_path / "membership"
        write(membership, line)
        monkeypatch.setattr(limits, "MEMBERSHIP", membership)
        return tmp_path / "cgroup"

    return enter


def test_a_quota_of_version_2_is_a_share_of_cores(inside):
    root = inside("0::/outer/inner")
    write(root / "outer" / "inner" / "cpu.max", "max 100000")
    write(root / "outer" / "cpu.max", "150000 100000")
    assert limits.cpu_share(root) == 1.5


def test_a_quota_of_version_1_is_a_share_of_cores(inside):
    root = inside("4:cpu,cpuacct:/job")
    write(root / "cpu" / "job" / "cpu.cfs_quota_us", "50000")
    write(root / "cpu" / "job" / "cpu.cfs_period_us", "100000")
    assert limits.cpu_share(root) == 0.5
    assert usable_cores(root) == 1


def test_a_container_whose_own_path_is_not_mounted_reads_the_root(inside):
    root = inside("0::/host/path/of/it")
    write(root / "cpu.max", "200000 100000")
    assert limits.cpu_share(root) == 2.0


@pytest.mark.parametrize("text", ["max 100000", ""])
def test_no_quota_leaves_the_affinity(inside, text):
    root = inside("0::/")
    write(root / "cpu.max", text)
    assert limits.cpu_share(root) is None
    assert usable_cores(root) == len(os.sched_getaffinity(0))


def test_version_1_writes_minus_one_for_no_quota(inside):
    root = inside("4:cpu:/")
    write(root / "cpu" / "cpu.cfs_quota_us", "-1")
    write(root / "cpu" / "cpu.cfs_period_us", "100000")
    assert limits.cpu_share(root) is None


@pytest.mark.parametrize(
    ("line", "folder", "limit", "used"),
    [
        ("0::/job", "job", "memory.max", "memory.current"),
        ("4:memory:/job", "memory/job", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
)
def test_a_memory_limit_bounds_total_and_free(inside, monkeypatch, line, folder, limit, used):
    root = inside(line)
    write(root / folder / limit, str(3 << 20))
    write(root / folder / used, str(1 << 20))
    monkeypatch.setattr(limits, "CGROUPS", root)
    assert limits.memory() == (3 << 20, 2 << 20)


def test_files_that_the_system_drops_first_are_free(inside, monkeypatch):
    root = inside("0::/job")
    write(root / "job" / "memory.max", str(8 << 20))
    write(root / "job" / "memory.current", str(7 << 20))
    write(root / "job" / "memory.stat", f"anon {1 << 20}\ninactive_file {5 << 20}\nactive_file {1 << 20}")
    monkeypatch.setattr(limits, "CGROUPS", root)
    assert limits.memory() == (8 << 20, 6 << 20)


def test_without_a_limit_the_memory_is_the_machines(inside, monkeypatch):
    root = inside("0::/")
    write(root / "memory.max", "max")
    write(root / "memory.current", "5")
    monkeypatch.setattr(limits, "CGROUPS", root)
    total, free = limits.memory()
    assert total == psutil.virtual_memory().total
    assert 0 < free <= total


def test_the_memory_of_this_process_is_that_of_psutil():
    assert abs(limits.resident() - psutil.Process().memory_info().rss) < 64 << 20
    grown = bytearray(256 << 20)
    assert abs(limits.resident() - psutil.Process().memory_info().rss) < 64 << 20
    assert len(grown) == 256 << 20
