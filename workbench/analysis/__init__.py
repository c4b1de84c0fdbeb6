"""What a run tells of its problem, exact spectra of small problems, and advice on which preconditioner to take."""

from workbench.analysis.advisor import Advice, advise
from workbench.analysis.errors import lower_bound, upper_bound
from workbench.analysis.family import Cost, family
from workbench.analysis.inside import Estimates, estimates, ritz_columns
from workbench.analysis.ritz import cg_bound, effective_condition, lanczos_matrix, ritz_values
from workbench.analysis.roofline import Spot, spots
from workbench.analysis.spectra import spectra, spectrum

__all__ = [
    "Advice",
    "Cost",
    "Estimates",
    "Spot",
    "advise",
    "cg_bound",
    "effective_condition",
    "estimates",
    "family",
    "lanczos_matrix",
    "lower_bound",
    "ritz_columns",
    "ritz_values",
    "spectra",
    "spectrum",
    "spots",
    "upper_bound",
]
