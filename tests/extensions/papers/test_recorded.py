"""Results that come with the package: there for every item, and those that the present code makes."""

from __future__ import annotations

import dataclasses

import pytest

from scripts.record_papers import computed
from workbench.extensions.papers import item_of, papers, recorded
from workbench.extensions.papers.items import MEASURED

ITEMS = [(paper.name, item.name) for paper in papers().values() for item in paper.items]


@pytest.mark.parametrize(("paper", "name"), ITEMS, ids="-".join)
def test_every_item_has_recorded_curves_with_day_and_machine(paper, name):
    found = recorded.recorded(item_of(paper, name))
    assert found is not None, "run python -m scripts.record_papers"
    assert found.curves
    assert found.day
    assert found.machine
    assert not any(curve.name.endswith("here") for curve in found.curves if curve.source == MEASURED)


@pytest.mark.parametrize(("paper", "name"), [("hybrid-pipecg", "fig8-2021"), ("two-level", "fig1")])
def test_what_is_recorded_is_what_the_script_computes(paper, name):
    item = item_of(paper, name)
    made = dataclasses.asdict(computed(item, 60))
    (stored,) = (dataclasses.asdict(each) for each in recorded.stored().items if each.name == f"{paper}.{name}")
    assert made["names"] == stored["names"]
    for ours, theirs in zip(made["found"], stored["found"], strict=True):
        assert ours == {key: pytest.approx(value, rel=1e-4) for key, value in theirs.items()}
    assert [each["name"] for each in made["curves"]] == [each["name"] for each in stored["curves"]]


def test_a_file_of_other_rows_is_not_shown(monkeypatch):
    item = item_of("mpcg", "table1")
    (known,) = (each for each in recorded.stored().items if each.name == "mpcg.table1")
    other = dataclasses.replace(known, names=[*known.names[:-1], "N = 17"])
    monkeypatch.setattr(recorded, "stored", lambda: recorded.Stored([other]))
    assert recorded.recorded.__wrapped__(item) is None


@pytest.mark.parametrize("spoiled", [{"found": []}, {"date": "yesterday"}, {"found": [{"cpu": "x"}]}], ids=str)
def test_values_that_cannot_be_read_are_not_shown(monkeypatch, spoiled):
    item = item_of("block-cg", "fig6")
    (known,) = (each for each in recorded.stored().items if each.name == "block-cg.fig6")
    if spoiled.get("found"):
        spoiled = {"found": [{**known.found[0], **spoiled["found"][0]}, *known.found[1:]]}
    monkeypatch.setattr(recorded, "stored", lambda: recorded.Stored([dataclasses.replace(known, **spoiled)]))
    assert recorded.recorded.__wrapped__(item) is None
