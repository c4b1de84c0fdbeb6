"""The benchmark against AmgX continues where a contestant fails, and says so at once."""

from benchmarks import amgx
from benchmarks.whole_solves import against_amgx


def test_a_failed_competitor_is_reported_and_the_others_run(capsys):
    turns = []

    def fine():
        turns.append("fine")
        return {"iterations": len(turns), "setup_s": 0.5}

    def fails():
        turns.append("fails")
        raise MemoryError("the device is full")

    found = amgx.solves("poisson5 9", {"first": fails, "second": fine}, 3)
    assert found["first"] == {"failed": "MemoryError: the device is full"}
    # The first of four rounds warms up; of the others, which are the calls 3 to 5 of all, the median counts.
    assert found["second"] == {"iterations": 4, "setup_s": 0.5}
    assert turns.count("fails") == 1
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "poisson5 9, first failed: MemoryError: the device is full"
    assert lines[-1] == "poisson5 9, second, round 3: iterations 5, setup_s 0.5"


def test_a_missing_gpu_is_reported(monkeypatch):
    monkeypatch.setattr(amgx.amgx, "installed", lambda: False)
    assert "workbench doctor" in amgx.figures()["not run"]


def test_the_fastest_of_each_side_are_compared():
    rows = {
        "ours, mg": {"together_s": 2.0, "without_upload_s": 0.5},
        "ours, neumann:2": {"together_s": 1.0, "without_upload_s": 1.0},
        "AmgX PCG, classical": {"together_s": 30.0, "without_upload_s": 4.0},
        "AmgX PCG, aggregation": {"failed": "no memory"},
    }
    found = against_amgx(rows)
    assert {key: row["measured"] for key, row in found.items()} == {"together_s": 30, "without_upload_s": 8}
    assert against_amgx({"ours, mg": rows["ours, mg"]}) == {}
