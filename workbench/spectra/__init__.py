"""Spectra and bounds: Ritz values and error bounds of runs, and the exact spectra of small problems."""

from workbench.spectra.convergence_estimates import (
    Estimates,
    cg_bound,
    effective_condition,
    estimates,
    lanczos_matrix,
    lower_bound,
    ritz_columns,
    ritz_values,
    upper_bound,
)
from workbench.spectra.exact import eigenvectors, preconditioned, spectra, spectrum

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
