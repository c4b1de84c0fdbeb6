"""Rules by which the choices of a run are combined: a table whose rows say what breaks a rule, and what corrects it.

A rule is added as one row. The rows are made one after another as they are asked for, so that a later one may rely on
those before it. Rules of a block alone are declared with the block, and are asked between two rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

import numpy as np

from workbench.deflation import Deflation
from workbench.deflation.variants import ADef2
from workbench.devices.protocol import Device
from workbench.errors import CLUSTERS, MOST_UNKNOWNS, InputError
from workbench.operators import (
    ComplexSymmetricMatrix,
    LinearOperatorAdapter,
    Operator,
    Size,
    TwoPhaseStencil,
    UnsymmetricMatrix,
)
from workbench.operators.matrix_rows import MatrixRows
from workbench.operators.slab_stencil import SlabStencil
from workbench.problems.right_hand_sides import NO_GRID, NO_PHASES, NOTHING_LEFT
from workbench.process import limits
from workbench.run.choices.compatibility import unmet
from workbench.run.choices.configuration import Configuration, asks_for_blocks
from workbench.run.choices.rank_rules import check_ranks
from workbench.run.choices.stopping import Norm
from workbench.settings import COMPACT, GIVEN, GIVEN_FORM, HERE, HOST, MIXED, PHASES, RUN, SOURCES, WAVES, format_of
from workbench.solvers import MethodTraits
from workbench.solvers.block.base import BlockSolver
from workbench.words.numbers import count

DOUBLE = {"precision": RUN["precision"].default}
"""The change to make where precision mixed cannot serve."""
KNOWN = "ones-scaled"
"""The right-hand side with a known solution."""
TWO_PHASES = (
    "precision mixed needs a problem of two phases (bubbles, slabs, two layers), whose coefficients come from a byte "
    "per cell: with entries of A in single precision the true residual would stop at 1e-5 to 1e-2; use precision "
    "float64"
)
"""The sentence for an A that does not come from a byte per cell."""

Rules = Iterator[tuple[object, str, Mapping[str, object]]]
"""Rows of the table: anything true where the rule is broken, the sentence that says so, the changes that correct it."""


def check_rules(rules: Rules) -> None:
    """Raise InputError for the first rule that is broken."""
    for broken, sentence, changes in rules:
        if broken:
            raise InputError(sentence, changes=changes)


def rules_of(c: Configuration, device: Device, operator: Operator | None = None) -> Rules:
    """All rules across choices, in the order in which they are checked. operator: A once it is assembled, which more
    rules are about; those of the problem hold before."""
    if (known := operator if operator is not None else c.problem.known_size) is not None:
        _check_unknowns(c, unknowns_of(known))
    no_solution = c.stopping.norm == Norm.ERROR and c.rhs != KNOWN
    yield no_solution, f"norm error needs a known solution; use the right-hand side {KNOWN}", {"rhs": KNOWN}
    # A form asks this whenever it changes: nothing is downloaded for it.
    if (c.rhs != GIVEN or c.problem.at_hand) and asks_for_blocks(c, None):
        yield from of_columns(c)
    yield from _of_cluster(c)
    check_ranks(c)
    yield from of_mixed(c)
    yield from _of_storage(c, device)
    if operator is None:
        yield from _of_problem(c)
    else:
        yield from _of_matrix(c, operator)
    c.preconditioner.check(device)
    if c.deflated:
        c.variant.check(c.deflation.name, device)
    c.solver.check(device, traits_of(c))


def of_columns(c: Configuration) -> Rules:
    """Rules of many right-hand sides."""
    solver = c.solver
    takes_many = isinstance(solver, BlockSolver)
    yield (
        not takes_many,
        f"solver {solver.name} takes one right-hand side; for several choose block-cg, which needs fewer iterations, "
        "or pseudo-block-cg, whose iterations cost less",
        {"solver": "block-cg"},
    )
    yield (
        takes_many and c.deflated and not (c.variant.hermitian or solver.accepts_unsymmetric_m),
        f"variant {c.variant.name} makes a preconditioner that is not Hermitian, with which solver {solver.name} "
        "need not converge for several right-hand sides; use variant a-def2 or bnn, or solver bf-block-cg",
        {"variant": "a-def2"},
    )
    yield (
        c.stopping.norm != Norm.RESIDUAL,
        f"norm {c.stopping.norm} is not available for several right-hand sides; choose norm residual",
        {"norm": str(Norm.RESIDUAL)},
    )


def _of_cluster(c: Configuration) -> Rules:
    """Rules of a cluster, and of sums that its workers compute."""
    # Messages of a Dask scheduler are unpickled, which executes code: visitors of a page may not name one.
    yield (
        c.cluster and os.environ.get(CLUSTERS) == "none",
        f"clusters are not available on this page, got {c.cluster}; leave the cluster out",
        {"cluster": None},
    )
    yield (
        c.cluster and not c.preconditioner.on_workers,
        f"cluster {c.cluster} solves the boxes of preconditioner schwarz, and {c.preconditioner.name} has none; choose "
        "schwarz:3x3, or leave the cluster out",
        {"cluster": None},
    )
    on_workers = c.solver.parameter_values.get("sums", HERE) != HERE
    yield (
        on_workers and not (c.cluster and c.preconditioner.name == "schwarz"),
        f"{c.solver.name} with sums=workers needs preconditioner schwarz alone, and a cluster that solves its boxes, "
        "such as local:4; choose both, or sums=here",
        {"solver.sums": HERE},
    )
    yield (
        on_workers and c.deflated,
        f"{c.solver.name} with sums=workers needs deflation none, since workers have A alone; choose that, or "
        "sums=here",
        {"deflation": "none"},
    )


def of_mixed(c: Configuration) -> Rules:
    """Rules of precision mixed that hold for every problem."""
    variant = c.variant.name if c.deflated else ""
    for broken, sentence in (
        (
            c.format != GIVEN_FORM,
            f"precision mixed keeps A as a byte per cell, and format {c.format} as entries; leave out the format, or "
            "use precision float64",
        ),
        (
            not c.solver.from_residual,
            f"precision mixed replaces r, which solver {c.solver.name} does not allow; use solver cg",
        ),
        (
            variant in ("def1", "def2", "pcdeflation"),
            f"variant {variant} relies on Z^T r = 0, which vectors in single precision do not keep, and would "
            "stagnate; use variant a-def2, or precision float64",
        ),
        (
            variant in ("auto", "a-def2") and c.preconditioner.name == "none",
            f"{ADef2.alone}, which in single precision may stall it; use variant bnn, preconditioner jacobi, or "
            "precision float64",
        ),
        (
            c.stopping.norm != Norm.RESIDUAL,
            f"precision mixed stops by the norm of the residual, got norm {c.stopping.norm}; choose norm residual, or "
            "precision float64",
        ),
    ):
        yield c.precision == MIXED and broken, sentence, DOUBLE


def _of_storage(c: Configuration, device: Device) -> Rules:
    """Rules of the formats of A and AZ, and of the place of partial sums."""
    name, items = format_of(c.format)
    layout = getattr(device, "layout", None)
    # On a processor a group is as large as the row needs.
    most = 1 if layout is None else WAVES[-1] if layout.chunked else layout.group
    groups = f"with groups of {most}" if most > 1 else "whole rows"
    yield (
        (items or 0) > most,
        f"format {c.format} shares a row among {items} work-items, and device {device.name} computes {groups}; use "
        "format csr",
        {"format": "csr"},
    )
    for block in c.preconditioner.blocks:
        yield (
            name != GIVEN_FORM and (block.needs_stencil or block.parameter_values.get("coefficients") == "constant"),
            f"preconditioner {block.text} needs a nearest-neighbour stencil, and format {c.format} assembles it; leave "
            "out the format",
            {"format": GIVEN_FORM},
        )
    yield (
        name not in (GIVEN_FORM, "csr") and c.solver.needs_accelerator,
        f"solver {c.solver.name} shares the rows of CSR between two devices, got format {name}; use format csr, or "
        "solver pipecg",
        {"format": "csr"},
    )
    for broken, why in (
        (type(c.deflation).labels is Deflation.labels, f"deflation {c.deflation.text} is by vectors"),
        (isinstance(c.solver, BlockSolver), f"solver {c.solver.name} multiplies block vectors"),
    ):
        yield (
            c.az != COMPACT and c.deflated and broken,
            f"az {c.az} stores AZ of subdomains for one vector, and {why}; use az {COMPACT}",
            {"az": COMPACT},
        )
    for broken, why in (
        (c.solver.needs_accelerator, f"solver {c.solver.name} adds them in its own schedule of both devices"),
        (not hasattr(device, "reduction"), f"the cores of device {device.name} share the host's memory"),
    ):
        yield (
            c.reduction == HOST and broken,
            f"reduction host copies partial sums from an accelerator, and {why}; leave out the reduction",
            {"reduction": RUN["reduction"].default},
        )


def _of_problem(c: Configuration) -> Rules:
    """Rules of the problem before it is assembled; a matrix may still be no stencil."""
    problem, size, count, exact = c.problem, c.problem.known_size, 0, True
    reason = unmet(problem, c.deflation)
    yield reason, f"{reason}; use deflation none or blocks", {"deflation": "none"}
    # Faults that a change corrects come first: the search ends at one that none corrects, such as a missing path.
    problem.check()
    if problem.is_complex_symmetric:
        yield from _of_complex_symmetric(c)
    if problem.is_unsymmetric:
        yield from _of_unsymmetric(c)
    if size is not None:
        c.deflation.check(_sides(c, size))
        yield c.precision == MIXED and not size.two_phases, TWO_PHASES, DOUBLE
    c.preconditioner.check_problem(problem)
    another = {"rhs": RUN["rhs"].default}
    yield c.rhs == PHASES and not problem.has_phases, NO_PHASES, another
    yield c.rhs.startswith(SOURCES) and not problem.has_grid, NO_GRID, another
    yield c.rhs == "ones" and problem.is_closed, NOTHING_LEFT.format("the mean of b, 1,"), {"rhs": "random"}
    if size is not None and c.deflated:
        count = c.deflation.fewest(size.unknowns, problem.grid, closed=problem.is_closed)
        c.coarse.check_count(count)
        exact = count <= 0 or c.coarse.is_exact(count)
        yield from of_inexact(c, count, exact=exact)
    yield from of_varying(c, _first_varies(c, size), inexact=not exact)


def _of_matrix(c: Configuration, operator: Operator) -> Rules:
    """Rules of A once it is assembled. Cost: nothing."""
    bilinear = c.solver.complex_symmetric
    if isinstance(operator, UnsymmetricMatrix):
        yield from _of_unsymmetric(c)
    if np.issubdtype(operator.dtype, np.complexfloating):
        if isinstance(operator, ComplexSymmetricMatrix) or (bilinear and isinstance(operator, LinearOperatorAdapter)):
            yield from _of_complex_symmetric(c)
        else:
            way_out = "choose cg or block-cg"
            yield bilinear, f"A is Hermitian, and solver {c.solver.name} needs A = A^T; {way_out}", {"solver": "cg"}
    two_phases = isinstance(operator.tall if isinstance(operator, SlabStencil) else operator, TwoPhaseStencil)
    yield c.precision == MIXED and not two_phases, TWO_PHASES, DOUBLE
    c.deflation.check(_sides(c, operator))
    yield from of_varying(c, _first_varies(c, operator), inexact=False)


def _of_complex_symmetric(c: Configuration) -> Rules:
    """Rules of a complex symmetric A."""
    yield (
        not c.solver.complex_symmetric,
        f"A is complex symmetric, and solver {c.solver.name} needs a Hermitian A; choose cocg or block-cocg",
        {"solver": "cocg"},
    )
    reason = f"is Hermitian, and solver {c.solver.name} needs M = M^T where A is complex"
    yield from _of_levels(c, ("none", "jacobi", "given"), reason)


def _of_unsymmetric(c: Configuration) -> Rules:
    """Rules of an A that is not symmetric."""
    yield from _of_levels(c, ("none", "jacobi", "schwarz"), "needs a symmetric A, and A is not symmetric")


def _of_levels(c: Configuration, known: tuple[str, ...], reason: str) -> Rules:
    """A first level is among these, and there is no second one. reason: the rest of the sentence."""
    for block, fits, instead in ((c.preconditioner, known, "jacobi"), (c.deflation, ("none",), "none")):
        kind = block.kind
        yield block.name not in fits, f"{kind} {block.name} {reason}; choose {kind} {instead}", {kind: instead}


def of_inexact(c: Configuration, count: int, *, exact: bool) -> Rules:
    """The variant bears the accuracy of the coarse solver. count: vectors of E. exact: E is solved to rounding."""
    yield (
        not (exact or c.variant.accepts_inexact),
        f"variant {c.variant.name} needs E solved to rounding, and coarse solver {c.coarse.text} solves that of "
        f"{count} vectors approximately: the true residual would stop at 10 to 40 times its accuracy; use variant "
        "a-def2 or bnn, or coarse solver sparse",
        {"coarse": "sparse"},
    )


def of_varying(c: Configuration, first_varies: bool, *, inexact: bool) -> Rules:
    """A method that updates M^-1 r by a recurrence has an M that is linear to rounding.

    first_varies: whether the first level is to few digits. inexact: whether the coarse solver is, so that M varies.
    """
    for varies, kind, text, instead in (
        (first_varies, "preconditioner", c.preconditioner.text, "neumann:2"),
        (inexact, "coarse", c.coarse.text, "sparse"),
    ):
        words = "coarse solver" if kind == "coarse" else kind
        yield (
            varies and not c.solver.applies_m_to_r,
            f"solver {c.solver.name} updates M^-1 r by a recurrence, which needs an M that is linear to rounding, and "
            f"{words} {text} is not: the residual would stagnate at 1e-4 to 1e-2 of its start; use solver cg or cgcg, "
            f"or {words} {instead}",
            {kind: instead},
        )


def _first_varies(c: Configuration, known: Operator | Size | None) -> bool:
    """True if the first level is known to be to few digits."""
    # Vectors in single precision have no more digits than the boxes of schwarz.
    return c.precision != MIXED and c.preconditioner.varies_on(() if known is None else _sides(c, known))


def _sides(c: Configuration, known: Operator | Size) -> tuple[int, ...]:
    """Cells per side; the number of unknowns without a grid."""
    return c.problem.grid or (unknowns_of(known),)


def _check_unknowns(c: Configuration, unknowns: int) -> None:
    """Raise InputError for more unknowns than the server of this page allows."""
    most = limits.page_unknowns(os.environ.get(MOST_UNKNOWNS, ""))
    if unknowns <= most:
        return
    n, grid = c.problem.per_side, c.problem.grid
    fitting = int(n * (most / unknowns) ** (1 / len(grid))) if n and grid else 0
    raise InputError(
        f"this problem has {count(unknowns)} unknowns and may have {count(int(most))} on pages of this server; "
        + (f"use n {fitting}" if fitting else "take a smaller one"),
        changes={"problem.n": fitting} if fitting else {},
        at="problem",
    )


def unknowns_of(known: Operator | Size) -> int:
    """The unknowns of all ranks, which by their own rows would not all refuse."""
    return known.slab.whole if isinstance(known, SlabStencil | MatrixRows) else known.shape[0]


def traits_of(configuration: Configuration) -> MethodTraits:
    """The traits of the two levels that a method may require."""
    wrapped = configuration.deflated and not configuration.variant.projects_system
    return MethodTraits(configuration.preconditioner.element_wise and not wrapped, configuration.deflated, wrapped)
