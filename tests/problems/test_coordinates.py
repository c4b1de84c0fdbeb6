"""Coordinates of unknowns: those of stand-ins fit their couplings, and a matrix brings its own in a file."""

import io
import tarfile

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.problems.files import MatrixFile
from workbench.problems.poisson import Poisson5
from workbench.problems.stand_in import StandIn
from workbench.problems.suitesparse import SuiteSparse, cache_folder

MATRIX = b"%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 4\n3 3 4\n3 1 -1\n"
PLACES = b"%%MatrixMarket matrix array real general\n3 2\n0\n1\n2\n5\n6\n7\n"
EXPECTED = [[0, 5], [1, 6], [2, 7]]


def archive(**files):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as opened:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"T/{name}.mtx")
            entry.size = len(content)
            opened.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("of", "scale", "reach"), [("helm_fem", 0.1, 2**0.5), ("bcsstk15", 0.3, 3**0.5), ("offshore", 0.005, 3**0.5)]
)
def test_coupled_unknowns_of_a_stand_in_are_neighbours(of, scale, reach):
    problem = StandIn(of=of, scale=scale)
    system = problem.assemble_complex_symmetric() if problem.is_complex_symmetric else problem.assemble()
    rows, columns = system.operator.to_csr().tocoo().coords
    places = problem.coordinates()
    assert places.shape[0] == problem.unknowns
    apart = np.linalg.norm(places[rows] - places[columns], axis=1)
    assert apart.max() <= reach * (1 + 1e-12)


def test_others_have_none(tmp_path):
    (tmp_path / "T.mtx").write_bytes(MATRIX)
    (tmp_path / "B.tar.gz").write_bytes(archive(T=MATRIX))
    without = (StandIn(of="1138_bus"), Poisson5(n=4), SuiteSparse(matrix="Nobody/nothing"))
    for problem in (*without, *(MatrixFile(path=str(tmp_path / name)) for name in ("T.mtx", "B.tar.gz"))):
        assert problem.coordinates() is None


def test_they_lie_in_the_archive_of_a_matrix_or_next_to_it(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    (tmp_path / "T.tar.gz").write_bytes(archive(T=MATRIX, T_coord=PLACES))
    (tmp_path / "A.mtx").write_bytes(MATRIX)
    (tmp_path / "A_coord.mtx").write_bytes(PLACES)
    (tmp_path / "B.mtx").write_bytes(MATRIX)
    np.save(tmp_path / "B_coord.npy", EXPECTED)
    target = cache_folder() / "suitesparse" / "Test" / "T.tar.gz"
    target.parent.mkdir(parents=True)
    target.write_bytes(archive(T=MATRIX, T_coord=PLACES))
    files = [MatrixFile(path=str(tmp_path / name)) for name in ("T.tar.gz", "A.mtx", "B.mtx")]
    for problem in (*files, SuiteSparse(matrix="Test/T")):
        assert problem.coordinates().tolist() == EXPECTED


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        (np.ones((3, 1)), "places unknowns by 1 numbers each; it must be 2 or 3"),
        (np.ones((1, 3)), r"has shape \(1, 3\), but the matrix has 3 rows"),
        (np.full((3, 2), np.nan), "B_coord.npy"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path, places, sentence):
    (tmp_path / "B.mtx").write_bytes(MATRIX)
    np.save(tmp_path / "B_coord.npy", places)
    with pytest.raises(InputError, match=sentence):
        MatrixFile(path=str(tmp_path / "B.mtx")).coordinates()
