"""The command line: output, exit status, and one sentence for every kind of wrong input."""

import dataclasses
import functools
import gzip
import json

import numpy as np
import pytest
from scipy import io, sparse

from tests.waiting import LIMIT
from workbench.cli import main, solving
from workbench.machines import doctor
from workbench.records import load, save
from workbench.registry import registered
from workbench.run import Race, Run, configure, run_through
from workbench.run.choices import levels
from workbench.run.choices.share_link import to_link as link_of_problem
from workbench.run.jobs.race_codec import save_race, to_link
from workbench.run.jobs.race_record import EntryRecord, RaceRecord
from workbench.run.setup import numbering

SYMMETRIC = sparse.diags_array([[2.0] * 5, [-1.0] * 4, [-1.0] * 4], offsets=[0, 1, -1]).tocsr()


def run(capsys, *arguments):
    status = main(list(arguments))
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def matrix_market(path, matrix):
    io.mmwrite(path, sparse.coo_matrix(matrix))
    return str(path)


def test_the_papers_problem_in_json(capsys):
    status, out, _ = run(
        capsys, "solve", "two-layer", "--n", "32", "--preconditioner", "neumann:2", "--deflation", "stripes", "--json"
    )
    answer = json.loads(out)
    assert status == 0
    assert {"nnz", "solver", "deflation", "device", "converged", "reason", "relative_residual"} <= set(answer)
    assert {"setup_seconds", "iteration_seconds"} <= set(answer)
    assert (answer["problem"], answer["N"], answer["preconditioner"]) == ("two-layer", 1024, "neumann:2")
    assert len(answer["residual_history"]) == answer["iterations"] + 1
    assert answer["true_relative_residual"] <= 1e-6


def test_the_true_residual_along_the_way(capsys, tmp_path):
    saved = tmp_path / "run"
    arguments = ("poisson5", "--n", "12", "--solver", "pipecg", "--true-every", "4", "--save", str(saved), "--json")
    status, out, _ = run(capsys, "solve", *arguments)
    answer = json.loads(out)
    assert (status, answer["solver"], answer["residual_gap_at"]) == (0, "pipecg", None)
    measured = load(saved).history.true_residuals[:, 0]
    assert set(range(0, answer["iterations"], 4)) <= set(measured)


def test_the_family_as_a_table_and_in_json(capsys):
    status, out, _ = run(capsys, "family", "--preconditioner", "neumann:2")
    assert status == 0
    first, *rows = out.splitlines()
    assert first.split()[:3] == ["solver", "A", "M"]
    alone = {name for name, solver in registered("solver").items() if solver.in_family}
    many = {name for name in alone if registered("solver")[name].takes_blocks}
    assert {row.split()[0] for row in rows} == alone - many
    status, out, _ = run(capsys, "family", "--columns", "3")
    assert {row.split()[0] for row in out.splitlines()[1:]} == many
    status, out, _ = run(capsys, "family", "--precision", "float32", "--json")
    (pipelined,) = [row for row in json.loads(out) if row["solver"] == "pipecg"]
    assert (pipelined["reductions"], sorted(pipelined["hidden"][0])) == (1, ["A", "M"])
    status, _, error = run(capsys, "family", "--precision", "half")
    assert (status, "unknown precision 'half'" in error) == (2, True)


def test_the_table_for_people(capsys):
    status, out, _ = run(capsys, "solve", "poisson5", "--n", "12")
    assert status == 0
    assert "true relative residual" in out
    assert "converged, verified by the true residual" in out


def test_parameters_by_name(capsys):
    status, out, _ = run(capsys, "solve", "two-layer", "--param", "n=16", "--param", "density_ratio=10", "--json")
    assert status == 0
    assert json.loads(out)["parameters"] == {"n": 16, "density_ratio": 10.0}


def test_not_converged_is_exit_1(capsys):
    status, out, _ = run(capsys, "solve", "poisson5", "--n", "32", "--maxiter", "2")
    assert status == 1
    assert "the iteration limit was reached" in out


