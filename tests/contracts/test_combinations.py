"""Levels, coarse solvers and variants, combined pairwise, solve the two-layer problem, or say why not."""

import sys

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from tests.all_pairs import pairwise
from tests.contracts import cases
from workbench.errors import InputError
from workbench.run import Run, configure, run_through

N = 16


def solution(**choices):
    result = run_through(Run(configure("two-layer", n=N, **choices)))
    assert result.converged, (choices, result.reason, result.detail)
    return result.x


@pairwise(preconditioner=cases.FIRST, deflation=cases.SECOND, coarse=cases.COARSE, variant=cases.HERMITIAN)
def test_pairs_of_levels_coarse_solvers_and_variants(case, expected):
    assert np.abs(solution(**case) - expected).max() <= 1e-3 * np.abs(expected).max()


@pairwise(preconditioner=["jacobi", "neumann:2"], deflation=cases.SECOND, coarse=cases.COARSE)
def test_pairs_of_spaces_and_coarse_solvers_with_a_def1(case, expected):
    assert np.abs(solution(**case, variant="a-def1") - expected).max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"preconditioner": "amgx"}, "workbench doctor"),
        ({"deflation": "file"}, "needs the path of a .npy or .mtx file"),
        ({"deflation": "blocks:17"}, "use at most 16"),
        ({"deflation": "eigenvectors:300"}, "leave nothing to CG"),
    ],
)
def test_combinations_that_make_no_sense_refuse_with_a_sentence(choices, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamgx", None)
    with pytest.raises(InputError, match=sentence):
        Run(configure(**{"problem": "two-layer", "n": N, **choices}))
