"""What a release is made of: its notes, its citation, the conda recipe and the image say the same as pyproject.toml."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from datetime import date
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import workbench
from scripts import release_notes
from tests.packaging.test_environment import CONDA_NAMES, PROJECT, ROOT, needs
from workbench.cli import program
from workbench.extensions.papers.printed import FILES

CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text())
RECIPE = yaml.safe_load((ROOT / "scripts" / "recipe.yaml").read_text())
IMAGE = (ROOT / ".binder" / "Dockerfile").read_text()
CHANGES = """# Changelog

## [Unreleased]

### Added

- This.

## [0.2.0] - 2026-01-31

- That.
"""


def test_notes_are_the_section_of_a_version():
    assert release_notes.notes(CHANGES) == "# cg-workbench Unreleased\n\n### Added\n\n- This."
    assert release_notes.notes(CHANGES, "0.2.0") == "# cg-workbench 0.2.0, 2026-01-31\n\n- That."
    with pytest.raises(SystemExit, match=r"no version 0\.3\.0; it has Unreleased, 0\.2\.0"):
        release_notes.notes(CHANGES, "0.3.0")


def test_the_changelog_has_what_is_unreleased_first_and_then_dated_versions_up_to_that_of_the_package():
    first, *released = release_notes.sections((ROOT / "CHANGELOG.md").read_text()).items()
    assert first[0] == "Unreleased"
    versions = [Version(version) for version, _ in released]
    assert versions == sorted(versions, reverse=True)
    assert all(version <= Version(workbench.__version__) for version in versions)
    assert all(day and date.fromisoformat(day) for _, (day, _) in released)


def test_the_citation_agrees_with_the_package():
    assert CITATION["cff-version"] == "1.2.0"
    assert CITATION["message"]
    assert CITATION["type"] == "software"
    assert CITATION["version"] == workbench.__version__
    assert CITATION["license"] == PROJECT["license"]
    assert CITATION["title"] == PROJECT["name"]
    assert CITATION["keywords"] == PROJECT["keywords"]
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in PROJECT["authors"]]


def cited(reference):
    people = (
        " ".join(person[part] for part in ("given-names", "name-particle", "family-names") if part in person)
        for person in reference["authors"]
    )
    return reference["title"], ", ".join(people), reference.get("year")


def test_the_citation_refers_to_the_papers_whose_numbers_are_reproduced():
    printed = set()
    for file in FILES.values():
        paper = tomllib.loads(file.read_text())
        versions = [paper, *([paper["earlier"]] if "earlier" in paper else [])]
        printed |= {(version["title"], paper["authors"], version.get("year")) for version in versions}
    assert {cited(reference) for reference in CITATION["references"]} == printed
    assert len(CITATION["references"]) == 6


@pytest.mark.parametrize("need", needs("lab", "app"), ids=str)
def test_the_recipe_needs_each_package_with_the_same_bounds(need):
    found = {name: Requirement(line).specifier for line in RECIPE["requirements"]["run"] for name in [line.split()[0]]}
    assert found[CONDA_NAMES.get(need.name, need.name)] == need.specifier


def test_the_recipe_is_of_this_version_and_needs_nothing_else():
    assert RECIPE["context"]["version"] == workbench.__version__
    assert RECIPE["about"]["license"] == PROJECT["license"]
    names = {CONDA_NAMES.get(need.name, need.name) for need in needs("lab", "app")} | {"python"}
    assert {line.split()[0] for line in RECIPE["requirements"]["run"]} == names
    (entry,) = RECIPE["build"]["python"]["entry_points"]
    assert entry == f"workbench = {PROJECT['scripts']['workbench']}"
    (built_by,) = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert built_by.replace(">=", " >=") in RECIPE["requirements"]["host"]


def test_commands_that_the_recipe_tests_are_those_of_the_workbench():
    for line in RECIPE["tests"][1]["script"]:
        command, *arguments = shlex.split(line)
        assert command in PROJECT["scripts"]
        program.parsed(arguments)


def test_the_image_installs_what_is_there_and_starts_the_page():
    (extras,) = re.findall(r'"\.\[([\w,]+)\]"', IMAGE)
    assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])
    for path in re.findall(r"[\w/]+\.(?:py|txt)", IMAGE):
        assert Path(ROOT, path).is_file()
    (started,) = re.findall(r"^CMD (.*)$", IMAGE, re.MULTILINE)
    command, *arguments = json.loads(started)
    assert command in PROJECT["scripts"]
    options = program.parsed(arguments)
    (port,) = re.findall(r"^EXPOSE (\d+)$", IMAGE, re.MULTILINE)
    assert options.verb == "app"
    assert f"--port={port}" in options.further
