"""Which tests run together, and in which order."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_spec = importlib.util.spec_from_file_location("workbench_run_tests", ROOT / "scripts" / "run_tests.py")
run_tests = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run_tests)


@pytest.fixture
def calls(monkeypatch):
    """What pytest would be called with; every call ends with the status that the test puts into `codes`."""
    made, codes = [], []
    monkeypatch.setattr(run_tests, "pytest", lambda words: (made.append(list(words)), codes.pop(0) if codes else 0)[1])
    return made, codes


def test_without_a_path_all_tests_run_and_those_in_the_browser_last(calls):
    assert run_tests.main(["--"]) == 0
    *parts, others, last = [[word for word in call if word.startswith("tests/")] for call in calls[0]]
    assert [set(part) for part in parts] == [{f"tests/{name}" for name in group} for group in run_tests.GROUPS]
    assert {"tests/machine", "tests/test_docs.py"} <= set(others)
    assert last == ["tests/browser"]
    found = [word for part in calls[0] for word in part if word.startswith("tests/")]
    files = {path.relative_to(ROOT).parts[:2] for path in (ROOT / "tests").rglob("test_*.py")}
    assert sorted(found) == sorted("/".join(parts) for parts in files)


@pytest.mark.parametrize("cores", [1, 2, 64])
def test_a_path_is_run_with_its_group_and_arguments_reach_pytest(calls, monkeypatch, cores):
    monkeypatch.setattr(run_tests.os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    run_tests.main(["tests/machine", "tests/solvers/test_cg.py::test_it", "--", "-k", "this or that"])
    spread = [] if cores == 1 else ["-n", str(min(cores, run_tests.MOST)), "--dist", "worksteal"]
    assert calls[0] == [
        [*spread, "tests/solvers/test_cg.py::test_it", "-k", "this or that"],
        [*spread, "tests/machine", "-k", "this or that"],
    ]


@pytest.mark.parametrize(
    ("codes", "expected"), [((0, 0), 0), ((5, 0), 0), ((0, 5), 0), ((5, 5), 5), ((1, 0), 1), ((0, 2), 2), ((5, 1), 1)]
)
def test_a_part_that_fails_is_told_and_an_empty_one_only_when_both_are(calls, codes, expected):
    calls[1].extend(codes)
    assert run_tests.main(["tests/machine", "tests/solvers", "--"]) == expected
    assert len(calls[0]) == 2
