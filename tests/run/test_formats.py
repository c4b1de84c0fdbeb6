"""Storage formats as a setting: the iterations are those of CSR, and what does not go together is refused."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

from workbench import devices
from workbench.cli.program import run as command
from workbench.devices.host import storage
from workbench.devices.ops.storage import DiagonalColumns
from workbench.errors import InputError
from workbench.operators import Matrix
from workbench.operators.conversion import in_format
from workbench.run import Run, configure, solve
from workbench.settings import AZ_FORMS, FORMATS


def finished(*problem, **choices):
    run = Run(configure(*problem, **choices))
    while run.step():
        pass
    return run


@pytest.mark.parametrize("device", ["cpu", "opencl"])
@pytest.mark.parametrize(
    "choices",
    [
        {"problem": "two-layer", "n": 24, "preconditioner": "neumann:2", "deflation": "stripes"},
        {"problem": "bubbles-2d", "n": 24, "rhs": "random:3", "solver": "block-cg"},
    ],
)
def test_iterations_are_those_of_csr(device, choices):
    runs = {name: finished(**choices, device=device, format=name) for name in FORMATS}
    counts = {name: run.iterations for name, run in runs.items()}
    assert counts == dict.fromkeys(FORMATS, finished(**choices, device=device).iterations)
    for name, run in runs.items():
        assert isinstance(run.setup.operator, Matrix)
        assert run.setup.operator.form == name


@pytest.mark.parametrize("deflation", ["stripes", "levelset:3", "blocks:1"])
@pytest.mark.parametrize("device", ["cpu", "opencl"])
def test_iterations_by_az_are_those_of_its_other_form(device, deflation):
    runs = [
        finished("two-layer", n=25, preconditioner="neumann:2", deflation=deflation, device=device, az=az)
        for az in AZ_FORMS
    ]
    compact, diagonal = (run.setup.projection._az for run in runs)
    assert isinstance(diagonal, DiagonalColumns) > isinstance(compact, DiagonalColumns)
    assert runs[0].iterations == runs[1].iterations
    np.testing.assert_allclose(*(run.result().x for run in runs), rtol=1e-9)


def test_complex_matrices_are_stored_in_all_formats():
    real = sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(60, 60)).tocsr()
    hermitian = real + 0.1j * sparse.diags_array([1.0, -1.0], offsets=[1, -1], shape=(60, 60))
    symmetric = real + 0.5j * sparse.eye_array(60)
    for matrix, solver in ((hermitian, "cg"), (symmetric, "cocg")):
        results = [solve(matrix, np.ones(60), solver=solver, format=name) for name in FORMATS]
        assert len({result.iterations for result in results}) == 1
        assert all(result.converged for result in results)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"format": "elll"}, "unknown format 'elll'; did you mean ell"),
        ({"format": "csr:7"}, "among 7 work-items, which must be a power of two between 1 and 256; write csr:8"),
        ({"format": "csr:8"}, "shares a row among 8 work-items, and device cpu computes whole rows; use format csr"),
        ({"format": "ell", "precision": "mixed"}, "keeps A as a byte per cell, and format ell as entries; leave out"),
        ({"format": "dia", "solver": "hybrid1", "device": "opencl"}, "shares the rows of CSR between two devices, got"),
        (
            {"format": "csr", "preconditioner": "mg"},
            "mg needs a nearest-neighbour stencil, and format csr assembles it",
        ),
        ({"az": "dia", "deflation": "eigenvectors:2"}, "and deflation eigenvectors:2 is by vectors; use az compact"),
        (
            {"az": "dia", "deflation": "blocks:2", "rhs": "random:3", "solver": "block-cg"},
            "solver block-cg multiplies block vectors; use az compact",
        ),
        ({"format": "ell", "memory_limit": "1MB", "n": 200}, "1 MB"),
    ],
)
def test_what_does_not_go_together_is_refused(choices, sentence):
    with pytest.raises(InputError, match=sentence):
        Run(configure("bubbles-2d", **{"n": 16, **choices}))


@pytest.mark.parametrize("name", ["dia", "ell"])
def test_a_format_of_one_dense_row_is_refused_with_its_words(name):
    size = 100_000
    one, rest, first = np.ones(size - 1), np.arange(1, size), np.zeros(size - 1, int)
    places = np.concatenate([rest, first, np.arange(size)]), np.concatenate([first, rest, np.arange(size)])
    values = np.concatenate([one, one, np.full(size, 2.0 * size)])
    matrix = sparse.csr_array(sparse.coo_array((values, places), shape=(size, size)))
    words = {"ell": r"1\.5e\+10 words \(120 GB\)", "dia": r"2e\+10 words \(160 GB\)"}[name]
    with pytest.raises(InputError, match=f"needs {words} in format {name}.* use format csr"):
        solve(matrix, np.ones(size), format=name)
    assert solve(matrix, np.ones(size), format="hyb").converged


def test_a_format_that_exceeds_the_memory_limit_is_refused_with_its_words():
    with pytest.raises(InputError, match="needs .* words .* in format ell.* use format csr") as caught:
        in_format(Matrix(sparse.csr_array(np.diag(np.ones(500)))), "ell", devices.device("cpu").limited(1000))
    assert caught.value.changes == {"format": "csr"}


def test_az_by_diagonals_that_exceeds_the_memory_is_refused_with_its_words(monkeypatch):
    chosen = {"n": 24, "deflation": "levelset:8", "variant": "def1"}
    finished("bubbles-2d", **chosen, az="dia")
    monkeypatch.setattr(storage, "limits", SimpleNamespace(memory=lambda: (2**34, 10_000)))
    with pytest.raises(
        InputError, match=r"AZ of \d.* entries needs .* words .* in format dia.*: use az compact"
    ) as caught:
        finished("bubbles-2d", **chosen, az="dia")
    assert caught.value.changes == {"az": "compact"}


def test_a_linear_operator_has_no_format():
    with pytest.raises(InputError, match="which a LinearOperator does not show; pass a sparse matrix, or leave out"):
        solve(aslinearoperator(np.eye(5)), np.ones(5), M=None, format="ell")


def test_the_command_line_takes_a_format(capsys):
    assert command(["solve", "poisson5", "--n", "16", "--format", "ell", "--json"]) == 0
    iterations = json.loads(capsys.readouterr().out)["iterations"]
    assert iterations == finished("poisson5", n=16).iterations


def test_a_row_may_be_shared_on_an_opencl_device_that_is_a_processor(accelerator):
    """The waves of the block CG paper: the iterates are those of whole rows up to rounding."""
    matrix = sparse.random_array((60, 60), density=0.3, rng=0) + 20 * sparse.eye_array(60)
    matrix = (matrix + matrix.T).tocsr()
    whole = solve(matrix, np.ones(60), device=accelerator.spec)
    for items in (1, 2, 8, 32):
        shared = solve(matrix, np.ones(60), device=accelerator.spec, format=f"csr:{items}")
        assert shared.converged
        assert shared.iterations == whole.iterations
        np.testing.assert_allclose(shared.x, whole.x, rtol=1e-10)
