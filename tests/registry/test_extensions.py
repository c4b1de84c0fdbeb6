"""Extensions of others that are broken: one sentence each, and no harm to anything else."""

from __future__ import annotations

import json
import sys
from importlib import metadata
from importlib.metadata import EntryPoint

import pytest

from tests.conftest import refusal
from workbench.cli import main
from workbench.machines.extension_reports import examine_extensions
from workbench.registry import catalogue, extensions, find
from workbench.run import Run, configure, run_through

DECLARED = "from workbench.registry.extensions import Extension\nEXTENSION = Extension({})"
BRITTLE = """
    name="brittle", title="A block that breaks", package="brittle_extension", install="brittle",
    needs=("no_such_module",), blocks={"preconditioner": {"brittle": "brittle_extension.block"}},
"""
SICK = 'name="sick", title="A doctor that fails", package="sick_extension", install="sick", doctor="sick_extension:a"'
WELL = 'name="well", title="A doctor of one line", package="well_extension", install="well", doctor="well_extension:a"'
HEALTHY = """
from workbench.machines.extension_reports import Examined
def a():
    return Examined(lines=("37 degrees",))
"""
MODULES = {
    "brittle_extension/__init__.py": "",
    "brittle_extension/extension.py": DECLARED.format(BRITTLE),
    "brittle_extension/block.py": "raise RuntimeError('the glue is dry')",
    "sick_extension/__init__.py": "def a():\n    raise OSError('no thermometer')",
    "sick_extension/extension.py": DECLARED.format(SICK),
    "well_extension/__init__.py": HEALTHY,
    "well_extension/extension.py": DECLARED.format(WELL),
    "raising_extension.py": "raise ValueError('no such thing')",
    "other_extension.py": "EXTENSION = 3",
}
ENTRIES = {
    "brittle": "brittle_extension.extension:EXTENSION",
    "sick": "sick_extension.extension:EXTENSION",
    "well": "well_extension.extension:EXTENSION",
    "raising": "raising_extension:EXTENSION",
    "other": "other_extension:EXTENSION",
}
REASONS = {
    "brittle": ("brittle_extension.block cannot be imported (", "the glue is dry"),
    "raising": ("", "no such thing"),
    "other": ("", "other_extension:EXTENSION is no"),
}
"""By the name of what is broken, how the reason begins, and a part of it."""


def is_sentence(sentence: str, name: str) -> bool:
    """True if a sentence is the one on this extension."""
    begins, part = REASONS[name]
    return sentence.startswith(f"extension {name} is broken: {begins}") and part in sentence and "\n" not in sentence


@pytest.fixture(autouse=True)
def _installed(tmp_path, monkeypatch):
    """All of these are installed, beside ours."""
    for name, text in MODULES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    entries = [EntryPoint(name, value, extensions.GROUP) for name, value in ENTRIES.items()]
    monkeypatch.setattr(metadata, "entry_points", lambda **_: entries)
    for known in ("_broken", "_failed", "_unread"):
        monkeypatch.setattr(extensions, known, {})
    extensions.extensions.cache_clear()
    yield
    extensions.extensions.cache_clear()
    for name in {value.partition(":")[0].partition(".")[0] for value in ENTRIES.values()}:
        for module in [each for each in sys.modules if each.partition(".")[0] == name]:
            del sys.modules[module]


def test_others_that_are_broken_are_no_extensions_and_have_a_sentence():
    assert list(extensions.extensions()) == [*extensions.ours(), "brittle", "sick", "well"]
    assert is_sentence(refusal(find, "preconditioner", "brittle"), "brittle")
    sentences = extensions.broken()
    assert set(sentences) == set(REASONS)
    assert all(is_sentence(sentences[name], name) for name in REASONS)


def test_blocks_of_others_are_there_and_solve():
    assert "jacobi" in [block["name"] for block in catalogue()["preconditioner"]]
    assert run_through(Run(configure("poisson5", n=8, preconditioner="jacobi"))).converged


def test_the_command_blocks_lists_extensions_behind_blocks(capsys):
    assert main(["blocks"]) == 0
    _, listed = capsys.readouterr().out.split("\nextensions\n")
    assert "    problem: rising-bubbles, heat-steps, recorded\n    command: flow\n" in listed
    of_brittle = listed[listed.index("  brittle  ") :].splitlines()
    assert of_brittle[:3] == [
        "  brittle         A block that breaks",
        "    preconditioner: brittle",
        "    without no_such_module; see `workbench doctor`",
    ]
    assert is_sentence(of_brittle[3].removeprefix("    "), "brittle")
    assert main(["blocks", "--json"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert list(plain) == [*catalogue(), "extensions"]
    problems = {entry["name"]: entry["problem"] for entry in plain["extensions"] if entry["problem"]}
    assert set(problems) == set(REASONS)
    assert all(is_sentence(problems[name], name) for name in REASONS)
    # An entry has what those of blocks have.
    assert all({"name", "title", "parameters"} <= set(entry) for entries in plain.values() for entry in entries)


def test_the_doctor_tells_what_is_wrong_and_what_to_install(monkeypatch):
    # Those of ours start programs.
    monkeypatch.setattr(extensions, "ours", dict)
    found = {each.name: each for each in examine_extensions()}
    assert list(found) == ["brittle", "sick", "well", "other", "raising"]
    assert all(is_sentence(found[name].problem, name) for name in REASONS)
    assert found["brittle"].lacks == ("no_such_module",)
    (lack,) = found["brittle"].missing
    assert (lack.what, lack.why) == ("no_such_module", "required by the extension brittle: A block that breaks")
    assert lack.commands[0].endswith('-m pip install "brittle"')
    assert found["sick"].problem.startswith("extension sick is broken: calling sick_extension:a failed by a OSError")
    assert "no thermometer" in found["sick"].problem
    assert (found["well"].lines, found["well"].problem) == (("37 degrees",), "")
