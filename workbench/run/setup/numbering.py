"""Another numbering of the unknowns, for a matrix whose neighbours have numbers far apart.

Products and triangular solves then read x from all over memory. Reverse Cuthill-McKee puts neighbours together.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from workbench import devices
from workbench.lazy import sparse
from workbench.operators import Matrix
from workbench.operators.cuts import INDEX, grid_of, has_hubs, sampled
from workbench.problems import LinearSystem
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.in_memory import InMemoryDeflation, InMemoryPreconditioner
from workbench.run.setup.setup_phases import SetupPhases
from workbench.settings import RUN
from workbench.words.numbers import count, duration

RENUMBERING = "renumbering"
"""The phase of a setup in which unknowns are renumbered."""
LEAST = 100_000
"""Unknowns from which vectors leave the caches of a core, so that the order of reads matters."""
FAR = 1 / 16
"""Mean distance of coupled unknowns, as a share of N, from which numbers count as random; of a grid it is 1/sqrt(N)."""


class Renumbered(NamedTuple):
    """A run in another order of the unknowns. order: the former number of each, shape (N,). phases: of its setup, with
    that of the renumbering."""

    order: np.ndarray
    configuration: Configuration
    system: LinearSystem
    x0: np.ndarray | None
    phases: SetupPhases

    def back(self, values: np.ndarray) -> np.ndarray:
        """Vectors of shape (N,) or (N, s) in the former order."""
        found = np.empty_like(values)
        found[self.order] = values
        return found


def renumbered(
    configuration: Configuration, system: LinearSystem, x0: np.ndarray | None, phases: SetupPhases | None = None
) -> Renumbered | None:
    """The run in the order in which it is faster; None where the order stays.

    It stays for matrices below `LEAST` unknowns, those whose numbers are not random and graphs with hubs; for stencils,
    grids and empty rows; on accelerators; for vectors on devices, random ones and those of files; where M is a function
    or a block cuts by index. Cost: an ordering, which takes some reads of the matrix, and a sort of its rows; where the
    order stays, a read of some rows.

    phases: of the setup, where others are noted already.
    """
    operator, deflation = system.operator, configuration.deflation
    if not isinstance(operator, Matrix) or operator.shape[0] < LEAST or operator.empty_rows.size:
        return None
    if grid_of(operator, system.grid) or configuration.ranks > 1 or configuration.cluster:
        return None
    # A GPU reads x from all over memory sooner than the host has renumbered it.
    if not devices.device(configuration.device).whole_triangles:
        return None
    # Random numbers and files are in the order of A.
    own = (configuration.rhs, configuration.x0) == (RUN["rhs"].default, RUN["x0"].default)
    if not own or isinstance(configuration.preconditioner, InMemoryPreconditioner):
        return None
    given = [system.given_b, *([] if x0 is None else [x0])]
    if isinstance(deflation, InMemoryDeflation):
        given.append(deflation.vectors)
    if not all(isinstance(each, np.ndarray) and each.shape[0] == operator.shape[0] for each in given):
        return None
    blocks = [*configuration.preconditioner.blocks, deflation]
    before = distance(operator.csr)
    if before < FAR * operator.shape[0] or any(block.parameter_values.get("cut") == INDEX for block in blocks):
        return None
    if has_hubs(operator.csr):
        return None
    phases = phases or SetupPhases()
    with phases(RENUMBERING):
        # Runs of small matrices need no graphs.
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        order = np.ascontiguousarray(reverse_cuthill_mckee(sparse.csr_matrix(operator.csr), symmetric_mode=True))
        matrix = operator.in_order(order)
        if isinstance(deflation, InMemoryDeflation):
            deflation = dataclasses.replace(deflation, vectors=deflation.vectors[order])
        # All arrays with a row for each unknown: b, null vectors, coefficients.
        by_unknown = {
            name: values[order]
            for name, values in vars(system).items()
            if isinstance(values, np.ndarray) and values.shape[:1] == order.shape
        }
        system = system.with_parts(operator=matrix, order=order, **by_unknown)
        x0 = None if x0 is None else x0[order]
    after = distance(matrix.csr)
    note = (
        f"A is numbered at random: coupled unknowns are {count(round(before))} apart on average, and after reverse "
        f"Cuthill-McKee, which took {duration(phases.done[-1].seconds)}, {count(round(after))}; x has the order of A"
    )
    system = system.with_parts(notes=(*system.notes, note))
    return Renumbered(order, dataclasses.replace(configuration, deflation=deflation), system, x0, phases)


def distance(matrix: sparse.csr_array) -> float:
    """The mean of |i - j| over couplings, in a sample of rows; 0 without couplings."""
    rows, places = sampled(matrix)
    apart = np.abs(matrix.indices[places].astype(np.int64) - rows)
    return float(apart[apart > 0].mean()) if np.any(apart) else 0.0
