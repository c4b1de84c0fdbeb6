"""What the doctor finds out about PETSc: with it, without it, and where it cannot be loaded."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from workbench.extensions.petsc import doctor
from workbench.extensions.petsc.doctor import Petsc, examine_petsc


@pytest.mark.skipif(find_spec("petsc4py") is None, reason="PETSc is built by `make petsc`")
def test_petsc_is_found_with_its_types():
    found = examine_petsc()
    assert (found.problem, found.integer[:3]) == ("", "int")
    assert found.version.startswith("3.")


def test_what_is_not_installed_or_cannot_be_loaded_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "petsc4py", None)
    monkeypatch.setattr(doctor, "find_spec", lambda name: None)
    assert examine_petsc().problem == "petsc4py is not installed"
    monkeypatch.setattr(doctor, "find_spec", lambda name: name)
    monkeypatch.setattr(doctor, "ASK_PETSC", "raise ImportError('numpy.dtype size changed')")
    assert examine_petsc().problem == "petsc4py cannot load PETSc: ImportError: numpy.dtype size changed"


def test_its_line_says_what_it_has_and_lacks():
    found = Petsc("3.26.1", "float64", "int32", ("hypre",))
    assert doctor.line(found) == "3.26.1, float64, int32 indices, with hypre, without mumps, superlu_dist, cuda"
    assert doctor.line(Petsc(problem="no PETSc")) == "no PETSc"


def test_the_way_to_petsc_is_told_where_there_is_none():
    (lack,) = doctor.missing(Petsc(problem="petsc4py is not installed"))
    assert lack.commands == ("make petsc",)
    assert "petsc4py is not installed" in lack.why
    assert doctor.missing(Petsc("3.26.1")) == ()
