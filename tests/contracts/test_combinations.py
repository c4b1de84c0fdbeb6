"""Every pair of levels with every coarse solver and variant solves the two-layer problem, or says why not."""

import itertools
import sys

import numpy as np
import pytest

import workbench.run  # noqa: F401  registers every block
from workbench import registry
from workbench.errors import InputError
from workbench.run import Run, configure, run_through

FIRST = sorted(set(registry.registered("preconditioner")) - {"amgx"})
SECOND = sorted(set(registry.registered("deflation")) - {"none", "file"})
N = 16


def space(name):
    return f"{name}:4" if name in ("blocks", "levelset") else name


def solution(**choices):
    result = run_through(Run(configure("two-layer", n=N, **choices)))
    assert result.converged, (choices, result.reason, result.detail)
    return result.x


@pytest.fixture(scope="module")
def expected():
    system = configure("two-layer", n=N).problem.assemble()
    return np.linalg.solve(system.operator.to_csr().toarray(), system.b)


@pytest.mark.parametrize(("first", "second"), list(itertools.product(FIRST, ["none", *SECOND])))
def test_every_pair_of_levels(first, second, expected):
    coarse = sorted(registry.registered("coarse")) if second != "none" else ["cholesky"]
    for name in coarse:
        x = solution(preconditioner=first, deflation=space(second), coarse=name)
        assert np.abs(x - expected).max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize(("variant", "second"), list(itertools.product(sorted(registry.registered("variant")), SECOND)))
def test_every_variant_with_every_space(variant, second, expected):
    for first in ("jacobi", "neumann:2"):
        x = solution(preconditioner=first, deflation=space(second), variant=variant)
        assert np.abs(x - expected).max() <= 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"preconditioner": "amgx"}, "workbench doctor"),
        ({"deflation": "file"}, "needs the path of a .npy file"),
        ({"deflation": "blocks:17"}, "use at most 16"),
        ({"deflation": "eigenvectors:300"}, "leave nothing to CG"),
    ],
)
def test_combinations_that_make_no_sense_refuse_with_a_sentence(choices, sentence, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyamgx", None)
    with pytest.raises(InputError, match=sentence):
        Run(configure(**{"problem": "two-layer", "n": N, **choices}))
