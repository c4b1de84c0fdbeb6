"""The incomplete Poisson preconditioner and its relaxed form against dense algebra and the Neumann series."""

import numpy as np
import pytest

from tests.conftest import grid_stencil, random_matrix
from tests.preconditioners.by_hand import dense_inverse, set_up
from workbench.operators import BandStencil, Matrix
from workbench.registry import blocks as registry
from workbench.run import Run, configure, run_through

OPERATORS = {
    "1D": lambda: grid_stencil((23,)),
    "2D complex": lambda: grid_stencil((5, 7), complex),
    "3D": lambda: grid_stencil((3, 4, 5)),
    "single": lambda: grid_stencil((6, 5), np.float32),
    "two phases": lambda: configure("two-layer", n=6).problem.assemble().operator,
    "matrix": lambda: random_matrix(37),
    "complex matrix": lambda: random_matrix(29, complex),
    "diagonal": lambda: Matrix(random_matrix(5).csr.multiply(np.eye(5)).tocsr()),
}


def by_formula(operator, omega, form):
    """M^-1 of both forms from dense triangles."""
    A = operator.to_csr().toarray().astype(np.result_type(operator.dtype, float))
    D, identity = np.diag(A).real, np.eye(len(A))
    B = omega * np.tril(A, -1) / D
    left, right = identity - B, identity - B.conj().T
    if form == "poisson":
        return left @ right / D.max()
    return omega * (2 - omega) * right @ np.diag(1 / D) @ left


@pytest.mark.parametrize("omega", [0.6, 1.0, 1.4])
@pytest.mark.parametrize("form", ["poisson", "ssor"])
@pytest.mark.parametrize("name", OPERATORS)
def test_both_forms_agree_with_their_formulas(name, form, omega):
    operator = OPERATORS[name]()
    found = dense_inverse(set_up(f"incomplete-poisson:{omega},form={form}", operator), operator)
    expected = by_formula(operator, omega, form)
    assert np.abs(found - expected).max() <= (1e-5 if operator.dtype == np.float32 else 1e-12) * np.abs(expected).max()


@pytest.mark.parametrize("omega", [0.7, 1.5])
def test_the_relaxed_form_is_the_inverse_of_ssor_where_triangles_are_small(omega):
    """Its series is cut after the first power of B, so that the error falls with the square of the couplings."""
    errors = []
    for size in (1e-2, 1e-3):
        operator = grid_stencil((4, 5))
        small = BandStencil(operator.grid, operator.main, tuple(size * low for low in operator.lower))
        exact = dense_inverse(set_up(f"ssor:{omega}", small), small)
        errors.append(
            np.abs(dense_inverse(set_up(f"incomplete-poisson:{omega},form=ssor", small), small) - exact).max()
        )
    assert errors[1] == pytest.approx(errors[0] / 100, rel=0.1)


@pytest.mark.parametrize("form", [lambda A: A, lambda A: Matrix(A.to_csr())])
def test_the_relaxed_form_without_relaxation_is_the_series_of_one_term(form):
    operator = form(grid_stencil((6, 7)))
    found, expected = (
        dense_inverse(set_up(spec, operator), operator) for spec in ("incomplete-poisson:form=ssor", "neumann:1")
    )
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("spec", ["incomplete-poisson:1.3", "incomplete-poisson:1.3,form=ssor"])
@pytest.mark.parametrize("name", ["2D complex", "3D", "two phases", "matrix"])
def test_every_accelerator_has_the_results_of_the_cores(accelerator, name, spec):
    operator = OPERATORS[name]()
    size, dtype = operator.shape[0], operator.dtype
    r = np.random.default_rng(2).random(size).astype(dtype)
    u, there, found = np.empty_like(r), accelerator.array(r, dtype), accelerator.zeros(size, dtype)
    set_up(spec, operator).apply(r, u)
    registry.find("preconditioner", spec).setup(operator, accelerator).apply(there, found)
    np.testing.assert_allclose(accelerator.to_host(found), u, rtol=1e-12)


def test_two_products_are_counted():
    M = set_up("incomplete-poisson", grid_stencil((4, 5)))
    # Two bands twice; r, the vector between, and that, u and r again.
    assert M.traffic == 9 * 20 * 8


def iterations(problem, first, **values):
    result = run_through(Run(configure(problem, preconditioner=first, **values)))
    assert result.converged
    return result.iterations


def test_it_is_as_good_as_the_series_for_poisson_and_of_little_use_for_two_phases():
    """What the two-level paper says of it: without D between the factors the jump of the density stays."""
    poisson = [iterations("poisson5", each, n=48, rhs="random") for each in ("incomplete-poisson", "neumann:1", "none")]
    assert abs(poisson[0] - poisson[1]) <= 2
    assert poisson[0] < 0.7 * poisson[2]
    phases = [iterations("two-layer", each, n=48) for each in ("incomplete-poisson", "neumann:1")]
    assert phases[0] > 2 * phases[1]


@pytest.mark.parametrize("form", ["poisson", "ssor"])
@pytest.mark.parametrize(
    ("dtype", "scale"), [(float, 1e-300), (complex, 1e300), (np.float32, 1e-30), (np.float32, 1e30)]
)
def test_a_stencil_of_any_scale(form, dtype, scale):
    """D / sqrt(1/d) under- or overflows."""
    spec = f"incomplete-poisson:1.2,form={form}"
    operator = grid_stencil((3, 4), dtype)
    expected = dense_inverse(set_up(spec, operator), operator)
    scale = operator.dtype.type(scale)
    scaled = BandStencil(operator.grid, operator.main * scale, tuple(low * scale for low in operator.lower))
    np.testing.assert_allclose(
        dense_inverse(set_up(spec, scaled), scaled) * scale, expected, rtol=1e-4 if dtype is np.float32 else 1e-12
    )
