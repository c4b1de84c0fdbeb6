"""The reference: block lines give what NumPy's matrix products give."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.lines.interpret import evaluate


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_block_lines_are_matrix_products(dtype):
    rng = np.random.default_rng(0)
    P, S = (rng.standard_normal((9, 3)).astype(dtype) for _ in range(2))
    P[0] += np.sqrt(np.array(-1, complex)) if np.dtype(dtype).kind == "c" else 0
    values = {"P": P.copy(), "S": S.copy()}
    text = "delta = (P, S)\ngamma = (S, S)\nalpha = solve(delta, gamma)\nP = S - P@alpha\nd = alpha@delta - 2*delta"
    evaluate(text, values)
    delta, gamma = P.conj().T @ S, S.conj().T @ S
    alpha = np.linalg.solve(delta, gamma)
    np.testing.assert_allclose(values["alpha"], alpha)
    np.testing.assert_allclose(values["P"], S - P @ alpha)
    np.testing.assert_allclose(values["d"], alpha @ delta - 2 * delta)


def test_a_singular_small_matrix_gives_no_number():
    values = {"P": np.ones((9, 2)), "g": np.eye(2)}
    evaluate("delta = (P, P)\nalpha = solve(delta, g)", values)
    assert np.isnan(values["alpha"]).all()


def test_scalars_are_divided():
    values = {"x": np.ones(4), "g": 6.0}
    evaluate("d = (x, x)\na = solve(d, g)\nx = x@a", values)
    np.testing.assert_array_equal(values["x"], 1.5 * np.ones(4))
