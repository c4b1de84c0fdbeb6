"""Parsing of problem names, and matrix files."""

from pathlib import Path

import numpy as np
import pytest

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.files.data_files import path_of
from workbench.problems import problem_from_text
from workbench.problems.bubbles import Bubbles3D
from workbench.problems.files import MatrixFile
from workbench.problems.suitesparse import SuiteSparse
from workbench.problems.two_layer import TwoLayer
from workbench.registry import from_dict, registered

HERMITIAN = "%%MatrixMarket matrix coordinate complex hermitian\n2 2 3\n1 1 2 0\n2 1 0 1\n2 2 2 0\n"


def test_a_registered_name_with_or_without_argument():
    assert problem_from_text("two-layer") == TwoLayer()
    assert problem_from_text("bubbles-3d:16") == Bubbles3D(n=16)
    assert problem_from_text("matrix-file:some/where.mtx") == MatrixFile(path="some/where.mtx")


def test_an_existing_path(write, monkeypatch):
    path = write(HERMITIAN, "small.mtx")
    assert problem_from_text(str(path)) == MatrixFile(path=str(path))
    monkeypatch.chdir(path.parent)
    problem = problem_from_text("small.mtx")
    assert problem.label == "Matrix small"
    system = problem.assemble()
    assert system.operator.to_csr().toarray().tolist() == [[2, -1j], [1j, 2]]
    assert system.b.tolist() == [1, 1]
    assert system.b.dtype == system.operator.dtype == np.complex128
    assert system.grid is None
    assert not system.random_start
    assert from_dict(problem.to_dict()) == problem


@pytest.mark.parametrize("text", ["bcsstk16", "HB/bcsstk16"])
def test_a_suitesparse_name(text):
    problem = problem_from_text(text)
    assert problem == SuiteSparse(matrix=text)
    assert problem.label == "Matrix HB/bcsstk16"


@pytest.mark.parametrize("text", ["missing.mtx", "missing.mtx.gz", "some/where", "./two-layer", "HB/bcsstk99"])
def test_a_path_without_a_file(text):
    assert refusal(problem_from_text, text) == f"no file at {text}"


@pytest.mark.parametrize(
    ("text", "nearest"), [("two-layr", "two-layer"), ("bubles-3d", "bubbles-3d"), ("parabolic_fm", "parabolic_fem")]
)
def test_an_unknown_name_suggests_the_nearest(text, nearest):
    assert refusal(problem_from_text, text) == f"unknown problem {text!r}; did you mean {nearest}?"


def test_an_unknown_name_lists_the_problems():
    assert refusal(problem_from_text, "???") == f"unknown problem '???'; known: {', '.join(registered('problem'))}"


def test_a_matrix_file_needs_a_path():
    with pytest.raises(InputError, match=r"^matrix-file needs a path, such as matrix-file:bcsstk15\.mtx\.gz$"):
        MatrixFile().assemble()


def test_the_first_parameter_is_the_natural_one():
    first = {name: cls.parameters()[0].name for name, cls in registered("problem").items()}
    assert first.pop("matrix-file") == first.pop("recorded") == "path"
    assert first.pop("suitesparse") == "matrix"
    assert first.pop("stand-in") == "of"
    assert len(first) >= 8
    assert set(first.values()) == {"n"}


@pytest.mark.parametrize("text", ["x" * 5000, "a\0b", "~nosuchuser"])
def test_texts_that_are_no_path_are_unknown_names(text):
    said = refusal(problem_from_text, text)
    assert said.startswith("unknown problem")
    assert len(said) < 400


@pytest.mark.parametrize(
    ("text", "reason"),
    [("x" * 5000, "too long"), ("a\0b", "null"), ("~nosuchuser/a", "home directory")],
)
def test_invalid_paths_are_refused(text, reason):
    with pytest.raises(InputError, match=reason) as caught:
        path_of(text)
    assert str(caught.value).endswith("; check it")
    assert len(str(caught.value)) < 150
    assert path_of("~/a") == Path.home() / "a"
    assert path_of(__file__ + "/below") == Path(__file__) / "below"
