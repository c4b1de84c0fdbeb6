"""Damaged and hostile files are read correctly or refused with a message."""

import dataclasses
import io
import json
import os
import zipfile

import numpy as np
import pytest

from tests.hostile import DEEP, refused_or
from workbench.errors import InputError
from workbench.problems.matrix_market import read_matrix
from workbench.records import COLUMNS, Event, Trace, kernel_table, load, load_trace, save, save_trace, to_csv
from workbench.records.chrome import to_chrome
from workbench.run import Run, configure, run_through
from workbench.run.choices.share_link import from_link, load_configuration, save_configuration, to_link

SEED = 20


@pytest.fixture(scope="module")
def record():
    return run_through(Run(configure("two-layer", n=8), trace=True)).record(with_solution=True)


@pytest.fixture(scope="module")
def content(record, tmp_path_factory):
    """The bytes of a run file with all optional parts."""
    return save(record, tmp_path_factory.mktemp("whole") / "a.run").read_bytes()


def flipped(content, place, bit):
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]


def damaged(content, rng):
    """The bytes with a flipped bit, truncated, or with a part removed, duplicated or overwritten."""
    place, length = int(rng.integers(len(content))), int(rng.integers(1, 60))
    changes = [
        flipped(content, place, int(rng.integers(8))),
        content[:place],
        content[:place] + content[place + length :],
        content[:place] + content[place : place + length] * 2 + content[place + length :],
        content[:place] + rng.bytes(length) + content[place + length :],
    ]
    return changes[int(rng.integers(len(changes)))]


def same(first, second):
    """Assert that two records are equal."""
    arrays, others = first.history.to_arrays(), second.history.to_arrays()
    assert arrays.keys() == others.keys()
    assert all(np.array_equal(arrays[name], others[name], equal_nan=True) for name in arrays)
    assert (first.summary, json.dumps(first.provenance)) == (second.summary, json.dumps(second.provenance))
    assert np.array_equal(first.solution, second.solution)
    assert list(first.trace) == list(second.trace)


def test_damaged_run_files_are_read_correctly_or_refused(record, content, tmp_path):
    rng = np.random.default_rng(SEED)
    whole = load(save(record, tmp_path / "whole"))
    path = tmp_path / "damaged"
    directory = zipfile.ZipFile(io.BytesIO(content)).start_dir
    # The directory at the end has no checksum, so every byte of it is tested.
    every = [flipped(content, place, place % 8) for place in range(directory, len(content))]
    for bad in [*every, *(damaged(content, rng) for _ in range(500))]:
        path.write_bytes(bad)
        refused_or(lambda: load(path), lambda found: same(found, whole), "damaged")


def test_crafted_run_files_are_refused_or_usable(record, content, tmp_path):
    """Damage members and recompute their checksums."""
    rng = np.random.default_rng(SEED)
    parts = unpacked(content)
    path = tmp_path / "made"
    for _ in range(200):
        name = str(rng.choice(list(parts)))
        path.write_bytes(packed({**parts, name: damaged(parts[name], rng)}))
        refused_or(lambda: load(path), lambda found: used(found, tmp_path), "damaged")


def used(record, folder):
    to_csv(record, folder / "a.csv")
    if record.trace is not None:
        kernel_table(record.trace)
        save_trace(record.trace, folder / "a.json")


