"""The machine's own numbers are sane."""

from __future__ import annotations

from pathlib import Path

from workbench.machines import processor


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def test_two_threads_of_a_core_count_as_one_core(tmp_path, monkeypatch):
    for cpu, siblings in enumerate(["0,2", "1,3", "0,2", "1,3"]):
        write(tmp_path / f"cpu{cpu}" / "topology" / "thread_siblings_list", siblings)
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    monkeypatch.setattr(processor, "allowed_threads", lambda: frozenset({0, 1, 2, 3}))
    assert processor.physical_cores() == 2
    monkeypatch.setattr(processor, "allowed_threads", lambda: frozenset({0, 2}))
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
    monkeypatch.setattr(processor, "allowed_threads", lambda: frozenset({0, 1, 2, 3}))
    assert processor.last_level_cache() == 64 << 20
    monkeypatch.setattr(processor, "allowed_threads", lambda: frozenset({0, 1}))
    assert processor.last_level_cache() == 32 << 20


def test_a_system_that_tells_nothing_of_its_caches_gives_none(tmp_path, monkeypatch):
    monkeypatch.setattr(processor, "CPUS", tmp_path)
    assert processor.last_level_cache() is None
    assert 1 <= processor.physical_cores() <= processor.logical_cores()
