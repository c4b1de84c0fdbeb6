"""The page of all runs: what its plot shows, and one file of all runs."""

import pytest

from tests.live.conftest import upload
from workbench.errors import InputError
from workbench.live import RunsPage
from workbench.live.runs.runs_page import open_bytes, save_list
from workbench.live.ui.run_list import RunList
from workbench.records import save
from workbench.run import Run, configure, run_through


@pytest.fixture
def page(tmp_path, opened):
    runs = RunList()
    for choices in ({}, {"deflation": "stripes:2"}, {"preconditioner": "neumann:2"}):
        runs.add(run_through(Run(configure("two-layer", n=12, **choices))).record(), "Solve")
    return opened(RunsPage(runs, tmp_path))


def test_the_plot_shows_the_chosen_runs_and_all_that_are_not_hidden_where_none_is(page):
    assert len(page.convergence.curves) == 3
    page.runs.choose([2])
    assert [curve.key for curve in page.convergence.curves] == [page.curves.of(page.runs.find(2)).key]
    page.runs.choose([])
    page.runs.hide([page.runs.find(1)], True)
    assert [curve.label[0] for curve in page.convergence.curves] == ["2", "3"]
    assert "Drawn: runs 2, 3, all that are not hidden." in page.hint.value
    assert "Hidden: run 1; choose them and press Show" in page.hint.value
    page.runs.choose([1, 3])
    assert "Drawn: run 3, chosen. Hidden: run 1; press Show to draw them." in page.hint.value


def test_all_runs_are_saved_to_one_file_and_opened_with_names_styles_and_pins(page, tmp_path, opened):
    page.runs.rename(page.runs.find(2), "deflated")
    page.runs.pin([page.runs.find(3)], True)
    path = page.save(tmp_path / "all.runs.zip")
    other = opened(RunsPage(folder=tmp_path))
    opened = other.open(path)
    assert [run.name for run in opened] == [run.name for run in page.runs.runs]
    assert [run.style for run in opened] == [0, 1, 2]
    assert [run.pinned for run in opened] == [False, False, True]
    for one, two in zip(page.runs.runs, opened, strict=True):
        assert (one.record.history["residual"] == two.record.history["residual"]).all()
        assert one.record.summary == two.record.summary
    # Among runs that are there the styles stay distinct.
    again = other.open(path)
    assert len({run.style for run in other.runs.runs}) == 6
    assert [run.number for run in again] == [4, 5, 6]


def test_a_run_that_comes_back_has_its_number_where_that_is_free(page, tmp_path):
    content = save_list(page.runs.runs[1:2], tmp_path / "one.runs.zip").read_bytes()
    other = RunList()
    assert [run.number for run in open_bytes(other, "it", content, 7)] == [7]
    assert [run.number for run in open_bytes(other, "it", content, 7)] == [8]
    assert [run.number for run in open_bytes(other, "it", content, 3)] == [3]
    assert other.next_number() == 9


def test_a_single_run_file_is_opened_too(page, tmp_path):
    path = save(page.runs.runs[0].record, tmp_path / "one.run.npz")
    (run,) = page.open(path)
    assert run.origin == "File"
    assert run.handle.configuration().problem.label == "Two layers, 12²"


def test_a_damaged_upload_is_a_sentence_and_the_list_stays(page, eventually):
    upload(page.upload, "x.runs.zip", b"PK\x03\x04 no archive")
    eventually(lambda: page.status.tone == "bad")
    assert page.status.text.startswith("x.runs.zip is damaged or not a file of runs")
    assert len(page.runs.runs) == 3


def test_nothing_is_saved_before_a_run_has_ended(tmp_path, opened):
    page = opened(RunsPage(folder=tmp_path))
    assert page.save_all.disabled
    with pytest.raises(InputError, match="no run with a result"):
        page.save()
