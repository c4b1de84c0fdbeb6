"""The wheel: what it contains, and that it works where it is installed, outside any checkout."""

from __future__ import annotations

import os
import sys
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import workbench
from tests.browser import lab
from tests.browser.bench import solved
from tests.packaging import wheels
from tests.packaging.wheels import clean, run

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
COMPILED = {".pyc"}
"""Suffixes of files that Python writes into the source tree."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """A wheel of this checkout."""
    return wheels.built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def contents(wheel) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.fixture(scope="module")
def elsewhere(wheel, tmp_path_factory) -> Path:
    """The folder of commands of an environment with the wheel."""
    return wheels.environment(tmp_path_factory.mktemp("elsewhere"), wheel)


@pytest.mark.parametrize("folder", ["workbench", "data", "notebooks"])
def test_every_file_of_the_package_is_in_the_wheel(contents, folder):
    inside = "" if folder == "workbench" else "workbench/"
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix not in COMPILED]
    # JupyterLab leaves folders of checkpoints.
    paths = [path for path in files if ".ipynb_checkpoints" not in path.parts]
    missing = {inside + path.relative_to(ROOT).as_posix() for path in paths} - contents
    assert paths
    assert not missing


@pytest.mark.parametrize(
    "name", ["py.typed", "live/static/ui/style.css", "live/static/plots/plot.js", "data/matrices.toml"]
)
def test_files_that_are_no_modules_are_where_the_package_reads_them(contents, name):
    assert f"workbench/{name}" in contents


def test_nothing_but_the_package_and_its_metadata_is_installed(contents):
    information = f"cg_workbench-{workbench.__version__}.dist-info"
    assert {name.partition("/")[0] for name in contents} == {"workbench", information}
    assert f"{information}/licenses/LICENSE" in contents


def test_the_metadata_names_the_licence_and_every_extra(wheel, contents):
    (name,) = (name for name in contents if name.endswith(".dist-info/METADATA"))
    with zipfile.ZipFile(wheel) as archive:
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["License-Expression"] == PROJECT["license"] == "BSD-3-Clause"
    assert metadata.get_all("License-File") == PROJECT["license-files"]
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert metadata["Description-Content-Type"] == "text/markdown"


def test_the_installed_command_solves_in_any_folder(elsewhere, tmp_path):
    printed = run([elsewhere / "workbench", "solve", "two-layer", "--n", "16", "--deflation", "stripes"], tmp_path)
    assert "converged, verified by the true residual" in printed
    assert list(tmp_path.iterdir()) == []


def test_data_files_are_read_from_the_installed_package(elsewhere, tmp_path):
    lines = (
        "import workbench; from workbench.files.data_files import data_folder; print(workbench.__file__, data_folder())"
    )
    package, data = map(Path, run([elsewhere / "python", "-c", lines], tmp_path).split())
    assert package.is_relative_to(elsewhere.parent)
    assert data == package.parent / "data"


def test_an_explorer_solves_from_the_installed_package(elsewhere, tmp_path):
    lines = """
from workbench.live import explore
explorer = explore("two-layer", n=16)
print(explorer.run().wait(200).reason.name)
explorer.close()
"""
    assert run([elsewhere / "python", "-c", lines], tmp_path).split() == ["CONVERGED"]


def jupyter(folder: Path) -> dict[str, str]:
    """An environment in which Jupyter finds the files of the dependencies and writes into a folder only."""
    own = {name: str(folder / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")}
    return clean() | own | {"JUPYTER_PATH": os.path.join(sys.prefix, "share", "jupyter")}


@pytest.mark.browser
def test_the_installed_command_opens_the_page_and_the_page_solves(elsewhere, tmp_path):
    with (
        lab.serving([str(elsewhere / "workbench"), "app"], tmp_path, jupyter(tmp_path)) as url,
        lab.browser() as chromium,
    ):
        page = lab.context(chromium).new_page()
        page.goto(f"{url}/?view=solve.solve")
        page.locator('.wb-solving [data-act="run"]').wait_for()
        solved(page)


@pytest.mark.browser
def test_the_installed_command_opens_a_copy_of_the_notebooks(elsewhere, tmp_path):
    kept = tmp_path / "mine" / "notebooks" / "06_write_your_own.ipynb"
    kept.parent.mkdir(parents=True)
    kept.write_text("changed by its reader")
    command = [str(elsewhere / "workbench"), "lab", "--folder", "mine", "--expose-app-in-browser", "--ServerApp.token="]
    with lab.serving(command, tmp_path, jupyter(tmp_path)) as url, lab.browser() as chromium:
        page = lab.context(chromium).new_page()
        page.goto(url)
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.context?.path === 'notebooks/00_tour.ipynb'"
        )
    assert kept.read_text() == "changed by its reader"
    assert (tmp_path / "mine" / "docs" / "family.md").is_file()
    assert (tmp_path / "mine" / "notebooks" / "lessons" / "1_without_pain.ipynb").is_file()