def unpacked(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(parts, method=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return made.getvalue()


def array(values):
    made = io.BytesIO()
    np.lib.format.write_array(made, np.asanyarray(values), allow_pickle=True)
    return made.getvalue()


def announcing(shape, dtype="<f8"):
    """The header of an array with too little data after it."""
    made = io.BytesIO()
    np.lib.format.write_array_header_1_0(made, {"descr": dtype, "fortran_order": False, "shape": shape})
    return made.getvalue() + bytes(64)


def head(content, **changes):
    """The head of the run with entries changed."""
    plain = json.loads(str(np.load(io.BytesIO(content))["head"]))
    return array(json.dumps({**plain, **changes}))


def trace(content, **changes):
    plain = json.loads(str(np.load(io.BytesIO(content))["trace"]))
    return array(json.dumps({**plain, **changes}))


def event(content, **changes):
    """A trace of one event with entries changed."""
    return trace(content, **{"kernel": [0], "start": [0], "end": [1], "iteration": [0], "after": {}, **changes})


HARMFUL = {
    "nested deeply": lambda _: {"head": array(DEEP)},
    "a trace nested deeply": lambda _: {"trace": array(DEEP)},
    "version Infinity": lambda content: {"head": head(content, version=float("inf"))},
    "version null": lambda content: {"head": head(content, version=None)},
    "version of 5000 digits": lambda content: {
        "head": array(f'{{"format": "cg-workbench run", "version": {"9" * 5000}}}')
    },
    "N of another kind": lambda content: {"head": head(content, summary={"N": "64"})},
    "a solution of another length": lambda _: {"solution": array(np.ones(7))},
    "a solution of texts": lambda _: {"solution": array(["a"] * 64)},
    "a kernel out of range": lambda content: {"trace": trace(content, kernel=[10**6])},
    "a kernel before the first": lambda content: {"trace": event(content, kernel=[-1])},
    "an iteration out of range": lambda content: {"trace": event(content, iteration=[2**40])},
    "an event that waits for a later one": lambda content: {"trace": trace(content, after={"0": [5]})},
    "an event that ends at infinity": lambda content: {"trace": event(content, end=[float("inf")])},
    "an event that takes a text": lambda content: {"trace": trace(content, start=["soon"])},
    "a kernel of no lane": lambda content: {"trace": trace(content, kernels=[{"name": "A", "lane": "moon"}])},
    "a shape of 1e12": lambda _: {"alpha": announcing((10**12,))},
    "a negative shape": lambda _: {"alpha": announcing((-1,))},
    "columns of unequal length": lambda _: {"beta": array(np.ones(3))},
    "a column of two dimensions": lambda _: {"beta": array(np.ones((3, 3)))},
    "a column of objects": lambda _: {"beta": array(np.array([{}], dtype=object))},
    "a column of whole numbers": lambda _: {"residual": array(np.arange(3))},
    "true residuals of one dimension": lambda _: {"true_residuals": array(np.ones(3))},
    "a true residual at infinity": lambda _: {"true_residuals": array([[np.inf, 1.0]])},
    "a true residual before the start": lambda _: {"true_residuals": array([[-1.0, 1.0]])},
    "a head of numbers": lambda _: {"head": array(np.ones(3))},
    "a head of no text": lambda _: {"head": announcing((), "<U16")[:-64] + b"\xff" * 64},
    "a record of fields": lambda _: {"alpha": array(np.zeros(3, [("a", "f8"), ("b", "U4")]))},
}


@pytest.mark.parametrize("changes", HARMFUL.values(), ids=HARMFUL.keys())
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_invalid_run_files_are_refused_by_name(content, tmp_path, changes, method):
    path = tmp_path / "harmful.run"
    changed = {f"{name}.npy": part for name, part in changes(content).items()}
    path.write_bytes(packed({**unpacked(content), **changed}, method))
    with pytest.raises(InputError, match=r"harmful\.run (is damaged|is not a workbench run file): "):
        load(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_other_compression_methods_are_refused(content, tmp_path, method):
    path = tmp_path / "other"
    path.write_bytes(packed(unpacked(content), method))
    with pytest.raises(InputError, match="is not a workbench run file: it is damaged or has another format"):
        load(path)


@pytest.mark.parametrize("name", ["residual.npy", "unknown.npy"])
def test_decompression_bombs_are_refused(content, tmp_path, monkeypatch, name):
    """420 MB of zeros, compressed to 1.8 MB, as fast as can be."""
    path = tmp_path / "bomb"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for own, part in unpacked(content).items():
            if own != name:
                archive.writestr(own, part)
        with archive.open(name, "w", force_zip64=True) as stream:
            block = bytes(1 << 24)
            for _ in range(25):
                stream.write(block)
    path.write_bytes(made.getvalue())
    assert path.stat().st_size < 2_500_000
    taken = []
    read = zipfile.ZipExtFile.read

    def counted(stream, size=-1):
        taken.append(size)
        return read(stream, size)

    monkeypatch.setattr(zipfile.ZipExtFile, "read", counted)
    if name == "unknown.npy":
        same(load(path), load_whole(content, tmp_path))
    else:
        with pytest.raises(
            InputError, match="bomb is not a workbench run file: it would unpack to 419 MB, 268 MB are allowed"
        ):
            load(path)
    assert sum(taken) < 10_000_000
    assert min(taken, default=0) >= 0


def load_whole(content, folder):
    (folder / "whole").write_bytes(content)
    return load(folder / "whole")


def test_wrong_member_sizes_are_refused(content, tmp_path):
    """A member of 64 MB for which the directory states a smaller size."""
    parts = unpacked(content)
    size = len(parts["alpha.npy"])
    bad = packed({**parts, "alpha.npy": parts["alpha.npy"] + bytes(64 << 20)})
    announced = (size + (64 << 20)).to_bytes(4, "little")
    assert bad.count(announced) >= 2
    (tmp_path / "false").write_bytes(bad.replace(announced, size.to_bytes(4, "little")))
    with pytest.raises(InputError, match="it is damaged or has another format"):
        load(tmp_path / "false")


def test_unknown_members_are_ignored(record, content, tmp_path):
    (tmp_path / "later").write_bytes(packed({**unpacked(content), "more.npy": array(np.ones(3))}))
    same(load(tmp_path / "later"), load(save(record, tmp_path / "whole")))


def test_run_files_without_newer_columns_are_read(content, tmp_path):
    parts = unpacked(content)
    del parts["drift.npy"]
    (tmp_path / "earlier").write_bytes(packed(parts))
    found = load(tmp_path / "earlier")
    assert np.isnan(found.history["drift"]).all()
    assert set(COLUMNS) <= set(found.history.to_arrays())


def small_trace():
    made = Trace("m", "measured", ["a note"])
    for place in range(6):
        made.append(Event("A", "cpu", place, place + 0.5, 8, 2, place, (place - 1,) if place else ()))
    return made


CONFIGURATION = configure("bubbles-2d", n=16, deflation="stripes", solver="cg", contrast=1e-5, rhs="random")


def save_link(configuration, path):
    path.write_text(to_link(configuration), encoding="latin-1")
    return path


def load_link(path):
    return from_link(path.read_text(encoding="latin-1"))


def complete(configuration):
    assert to_link(configuration)


def unchanged(configuration):
    assert configuration == CONFIGURATION


def usable(trace):
    assert json.dumps(to_chrome(trace), allow_nan=False)
    kernel_table(trace)


FORMATS = {
    "traces": (small_trace(), save_trace, load_trace, usable),
    "configurations": (CONFIGURATION, save_configuration, load_configuration, complete),
    "links": (CONFIGURATION, save_link, load_link, unchanged),
}
"""Of each format: what is written, how, how it is read, and what is true of it where it is not refused."""


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_are_refused_or_usable(tmp_path, name):
    rng = np.random.default_rng(SEED)
    value, write, read, check = FORMATS[name]
    path = write(value, tmp_path / "a.cg.json")
    whole = path.read_bytes()
    for _ in range(500):
        path.write_bytes(damaged(whole, rng))
        refused_or(lambda: read(path), check, "damaged")


@pytest.mark.parametrize("word", [DEEP, "9" * 5000, "\ud800", "\0", '{"otherData": ' + DEEP + "}"])
def test_traces_that_are_not_json_are_refused(tmp_path, word):
    path = tmp_path / "bad.json"
    path.write_bytes(word.encode(errors="surrogatepass"))
    with pytest.raises(InputError, match=r"bad\.json"):
        load_trace(path)


READERS = {"a.run": load, "a.json": load_trace, "a.cg.json": load_configuration}
READERS |= dict.fromkeys(("a.mtx", "a.mtx.gz", "a.tar.gz"), read_matrix)


@pytest.mark.parametrize(("name", "read"), READERS.items())
def test_pipes_and_devices_are_refused_without_blocking(tmp_path, name, read):
    os.mkfifo(tmp_path / name)
    with pytest.raises(InputError, match=r"is a pipe, not a .* write what it holds to a file"):
        read(tmp_path / name)
    (tmp_path / f"link.{name}").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is a device, not a"):
        read(tmp_path / f"link.{name}")


def test_unknown_entries_of_the_head_are_ignored(record, tmp_path):
    more = dataclasses.replace(record, summary={**record.summary, "more": [1]})
    assert load(save(more, tmp_path / "a.run")).summary["more"] == [1]
