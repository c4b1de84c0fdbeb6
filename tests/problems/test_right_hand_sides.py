"""Families of right-hand sides that belong to a problem."""

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.problems.right_hand_sides import moved_source, phase_indicators, random_columns
from workbench.run import Run, configure, run_through


def system_of(name, **parameters):
    return configure(name, **parameters).problem.assemble(0)


@pytest.mark.parametrize(("name", "n"), [("poisson5", 21), ("poisson7", 9)])
def test_a_source_is_largest_at_its_position_on_the_diagonal(name, n):
    columns = moved_source(system_of(name, n=n), 3)
    grid = (n,) * (2 if name == "poisson5" else 3)
    assert columns.shape == (np.prod(grid), 3)
    for j, position in enumerate((1 / 6, 1 / 2, 5 / 6)):
        found = np.unravel_index(np.argmax(columns[:, j]), grid)
        assert all(abs((index + 0.5) / n - position) <= 0.5 / n + 1e-12 for index in found)


def test_a_source_has_its_standard_deviation():
    column = moved_source(system_of("poisson5", n=101), 1).reshape(101, 101)
    x = (np.arange(101) + 0.5) / 101 - 0.5
    assert np.sqrt((column * x**2).sum() / column.sum()) == pytest.approx(0.05, rel=1e-3)


def test_every_bubble_has_its_column():
    system = system_of("bubbles-3d", n=12, count=8)
    columns = phase_indicators(system)
    assert columns.shape == (12**3, 8)
    np.testing.assert_array_equal(columns.sum(axis=1), system.phase > 0)
    assert all(np.unique(system.phase[column == 1]).size == 1 for column in columns.T)


@pytest.mark.parametrize("dtype", [np.float64, np.complex128])
@pytest.mark.parametrize(("family", "rank"), [("random:", 6), ("pairs:", 3), ("near:", 6), ("rank4:", 4), ("zero:", 5)])
def test_random_columns_have_the_rank_of_their_family(family, rank, dtype):
    B = random_columns((50, 6), family, 0, np.dtype(dtype))
    assert (B.shape, B.dtype) == ((50, 6), dtype)
    assert np.linalg.matrix_rank(B) == rank
    assert random_columns((50, 1), family, 0, np.dtype(dtype)).shape == (50, 1)


@pytest.mark.parametrize(
    ("rhs", "message"),
    [
        ("sources:0", "write sources:1 or more"),
        ("sources:4", "needs a problem with a grid"),
        ("phases", "needs a problem with bubbles or slabs"),
    ],
)
def test_what_a_problem_does_not_have_is_one_sentence(rhs, message, tmp_path):
    from scipy import io, sparse

    io.mmwrite(tmp_path / "matrix.mtx", sparse.eye_array(5).tocoo())
    with pytest.raises(InputError, match=message):
        Run(configure(str(tmp_path / "matrix.mtx"), rhs=rhs, solver="block-cg"))


@pytest.mark.parametrize("rhs", ["sources:5", "phases", "pairs:4", "near:4", "rank4:6", "zero:3"])
def test_families_are_solved(rhs):
    result = run_through(Run(configure("bubbles-2d", n=20, rhs=rhs, solver="block-cg", preconditioner="ic")))
    assert result.converged
    assert result.x.shape[1] == len(result.columns) > 1


def test_a_system_without_phases_is_refused():
    with pytest.raises(InputError, match="phases"):
        phase_indicators(LinearSystem(system_of("poisson5", n=3).operator, np.ones(9), grid=(3, 3)))
