"""The benchmarks' shared loop: one case that fails costs no other its figures, and each is reported as it ends."""

from __future__ import annotations

import pytest

from benchmarks import gpu
from benchmarks.common import attempts
from workbench.errors import InputError
from workbench.run import Reason, configure


def test_a_failed_case_is_reported_and_the_next_runs(capsys):
    printed = []

    def measure():
        printed.append(capsys.readouterr().err)
        return 3

    def fail():
        raise InputError("n is too small; take 4")

    def crash():
        raise ZeroDivisionError("float division by zero")

    found = attempts({"one": measure, "two": fail, "three": crash, "four": measure})
    assert found["one"] == found["four"] == 3
    assert found["two"] == {"failed": "n is too small; take 4"}
    assert "ZeroDivisionError" in found["three"]["failed"]
    # By the time the last one begins, the others have been reported.
    assert printed[1].splitlines()[0] == "one: 3"
    assert [line.partition(":")[0] for line in printed[1].splitlines()] == ["one", "two", "three"]


def test_one_pair_that_fails_does_not_end_the_comparison_with_the_cpu(monkeypatch, capsys):
    class Done:
        converged, iterations, reason, x = True, 7, Reason.CONVERGED, configure("poisson5", n=4).problem.assemble().b

    def run(configuration):
        if configuration.deflation.name == "ritz" and configuration.device == "cuda":
            raise ValueError("array must not contain infs or NaNs")
        return Done()

    monkeypatch.setattr(gpu, "Run", run)
    monkeypatch.setattr(gpu, "run_through", lambda run: run)
    monkeypatch.setattr(gpu, "GRIDS", (("two-layer", 33),))
    figures = gpu.against_the_cpu()
    assert figures["pairs"] == len(gpu.FIRST_LEVELS) * (len(gpu.SECOND_LEVELS) - 1)
    assert len(figures["failed"]) == len(gpu.FIRST_LEVELS)
    assert "infs or NaNs" in next(iter(figures["failed"].values()))
    assert "ritz:5" in capsys.readouterr().err


@pytest.mark.parametrize("case", gpu.CG_CASES + gpu.CSR_CASES + gpu.LOOKED_AT)
def test_what_is_to_be_measured_exists(case):
    assert configure(case[0], n=case[1]).problem.n == case[1]
