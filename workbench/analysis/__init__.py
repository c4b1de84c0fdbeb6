"""Analysis: Ritz values and error bounds of runs, exact spectra, cost models, and the preconditioner advisor."""

from workbench.analysis.advice import Advice
from workbench.analysis.advisor import advise, advising
from workbench.analysis.convergence_estimates import Estimates, estimates, ritz_columns
from workbench.analysis.error_bounds import lower_bound, upper_bound
from workbench.analysis.ritz import cg_bound, effective_condition, lanczos_matrix, ritz_values
from workbench.analysis.roofline import RooflinePoint, roofline_points
from workbench.analysis.solver_costs import Cost, solver_costs
from workbench.analysis.spectra import eigenvectors, preconditioned, spectra, spectrum

__all__ = [
    "Advice",
    "Cost",
    "Estimates",
    "RooflinePoint",
    "advise",
    "advising",
    "cg_bound",
    "effective_condition",
    "eigenvectors",
    "estimates",
    "lanczos_matrix",
    "lower_bound",
    "preconditioned",
    "ritz_columns",
    "ritz_values",
    "roofline_points",
    "solver_costs",
    "spectra",
    "spectrum",
    "upper_bound",
]