def test_a_matrix_file_gzipped_or_not(capsys, tmp_path):
    plain = matrix_market(tmp_path / "a.mtx", SYMMETRIC)
    zipped = tmp_path / "b.mtx.gz"
    zipped.write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    for path in (plain, str(zipped)):
        status, out, _ = run(capsys, "solve", path, "--rhs", "ones-scaled", "--norm", "error", "--json")
        assert status == 0
        assert json.loads(out)["nnz"] == 13


def test_save_show_and_export(capsys, tmp_path):
    file, table = str(tmp_path / "a.run"), str(tmp_path / "a.csv")
    assert run(capsys, "solve", "poisson5", "--n", "8", "--save", file)[0] == 0
    status, out, _ = run(capsys, "show", file)
    assert status == 0
    assert "poisson5" in out
    assert run(capsys, "show", file, "--csv", table)[0] == 0
    assert (tmp_path / "a.csv").read_text().count("\n") > 3
    status, out, _ = run(capsys, "show", file, "--html", str(tmp_path / "a.html"))
    assert (status, out.strip()) == (0, str(tmp_path / "a.html"))
    assert (tmp_path / "a.html").read_text().startswith("<!doctype html>")


def test_blocks_lists_the_registry(capsys):
    status, out, _ = run(capsys, "blocks", "--json")
    listed = json.loads(out)
    assert status == 0
    assert {entry["name"] for entry in listed["preconditioner"]} >= {"none", "jacobi", "neumann"}
    (neumann,) = [entry for entry in listed["preconditioner"] if entry["name"] == "neumann"]
    assert neumann["parameters"][0]["name"] == "order"
    status, out, _ = run(capsys, "blocks")
    assert "neumann" in out
    assert "order = 2" in out


def test_doctor_answers(capsys, monkeypatch):
    # Measuring once is enough for both forms.
    monkeypatch.setattr(doctor, "examine", functools.cache(doctor.examine))
    monkeypatch.setattr(doctor, "triad_array_bytes", lambda cache, free: 1 << 20)
    status, out, _ = run(capsys, "doctor", "--json")
    assert status == 0
    assert json.loads(out)
    assert run(capsys, "doctor")[1].strip()


WRONG = {
    "unknown problem": (["two-leyer"], "unknown problem 'two-leyer'; did you mean two-layer?"),
    "unknown preconditioner": (["poisson5", "--preconditioner", "jacoby"], "did you mean jacobi?"),
    "unknown device": (["poisson5", "--device", "cqu"], "unknown device 'cqu'"),
    "unknown norm": (["poisson5", "--norm", "two"], "unknown norm 'two'"),
    "unknown option": (["poisson5", "--fast"], "--fast"),
    "unknown parameter": (["poisson5", "--param", "m=3"], "unknown parameter 'm'"),
    "parameter without value": (["poisson5", "--param", "n"], "--param takes KEY=VALUE, got 'n'"),
    "n too small": (["two-layer", "--n", "1"], "n must be between 4 and 46340, got 1"),
    "rtol no number": (["poisson5", "--rtol", "small"], "argument --rtol: rtol must be a number, got 'small'"),
    "rtol negative": (["poisson5", "--rtol", "-1"], "argument --rtol: rtol must be at least 0, got -1"),
    "size no number": (["poisson5", "--memory-limit", "lots"], "a size is a number of bytes"),
    "no such file": (["no-such.mtx"], "no file at no-such.mtx"),
}


@pytest.mark.parametrize(("arguments", "sentence"), WRONG.values(), ids=WRONG.keys())
def test_wrong_input_is_one_sentence_and_exit_2(capsys, arguments, sentence):
    status, out, err = run(capsys, "solve", *arguments)
    assert status == 2
    assert sentence in err
    assert err.startswith("workbench: ")
    assert err.count("\n") == 1
    assert out == ""


