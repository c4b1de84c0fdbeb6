"""The advisor on preconditioners: candidate pairs of levels, predicted on coarser grids and timed at full size."""

from workbench.advise.advice import Advice
from workbench.advise.advisor import advise, advising

__all__ = ["Advice", "advise", "advising"]
