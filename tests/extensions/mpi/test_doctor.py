"""What the doctor finds out about MPI: with what is installed, without it, and with a wrong mpiexec."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from workbench.cli import main
from workbench.errors import InputError
from workbench.extensions.mpi import doctor, mpiexec
from workbench.extensions.mpi.doctor import Mpi, examine_mpi
from workbench.extensions.mpi.ranks.world import communicator
from workbench.extensions.mpi.run import launcher
from workbench.machines import packages


@pytest.fixture
def program(tmp_path, monkeypatch):
    """A program in place of mpiexec."""

    def replace(text):
        path = tmp_path / "mpiexec"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv(mpiexec.MPIEXEC, str(path))
        return path

    return replace


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed; `make mpi` installs it")
def test_mpi_is_found_with_an_mpiexec_of_its_own(program, monkeypatch):
    from mpi4py import MPI

    found = examine_mpi()
    assert (found.problem, found.library.rpartition(" ")[0]) == ("", MPI.get_vendor()[0])
    path = program('shift 2; exec env -i PATH=$PATH "$@"')
    assert f"{path} starts no ranks: it is not of {found.library}, so that" in examine_mpi().problem
    path = program("echo 'no slots.' >&2; exit 3")
    assert examine_mpi().problem == f"{path} starts no ranks: no slots"
    monkeypatch.setenv(mpiexec.MPIEXEC, "/nowhere/mpiexec")
    assert examine_mpi().problem == "/nowhere/mpiexec starts no ranks: No such file or directory"


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed; `make mpi` installs it")
def test_an_mpiexec_of_another_kind_is_found_out_before_the_start(program, tmp_path):
    from mpi4py import MPI

    name, others = MPI.get_vendor()[0], {"Open MPI": "HYDRA build details:"}
    path = program(f"touch {tmp_path}/$1; echo '{others.get(name, 'mpirun (Open MPI) 4.1.6')}'")
    with pytest.raises(InputError, match=f"ranks 2 cannot start: mpi4py loads {name} .*, and {path} is of ") as refused:
        launcher.command(2, tmp_path)
    for word in ("PATH", mpiexec.MPIEXEC, *mpiexec.CHOOSING):
        assert word in str(refused.value)
    assert examine_mpi().problem in str(refused.value)
    # No rank was started.
    assert {one.name for one in tmp_path.iterdir() if one.is_file()} == {"mpiexec", "--version"}


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed; `make mpi` installs it")
def test_a_process_that_only_imports_mpi_is_no_rank(capsys):
    from mpi4py import MPI

    assert not MPI.Is_initialized()
    assert communicator() is None
    assert main(["blocks"]) == 0
    assert "multigrid" in capsys.readouterr().out


def test_what_is_not_installed_or_cannot_be_loaded_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert examine_mpi().problem == "mpi4py is not installed"
    monkeypatch.setattr(doctor, "find_spec", lambda name: name)
    monkeypatch.setattr(doctor, "ASK_MPI", "raise RuntimeError('cannot load MPI library')")
    assert examine_mpi().problem == "mpi4py cannot load MPI: RuntimeError: cannot load MPI library"


def test_its_lines_say_what_there_is_and_what_is_wrong():
    assert doctor.lines(Mpi("MPICH 5.0.2", "/some/mpiexec")) == ("MPICH 5.0.2, started by /some/mpiexec",)
    assert doctor.lines(Mpi("MPICH 5.0.2", problem="no mpiexec")) == ("MPICH 5.0.2", "no mpiexec")
    assert doctor.lines(Mpi(problem="no MPI")) == ("no MPI",)


def test_missing_packages_are_installed_by_the_extra(monkeypatch):
    monkeypatch.setattr(packages, "versions", lambda names: {"mpi4py": "4.1", "mpich": None})
    (lack,) = doctor._missing()
    assert (lack.what, lack.why) == ("mpich", "required by runs on ranks")
    assert lack.commands[0].rstrip('"').endswith("[mpi]")
    monkeypatch.setattr(packages, "versions", lambda names: {})
    assert doctor._missing() is None
