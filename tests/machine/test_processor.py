"""Limits of containers are read from both versions of control groups; the machine's own numbers are sane."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest

from workbench.machine import processor


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Pretend to be in the control group that a line like /proc/self/cgroup's names; returns the mount's root."""

    def enter(line: str) -> Path:
        membership = tmp_path / "membership"
        write(membership, line)
        folders = processor._cgroup_folders
        monkeypatch.setattr(processor, "_cgroup_folders", lambda root, name: folders(root, name, membership))
        return tmp_path / "cgroup"

    return enter


def test_a_quota_of_version_2_is_a_share_of_cores(inside):
    root = inside("0::/outer/inner")
    write(root / "outer" / "inner" / "cpu.max", "max 100000")
    write(root / "outer" / "cpu.max", "150000 100000")
    assert processor.cpu_share(root) == 1.5


def test_a_quota_of_version_1_is_a_share_of_cores(inside):
    root = inside("4:cpu,cpuacct:/job")
    write(root / "cpu" / "job" / "cpu.cfs_quota_us", "50000")
    write(root / "cpu" / "job" / "cpu.cfs_period_us", "100000")
    assert processor.cpu_share(root) == 0.5
    assert processor.usable_cores(root) == 1


def test_a_container_whose_own_path_is_not_mounted_reads_the_root(inside):
    root = inside("0::/host/path/of/it")
    write(root / "cpu.max", "200000 100000")
    assert processor.cpu_share(root) == 2.0


@pytest.mark.parametrize("text", ["max 100000", ""])
def test_no_quota_leaves_the_affinity(inside, text):
    root = inside("0::/")
    write(root / "cpu.max", text)
    assert processor.cpu_share(root) is None
    assert processor.usable_cores(root) == len(os.sched_getaffinity(0))


def test_version_1_writes_minus_one_for_no_quota(inside):
    root = inside("4:cpu:/")
    write(root / "cpu" / "cpu.cfs_quota_us", "-1")
    write(root / "cpu" / "cpu.cfs_period_us", "100000")
    assert processor.cpu_share(root) is None


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
    monkeypatch.setattr(processor, "CGROUPS", root)
    assert processor.memory() == (3 << 20, 2 << 20)


def test_without_a_limit_the_memory_is_the_machines(inside, monkeypatch):
    root = inside("0::/")
    write(root / "memory.max", "max")
    write(root / "memory.current", "5")
    monkeypatch.setattr(processor, "CGROUPS", root)
    total, free = processor.memory()
    assert total == psutil.virtual_memory().total
    assert 0 < free <= total


def test_two_threads_of_a_core_count_as_one_core(tmp_path, monkeypatch):
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        write(tmp_path / f"cpu{cpu}" / "topology" / "thread_siblings_list", siblings)
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    monkeypatch.setattr(processor, "_allowed", lambda: {0, 1, 2, 3})
    assert processor.physical_cores() == 2
    monkeypatch.setattr(processor, "_allowed", lambda: {0, 2})
    assert processor.physical_cores() == 1


def test_a_last_level_cache_is_counted_once_for_the_cores_that_share_it(tmp_path, monkeypatch):
    for cpu in range(4):
        shared = "0-1" if cpu < 2 else "2-3"
        for index, (level, size, sharers) in enumerate([(1, "48K", str(cpu)), (3, "32768K", shared)]):
            folder = tmp_path / f"cpu{cpu}" / "cache" / f"index{index}"
            write(folder / "level", str(level))
            write(folder / "size", size)
            write(folder / "shared_cpu_list", sharers)
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    monkeypatch.setattr(processor, "_allowed", lambda: {0, 1, 2, 3})
    assert processor.last_level_cache() == 64 << 20
    monkeypatch.setattr(processor, "_allowed", lambda: {0, 1})
    assert processor.last_level_cache() == 32 << 20


def test_a_system_that_tells_nothing_of_its_caches_gives_none(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    assert processor.last_level_cache() is None
    assert 1 <= processor.physical_cores() <= processor.logical_cores()
