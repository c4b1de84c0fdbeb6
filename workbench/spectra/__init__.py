"""Spectra and bounds: Ritz values and error bounds of runs, and the exact spectra of small problems."""

from workbench.spectra.convergence_estimates import Estimates, estimates, lower_bound, ritz_columns, upper_bound
from workbench.spectra.exact import eigenvectors, preconditioned, spectra, spectrum
from workbench.spectra.ritz import cg_bound, effective_condition, lanczos_matrix, ritz_values

__all__ = [
    "Estimates",
    "cg_bound",
    "effective_condition",
    "eigenvectors",
    "estimates",
    "lanczos_matrix",
    "lower_bound",
    "preconditioned",
    "ritz_columns",
    "ritz_values",
    "spectra",
    "spectrum",
    "upper_bound",
]
