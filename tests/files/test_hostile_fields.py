"""Every field of every kind of file that is read, with hostile values in place of its own: read, or refused in a
sentence."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import itertools
import json
import zipfile
import zlib

import numpy as np
import pytest
import tomli_w
from scipy import sparse
from scipy.io import mmwrite

from tests import hostile
from tests.hostile import archived, arrays, documents, refused_or
from workbench.cli.common import print_summary
from workbench.deflation import as_subspace
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.lessons.exercise import Choice, Number, Order, Text
from workbench.extensions.papers.report import Choices, Report, asked, configuration
from workbench.files.codec import read_json
from workbench.files.columns import VectorFile, read_values
from workbench.files.petsc_binary import write_petsc
from workbench.live.inspect.plain import html_of, save_page
from workbench.machines.profile import Profile, load_profile, profiles
from workbench.problems.matrix_market import read_matrix
from workbench.records import (
    Event,
    NamedRun,
    Trace,
    kernel_table,
    load,
    load_runs,
    load_trace,
    save,
    save_runs,
    save_trace,
    to_csv,
)
from workbench.records.chrome import to_chrome
from workbench.registry import Parameter
from workbench.run import Run, configure, run_through
from workbench.run.choices.link_codec import PREFIX, shorten
from workbench.run.choices.share_link import from_link, load_configuration, save_configuration, to_command, to_link
from workbench.sequences.sequence import Sequence


@pytest.fixture(scope="module")
def run():
    return run_through(Run(configure("two-layer", n=8, deflation="stripes"), trace=True)).record(with_solution=True)


@pytest.fixture(scope="module")
def sequence():
    others = [{"preconditioner": "none"}]
    return Sequence("rising-bubbles", n=16, until=0.02, keep=True, others=others).run()


def read_in_turn(path, contents, read, use):
    """Write each content to the path and read it; the numbers of those that were read and of all."""
    taken = count = 0
    for name, content in contents:
        # Some file systems wait for the disk where a file is written over.
        path.unlink(missing_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        taken += refused_or(lambda: read(path), use, name)
        count += 1
    return taken, count


def members(whole, name, variants):
    """The archive with each of the variants in place of a member."""
    return ((f"{name}, {what}", archived({**whole, name: value})) for what, value in variants)


def damaged(whole, in_full=()):
    """Each member of an archive, and the archive with what may stand in place of it: for those in_full and the first of
    each kind of entries and number of dimensions all, for others every third, in turn."""
    seen = set()
    for turn, (name, values) in enumerate(whole.items()):
        kind = values.dtype.kind, values.ndim
        step = 3 if kind in seen and name not in in_full else 1
        seen.add(kind)
        yield name, members(whole, name, itertools.islice(arrays(values), turn % step, None, step))


def texts(whole, name, **chosen):
    """The archive with a text of JSON damaged."""
    plain = json.loads(str(whole[name]))
    return members(whole, name, ((what, np.array(text)) for what, text in documents(plain, **chosen)))


def shown(record):
    """All that is made of a run file."""
    with contextlib.redirect_stdout(io.StringIO()):
        print_summary(record.summary, record.provenance.get("notes", []))
    html_of(record, assets=False)
    assert record.label.isprintable() or record.problem_label or record.code
    assert isinstance(record.norm_of_b, float)
    if record.trace is not None:
        kernel_table(record.trace)


def test_run_files(run, tmp_path):
    path = save(run, tmp_path / "whole.run.npz")
    whole = dict(np.load(path))
    for _, variants in damaged(whole):
        taken, count = read_in_turn(tmp_path / "a.run.npz", variants, load, ignored)
        assert taken < count
    read_in_turn(tmp_path / "a.run.npz", texts(whole, "trace", most=2), load, shown)
    chosen = {"most": 1, "leaves": ("machine", "versions", "packages")}
    read_in_turn(tmp_path / "a.run.npz", texts(whole, "head", **chosen), load, shown)


def test_text_that_no_encoding_has_is_written(run, tmp_path):
    """JSON may hold half of a surrogate pair, which no page can be sent."""
    strange = dataclasses.replace(
        run, provenance={**run.provenance, "notes": ["\ud800"]}, summary={**run.summary, "reason": "\ud800"}
    )
    assert load(save(strange, tmp_path / "a.run.npz")).summary["reason"] == "?"
    assert b"\\ud800" in save_page(strange, tmp_path / "a.html").read_bytes()
    assert b"\\ud800" in to_csv(strange, tmp_path / "a.csv").read_bytes()
    trace = Trace("\ud800", "measured", ["\ud800"])
    assert load_trace(save_trace(trace, tmp_path / "a.json")).machine == "?"


def test_only_halves_of_characters_are_replaced():
    assert read_json('["\\ud83d\\ude00", "\\\\ud800", "\\ud83d", "\\ude00\\ud83d"]') == ["😀", "\\ud800", "?", "??"]
    assert read_json('"a\ud800"') == read_json('"a\ud800"'.encode(errors="surrogatepass")) == "a?"


def continued(path):
    records.load(path)
    found = records.resume(path)
    found.ranked()
    return found, Sequence(str(path))


def stepped(sequences):
    for sequence in sequences:
        sequence.step()


def ignored(found):
    """Reading is all that is asked for."""


def test_records(sequence, tmp_path):
    whole = dict(np.load(records.save(sequence, tmp_path / "whole")))
    path = tmp_path / "a.seq.npz"
    # What has passed is also used, where kernels take it for places.
    used = ("phases", "state_labels", "state_owner", "state_volumes", "state_numbers")
    for name, variants in damaged(whole, used):
        taken, count = read_in_turn(path, variants, continued, stepped if name in used else ignored)
        assert taken < count
    chosen = {"most": 2, "leaves": ("configuration",)}
    taken, count = read_in_turn(path, texts(whole, "about", **chosen), continued, ignored)
    assert 0 < taken < count


@pytest.mark.parametrize("circle", ["a", "ab"])
def test_a_record_that_replays_itself_is_refused(circle, sequence, tmp_path):
    whole = dict(np.load(records.save(sequence, tmp_path / "whole")))
    about = json.loads(str(whole["about"]))
    paths = [tmp_path / f"{name}.seq.npz" for name in circle]
    for path, replayed in zip(paths, [*paths[1:], paths[0]], strict=True):
        parameters = {"path": str(replayed)}
        about["configuration"]["problem"] = {"kind": "problem", "name": "recorded", "parameters": parameters}
        path.write_bytes(archived({**whole, "about": np.array(json.dumps(about))}))
    assert not refused_or(lambda: Sequence(str(paths[0])).step(), ignored, "itself")
    with pytest.raises(InputError, match="replays itself"):
        Sequence(str(paths[0])).step()


def test_collections(run, tmp_path):
    path = save_runs([NamedRun(run, "a")], tmp_path / "whole.runs.zip")
    with zipfile.ZipFile(path) as archive:
        whole = {name: archive.read(name) for name in archive.namelist()}
    contents = []
    for name, text in documents(json.loads(whole["runs.json"])):
        with zipfile.ZipFile(tmp_path / "made", "w") as archive:
            for member, content in {**whole, "runs.json": text.encode()}.items():
                archive.writestr(member, content)
        contents.append((name, (tmp_path / "made").read_bytes()))
    taken, count = read_in_turn(tmp_path / "a.runs.zip", contents, load_runs, lambda runs: [one.name for one in runs])
    assert 0 < taken < count


def small_trace():
    made = Trace("m", "measured", ["a note"])
    for place in range(3):
        made.append(Event("A", "cpu", place, place + 0.5, 8, 2, place, (place - 1,) if place else ()))
    return made


def test_traces(tmp_path):
    def used(trace):
        assert json.dumps(to_chrome(trace), allow_nan=False)
        kernel_table(trace)

    plain = json.loads(save_trace(small_trace(), tmp_path / "whole.json").read_bytes())
    taken, count = read_in_turn(tmp_path / "a.json", documents(plain, most=6), load_trace, used)
    assert 0 < taken < count


CONFIGURATION = configure(
    "bubbles-2d",
    n=16,
    deflation="stripes:3",
    preconditioner="schwarz:2x2",
    contrast=1e-5,
    rhs="random",
    precision="mixed",
)


def written(configuration):
    assert to_link(configuration)
    assert to_command(configuration).encode(errors="backslashreplace")


def test_saved_configurations(tmp_path):
    plain = json.loads(save_configuration(CONFIGURATION, tmp_path / "whole").read_text())
    taken, count = read_in_turn(tmp_path / "a.cg.json", documents(plain, most=6), load_configuration, written)
    assert 0 < taken < count


def test_share_links():
    taken = 0
    for name, text in documents(shorten(CONFIGURATION.to_dict())):
        link = PREFIX + base64.urlsafe_b64encode(zlib.compress(text.encode())).decode().rstrip("=")
        taken += refused_or(lambda link=link: from_link(link), written, name)
    assert taken > 0


def test_configurations_in_run_files_and_records():
    plain = CONFIGURATION.to_dict()
    for name, text in documents(plain):
        refused_or(lambda text=text: type(CONFIGURATION).from_dict(read_json(text)), written, name)


def test_profiles(tmp_path):
    whole = profiles()["k20m"].to_dict()
    plain = json.loads(json.dumps(whole))

    def used(profile):
        profile.bandwidth, profile.to_toml()

    contents = []
    for path in hostile.values_of(plain):
        for name, value in hostile.ANSWERS.items():
            if path and type(value) in (int, float, str, bool, list, dict) and name not in ("unprintable", "surrogate"):
                contents.append((f"{path} {name}", tomli_w.dumps(hostile.put(plain, path, value))))
        if path and not refused_or(lambda p=path: Profile.from_dict(hostile.without(plain, p)), used, str(path)):
            continue
    taken, count = read_in_turn(tmp_path / "a.toml", contents, lambda path: load_profile(path), used)
    assert 0 < taken < count
    for content in (b'name = "\xed\xa0\x80"', b"n = " + b"9" * 5000, b"n = " + hostile.DEEP.encode()):
        (tmp_path / "b.toml").write_bytes(content)
        assert not refused_or(lambda: load_profile(tmp_path / "b.toml"), used, str(content[:20]))


def test_files_of_vectors(tmp_path):
    path = tmp_path / "b.npy"
    for values in (np.arange(16.0), np.ones((16, 2)), np.arange(16) % 3):
        for name, made in arrays(values):
            np.save(path, made, allow_pickle=True)
            refused_or(lambda: (VectorFile(path).columns, VectorFile(path).read(16)), ignored, name)
            refused_or(lambda: as_subspace(read_values(path, 16), 16), ignored, name)


MATRIX = sparse.diags_array([[2.0] * 4, [-1.0] * 3, [-1.0] * 3], offsets=[0, 1, -1]).tocsr()


def test_matrix_market_files(tmp_path):
    mmwrite(tmp_path / "whole.mtx", MATRIX, symmetry="symmetric")
    words = (tmp_path / "whole.mtx").read_text().split(" ")
    wrong = ("nan", "inf", "-1", "1e400", "x", "", "0", "1", "9" * 30, "9" * 5000, "\0", "[1]", "None", "True", "1.5")
    contents = [
        (f"{k} {word[:20]}", " ".join([*words[:k], word, *words[k + 1 :]])) for k in range(len(words)) for word in wrong
    ]
    taken, count = read_in_turn(tmp_path / "a.mtx", contents, read_matrix, ignored)
    assert 0 < taken < count


def test_petsc_files(tmp_path):
    with (tmp_path / "whole.petsc").open("wb") as stream:
        write_petsc(stream, MATRIX)
    whole = (tmp_path / "whole.petsc").read_bytes()
    wrong = [number.to_bytes(4, "big", signed=True) for number in (-1, 0, 1, 5, 2**31 - 1, -(2**31))]
    contents = [(f"{k} {four!r}", whole[:k] + four + whole[k + 4 :]) for k in range(0, len(whole), 4) for four in wrong]
    doubles = [np.array(value, ">f8").tobytes() for value in (np.nan, np.inf, -1.0, 1e300)]
    contents += [
        (f"{k} {eight!r}", whole[:k] + eight + whole[k + 8 :]) for k in range(0, len(whole), 4) for eight in doubles
    ]
    taken, count = read_in_turn(tmp_path / "a.petsc", contents, read_matrix, ignored)
    assert 0 < taken < count


def test_items_of_reports(tmp_path):
    """One that is damaged is made again, as one that is cut short."""
    (item,) = asked("two-level", "table1")
    report, choices = Report(tmp_path), Choices(16, True, "cpu")
    path = report._part(item, ".json")
    compared = {
        "row": "r", "column": "c", "printed": 1.0, "ours": 2, "spread": [1, 2], "ratio": 2.0, "modelled": None,
        "paper_size": 8, "our_size": 8, "said": "", "standing": "not counted", "remark": "", "elsewhere": False,
        "percent": 100.0, "agrees": None,
    }  # fmt: skip
    entry = {
        "paper": "two-level", "target": "table1", "configuration": configuration(item, choices), "title": "t",
        "rows": [{"a": 1.0}], "notes": ["n"], "compared": [compared], "failed": "", "seconds": 1.0,
        "date": "2026-01-01T00:00+00:00",
    }  # fmt: skip
    path.write_text(json.dumps(entry))
    assert report.kept(item, choices) == entry
    for name, text in documents(entry, most=7):
        path.write_text(text)
        assert refused_or(lambda: report.kept(item, choices), lambda _: report.write_page(), name)


@pytest.mark.parametrize("kind", [Number(0, 10), Number(whole=True), Choice(("a", "b")), Text(), Order("a\nb")])
def test_answers_of_exercises(kind):
    for name, answer in hostile.ANSWERS.items():
        refused_or(lambda answer=answer: kind.read(answer), lambda read: str(read), name)


@pytest.mark.parametrize("kind", [int, float, str, bool])
def test_parameters(kind):
    declared = Parameter(
        "p", kind, kind(1), "a parameter", low=None if kind is str else 0, high=None if kind is str else 9
    )
    for name, value in hostile.ANSWERS.items():
        refused_or(lambda value=value: declared.check(value), ignored, name)
