"""The files that a configuration names: right-hand sides and starting vectors."""

from __future__ import annotations

from workbench.data_files import path_of
from workbench.files.columns import VectorFile
from workbench.run.configuration import Configuration
from workbench.settings import GIVEN, is_file


def rhs_file(configuration: Configuration) -> VectorFile | None:
    """The file of right-hand sides, None where they come from none. Raises InputError where none is given."""
    if configuration.rhs == GIVEN:
        return configuration.problem.given_rhs()
    return VectorFile(path_of(configuration.rhs)) if is_file(configuration.rhs) else None


def start_file(configuration: Configuration) -> VectorFile | None:
    """The file of starting vectors, None where they come from none."""
    return VectorFile(path_of(configuration.x0)) if is_file(configuration.x0) else None
