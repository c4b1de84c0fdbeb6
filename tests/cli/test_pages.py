"""`workbench app` and `workbench lab`: which server they become, and with which options."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from workbench.cli import main, pages
from workbench.files.data_files import notebooks_folder

ROOT = Path(__file__).parents[2]


class Became(BaseException):
    """In place of this process."""


@pytest.fixture
def become(monkeypatch):
    """Call a command; returns the module that it becomes, the arguments and the environment."""

    def call(*arguments):
        with pytest.raises(Became) as ended:
            main(list(arguments))
        program, (_, dash, module, *given), env = ended.value.args
        assert (program, dash) == (sys.executable, "-m")
        return module, given, env

    def execve(*arguments):
        raise Became(*arguments)

    monkeypatch.setattr(os, "execve", execve)
    return call


def test_app_serves_the_page_and_passes_on_what_it_does_not_know(become):
    module, given, env = become("app", "--no-browser", "--port", "8866", "--PageKernels.classroom=True")
    page, config, *further = given
    assert module == "workbench.extensions.classroom.server.page_server"
    assert Path(page) == ROOT / "notebooks" / "app" / "workbench.ipynb"
    assert (Path(config.partition("=")[2]) / "voila.py").is_file()
    assert further == ["--no-browser", "--port", "8866", "--PageKernels.classroom=True"]
    # Cells and terminals find the command of this environment first.
    assert env["PATH"].split(os.pathsep)[0] == str(Path(sys.executable).parent)


def test_app_serves_a_folder_of_lessons_wherever_it_is_called(become, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, given, _ = become("app", "--lessons", "mine", "--no-browser")
    assert given[-2:] == [f"--PageServer.own_lessons={tmp_path / 'mine'}", "--no-browser"]


def test_lab_opens_a_checkout_itself(become):
    module, given, _ = become("lab", "--no-browser")
    assert module == "jupyterlab"
    assert f"--ServerApp.root_dir={ROOT}" in given
    assert given[-1] == "--no-browser"


def test_lab_copies_the_notebooks_and_keeps_what_is_there(become, tmp_path, capsys):
    tour = tmp_path / "notebooks" / "00_tour.ipynb"
    tour.parent.mkdir()
    tour.write_text("changed by its reader")
    _, given, _ = become("lab", "--folder", str(tmp_path))
    assert f"--ServerApp.root_dir={tmp_path}" in given
    assert str(tmp_path) in capsys.readouterr().err
    assert tour.read_text() == "changed by its reader"
    # Links of the notebooks lead to the documentation next to their folder.
    assert (tmp_path / "docs" / "family.md").is_file()
    target = tmp_path / "notebooks"
    copied = {path.relative_to(target) for path in target.rglob("*.ipynb")}
    assert {path.relative_to(notebooks_folder()) for path in notebooks_folder().rglob("*.ipynb")} <= copied


def test_wrong_calls_are_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    assert main(["lab", "--folder", str(tmp_path / "file")]) == 2
    assert "name another place with --folder" in capsys.readouterr().err
    assert main(["solve", "two-layer", "--port", "8866"]) == 2
    assert "unrecognized arguments: --port 8866" in capsys.readouterr().err
    monkeypatch.setitem(pages.NEEDED, "app", ("voila", "no_such_package"))
    assert main(["app"]) == 2
    assert "`workbench app` needs no_such_package; run: " in capsys.readouterr().err
