"""Run files: reading back, errors, and growing histories."""

import csv
import dataclasses
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.records import COLUMNS, History, load, save, to_csv
from workbench.run import Run, configure, run_through


@pytest.fixture
def record():
    return run_through(Run(configure("two-layer", n=16, deflation="stripes"))).record(with_solution=True)


def test_a_run_is_read_back(record, tmp_path):
    path = save(record, tmp_path / "first.run")
    back = load(path)
    assert back.summary == record.summary
    assert back.provenance == json.loads(json.dumps(record.provenance))
    assert np.array_equal(back.solution, record.solution)
    for name in COLUMNS:
        assert np.array_equal(back.history[name], record.history[name], equal_nan=True)
    assert np.array_equal(back.history.true_residuals, record.history.true_residuals)
    assert os.listdir(tmp_path) == ["first.run"]


def test_a_summary_of_an_earlier_version_is_read_with_the_names_of_this_one(record, tmp_path):
    earlier = {key: value for key, value in record.summary.items() if key != "residual_gap_at"} | {"parted_at": 7}
    back = load(save(dataclasses.replace(record, summary=earlier), tmp_path / "earlier.run"))
    assert back.summary == {**record.summary, "residual_gap_at": 7}


def test_a_record_has_the_labels_of_its_configuration(record):
    assert record.label == configure("two-layer", n=16, deflation="stripes").label == "CG, Jacobi, stripes along x"
    assert record.code == "cg + jacobi + stripes:0"
    assert record.problem_label == configure("two-layer", n=16).problem.label
    unknown = dataclasses.replace(record, summary={**record.summary, "problem": {"name": "gone", "parameters": {}}})
    assert unknown.problem_label == "Gone"


def test_the_relative_residual_ends_at_that_of_the_summary(record):
    relative = record.relative_residual
    assert relative.shape == (record.summary["iterations"] + 1,)
    assert relative[-1] == pytest.approx(record.summary["relative_residual"], rel=1e-15)


def test_the_csv_has_a_row_per_iteration(record, tmp_path):
    path = to_csv(record, tmp_path / "first.csv")
    lines = path.read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert len(rows) == record.history.count
    assert [float(row["residual"]) for row in rows] == record.history["residual"].tolist()
    assert '# solver: "cg"' in lines


def test_a_failed_write_leaves_the_old_file(record, tmp_path, monkeypatch):
    path = save(record, tmp_path / "kept.run")
    before = path.read_bytes()

    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match="cannot write .*No space left on device"):
        save(record, path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"summary": {}}, "in its summary, problem, N, solver, .* cannot be read"),
        ({"summary": None}, "damaged: its summary cannot be read"),
        ({"provenance": [1]}, "damaged: its provenance cannot be read"),
        ({"provenance": {"notes": 5, "machine": "m"}}, "damaged: in its provenance, notes, machine cannot be read"),
    ],
)
def test_damaged_heads_are_refused(record, tmp_path, change, sentence):
    path = save(dataclasses.replace(record, **change), tmp_path / "damaged.run")
    with pytest.raises(InputError, match=sentence):
        load(path)


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04 broken", b"\x93NUMPY", "cut", "another archive"])
def test_other_files_are_refused(record, content, tmp_path):
    path = tmp_path / "other.npz"
    if content == "cut":
        content = save(record, path).read_bytes()[:-100]
    if content == "another archive":
        np.savez(path, a=np.ones(3))
    else:
        path.write_bytes(content)
    with pytest.raises(InputError, match="is not a workbench run file"):
        load(path)


def test_missing_files_and_folders_are_refused(record, tmp_path):
    with pytest.raises(InputError, match="no run file at"):
        load(tmp_path / "none.run")
    with pytest.raises(InputError, match="cannot write .*choose another place"):
        save(record, tmp_path / "nowhere" / "a.run")


def test_later_versions_are_refused(record, tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.records.record.VERSION", 99)
    path = save(record, tmp_path / "later.run")
    monkeypatch.undo()
    with pytest.raises(InputError, match="format version 99"):
        load(path)


@given(st.lists(st.floats(allow_nan=True), max_size=40))
def test_histories_grow_and_round_trip(values):
    history = History()
    for value in values:
        history.append(residual=value)
    assert history.count == len(values)
    back = History.from_arrays(history.to_arrays())
    assert np.array_equal(back["residual"], np.array(values), equal_nan=True)
    assert np.isnan(back["alpha"]).all()


def test_a_view_cannot_change_the_history():
    history = History()
    history.append(residual=1.0)
    with pytest.raises(ValueError, match="read-only"):
        history["residual"][0] = 2
