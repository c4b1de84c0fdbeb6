"""Which tests run together, and in which order."""

from pathlib import Path

import pytest

from scripts import run_tests

ROOT = Path(__file__).parents[2]


@pytest.fixture
def calls(monkeypatch):
    """What pytest would be called with; every call ends with the status that the test puts into `codes`."""
    made, codes = [], []
    monkeypatch.setattr(run_tests, "pytest", lambda words: (made.append(list(words)), codes.pop(0) if codes else 0)[1])
    return made, codes


def test_without_a_path_all_tests_run_once_and_those_in_the_browser_last(calls):
    assert run_tests.main(["--all", "--"]) == 0
    parts = [[word for word in call if word.startswith("tests/")] for call in calls[0]]
    first, contracts, others, last = parts
    assert first == ["tests/compiler", "tests/contracts/test_accelerators.py", "tests/devices", "tests/kernel_language"]
    assert {Path(word).parts[1] for word in contracts} == {"contracts"}
    assert {"tests/machines", "tests/test_docs.py"} <= set(others)
    assert last == ["tests/browser"]
    assert ["--reruns" in call for call in calls[0]] == [False, False, True, True]
    found = [Path(word).parts for words in parts for word in words]
    for path in (ROOT / "tests").rglob("test_*.py"):
        parts = path.relative_to(ROOT).parts
        assert sum(parts[: len(above)] == above for above in found) == 1, path


def test_of_the_browser_one_goes_through_the_whole_page_where_nothing_is_asked_for(calls):
    assert run_tests.main(["--"]) == 0
    *others, last = ([word for word in call if word.startswith("tests/")] for call in calls[0])
    assert last == [run_tests.THROUGH]
    assert (ROOT / run_tests.THROUGH).is_file()
    assert "tests/machines" in others[2]


@pytest.mark.parametrize("cores", [1, 2, 64])
@pytest.mark.parametrize("whole", [False, True])
def test_a_path_is_run_with_its_part_and_arguments_reach_pytest(calls, monkeypatch, cores, whole):
    monkeypatch.setattr(run_tests.os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    paths = ["tests/machines", "tests/devices/accelerator/test_products.py::test_it"]
    run_tests.main([*["--all"][: int(whole)], *paths, "--", "-k", "this or that"])
    options = [] if whole else ["-m", "not slow"]
    each = min(cores, run_tests.MOST)
    # Those that wait have a process more.
    several, more = ([] if cores == 1 else ["-n", str(number), "--dist", "worksteal"] for number in (each, each + 1))
    machines, devices = paths
    assert calls[0] == [
        [*several, *options, devices, "-k", "this or that"],
        [*more, *options, *run_tests.AGAIN, machines, "-k", "this or that"],
    ]


@pytest.mark.parametrize(
    ("codes", "expected"), [((0, 0), 0), ((5, 0), 0), ((0, 5), 0), ((5, 5), 5), ((1, 0), 1), ((0, 2), 2), ((5, 1), 1)]
)
def test_a_part_that_fails_is_told_and_an_empty_one_only_when_both_are(calls, codes, expected):
    calls[1].extend(codes)
    assert run_tests.main(["tests/machines", "tests/contracts", "--"]) == expected
    assert len(calls[0]) == 2
