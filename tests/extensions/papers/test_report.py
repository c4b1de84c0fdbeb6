"""A report: made item by item, kept, made again for other choices, and a page that needs nothing else."""

from __future__ import annotations

import json
import re
import types

import numpy as np
import pytest
from matplotlib.figure import Figure

from tests.extensions.papers.conftest import small
from workbench.cli import INTERRUPTED, main
from workbench.extensions import papers
from workbench.extensions.papers import PAPERS, Reproduction, Target
from workbench.extensions.papers import report as papers_report
from workbench.extensions.papers.column_words import column_words, quantity_words
from workbench.extensions.papers.comparison import Compared
from workbench.extensions.papers.report_page import Verdict, page, tally_rows, verdict
from workbench.extensions.papers.standing import Mark, Standing
from workbench.plots.figures import draw
from workbench.plots.scenes.scene import Axis, CurveOf, Scene
from workbench.records import Trace

COMPARED = Compared(printed="printed", ours="ours", spread="range", modelled="model", sizes=("paper_n", "n"))


def rows(n):
    same = {"name": "<a>", "paper_n": 64, "n": n, "printed": 10, "ours": 13, "range": [12, 14], "model": 10.1}
    return [same, {**same, "name": "b", "printed": 13, "model": None}]


@pytest.fixture
def made(monkeypatch):
    """Two items in place of all papers; the names of those that were made."""
    calls = []

    def make(name, n, _progress):
        calls.append(name)
        if name in made.failing:
            raise made.failing[name]
        return Reproduction(name, f"Title of {name}", rows(n), ["A note."], Figure() if name == "fig1" else None)

    made = types.SimpleNamespace(calls=calls, failing={})
    targets = {
        "table1": Target(lambda n, p: make("table1", n, p), named=("name",), compared=(COMPARED,), quick=32),
        "fig1": Target(lambda n, p: make("fig1", n, p), draws=True),
    }
    for paper in list(papers.PAPERS):
        monkeypatch.delitem(papers.PAPERS, paper)
    monkeypatch.setitem(papers.PAPERS, "two-level", targets)
    return made


def report(folder, *more):
    return main(["reproduce", "--all", "--device", "cpu", "--output", str(folder), *more])


def test_a_report_is_made_once_for_a_configuration(made, tmp_path, capsys):
    folder = tmp_path / "report"
    assert report(folder, "--max-n", "64") == 0
    assert capsys.readouterr().out.strip() == str(folder / "index.html")
    assert report(folder, "--max-n", "64") == 0
    assert made.calls == ["table1", "fig1"]
    assert report(folder, "--quick") == 0
    assert made.calls == ["table1", "fig1", "table1", "fig1"]
    entry = json.loads((folder / "items" / "two-level-table1.json").read_text())
    assert entry["configuration"]["max_n"] == 32
    assert [value["percent"] for value in entry["compared"]] == [pytest.approx(1), None]
    assert (folder / "items" / "two-level-fig1.svg").is_file()


def test_an_item_is_made_again_where_the_sources_are_others(made, tmp_path, monkeypatch):
    assert report(tmp_path) == 0
    monkeypatch.setattr(papers_report, "fingerprint", lambda: "another")
    assert report(tmp_path) == 0
    assert made.calls == ["table1", "fig1"] * 2


def test_every_source_is_in_the_fingerprint(monkeypatch, tmp_path):
    for name in ("a.py", "b.cl", "c.pyc", "numbers.toml"):
        (tmp_path / name).write_text("1")
    monkeypatch.setattr(papers_report, "PACKAGE", tmp_path)
    monkeypatch.setattr(papers_report, "data_folder", lambda: tmp_path)

    def after(name):
        (tmp_path / name).write_text(name)
        return papers_report.fingerprint.__wrapped__()

    assert len({after(name) for name in ("a.py", "b.cl", "numbers.toml")}) == 3
    assert after("c.pyc") == after("a.py")


def test_an_item_of_an_earlier_version_has_its_place_on_the_page(made, tmp_path):
    """Its comparisons have no quantity in words."""
    assert report(tmp_path) == 0
    path = tmp_path / "items" / "two-level-table1.json"
    entry = json.loads(path.read_text())
    for value in entry["compared"]:
        value.pop("quantity")
    path.write_text(json.dumps(entry))
    text = papers_report.Report(tmp_path).write_page().read_text()
    assert f"<td>{quantity_words(entry['compared'][0]['column'])}</td>" in text