def test_a_matrix_that_cannot_be_used_is_one_sentence(capsys, tmp_path):
    status, out, err = run(capsys, "solve", matrix_market(tmp_path / "bad.mtx", np.diag([1.0, -1.0])))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "not positive definite" in err


def test_a_matrix_file_has_levels_by_the_rule_where_the_command_names_none(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(levels, "FEW", 50)
    path = matrix_market(tmp_path / "chain.mtx", 2.1 * np.eye(60) - np.eye(60, k=1) - np.eye(60, k=-1))
    for arguments, first in (
        ((), "ic:0"),
        (("--preconditioner", "none"), "none"),
        (("--deflation", "none"), "jacobi"),
    ):
        status, out, _ = run(capsys, "solve", path, *arguments, "--json")
        found = json.loads(out)
        assert (status, found["preconditioner"]) == (0, first)
        assert ("levels by default: ic" in out) == (not arguments)
        assert {"problem"} <= {phase["name"] for phase in found["setup_phases"]}


def test_a_matrix_file_that_is_numbered_at_random_is_solved_in_another_order(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(levels, "FEW", 50)
    monkeypatch.setattr(numbering, "LEAST", 50)
    order = np.random.default_rng(2).permutation(60)
    A = (2.1 * np.eye(60) - np.eye(60, k=1) - np.eye(60, k=-1))[np.ix_(order, order)]
    path, solution = matrix_market(tmp_path / "chain.mtx", A), str(tmp_path / "x.npy")
    status, out, _ = run(capsys, "solve", path, "--rtol", "1e-10", "--solution", solution)
    assert (status, out.count("numbered at random")) == (0, 1)
    np.testing.assert_allclose(A @ np.load(solution), 1, atol=1e-8)
    _, out, _ = run(capsys, "solve", path, "--rhs", "random")
    assert "numbered at random" not in out


def test_a_terminal_sees_progress_and_a_pipe_does_not(capsys, monkeypatch):
    monkeypatch.setattr(solving, "PROGRESS_SECONDS", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    _, _, err = run(capsys, "solve", "poisson5", "--n", "16")
    assert "iteration 3, residual norm" in err
    assert err.endswith("\r\033[K")
    monkeypatch.setattr("sys.stderr.isatty", lambda: False)
    assert run(capsys, "solve", "poisson5", "--n", "16")[2] == ""


def test_ctrl_c_keeps_what_was_computed(capsys, monkeypatch):
    def interrupted(self, run):
        if run.iterations == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(solving._Progress, "__call__", interrupted)
    status, out, _ = run(capsys, "solve", "poisson5", "--n", "16", "--json")
    answer = json.loads(out)
    assert (status, answer["iterations"]) == (1, 3)
    assert "stopped by the user" in answer["reason"]


@pytest.mark.parametrize("given", [["--param", "n=8", "--param", "n=9"], ["--n", "8", "--param", "n=9"]])
@pytest.mark.parametrize("verb", ["solve", "advise"])
def test_a_parameter_given_twice_is_refused(capsys, verb, given):
    status, out, err = run(capsys, verb, "poisson5", *given)
    assert (status, out) == (2, "")
    assert err.startswith("workbench: parameter 'n' is given twice, as '")
    assert err.count("\n") == 1


def test_a_saved_race_is_shown(capsys, tmp_path):
    race = Race([configure("poisson5", n=8), configure("poisson5", n=8, preconditioner="neumann:2")])
    race.wait(LIMIT)
    entries = [EntryRecord.of(entry) for entry in race.entries]
    path = save_race(RaceRecord.of(entries, 1e-6, verdict="the verdict"), tmp_path / "a")
    status, out, _ = run(capsys, "show", str(path))
    assert status == 0
    heading, verdict, where, *rows = out.splitlines()
    assert (heading, verdict) == ("Poisson, 8²", "the verdict")
    assert where.startswith("on ")
    assert [row.split("  ")[0] for row in rows] == ["entry", "Jacobi", "Neumann 2"]
    status, _, err = run(capsys, "show", str(path), "--csv", "x.csv")
    assert status == 2
    assert "a race has no table or page of its own; leave out --csv" in err
    path.write_text("{}")
    status, _, err = run(capsys, "show", str(path))
    assert status == 2
    assert "is no saved race of version 1" in err


def test_a_race_of_others_prints_nothing_that_a_terminal_obeys(capsys, tmp_path):
    entry = EntryRecord(configure("poisson5", n=8), error="failed\x1b[2J\n\nhere")
    race = RaceRecord((entry,), 1e-6, machine="\x1b[31mmachine", verdict="fast\x07\nest")
    status, out, _ = run(capsys, "show", str(save_race(race, tmp_path / "a")))
    assert status == 0
    assert len(out.splitlines()) == 5
    assert not set(out) & {"\x1b", "\x07"}


def raced(*methods, **about):
    race = Race([configure("poisson5", n=8, **method) for method in methods])
    race.wait(LIMIT)
    return RaceRecord.of([EntryRecord.of(entry) for entry in race.entries], 1e-6, **about)


def test_the_link_of_a_race_is_shown_as_its_file_is(capsys, tmp_path):
    race = raced({}, {"preconditioner": "neumann:2"}, verdict="the verdict")
    link = to_link(race)
    shown = run(capsys, "show", str(save_race(race, tmp_path / "a")))
    assert shown[0] == 0
    assert run(capsys, "show", link) == shown
    assert run(capsys, "show", f"http://host:8866/voila/a.ipynb?race={link}&view=compare.race") == shown
    status, _, err = run(capsys, "show", link[:-9])
    assert status == 2
    assert "link is" in err
    for problem in (link_of_problem(configure("poisson5", n=8)), "some.cg.json"):
        status, _, err = run(capsys, "show", problem)
        assert status == 2
        assert "was not run yet; run it by `workbench solve`" in err


def test_a_run_of_an_earlier_version_is_shown_with_the_names_that_parameters_have_now(capsys, tmp_path):
    record = run_through(Run(configure("two-layer", n=8, density_ratio=0.02))).record()
    problem = {"kind": "problem", "name": "two-layer", "parameters": {"n": 8, "contrast": 50.0}}
    configuration = {**record.provenance["configuration"], "problem": problem}
    provenance = {**record.provenance, "configuration": configuration}
    earlier = dataclasses.replace(record, summary={**record.summary, "problem": problem}, provenance=provenance)
    file = save(earlier, tmp_path / "earlier.run")
    _, out, _ = run(capsys, "show", str(file))
    assert "two-layer (n=8, density_ratio=0.02)" in out
    loaded = load(file)
    assert loaded.summary["problem"]["parameters"] == {"n": 8, "density_ratio": 0.02}
    assert loaded.provenance["configuration"]["problem"]["parameters"] == {"n": 8, "density_ratio": 0.02}
    # What cannot be read as it was meant stays as it is.
    for changed in ({"name": "gone", "parameters": {"contrast": 50.0}}, {**problem, "parameters": {"contrast": "x"}}):
        file = save(dataclasses.replace(earlier, summary={**record.summary, "problem": changed}), tmp_path / "b.run")
        assert load(file).summary["problem"] == changed


def test_a_run_of_others_prints_nothing_that_a_terminal_obeys(capsys, tmp_path):
    record = run_through(Run(configure("poisson5", n=8, rhs="random:2", solver="block-cg"))).record()
    bad = "red\x1b[31m\x07 text\r\nnext"
    column = {**record.summary["columns"][0], "reason": bad}
    problem = {**record.summary["problem"], "name": bad}
    summary = {**record.summary, "reason": bad, "problem": problem, "columns": [column], bad: 1}
    made = dataclasses.replace(record, summary=summary, provenance={**record.provenance, "notes": [bad]})
    status, out, _ = run(capsys, "show", str(save(made, tmp_path / "a.run")))
    assert status == 0
    assert not set(out) & {"\x1b", "\x07", "\r"}
    assert out.count("red?[31m? text next") == 5
