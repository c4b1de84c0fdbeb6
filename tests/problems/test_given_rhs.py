"""The right-hand side that comes with a matrix, in its archive or next to it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import tar_gz
from workbench.errors import InputError
from workbench.problems.suitesparse import cache_folder
from workbench.run import Run, configure, run_through

MATRIX = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 2\n2 1 -1\n2 2 2\n3 3 2\n"
VECTOR = "%%MatrixMarket matrix array real general\n3 1\n1\n+1\n4D0\n"
X = [1, 1, 2]
CHOSEN = {"preconditioner": "none", "stopping": {"rtol": 1e-12}}


def packed(path, members):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tar_gz(members))
    return path


def beside(folder):
    (folder / "T_b.mtx").write_text(VECTOR)
    (folder / "T.mtx").write_text(MATRIX)
    return str(folder / "T.mtx")


def in_archive(folder):
    return str(packed(folder / "T (1).tar.gz", {"T/T_b.mtx": VECTOR, "T/T.mtx": MATRIX, "T/T_coord.mtx": "other"}))


def of_the_collection(folder):
    packed(cache_folder() / "suitesparse" / "Test" / "T.tar.gz", {"T/T.mtx": MATRIX, "T/T_b.mtx": VECTOR})
    return "suitesparse:Test/T"


@pytest.mark.parametrize("made", [beside, in_archive, of_the_collection])
def test_the_right_hand_side_of_a_matrix(tmp_path, made):
    problem = made(tmp_path)
    result = run_through(Run(configure(problem, rhs="given", **CHOSEN)))
    np.testing.assert_allclose(result.x, X, rtol=1e-12)
    assert not any("comes with" in note for note in result.provenance["notes"])
    offered = run_through(Run(configure(problem, **CHOSEN))).provenance["notes"]
    assert any(note.endswith("T_b.mtx comes with the matrix; rhs given solves with it") for note in offered)


def test_several_columns_make_a_block_run(tmp_path):
    problem = in_archive(tmp_path)
    packed(tmp_path / "T (1).tar.gz", {"T/T.mtx": MATRIX, "T/T_b.mtx": VECTOR.replace("3 1", "3 2") + "2\n-1\n0\n"})
    with pytest.raises(InputError, match="solver cg takes one right-hand side"):
        Run(configure(problem, rhs="given", **CHOSEN))


def test_a_matrix_or_problem_without_one(tmp_path):
    problem = beside(tmp_path)
    (tmp_path / "T_b.mtx").unlink()
    for name, sentence in (
        (problem, r"no T_b\.mtx next to .*T\.mtx; name the file of the right-hand side"),
        (str(packed(tmp_path / "T.tar.gz", {"T/T.mtx": MATRIX})), "the archive has no 'T/T_b.mtx', but 'T/T.mtx'"),
        ("poisson5", "rhs given is the NAME_b.mtx of a matrix from a file, and problem poisson5 has its own"),
    ):
        with pytest.raises(InputError, match=sentence):
            Run(configure(name, rhs="given"))
    (tmp_path / "T.tar.gz").write_text(MATRIX)
    with pytest.raises(InputError, match=r"it is no archive, so it has no T_b\.mtx"):
        Run(configure(str(tmp_path / "T.tar.gz"), rhs="given"))
