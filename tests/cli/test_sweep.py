"""`workbench sweep`."""

import csv
import dataclasses
import json
import signal

import pytest

from workbench.cli import main
from workbench.files import ended_in_order
from workbench.run import Run, Stopping, configure, race
from workbench.run.choices.share_link import to_link


def test_it_prints_a_row_a_run(capsys):
    assert main(["sweep", "two-layer", "--n", "8", "16", "--deflation", "none", "stripes"]) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split()[:4] == ["n", "deflation", "N", "iterations"]
    assert [row.split()[:3] for row in rows] == [
        ["8", "none", "64"],
        ["8", "stripes", "64"],
        ["16", "none", "256"],
        ["16", "stripes", "256"],
    ]


def test_json_and_csv_say_the_same(capsys, tmp_path):
    asked = ["sweep", "two-layer", "--n", "8", "--param", "density_ratio=10", "--param", "density_ratio=1e3"]
    assert main([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["over"] == {"n": ["8"], "density_ratio": ["10", "1e3"]}
    assert found["provenance"]["configuration"]["problem"]["parameters"]["density_ratio"] == 10
    path = tmp_path / "sweep.csv"
    assert main([*asked, "--csv", str(path)]) == 0
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert [int(row["iterations"]) for row in csv.DictReader(lines)] == [row["iterations"] for row in found["rows"]]


def test_exit_status_1_where_a_run_does_not_converge(capsys):
    assert main(["sweep", "two-layer", "--n", "16", "--maxiter", "2"]) == 1
    assert "iteration limit" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--param", "density_ratio"], "KEY=VALUE"),
        (["--n", "8", "--csv", "/nowhere/x.csv"], "there is no folder"),
        ([], "nothing to sweep"),
    ],
)
def test_wrong_input_is_one_sentence(capsys, arguments, sentence):
    assert main(["sweep", "two-layer", *arguments]) == 2
    assert sentence in capsys.readouterr().err


def test_a_link_says_when_to_stop_and_options_replace_that(capsys):
    stopping = Stopping(rtol=1e-2, norm="natural", maxiter=50)
    asked = ["sweep", to_link(configure("two-layer", stopping=stopping)), "--n", "8", "--json"]
    for more, expected in (([], stopping), (["--rtol", "1e-3"], dataclasses.replace(stopping, rtol=1e-3))):
        assert main([*asked, *more]) == 0
        found = json.loads(capsys.readouterr().out)["provenance"]["configuration"]["stopping"]
        assert Stopping(**found) == expected


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_with_the_status_of_shells_and_no_half_of_a_file(monkeypatch, request, tmp_path, number):
    """It is no error of a run, of which a sweep would keep a row, and a race an entry."""
    monkeypatch.setattr(Run, "step", lambda run: signal.raise_signal(number))
    # Under nohup the tests themselves ignore a hangup, and so would the command.
    before = signal.signal(number, signal.SIG_DFL)
    request.addfinalizer(lambda: signal.signal(number, before))
    with pytest.raises(SystemExit) as ended:
        main(["sweep", "two-layer", "--n", "8", "16", "--csv", str(tmp_path / "a.csv")])
    assert ended.value.code == 128 + number
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit), ended_in_order():
        race([configure("two-layer", n=8), configure("two-layer", n=16)])
