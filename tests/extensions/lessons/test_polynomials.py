"""CG on a spectrum: held to exact rational arithmetic, to a solve, and to what its polynomial is."""

from fractions import Fraction

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.extensions.lessons.residual_polynomials import LARGEST, MOST, SPECTRA, cg_on, checked_spectrum
from workbench.run import solve

SPECTRUM = [Fraction(1, 8), Fraction(1), Fraction(3, 2), Fraction(3, 2), Fraction(7), Fraction(50), Fraction(51)]
"""With one that occurs twice; all are exact in double precision."""


def rational(steps):
    """alpha and beta of CG, and the squared A-norm of its error over that at first, in rational numbers."""
    x, r = [Fraction(0)] * len(SPECTRUM), [Fraction(1)] * len(SPECTRUM)
    p, gamma = list(r), Fraction(len(SPECTRUM))
    alphas, betas, energies = [], [], []

    def energy():
        return sum(a * (1 / a - z) ** 2 for a, z in zip(SPECTRUM, x, strict=True))

    energies.append(energy())
    for _ in range(steps):
        s = [a * v for a, v in zip(SPECTRUM, p, strict=True)]
        alphas.append(gamma / sum(v * w for v, w in zip(p, s, strict=True)))
        x = [z + alphas[-1] * v for z, v in zip(x, p, strict=True)]
        r = [v - alphas[-1] * w for v, w in zip(r, s, strict=True)]
        before, gamma = gamma, sum(v * v for v in r)
        betas.append(gamma / before)
        p = [v + betas[-1] * w for v, w in zip(r, p, strict=True)]
        energies.append(energy())
    return alphas, betas, [each / energies[0] for each in energies]


def test_without_rounding_errors_it_is_cg_in_rational_numbers():
    made, (alphas, betas, energies) = cg_on(np.array(SPECTRUM, float)), rational(6)
    assert made.iterations == len(set(SPECTRUM)) == 6
    assert energies[-1] == 0
    np.testing.assert_allclose(made.alpha, np.array(alphas, float), rtol=1e-9)
    np.testing.assert_allclose(made.beta[:-1], np.array(betas[:-1], float), rtol=1e-9)
    np.testing.assert_allclose(made.error[:-1], np.sqrt(np.array(energies[:-1], float)), rtol=1e-9)
    assert made.error[-1] < 1e-13


@pytest.mark.parametrize("at", [0, 1, 4])
def test_the_polynomial_is_one_at_zero_has_the_ritz_values_as_zeros_and_makes_the_residual(at):
    values = SPECTRA["evenly spread"](11)
    made, x = cg_on(values), np.linspace(0, 120, 37)
    zeros = made.ritz(at)
    assert zeros.size == at
    product = np.prod(1 - x[:, None] / zeros, axis=1) if at else np.ones(x.size)
    np.testing.assert_allclose(made.polynomial(at, x), product, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(made.polynomial(at, values), made.residuals[:, at], rtol=1e-9, atol=1e-12)


def test_as_computed_it_takes_the_steps_of_a_solve_and_comes_late():
    values = SPECTRA["dense at the lower end (Strakoš)"](24)
    rounded = cg_on(values, 48, "float64")
    history = solve(np.diag(values), np.ones(24), M=None, rtol=1e-6).history
    np.testing.assert_allclose(rounded.alpha[:10], history["alpha"][1:11], rtol=1e-6)
    exact = cg_on(values)
    goals = [exact.iterations_to(1e-6), rounded.iterations_to(1e-6)]
    assert exact.iterations == 24
    assert goals[0] < goals[1] - 5
    single = cg_on(values, 200, "float32")
    assert single.iterations_to(1e-12) is None
    assert single.true.min() > 1e-8


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("size", [4, 17, MOST])
def test_a_named_spectrum_has_the_size_asked_for(name, size):
    values = checked_spectrum(SPECTRA[name](size))
    assert values.size == size
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([], "1 to 60 eigenvalues, got 0"), (np.ones(61), "got 61"), ([1, -2.0], "got -2"), ([1, np.nan], "got nan"),
        ([10 * LARGEST], "between"), (["a"], "are numbers"),
    ],
)  # fmt: skip
def test_what_is_no_spectrum_is_refused_in_a_sentence(wrong, words):
    with pytest.raises(InputError, match=words):
        checked_spectrum(wrong)
    with pytest.raises(InputError, match="arithmetic is exact"):
        cg_on([1, 2], arithmetic="float16")
