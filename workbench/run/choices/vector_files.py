"""Files of the right-hand sides and starting vectors of a configuration, and their columns."""

from __future__ import annotations

import numpy as np

from workbench.files.columns import VectorFile
from workbench.files.data_files import path_of
from workbench.problems import LinearSystem
from workbench.run.choices.configuration import Configuration
from workbench.settings import GIVEN, PHASES, family_of, is_file


def rhs_file(configuration: Configuration) -> VectorFile | None:
    """The file of right-hand sides, None where they come from none. Raises InputError where none is given."""
    if configuration.rhs == GIVEN:
        return configuration.problem.given_rhs()
    return VectorFile(path_of(configuration.rhs)) if is_file(configuration.rhs) else None


def start_file(configuration: Configuration) -> VectorFile | None:
    """The file of starting vectors, None where they come from none."""
    return VectorFile(path_of(configuration.x0)) if is_file(configuration.x0) else None


def rows_in(file: VectorFile, system: LinearSystem) -> np.ndarray:
    """The columns of a file, shape (N, s), with N the rows of a rank; each rank reads the whole file."""
    columns = file.read(system.unknowns)
    return columns[system.slab.rows] if system.slab else columns


def asks_for_blocks(configuration: Configuration, system: LinearSystem | None) -> bool:
    """True if a configuration has block vectors of right-hand sides, even of one column. Raises InputError."""
    rhs = configuration.rhs
    if system is not None and system.given_b.ndim == 2:
        return True
    if file := rhs_file(configuration):
        return file.columns > 1
    return rhs == PHASES or family_of(rhs)[1] > 0
