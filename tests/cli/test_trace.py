"""`solve --trace`, `retime` and `calibrate` on the command line."""

import json

import pytest

from tests.cli.test_cli import run
from workbench.records import load_trace


@pytest.fixture
def traced(tmp_path, capsys):
    path = tmp_path / "out.json"
    status, out, _ = run(capsys, "solve", "two-layer", "--n", "16", "--deflation", "blocks:2", "--trace", str(path))
    assert status == 0
    return path, out


def test_a_traced_solve_prints_where_its_time_went(traced):
    path, out = traced
    assert "measured on" in out
    assert "A p, Z^T" in out
    assert "(between kernels)" in out
    names = {event.name for event in load_trace(path)}
    assert {"A p, Z^T", "E^-1", "AZ"} <= names


def test_kernels_of_both_sides_are_printed_with_their_lanes(tmp_path, capsys):
    pytest.importorskip("pyopencl")
    choices = ["poisson5", "--n", "9", "--solver", "hybrid3:share=0.5", "--device", "opencl"]
    _, out, _ = run(capsys, "solve", *choices, "--trace", str(tmp_path / "out.json"))
    products = [row for row in out.splitlines() if row.endswith(" A1 m")]
    assert len(products) == 2
    assert sum(" cpu " in row for row in products) == sum(" accelerator " in row for row in products) == 1


def test_the_trace_keeps_json_alone_on_standard_output(tmp_path, capsys):
    path = tmp_path / "out.json"
    _, out, _ = run(capsys, "solve", "poisson5", "--n", "12", "--json", "--trace", str(path))
    assert json.loads(out)["converged"]
    assert len(load_trace(path)) > 3


def test_retime_prints_modelled_next_to_measured(traced, capsys, tmp_path):
    path, _ = traced
    status, out, _ = run(capsys, "retime", str(path), "--machine", "v100", "--output", str(tmp_path / "v100.json"))
    assert status == 0
    assert "modelled on NVIDIA Tesla V100" in out
    assert "total" in out
    assert load_trace(tmp_path / "v100.json").label == "modelled"
    _, out, _ = run(capsys, "retime", str(path), "--machine", "k20m", "--json")
    answer = json.loads(out)
    assert [row["lane"] for row in answer["lanes"]] == ["cpu", "total"]
    assert all(row["measured"] > 0 and row["modelled"] > 0 for row in answer["lanes"])
    assert any("nominal" in note for note in answer["notes"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["retime", "OUT"], "the following arguments are required: --machine"),
        (["calibrate", "--output", "here.json"], "--output takes a .toml file, got here.json"),
    ],
)
def test_wrong_input_is_one_sentence(traced, capsys, arguments, sentence):
    path, _ = traced
    status, _, err = run(capsys, *(str(path) if word == "OUT" else word for word in arguments))
    assert status == 2
    assert sentence in err
    assert err.count("\n") == 1


def test_calibrate_writes_what_retime_reads(traced, capsys, tmp_path, brief_measurements):
    profile = tmp_path / "here.toml"
    status, out, _ = run(capsys, "calibrate", "--name", "here", "--output", str(profile), "--json")
    assert status == 0
    assert json.loads(out)["bandwidth_measured"]["basis"] == "measured"
    path, _ = traced
    status, out, _ = run(capsys, "retime", str(path), "--machine", str(profile))
    assert status == 0
    assert "cpu" in out
