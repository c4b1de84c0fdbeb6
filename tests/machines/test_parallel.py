"""What the doctor finds out about MPI and PETSc: with what is installed, without it, and with a wrong mpiexec."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from workbench.errors import InputError
from workbench.extensions.mpi.run import launcher
from workbench.machines import advice, parallel
from workbench.machines.parallel import examine_mpi, examine_petsc


@pytest.fixture
def mpiexec(tmp_path, monkeypatch):
    """A program in place of mpiexec."""

    def replace(text):
        path = tmp_path / "mpiexec"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        monkeypatch.setenv(parallel.MPIEXEC, str(path))
        return path

    return replace


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed; `make mpi` installs it")
def test_mpi_is_found_with_an_mpiexec_of_its_own(mpiexec, monkeypatch):
    from mpi4py import MPI

    found = examine_mpi()
    assert (found.problem, found.library.split()[0]) == ("", MPI.get_vendor()[0])
    path = mpiexec('shift 2; exec env -i PATH=$PATH "$@"')
    assert f"{path} starts no ranks: it is not of {found.library}, so that" in examine_mpi().problem
    path = mpiexec("echo 'no slots.' >&2; exit 3")
    assert examine_mpi().problem == f"{path} starts no ranks: no slots"
    monkeypatch.setenv(parallel.MPIEXEC, "/nowhere/mpiexec")
    assert examine_mpi().problem == "/nowhere/mpiexec starts no ranks: No such file or directory"


@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed; `make mpi` installs it")
def test_an_mpiexec_of_another_kind_is_found_out_before_the_start(mpiexec, tmp_path):
    from mpi4py import MPI

    name, others = MPI.get_vendor()[0], {"Open MPI": "HYDRA build details:"}
    path = mpiexec(f"touch {tmp_path}/$1; echo '{others.get(name, 'mpirun (Open MPI) 4.1.6')}'")
    with pytest.raises(InputError, match=f"ranks 2 cannot start: mpi4py loads {name} .*, and {path} is of ") as refused:
        launcher.command(2, tmp_path)
    for word in ("PATH", parallel.MPIEXEC, *parallel.CHOOSING):
        assert word in str(refused.value)
    assert examine_mpi().problem in str(refused.value)
    # No rank was started.
    assert {one.name for one in tmp_path.iterdir()} == {"mpiexec", "--version"}


@pytest.mark.skipif(find_spec("petsc4py") is None, reason="PETSc is built by `make petsc`")
def test_petsc_is_found_with_its_types():
    found = examine_petsc()
    assert (found.problem, found.integer[:3]) == ("", "int")
    assert found.version.startswith("3.")


def test_what_is_not_installed_or_cannot_be_loaded_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "mpi4py", None)
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    monkeypatch.setattr(parallel, "find_spec", lambda name: None)
    assert examine_mpi().problem == "mpi4py is not installed"
    assert examine_petsc().problem == "petsc4py is not installed"
    monkeypatch.setattr(parallel, "find_spec", lambda name: name)
    monkeypatch.setattr(parallel, "ASK_MPI", "raise RuntimeError('cannot load MPI library')")
    monkeypatch.setattr(parallel, "ASK_PETSC", "raise ImportError('numpy.dtype size changed')")
    assert examine_mpi().problem == "mpi4py cannot load MPI: RuntimeError: cannot load MPI library"
    assert examine_petsc().problem == "petsc4py cannot load PETSc: ImportError: numpy.dtype size changed"


def test_the_way_to_petsc_is_told_where_there_is_none():
    (lack,) = advice._petsc(parallel.Petsc(problem="petsc4py is not installed"))
    assert lack.commands == ("make petsc",)
    assert "petsc4py is not installed" in lack.why
    assert advice._petsc(parallel.Petsc("3.26.1")) == []
