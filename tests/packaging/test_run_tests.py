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
    parts = [[word for word in call if word.startswith("tests/")] for call in calls[0]]
    named = [{f"tests/{name}" for name in names} for names in run_tests.GROUPS]
    assert [set(part) for part, names in zip(parts, named, strict=False) if names != {"tests/devices"}] == [
        names for names in named if names != {"tests/devices"}
    ]
    *_, others, last = parts
    assert {"tests/machine", "tests/test_docs.py"} <= set(others)
    assert last == ["tests/browser"]
    found = [word for part in parts for word in part]
    files = [path for path in (ROOT / "tests").rglob("test_*.py") if "__pycache__" not in path.parts]
    for path in files:
        # Every file in one part, once.
        assert sum(run_tests.is_in(path.relative_to(ROOT).as_posix(), word) for word in found) == 1
    assert all((ROOT / word).exists() for word in found)


def test_a_folder_within_a_folder_has_a_group_of_its_own(calls):
    run_tests.main(["--"])
    groups = [{run_tests.group(word) for word in call if word.startswith("tests/")} for call in calls[0]]
    assert groups == [{place} for place in range(len(run_tests.GROUPS) + 2)]
    assert run_tests.group("tests/devices/accelerator/test_products.py::test_it") == run_tests.GROUPS.index(
        ("devices/accelerator",)
    )


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
