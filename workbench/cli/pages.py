"""`workbench app` serves the page, `workbench lab` starts JupyterLab on the notebooks; the Makefile calls both."""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn, Protocol

from workbench.cli.common import Commands
from workbench.cli.streams import log
from workbench.errors import InputError, printable_path
from workbench.files.data_files import PACKAGE, docs_folder, notebooks_folder, path_of
from workbench.registry.extensions import service

TOUR = "00_tour.ipynb"
OWN_FOLDER = "cg-workbench"
CONNECTION = "--ServerApp.kernel_websocket_connection_class"
LESSONS = "lessons"
WITH_ANSWERS = ("solutions", "source")
"""Folders of `LESSONS` with answers: the solutions, and the scripts that the notebooks are made from."""
NEEDED = {"app": ("voila", "anywidget", "segno"), "lab": ("jupyterlab", "anywidget")}
"""Modules of the extra of each command, by the names of their imports."""


class PageServer(Protocol):
    """The service `page_server`. module: the program that serves the page, run by `python -m`. connection: the class of
    the connections of a Jupyter server to its pages. contents: the class by which JupyterLab lists files, with folders
    that it does not list (`unlisted`)."""

    @property
    def module(self) -> str: ...

    @property
    def connection(self) -> str: ...

    @property
    def contents(self) -> str: ...


def add(verbs: Commands) -> None:
    """Add the commands `app` and `lab`. Options that they do not know are passed on."""
    app = verbs.add_parser(
        "app",
        epilog="Further options go to Voila: workbench app --no-browser --port 8866; --help-all lists them.",
    )
    app.add_argument(
        "--lessons", metavar="FOLDER", help="notebooks of your own, served as lessons; docs/teaching.md says how"
    )
    app.set_defaults(command=_app, passes_on=True)
    lab = verbs.add_parser(
        "lab",
        epilog="Further options go to JupyterLab: workbench lab --no-browser --port 8899.",
    )
    lab.add_argument(
        "--folder",
        metavar="FOLDER",
        help="where the notebooks are copied to; files that are there stay as they are "
        f"(default: {OWN_FOLDER} in the folder of the call; a checkout is opened itself)",
    )
    lab.add_argument(
        "--solutions", action="store_true", help="for teachers: also the folders with the answers of the exercises"
    )
    lab.set_defaults(command=_lab, passes_on=True)


def _app(options: argparse.Namespace) -> NoReturn:
    try:
        server = _server()
    except InputError as error:
        raise InputError(f"`workbench app` has no server of the page: {error}") from None
    _require("app")
    app = notebooks_folder() / "app"
    own = [str(app / "workbench.ipynb"), f"--Voila.config_file_paths={app}"]
    if options.lessons:
        own.append(f"--PageServer.own_lessons={path_of(options.lessons).absolute()}")
    _become(server.module, [*own, *options.further])


def _lab(options: argparse.Namespace) -> NoReturn:
    _require("lab")
    root = notebooks_folder().parent
    if options.folder or root == PACKAGE:
        root = path_of(options.folder or OWN_FOLDER).absolute()
        for source in (notebooks_folder(), docs_folder()):
            copy(source, root / source.name, with_answers=options.solutions)
        log(f"the notebooks are in {printable_path(root)}")
    own = [f"--ServerApp.root_dir={root}", f"--LabApp.default_url=/lab/tree/notebooks/{TOUR}"]
    # Jupyter's own classes serve too, with more delay, and with all folders.
    with contextlib.suppress(InputError):
        server = _server()
        own.append(f"{CONNECTION}={server.connection}")
        # A checkout has them in its folders.
        if not options.solutions:
            own.append(f"--ServerApp.contents_manager_class={server.contents}")
            own += [f"--LabContents.unlisted={notebooks_folder().name}/{LESSONS}/{each}" for each in WITH_ANSWERS]
    # Jupyter refuses to run as root unless this is allowed.
    own += ["--allow-root"] * (os.geteuid() == 0)
    _become("jupyterlab", [*own, *options.further])


def _server() -> PageServer:
    return service("page_server")


def copy(source: Path, target: Path, *, with_answers: bool) -> None:
    """Copy a folder; files that are there stay, since their reader may have changed them. with_answers: those of the
    exercises too. Raises InputError."""
    kept_back = () if with_answers else tuple(source / LESSONS / name for name in WITH_ANSWERS)
    try:
        for file in source.rglob("*"):
            if any(folder in file.parents for folder in kept_back):
                continue
            place = target / file.relative_to(source)
            if file.is_file() and not place.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)
    except OSError as error:
        where = printable_path(target)
        raise InputError(f"cannot copy to {where} ({error.strerror}); name another place with --folder") from None


def _require(extra: str) -> None:
    absent = [name for name in NEEDED[extra] if importlib.util.find_spec(name) is None]
    if absent:
        from workbench.machines.advice import install_command

        raise InputError(f"`workbench {extra}` needs {', '.join(absent)}; run: {install_command(extra)}")


def _become(module: str, arguments: Sequence[str]) -> NoReturn:
    """Run a module in place of this process, so that signals reach it, with the command `workbench` on the PATH."""
    commands = str(Path(sys.executable).parent)
    path = os.pathsep.join([commands, *filter(None, [os.environ.get("PATH")])])
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", module, *arguments], os.environ | {"PATH": path})
