"""The AmgX adapter, against a stand-in for pyamgx that records every call, and the real one where it is installed."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from scipy import sparse

from tests.conftest import box_stencil, random_matrix
from workbench import blocks
from workbench.devices import amgx
from workbench.errors import InputError
from workbench.run import solve


class StandIn(types.ModuleType):
    """pyamgx's API with a symmetric Gauss-Seidel sweep for a cycle; complains where AmgX would end the process."""

    def __init__(self):
        super().__init__("pyamgx")
        self.calls, self.living, self.configurations, self.on = [], [], [], False
        for name in ("Config", "Resources", "Matrix", "Vector", "Solver"):
            setattr(self, name, lambda name=name: Thing(self, name))

    def initialize(self):
        assert not self.on, "initialized twice"
        self.on = True
        self.calls.append("initialize")

    def finalize(self):
        assert self.on
        assert not self.living, f"finalized while {self.living} live"
        self.on = False
        self.calls.append("finalize")


class Thing:
    def __init__(self, library, name):
        self.module, self.name, self.resources = library, name, None

    def made(self, how):
        assert self.module.on
        self.module.calls.append(f"{self.name}.{how}")
        self.module.living.append(self)
        return self

    def create_from_dict(self, plain):
        assert plain["config_version"] == 2
        self.module.configurations.append(plain["solver"])
        return self.made("create_from_dict")

    def create_simple(self, config):
        assert config in self.module.living
        return self.made("create_simple")

    def create(self, resources, config=None, mode=None):
        assert resources in self.module.living
        assert mode == "dDDI"
        self.resources = resources
        return self.made("create")

    def upload_CSR(self, matrix):
        assert matrix.dtype == np.float64
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
        self.matrix = sparse.csr_array(matrix)

    def upload(self, array):
        assert array.dtype == np.float64
        self.values = np.array(array)

    def download(self, array):
        array[:] = self.values

    def setup(self, matrix):
        self.lower = sparse.csr_array(sparse.tril(matrix.matrix))
        self.diagonal = matrix.matrix.diagonal()

    def solve(self, b, x, zero_initial_guess=False):
        assert zero_initial_guess
        half = sparse.linalg.spsolve_triangular(self.lower, b.values, lower=True)
        x.values = sparse.linalg.spsolve_triangular(self.lower.T.tocsr(), self.diagonal * half, lower=False)

    def destroy(self):
        assert all(thing.resources is not self for thing in self.module.living), "resources go last"
        self.module.living.remove(self)
        self.module.calls.append(f"{self.name}.destroy")


@pytest.fixture
def library(monkeypatch):
    amgx._shut_down()
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "pyamgx", stand_in)
    yield stand_in
    amgx._shut_down()


def test_one_cycle_is_a_preconditioner(library):
    operator = box_stencil((9, 11))
    b = np.random.default_rng(0).random(99)
    for method in ("classical", "aggregation"):
        result = solve(operator, b, M=f"amgx:{method}", rtol=1e-10)
        assert result.converged
        np.testing.assert_allclose(operator.to_csr() @ result.x, b, atol=1e-8)
    assert library.calls.count("initialize") == 1


def test_on_an_accelerator_it_is_given_vectors_of_the_host(library, accelerator):
    operator = box_stencil((9, 11))
    b = np.random.default_rng(0).random(99)
    result = solve(operator, b, M="amgx", rtol=1e-10, device=accelerator.spec)
    assert result.converged
    np.testing.assert_allclose(operator.to_csr() @ result.x, b, atol=1e-8)
    assert library.configurations[-1]["max_iters"] == 1


def test_its_own_cg_goes_around_the_same_cycle(library):
    cycle = blocks.find("preconditioner", "amgx").configuration()
    amgx.AmgxSolver(amgx.own_pcg(cycle, 1e-6, 99), random_matrix(20).to_csr())
    (given,) = library.configurations
    assert given["solver"] == "PCG"
    assert given["preconditioner"] == cycle["solver"]
    assert (given["tolerance"], given["max_iters"]) == (1e-6, 99)


def test_everything_is_destroyed_before_the_end(library):
    kept = amgx.AmgxSolver(blocks.find("preconditioner", "amgx").configuration(), random_matrix(20).to_csr())
    closed = amgx.AmgxSolver(blocks.find("preconditioner", "amgx").configuration(), random_matrix(20).to_csr())
    closed.close()
    closed.close()
    with pytest.raises(InputError, match="was closed"):
        closed.solve(np.ones(20))
    assert np.isfinite(kept.solve(np.ones(20))).all()
    amgx._shut_down()
    assert library.calls[-1] == "finalize"
    assert not library.living
    destroyed = [call for call in library.calls if call.endswith("destroy")][-6:]
    assert destroyed == [f"{name}.destroy" for name in ("Solver", "Vector", "Vector", "Matrix", "Resources", "Config")]


def test_a_refused_setup_leaves_nothing_behind(library, monkeypatch):
    def fail(self, matrix):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Thing, "setup", fail)
    with pytest.raises(InputError, match="out of memory; use preconditioner amg"):
        solve(random_matrix(20), np.ones(20), M="amgx")
    assert not library.living


def test_other_types_are_refused():
    with pytest.raises(InputError, match="double precision, got complex128"):
        solve(random_matrix(20, np.complex128), np.ones(20), M="amgx")
    with pytest.raises(InputError, match="float64 matrices, got float32"):
        amgx.AmgxSolver({}, sparse.csr_array(sparse.eye_array(3, dtype=np.float32)))


def test_without_pyamgx_a_sentence_says_how_to_get_it(monkeypatch):
    amgx._shut_down()
    monkeypatch.setitem(sys.modules, "pyamgx", None)
    assert not amgx.installed()
    with pytest.raises(InputError, match="workbench doctor"):
        solve(random_matrix(20), np.ones(20), M="amgx")


@pytest.mark.skipif(not amgx.installed(), reason="pyamgx is not installed")
def test_the_real_one_solves():
    operator = box_stencil((40, 41))
    result = solve(operator, np.ones(1640), M="amgx", rtol=1e-10)
    assert result.converged
    np.testing.assert_allclose(operator.to_csr() @ result.x, 1, atol=1e-8)
