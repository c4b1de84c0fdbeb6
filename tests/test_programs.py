"""The examples of docs/python.md in other programs, each compared with what that program computes by itself.

They run where the program is installed:

    pip install scikit-fem fipy openpnm networkx scikit-learn scikit-image pooch pylops discretize
    pytest tests/test_programs.py
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from workbench.scipy import cg, factorized

PAGE = Path(__file__).parents[1] / "docs" / "python.md"


def grounded(A, b):
    """The solution with mean 0 of a singular system that maps constants to zero, by a factorization."""
    kept = sparse.csc_array(A)[1:, 1:]
    x = np.concatenate([[0.0], linalg.spsolve(sparse.csc_array(kept), b[1:])])
    return x - x.mean()


def of_scikit_fem(made):
    np.testing.assert_allclose(made["x"], made["skfem"].solve(*made["system"]), atol=1e-8)


def of_fipy(made):
    fipy, phi = made["fipy"], made["fipy"].CellVariable(mesh=made["mesh"])
    phi.constrain(1, made["mesh"].facesLeft)
    equation = fipy.TransientTerm() == fipy.DiffusionTerm(coeff=1.0)
    equation.solve(var=phi, dt=0.1, solver=fipy.LinearLUSolver(tolerance=1e-12))
    assert 0.1 < phi.value.mean() < 0.9
    np.testing.assert_allclose(made["phi"].value, phi.value, atol=1e-6)


def of_openpnm(made):
    mine = np.array(made["x"])
    made["diffusion"].run()
    assert mine.std() > 0.1
    np.testing.assert_allclose(mine, made["diffusion"]["pore.concentration"], atol=1e-6)


def of_networkx(made):
    expected = grounded(made["networkx"].laplacian_matrix(made["graph"]).astype(float), made["b"])
    np.testing.assert_allclose(made["x"], expected, atol=1e-9)
    assert made["resistance"] == pytest.approx(expected[0] - expected[1500])


def of_sklearn(made):
    expected = np.linalg.solve(made["K"], np.sin(6 * made["X"][:, 0]))
    assert made["info"] == 0
    np.testing.assert_allclose(made["weights"], expected, atol=1e-4 * np.abs(expected).max())


def of_skimage(made):
    made["random_walker"].cg = linalg.cg
    given = made["image"], made["markers"]
    expected = made["skimage"].segmentation.random_walker(*given, beta=100, mode="cg")
    assert set(np.unique(expected)) == {1, 2}
    assert np.mean(made["labels"] != expected) < 1e-3


def of_pylops(made):
    R, D = made["R"].todense(), made["D"].todense()
    expected = np.linalg.solve(R.T @ R + 10 * D.T @ D, R.T @ (R @ made["true"]))
    assert made["info"] == 0
    np.testing.assert_allclose(made["x"], expected, atol=1e-4)


def of_discretize(made):
    assert made["info"] == 0
    expected = grounded(made["A"], made["b"])
    np.testing.assert_allclose(made["x"], expected, atol=1e-6 * np.abs(expected).max())


CHECKS = {
    "skfem": of_scikit_fem,
    "fipy": of_fipy,
    "openpnm": of_openpnm,
    "networkx": of_networkx,
    "sklearn": of_sklearn,
    "skimage": of_skimage,
    "pylops": of_pylops,
    "discretize": of_discretize,
}
"""By package: compares what its example leaves behind."""


def program_of(block):
    """The package of another program that a block of a page imports first; empty for none."""
    imported = re.findall(r"^(?:import|from) (\w+)", block, re.MULTILINE)
    return next((name for name in imported if name in CHECKS), "")


def examples():
    """The examples by package."""
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return {program_of(block): block for block in blocks if program_of(block)}


def test_every_program_has_an_example():
    assert examples().keys() == CHECKS.keys()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", CHECKS)
def test_an_example_gives_what_its_program_computes_by_itself(program):
    try:
        importlib.import_module(program)
    except ImportError as missing:
        pytest.skip(f"{program} is not installed: {missing}")
    made = {"np": np, "cg": cg, "factorized": factorized}
    exec(compile(examples()[program], PAGE.name, "exec"), made)
    CHECKS[program](made)
