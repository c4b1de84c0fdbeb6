"""Compatibility of the parts of a run: second levels and problems, methods and the symmetry of the matrix."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import numpy as np

from workbench.deflation import Deflation
from workbench.deflation.variants import ADef2
from workbench.devices.protocol import Device
from workbench.errors import CLUSTERS, MOST_UNKNOWNS, InputError
from workbench.operators import ComplexSymmetricMatrix, LinearOperatorAdapter, Operator, UnsymmetricMatrix
from workbench.operators.base import MissingEntriesError
from workbench.problems import LinearSystem, Problem
from workbench.problems.right_hand_sides import NO_GRID, NO_PHASES
from workbench.process import limits
from workbench.registry import Block
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.stopping import Norm
from workbench.run.setup.right_hand_side import NOTHING_LEFT
from workbench.settings import COMPACT, GIVEN_FORM, HERE, HOST, MIXED, PHASES, RUN, SOURCES, format_of
from workbench.solvers.block.base import BlockSolver
from workbench.words.numbers import count

COMPLEX_SYMMETRIC_M = ("none", "jacobi", "given")
UNSYMMETRIC_M = ("none", "jacobi", "schwarz")
"""Preconditioners that are complex symmetric where A is, and those for an A that is not symmetric."""
DOUBLE = {"precision": RUN["precision"].default}
"""The change to make where precision mixed cannot serve."""
KNOWN = "ones-scaled"
"""The right-hand side with a known solution."""


_WITHOUT = {
    ("preconditioner", "diagonal"): "pass a sparse matrix, or the diagonal as diagonal=, or choose preconditioner none",
    ("preconditioner", "entries"): (
        "pass a sparse matrix, or choose preconditioner none, or jacobi or chebyshev with diagonal="
    ),
    ("deflation", "entries"): "pass a sparse matrix, or labels or vectors, or choose deflation blocks or none",
}
"""Advice for an A without what a block needs, by kind of block and missing part."""


@contextlib.contextmanager
def needing_entries(block: Block) -> Iterator[None]:
    """Name the block that needs entries of A where A has none: raises InputError with the way out."""
    try:
        yield
    except MissingEntriesError as missing:
        way_out = _WITHOUT.get((block.kind, missing.what), "pass a sparse matrix")
        raise InputError(
            f"{block.kind} {block.name} needs the {missing.what} of A, which a LinearOperator does not show; {way_out}"
        ) from None


def index_cuts(system: LinearSystem, *blocks: Block) -> list[str]:
    """A sentence on the blocks of a run that cut a matrix without a grid by index; none where no block does."""
    if system.grid is not None or getattr(system.operator, "grid", None) is not None:
        return []
    # Of a sum its members.
    each = [member for block in blocks for member in getattr(block, "blocks", (block,))]
    names = dict.fromkeys(f"{block.kind} {block.name}" for block in each if getattr(block, "cuts_by_index", False))
    if not names:
        return []
    return [
        f"{' and '.join(names)} cut{'s' * (len(names) == 1)} this matrix, which has no grid, by index; where "
        "neighbours have numbers far apart that may take more iterations than none: give labels by place as deflation, "
        "an integer for each unknown"
    ]


def unmet(problem: type[Problem] | Problem, deflation: type[Deflation] | Deflation) -> str:
    """The requirement of a deflation that a problem does not meet, as a sentence; empty if the two are compatible.

    Checks the declared requirements alone. Parameters may still be wrong, such as more parts than cells.
    """
    if deflation.needs_phases and not problem.has_phases:
        return f"deflation {deflation.name} needs phases, which {problem.name} does not have"
    if deflation.needs_grid and not problem.has_grid:
        return f"deflation {deflation.name} needs a grid, which {problem.name} does not have"
    return ""


def check_problem(configuration: Configuration) -> None:
    """Raise InputError for what the problem's parameters rule out before it is assembled: of both levels, of the
    right-hand side, the precision and the coarse solver. A matrix may still be no stencil."""
    problem, size = configuration.problem, configuration.problem.known_size
    if reason := unmet(problem, configuration.deflation):
        raise InputError(f"{reason}; use deflation none or blocks", changes={"deflation": "none"})
    # Faults that a change corrects come first: the search ends at one that none corrects, such as a missing path.
    problem.check()
    if problem.is_complex_symmetric:
        check_complex_symmetric(configuration)
    if problem.is_unsymmetric:
        check_unsymmetric(configuration)
    if size is not None:
        configuration.deflation.check(problem.grid or (size.unknowns,))
        check_precision(configuration, two_phases=size.two_phases)
    configuration.preconditioner.check_problem(problem)
    check_rhs(configuration)
    check_coarse(configuration)


def check_unknowns(problem: Problem, unknowns: int) -> None:
    """Raise InputError for more unknowns than the server of this page allows."""
    most = limits.page_unknowns(os.environ.get(MOST_UNKNOWNS, ""))
    if unknowns <= most:
        return
    n, grid = getattr(problem, "n", None), problem.grid
    fitting = int(n * (most / unknowns) ** (1 / len(grid))) if n and grid else 0
    raise InputError(
        f"this problem has {count(unknowns)} unknowns and may have {count(int(most))} on pages of this server; "
        + (f"use n {fitting}" if fitting else "take a smaller one"),
        changes={"problem.n": fitting} if fitting else {},
        at="problem",
    )


def check_rhs(configuration: Configuration) -> None:
    """Raise InputError for a right-hand side that the problem does not have, or of which A leaves nothing."""
    rhs, problem = configuration.rhs, configuration.problem
    another = {"rhs": RUN["rhs"].default}
    if rhs == PHASES and not problem.has_phases:
        raise InputError(NO_PHASES, changes=another)
    if rhs.startswith(SOURCES) and not problem.has_grid:
        raise InputError(NO_GRID, changes=another)
    if rhs == "ones" and problem.is_closed:
        raise InputError(NOTHING_LEFT.format("the mean of b, 1,"), changes={"rhs": "random"})


def check_coarse(configuration: Configuration) -> None:
    """Raise InputError for a coarse solver that does not take the vectors, or not to the digits that variant and method
    need; as far as is known before E is made."""
    coarse, problem = configuration.coarse, configuration.problem
    size, inexact = problem.known_size, False
    if size is not None and configuration.deflation.name != "none":
        count = configuration.deflation.fewest(size.unknowns, problem.grid, closed=problem.is_closed)
        coarse.check_count(count)
        inexact = count > 0 and not coarse.is_exact(count)
        check_inexact(configuration, count, exact=not inexact)
    # Vectors in single precision have no more digits than such boxes.
    first_varies = configuration.preconditioner.varies and configuration.precision != MIXED
    check_varying(configuration, first_varies, inexact=inexact)


def check_cluster(configuration: Configuration) -> None:
    """Raise InputError for a cluster that is not allowed or whose workers would have nothing to do, and for sums that
    they cannot compute.

    Messages of a Dask scheduler are unpickled, which executes code: visitors of a page may not name one.
    """
    if configuration.cluster and os.environ.get(CLUSTERS) == "none":
        raise InputError(
            f"clusters are not available on this page, got {configuration.cluster}; leave the cluster out",
            changes={"cluster": None},
        )
    if configuration.cluster and not configuration.preconditioner.on_workers:
        raise InputError(
            f"cluster {configuration.cluster} solves the boxes of preconditioner schwarz, and "
            f"{configuration.preconditioner.name} has none; choose schwarz:3x3, or leave the cluster out",
            changes={"cluster": None},
        )
    if getattr(configuration.solver, "sums", HERE) == HERE:
        return
    if not configuration.cluster or configuration.preconditioner.name != "schwarz":
        raise InputError(
            f"{configuration.solver.name} with sums=workers needs preconditioner schwarz alone, and a cluster that "
            "solves its boxes, such as local:4; choose both, or sums=here",
            changes={"solver.sums": HERE},
        )
    if configuration.deflation.name != "none":
        raise InputError(
            f"{configuration.solver.name} with sums=workers needs deflation none, since workers have A alone; choose "
            "that, or sums=here",
            changes={"deflation": "none"},
        )


def check_symmetry(configuration: Configuration, operator: Operator) -> None:
    """Raise InputError where a matrix has another symmetry than the method or its levels need. Cost: nothing."""
    bilinear = configuration.solver.complex_symmetric
    if isinstance(operator, UnsymmetricMatrix):
        check_unsymmetric(configuration)
    if not np.issubdtype(operator.dtype, np.complexfloating):
        return
    if isinstance(operator, ComplexSymmetricMatrix) or (bilinear and isinstance(operator, LinearOperatorAdapter)):
        check_complex_symmetric(configuration)
    elif bilinear:
        raise InputError(
            f"A is Hermitian, and solver {configuration.solver.name} needs A = A^T; choose cg or block-cg",
            changes={"solver": "cg"},
        )


def check_complex_symmetric(configuration: Configuration) -> None:
    """Raise InputError for a method, and for levels, that a complex symmetric A does not go with."""
    solver = configuration.solver
    if not solver.complex_symmetric:
        raise InputError(
            f"A is complex symmetric, and solver {solver.name} needs a Hermitian A; choose cocg or block-cocg",
            changes={"solver": "cocg"},
        )
    reason = f"is Hermitian, and solver {solver.name} needs M = M^T where A is complex"
    _check_levels(configuration, COMPLEX_SYMMETRIC_M, reason)


def check_unsymmetric(configuration: Configuration) -> None:
    """Raise InputError for what an A that is not symmetric rules out. Cost: nothing."""
    _check_levels(configuration, UNSYMMETRIC_M, "needs a symmetric A, and A is not symmetric")


def _check_levels(configuration: Configuration, first_levels: tuple[str, ...], reason: str) -> None:
    """Raise InputError for a first level not among these, and for any second one. reason: the rest of the sentence."""
    for kind, known, instead in (("preconditioner", first_levels, "jacobi"), ("deflation", ("none",), "none")):
        if (name := getattr(configuration, kind).name) not in known:
            raise InputError(f"{kind} {name} {reason}; choose {kind} {instead}", changes={kind: instead})


def check_inexact(configuration: Configuration, count: int, *, exact: bool) -> None:
    """Raise InputError for a variant whose true residual would stop at the accuracy of the coarse solver.

    count: vectors of E. exact: systems with E are solved to rounding.
    """
    if not (exact or configuration.variant.accepts_inexact):
        raise InputError(
            f"variant {configuration.variant.name} needs E solved to rounding, and coarse solver "
            f"{configuration.coarse.text} solves that of {count} vectors approximately: the true residual would stop "
            "at 10 to 40 times its accuracy; use variant a-def2 or bnn, or coarse solver sparse",
            changes={"coarse": "sparse"},
        )


def check_varying(configuration: Configuration, first_varies: bool, *, inexact: bool) -> None:
    """Raise InputError for an M that is linear to few digits where the method updates M^-1 r by a recurrence.

    first_varies: whether the first level is. inexact: whether the coarse solver is, so that M of both levels varies.
    """
    if not (first_varies or inexact) or configuration.solver.applies_m_to_r:
        return
    if first_varies:
        which, instead = f"preconditioner {configuration.preconditioner.text}", {"preconditioner": "neumann:2"}
    else:
        which, instead = f"coarse solver {configuration.coarse.text}", {"coarse": "sparse"}
    raise InputError(
        f"solver {configuration.solver.name} updates M^-1 r by a recurrence, which needs an M that is linear to "
        f"rounding, and {which} is not: the residual would stagnate at 1e-4 to 1e-2 of its start; use solver cg or "
        f"cgcg, or {'coarse solver sparse' if 'coarse' in instead else 'preconditioner neumann:2'}",
        changes=instead,
    )


def check_precision(configuration: Configuration, *, two_phases: bool) -> None:
    """Raise InputError for a run that precision mixed cannot serve. two_phases: A comes from a byte per cell."""
    if configuration.precision == MIXED and not two_phases:
        raise mixed_without_phases()


def mixed_without_phases() -> InputError:
    """The error of precision mixed for an A that does not come from a byte per cell."""
    return InputError(
        "precision mixed needs a problem of two phases (bubbles, slabs, two layers), whose coefficients come from "
        "a byte per cell: with entries of A in single precision the true residual would stop at 1e-5 to 1e-2; use "
        "precision float64",
        changes=DOUBLE,
    )


def check_mixed(configuration: Configuration) -> None:
    """Raise InputError for a method or a stopping rule that precision mixed cannot serve."""
    if reason := mixed_refusal(configuration):
        raise InputError(reason, changes=DOUBLE)


def check_format(configuration: Configuration, device: Device) -> None:
    """Raise InputError for a storage format that a method or a device does not have."""
    name, items = format_of(configuration.format)
    layout = getattr(device, "layout", None)
    if (items or 0) > (most := layout.group if layout else 1):
        raise InputError(
            f"format {configuration.format} shares a row among {items} work-items, and device {device.name} computes "
            + (f"with groups of {most}" if most > 1 else "whole rows")
            + "; use format csr",
            changes={"format": "csr"},
        )
    members = getattr(configuration.preconditioner, "blocks", (configuration.preconditioner,))
    stencils = [
        block.text for block in members if block.needs_stencil or getattr(block, "coefficients", "") == "constant"
    ]
    if name != GIVEN_FORM and stencils:
        raise InputError(
            f"preconditioner {stencils[0]} needs a nearest-neighbour stencil, and format {configuration.format} "
            "assembles it; leave out the format",
            changes={"format": GIVEN_FORM},
        )
    if name not in (GIVEN_FORM, "csr") and configuration.solver.needs_accelerator:
        raise InputError(
            f"solver {configuration.solver.name} shares the rows of CSR between two devices, got format {name}; use "
            "format csr, or solver pipecg",
            changes={"format": "csr"},
        )


def check_az(configuration: Configuration) -> None:
    """Raise InputError for a form of AZ that the deflation or the method does not have."""
    if configuration.az == COMPACT or configuration.deflation.name == "none":
        return
    why = ""
    if type(configuration.deflation).labels is Deflation.labels:
        why = f"deflation {configuration.deflation.text} is by vectors"
    elif isinstance(configuration.solver, BlockSolver):
        why = f"solver {configuration.solver.name} multiplies block vectors"
    if why:
        raise InputError(
            f"az {configuration.az} stores AZ of subdomains for one vector, and {why}; use az {COMPACT}",
            changes={"az": COMPACT},
        )


def check_reduction(configuration: Configuration, device: Device) -> None:
    """Raise InputError for partial sums that the host is to add where it adds them anyway, or takes part already."""
    if configuration.reduction != HOST:
        return
    if configuration.solver.needs_accelerator:
        why = f"solver {configuration.solver.name} adds them in its own schedule of both devices"
    elif not hasattr(device, "reduction"):
        why = f"the cores of device {device.name} share the host's memory"
    else:
        return
    raise InputError(
        f"reduction host copies partial sums from an accelerator, and {why}; leave out the reduction",
        changes={"reduction": RUN["reduction"].default},
    )


def check_norm(configuration: Configuration) -> None:
    """Raise InputError for the norm of the error where the solution is not known by construction."""
    if configuration.stopping.norm == Norm.ERROR and configuration.rhs != KNOWN:
        raise InputError(f"norm error needs a known solution; use the right-hand side {KNOWN}", changes={"rhs": KNOWN})


def check_columns(configuration: Configuration) -> None:
    """Raise InputError for a method or a stopping criterion that many right-hand sides do not have."""
    solver = configuration.solver
    if not isinstance(solver, BlockSolver):
        raise InputError(
            f"solver {solver.name} takes one right-hand side; for several choose block-cg, which needs fewer "
            "iterations, or pseudo-block-cg, whose iterations cost less",
            changes={"solver": "block-cg"},
        )
    variant = configuration.variant
    if configuration.deflation.name != "none" and not (variant.hermitian or solver.accepts_unsymmetric_m):
        raise InputError(
            f"variant {variant.name} makes a preconditioner that is not Hermitian, with which solver {solver.name} "
            "need not converge for several right-hand sides; use variant a-def2 or bnn, or solver bf-block-cg",
            changes={"variant": "a-def2"},
        )
    if configuration.stopping.norm != Norm.RESIDUAL:
        raise InputError(
            f"norm {configuration.stopping.norm} is not available for several right-hand sides; choose norm residual",
            changes={"norm": str(Norm.RESIDUAL)},
        )


def mixed_refusal(configuration: Configuration) -> str:
    """Why precision mixed cannot serve the method of a configuration; empty where it can, or is not asked for."""
    if configuration.precision != MIXED:
        return ""
    solver = configuration.solver
    if configuration.format != GIVEN_FORM:
        return (
            f"precision mixed keeps A as a byte per cell, and format {configuration.format} as entries; leave out the "
            "format, or use precision float64"
        )
    if not solver.from_residual:
        return f"precision mixed replaces r, which solver {solver.name} does not allow; use solver cg"
    if configuration.variant.name in ("def1", "def2", "pcdeflation") and configuration.deflation.name != "none":
        return (
            f"variant {configuration.variant.name} relies on Z^T r = 0, which vectors in single precision do not keep, "
            "and would stagnate; use variant a-def2, or precision float64"
        )
    two_levels = configuration.deflation.name != "none"
    if configuration.variant.name in ("auto", "a-def2") and configuration.preconditioner.name == "none" and two_levels:
        return (
            f"{ADef2.alone}, which in single precision may stall it; use variant bnn, preconditioner jacobi, or "
            "precision float64"
        )
    if configuration.stopping.norm != Norm.RESIDUAL:
        return (
            f"precision mixed stops by the norm of the residual, got norm {configuration.stopping.norm}; choose norm "
            "residual, or precision float64"
        )
    return ""