def test_a_cut_short_item_is_made_again(made, tmp_path):
    assert report(tmp_path) == 0
    (tmp_path / "items" / "two-level-table1.json").write_text('{"paper": ')
    assert report(tmp_path) == 0
    assert made.calls == ["table1", "fig1", "table1"]


def test_an_interrupted_report_keeps_what_is_made(made, tmp_path, capsys):
    made.failing = {"fig1": KeyboardInterrupt()}
    assert report(tmp_path) == INTERRUPTED
    assert "1 of 2 items are made and kept" in capsys.readouterr().err
    made.failing = {}
    assert report(tmp_path) == 0
    assert made.calls == ["table1", "fig1", "fig1"]


def test_an_item_that_fails_leaves_the_others(made, tmp_path, capsys):
    made.failing = {"table1": ValueError("no <such> thing")}
    assert report(tmp_path) == 1
    assert "1 of 2 items failed: two-level table1" in capsys.readouterr().err
    text = (tmp_path / "index.html").read_text()
    assert "two-level table1 failed by a ValueError: no &lt;such&gt; thing" in text
    assert "Title of fig1" in text
    made.failing = {}
    assert report(tmp_path) == 0
    assert made.calls == ["table1", "fig1", "table1"]


def test_folders_with_other_files_are_refused(made, tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("")
    assert report(tmp_path) == 2
    assert "has files and is no report" in capsys.readouterr().err
    assert report(tmp_path / "thesis.tex") == 2
    assert "is no folder" in capsys.readouterr().err
    assert not made.calls


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["two-level"], "those of two-level are table1, fig1"),
        ([], "or take --all"),
        (["two-level", "table1", "--all"], "leave out table1, or --all"),
        (["two-levels", "--all"], "did you mean two-level"),
        (["--all", "--output", "a", "--json"], "leave out --json and --picture, or --output"),
        (["two-level", "table1", "--max-n", "3"], "max_n must be at least 16 for two-level table1, got 3"),
    ],
)
def test_wrong_arguments_are_refused(made, arguments, message, capsys):
    assert main(["reproduce", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not made.calls


def without_scripts(text):
    return re.sub(r"<(script|style)\b.*?</\1>|<svg.*?</svg>", "", text, flags=re.DOTALL)


def test_the_page_needs_no_other_file(made, tmp_path):
    assert report(tmp_path, "--max-n", "64") == 0
    text = (tmp_path / "index.html").read_text()
    assert "<svg" in text
    assert "--wb-ground" in text
    assert not re.search(r'(?:src|href)="(?!#)', without_scripts(text))
    assert "&lt;a&gt;" in text
    assert "1 of 2 within 15%, 1 not explained" in text
    assert "12..14" in text


def entry(*standings, paper="mpcg"):
    return {"paper": paper, "failed": "", "compared": [{"standing": each.value} for each in standings]}


@pytest.mark.parametrize(
    ("standings", "mark", "words"),
    [
        (
            (Standing.OPEN, Standing.EXPLAINED, Standing.WITHIN),
            Mark.OPEN,
            "1 of 3 within 15%, 1 explained by a measurement, 1 not explained",
        ),
        (
            (Standing.EXPLAINED, Standing.PLAUSIBLE, Standing.WITHIN),
            Mark.PLAUSIBLE,
            "1 of 3 within 15%, 1 explained by a measurement, 1 plausible, not measured",
        ),
        ((Standing.EXPLAINED,), Mark.EXPLAINED, "0 of 1 within 15%, 1 explained by a measurement"),
        ((Standing.WITHIN, Standing.FITTED, Standing.NOT_COUNTED), Mark.AGREES, "all 2 within 15%"),
        ((), Mark.NO_NUMBERS, "no numbers to compare"),
        ((Standing.NOT_COMPARED,), Mark.NOT_COMPARED, "cannot be compared: other size or machine"),
        (
            (Standing.NOT_COUNTED, Standing.NOT_COMPARED),
            Mark.NOT_COMPARED,
            "cannot be compared: its numbers are not counted",
        ),
    ],
)
def test_an_item_has_the_mark_of_its_worst_number(standings, mark, words):
    assert verdict(entry(*standings)) == Verdict(mark, words)


def test_each_printed_number_is_counted_once():
    entries = [
        entry(Standing.WITHIN, Standing.WITHIN, Standing.NOT_COUNTED),
        entry(Standing.OPEN, Standing.NOT_COMPARED, paper="block-cg"),
    ]
    assert tally_rows(entries) == [
        ["mpcg", "2", "2", "0", "0", "0", "0", "0", "1"],
        ["block-cg", "1", "0", "0", "0", "0", "1", "1", "0"],
        ["all", "3", "2", "0", "0", "0", "1", "1", "1"],
    ]
    assert len(tally_rows(entries[:1])) == 1


def stored(paper, target):
    """An item as a report stores it."""
    made = json.loads(json.dumps(small(paper, target).to_dict()))
    choices = {"max_n": 16, "quick": True, "device": "any", "machine": "here", "workbench": "1"}
    return made | {
        "paper": paper, "target": target, "failed": "", "seconds": 1.0,
        "date": "2026-01-01T00:00+00:00", "configuration": choices,
    }  # fmt: skip


def test_a_page_of_a_real_item():
    """All that a target holds is plain data, so that it can be stored and shown."""
    text = page([(stored("mpcg", "table3"), "")])
    assert "<b>not compared</b>: 16 here, 500 printed" in text
    assert "500, 3x4" in text
    assert "−17.3%" in text


def test_a_reason_and_a_note_of_several_items_are_said_once():
    text = without_scripts(page([(stored("hybrid-pipecg", name), "") for name in ("fig4", "fig5")]))
    assert text.count("a row of the item on the best method") == 2
    assert text.count("Times are modelled: latency + bytes/bandwidth") == 1
    assert text.count('href="#hybrid-pipecg-note-1"') == 2
    # The machine of all items is named above them.
    assert text.count("here, version") == 0


def test_the_contents_link_every_item_with_its_mark():
    text = page([(stored("mpcg", name), "") for name in ("table3", "fig2")])
    contents = text[text.index("<nav") : text.index("</nav>")]
    assert re.findall(r'href="#(mpcg-\w+)"><span class="mark ([\w-]+)"', contents) == [
        ("mpcg-table3", "plausible"),
        ("mpcg-fig2", "no-numbers"),
    ]
    assert all(f'id="mpcg-{name}"' in text for name in ("table3", "fig2"))


def test_pictures_of_tables_and_flows_are_alive():
    """Scenes of an item and of a figure that explains, and the trace of a flow."""
    assert [type(one) for one in small("mpcg", "table3").alive] == [Scene]
    assert [type(one) for one in small("two-level", "fig5").alive] == [Scene, Scene]
    assert [type(one) for one in small("hybrid-pipecg", "fig1-2021").alive] == [Trace]


def test_a_report_stores_pictures_that_are_alive(made, tmp_path, monkeypatch):
    scene = Scene("a", Axis("x"), Axis("y"), [CurveOf("c", np.arange(3.0), np.ones(3))])
    alive = Target(lambda n, p: Reproduction("fig1", "Title", rows(n), ["A note."], draw(scene)), draws=True)
    monkeypatch.setitem(papers.PAPERS["two-level"], "fig1", alive)
    assert report(tmp_path) == 0
    text = (tmp_path / "index.html").read_text()
    assert text.count('class="wb-offline-plot"') == 1
    assert (tmp_path / "items" / "two-level-fig1.svg").is_file()
    assert "<svg" not in without_scripts(text)


def test_headings_are_words():
    """Of every printed column, and of all columns of some items."""
    compared = [column for targets in PAPERS.values() for target in targets.values() for column in target.compared]
    said = [column.quantity or quantity_words(column.printed) for column in compared]
    said += [column_words(name) for one in (("mpcg", "fig5"), ("two-level", "fig1")) for name in small(*one).rows[0]]
    codes = re.compile(r"_|\bcpu\b|\bgpu\b|(?<!/)\b(s|ms)$|^printed$")
    assert [words for words in said if codes.search(words)] == []


def test_quick_sizes_are_not_below_the_smallest():
    assert all(one.quick >= one.smallest for targets in PAPERS.values() for one in targets.values())
