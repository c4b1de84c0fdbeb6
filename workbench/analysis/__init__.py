"""What a run tells of its problem: Ritz values and error estimates; and exact spectra of small problems."""

from workbench.analysis.errors import lower_bound, upper_bound
from workbench.analysis.ritz import cg_bound, effective_condition, lanczos_matrix, ritz_values
from workbench.analysis.spectra import spectra, spectrum

__all__ = [
    "cg_bound",
    "effective_condition",
    "lanczos_matrix",
    "lower_bound",
    "ritz_values",
    "spectra",
    "spectrum",
    "upper_bound",
]
