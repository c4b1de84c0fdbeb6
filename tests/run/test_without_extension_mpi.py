"""Where no extension starts ranks, that is one sentence, and all else works without them."""

from __future__ import annotations

import functools
import subprocess
import sys

import pytest

from tests.waiting import LIMIT
from workbench.cli import main
from workbench.cli.mpiexec import SIZES
from workbench.errors import InputError
from workbench.extensions.models.one_rank import one_rank
from workbench.registry import extensions
from workbench.run import Run, configure, race
from workbench.run.choices.conflicts import conflicts

SENTENCE = "ranks 2 cannot start: no extension offers ranks; install .*, or run without ranks$"
NO_FOLDER = """
import sys
from workbench.cli import main

class WithoutFolder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.startswith("workbench.extensions.mpi"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

from workbench.registry import extensions
import pkgutil
found = pkgutil.iter_modules
pkgutil.iter_modules = lambda *given: (module for module in found(*given) if module.name != "mpi")
sys.meta_path.insert(0, WithoutFolder)
assert main(["solve", "poisson5", "--n", "9"]) == 0
assert main(["blocks"]) == 0
assert main(["scaling", "poisson7", "--n", "6", "--planes", "12", "--cluster", "archer2"]) == 0
assert main(["solve", "poisson5", "--n", "9", "--ranks", "2"]) == 2
assert "mpi" not in extensions.ours()
"""


@pytest.fixture
def _hidden(monkeypatch):
    left = {name: extension for name, extension in extensions.ours().items() if name != "mpi"}
    monkeypatch.setattr(extensions, "ours", functools.cache(lambda: left))
    monkeypatch.setattr(extensions, "extensions", functools.cache(lambda: left))


@pytest.mark.usefixtures("_hidden")
def test_ranks_are_refused_with_what_to_install():
    configuration = configure("poisson5", n=9, ranks=2)
    with pytest.raises(InputError, match=SENTENCE) as caught:
        Run(configuration)
    assert caught.value.changes == {"ranks": 1}
    (conflict,) = conflicts(configuration)
    assert (conflict.sentence, conflict.changes) == (str(caught.value), {"ranks": 1})
    failed, made = race([configuration, configure("poisson5", n=9)])
    assert (failed.converged, made.converged) == (False, True)


@pytest.mark.usefixtures("_hidden")
def test_runs_of_one_process_and_the_model_of_ranks_need_no_ranks(capsys, monkeypatch):
    # As in a process that has loaded MPI for something else.
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    configuration = configure("poisson5", n=9)
    assert conflicts(configuration) == []
    assert Run(configuration).step()
    assert one_rank(configuration).grid == (9, 9)
    assert main(["solve", "poisson5", "--n", "9", "--stop-file", "nowhere"]) == 0
    assert "cg" in capsys.readouterr().out


@pytest.mark.usefixtures("_hidden")
def test_processes_of_mpiexec_are_told_that_the_extension_is_missing(capsys, monkeypatch):
    monkeypatch.setenv(SIZES[0], "2")
    assert main(["solve", "poisson5", "--n", "9"]) == 2
    assert "this is one of 2 processes of one command: no extension offers mpiexec; install" in capsys.readouterr().err


def test_everything_else_works_without_the_folder_of_the_extension():
    done = subprocess.run([sys.executable, "-c", NO_FOLDER], capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stderr
    assert "ranks 2 cannot start: no extension offers ranks" in done.stderr
