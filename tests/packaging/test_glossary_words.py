"""The script that counts words to avoid: whole words, parts of identifiers, exceptions by line and by path."""

from __future__ import annotations

import json

import pytest

from scripts import glossary_words

PAGE = r"""# Glossary

A lane of a trace is right.

## Words to avoid

| avoid | write | except |
|---|---|---|
| turn, turns | slot | `in turn`, `turns? (on\|off)` |
| `set_up` | setup | |
| lane | entry | `trace`, `*/recording/*` |
"""
MODULE = '''"""Whose turn it is: returns in turn, turns off."""


class RunTurn:
    turn_seconds = 1  # two turns


def set_up(lane):
    """Set up a run."""
'''


@pytest.fixture
def tree(tmp_path):
    contents = {
        "docs/glossary.md": PAGE,
        "README.md": "Take turns.\n",
        "workbench/run/a.py": MODULE,
        "workbench/recording/b.py": "lane = 1\n",
        "workbench/live/c.py": "turn = 1\n",
        "workbench/errors.py": "turn = 1\n",
        "notebooks/n.ipynb": json.dumps({"cells": [{"source": ["a lane\n", "of a race"], "outputs": ["turn"]}]}),
    }
    for name, text in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_the_table_of_the_page_is_the_list():
    turn, set_up, lane = glossary_words.entries(PAGE)
    assert turn == glossary_words.Entry(("turn", "turns"), "slot", ("in turn", "turns? (on|off)"))
    assert set_up.forms == ("set_up",)
    assert (lane.lines, lane.paths) == (("trace",), ("*/recording/*",))


@pytest.mark.parametrize(
    ("line", "count"),
    [("turn", 1), ("RunTurn.turn_seconds", 2), ("TURNS = 2", 1), ("return", 0), ("set_up", 0), ("turnips", 0)],
)
def test_whole_words_are_found_in_identifiers_too(line, count):
    assert glossary_words.entries(PAGE)[0].found(line) == count


def test_an_identifier_is_no_phrase():
    set_up = glossary_words.entries(PAGE)[1]
    assert set_up.found("set_up(run)") == 1
    assert set_up.found("set up the run") == 0


def test_counts_by_package_with_exceptions(tree):
    lines = glossary_words.table(tree, glossary_words.entries(PAGE)).splitlines()
    assert lines[0].split() == ["word", "write", "notebooks", "pages", "run", "workbench", "sum"]
    assert lines[1].split() == ["turn", "slot", "1", "3", "1", "5"]
    assert [line.split() for line in lines[2:4]] == [["lane", "entry", "1", "1", "2"], ["set_up", "setup", "1", "1"]]
    assert lines[-1].split() == ["sum", "1", "1", "5", "1", "8"]


def test_places_of_a_word(tree, monkeypatch, capsys):
    monkeypatch.setattr(glossary_words, "ROOT", tree)
    monkeypatch.setattr(glossary_words, "PAGE", tree / "docs" / "glossary.md")
    glossary_words.main(["set_up"])
    assert capsys.readouterr().out == "workbench/run/a.py:8: def set_up(lane):  [setup]\n"


def test_the_list_of_this_project_can_be_read():
    words = glossary_words.entries(glossary_words.PAGE.read_text(encoding="utf-8"))
    forms = [form for entry in words for form in entry.forms]
    assert len(forms) == len(set(forms))
    assert {"look", "turn", "lane", "wish", "set_up"} <= set(forms)
    assert all(entry.replacement for entry in words)
