"""`workbench app` and `workbench lab`: which server they become, and with which options."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config.loader import KVArgParseConfigLoader
from traitlets.utils.importstring import import_item

from workbench.cli import main, pages
from workbench.extensions.classroom.server.lab_contents import LabContents
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
    assert not any("token" in each or "password" in each for each in given)


def listed(given, root, folder):
    """Names in a folder as JupyterLab lists it with these arguments."""
    # Without options such as --allow-root.
    options = [each for each in given if "=" in each]
    config = KVArgParseConfigLoader(options, classes=[ServerApp, LabContents]).load_config()
    made = import_item(config.ServerApp.contents_manager_class)(root_dir=str(root), config=config)
    return {each["name"] for each in asyncio.run(made.get(folder))["content"]}


def test_lab_lists_no_answers_of_a_checkout_unless_a_teacher_asks(become, tmp_path):
    given = become("lab")[1]
    lessons = listed(given, ROOT, "notebooks/lessons")
    assert "1_without_pain.ipynb" in lessons
    assert not {"solutions", "source"} & lessons
    # Folders of others that have these names, and an answer that is opened by its path.
    for folder in ("notebooks/lessons/solutions/mine", "notebooks/solutions", "source"):
        (tmp_path / folder).mkdir(parents=True)
    assert listed(given, tmp_path, "") == {"notebooks", "source"}
    assert listed(given, tmp_path, "notebooks") == {"lessons", "solutions"}
    assert listed(given, tmp_path, "/notebooks/lessons/") == set()
    assert listed(given, tmp_path, "notebooks/lessons/solutions") == {"mine"}
    assert not any("contents_manager_class" in each for each in become("lab", "--solutions")[1])


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
    known = {path.relative_to(notebooks_folder()) for path in notebooks_folder().rglob("*.ipynb")}
    answers = {path for path in known if path.parent.name == "solutions"}
    assert known - answers <= copied
    # Neither the solutions, nor the scripts that they are made from.
    assert len(answers) == 7
    assert not answers & copied
    assert {path.name for path in (target / "lessons").iterdir() if path.is_dir()} == set()
    become("lab", "--folder", str(tmp_path), "--solutions")
    assert answers <= {path.relative_to(target) for path in target.rglob("*.ipynb")}


def test_wrong_calls_are_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    assert main(["lab", "--folder", str(tmp_path / "file")]) == 2
    assert "name another place with --folder" in capsys.readouterr().err
    assert main(["solve", "two-layer", "--port", "8866"]) == 2
    assert "unrecognized arguments: --port 8866" in capsys.readouterr().err
    monkeypatch.setitem(pages.NEEDED, "app", ("voila", "no_such_package"))
    assert main(["app"]) == 2
    assert "`workbench app` needs no_such_package; run: " in capsys.readouterr().err
