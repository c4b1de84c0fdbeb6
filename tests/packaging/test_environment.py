"""pyproject.toml, environment.yml and constraints.txt say the same about versions."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA_NAMES = {"matplotlib": "matplotlib-base", "cupy-cuda12x": "cupy", "cupy-cuda13x": "cupy"}
CONDA_ONLY = {"python", "pip", "pocl", "ocl-icd", "ocl-icd-system", "cuda-version", "petsc4py"}
"""What conda-forge packs apart and pip has in a wheel, in the driver or in Python itself, or builds from source."""
CONDA_EXTRAS = ("lab", "app", "opencl", "cluster", "mpi", "cuda12", "cuda13")
PINNED_EXTRAS = ("lab", "app", "opencl", "cluster", "mpi", "docs", "dev")


def needs(*extras: str) -> list[Requirement]:
    lines = [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    return [Requirement(line) for line in PROJECT["dependencies"] + lines]


def conda() -> dict[str, SpecifierSet]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    found = [Requirement(line) for line in lines if isinstance(line, str)]
    return {requirement.name: requirement.specifier for requirement in found}


def constraint_lines() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return [line for line in lines if not line.startswith("#")]


def pins() -> dict[str, Version]:
    pairs = [line.split("==") for line in constraint_lines()]
    return {canonicalize_name(name): Version(version) for name, version in pairs}


@pytest.mark.parametrize("need", needs(*CONDA_EXTRAS), ids=str)
def test_conda_has_each_package_with_the_same_bounds(need):
    assert conda()[CONDA_NAMES.get(need.name, need.name)] == need.specifier


def test_conda_has_nothing_that_pyproject_does_not_ask_for():
    asked = {CONDA_NAMES.get(need.name, need.name) for need in needs(*CONDA_EXTRAS)}
    assert set(conda()) - asked == CONDA_ONLY


def test_conda_asks_for_the_same_python():
    assert conda()["python"] == SpecifierSet(PROJECT["requires-python"])


def test_conda_installs_the_checkout_itself_and_nothing_else_by_pip():
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    assert [line["pip"] for line in lines if isinstance(line, dict)] == [["-e ."]]


@pytest.mark.parametrize("need", needs(*PINNED_EXTRAS), ids=str)
def test_each_direct_need_is_pinned_within_its_bounds(need):
    assert need.specifier.contains(pins()[canonicalize_name(need.name)])


def test_constraints_are_plain_sorted_pins():
    lines = constraint_lines()
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.!+]+", line) for line in lines)
    assert lines == sorted(lines, key=str.lower)
    assert len(pins()) == len(lines)


def test_constraints_name_no_address():
    assert not re.search(r"://|@|--|\bfile:", (ROOT / "constraints.txt").read_text())


def test_everything_that_the_direct_needs_pull_in_is_pinned():
    known, waiting = pins(), list(needs(*PINNED_EXTRAS))
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        need = waiting.pop()
        key = canonicalize_name(need.name), frozenset(need.extras)
        if key in seen or (need.marker and not need.marker.evaluate({"extra": ""})):
            continue
        seen.add(key)
        assert key[0] in known, f"{need.name} is missing in constraints.txt; run make constraints"
        for line in metadata.requires(need.name) or []:
            further = Requirement(line)
            extras = [{"extra": extra} for extra in ("", *need.extras)]
            if further.marker is None or any(map(further.marker.evaluate, extras)):
                further.marker = None
                waiting.append(further)
    assert len(seen) > len(needs(*PINNED_EXTRAS))
