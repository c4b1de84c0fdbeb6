"""The setup of a solve: system, right-hand side, starting vector, preconditioner and deflation on a device."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench import devices
from workbench.deflation import CoarseSolver, DeflationContext, Projection, Subspace, Variant
from workbench.deflation.subspace import PiecewiseConstant
from workbench.devices.host.boxes import EarlierParts
from workbench.devices.host.components import has_unnumbered_components, numbered_components
from workbench.devices.host.slab import Slab
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.machines.profile import profile
from workbench.operators import BoundOperator, Operator, TwoPhaseStencil
from workbench.operators.conversion import in_format
from workbench.operators.empty_rows import check_stencil, without_empty_rows
from workbench.operators.null_space import NullSpace, null_space_of
from workbench.operators.slab_stencil import SlabStencil
from workbench.preconditioners import ElementWise
from workbench.problems import LinearSystem
from workbench.problems.files import rows_of
from workbench.run.cancellation import check_stopped
from workbench.run.choices.compatibility import check_near_null, index_cuts, needing_entries
from workbench.run.choices.configuration import Configuration, asks_for_blocks
from workbench.run.choices.conflicts import all_at_once, check
from workbench.run.choices.in_memory import InMemoryPreconditioner
from workbench.run.choices.memory_need import memory_need, where_of
from workbench.run.choices.rules import DOUBLE, TWO_PHASES, check_rules, of_columns, of_inexact, of_varying, traits_of
from workbench.run.setup.consistency import make_consistent, range_complement
from workbench.run.setup.level_scale import alike
from workbench.run.setup.right_hand_side import Vectors, columns_of, prepare_columns, prepare_vectors, right_hand_side
from workbench.run.setup.setup_phases import DEVICE, PLAN, PROBLEM, SetupPhases
from workbench.run.setup.solve_setup import SINGLE, SolveSetup
from workbench.run.setup.this_rank import this_rank
from workbench.settings import MIXED, RUN
from workbench.solvers import MethodTraits
from workbench.words.numbers import count

if TYPE_CHECKING:
    from workbench.run.setup.workers import Workers


class _Levels(NamedTuple):
    """The preconditioner and the deflation, as in SolveSetup."""

    variant: Variant
    first_level: BoundOperator | ElementWise
    M: BoundOperator | ElementWise
    projection: Projection | None
    space: Subspace | None
    deflation_vectors: int


class Before(NamedTuple):
    """The setup of an earlier phase, the cells that have changed since, None for many, and whether coarse levels of M
    are kept."""

    setup: SolveSetup
    cells: np.ndarray | None
    keep_coarse: bool

    @property
    def parts(self) -> EarlierParts | None:
        """The subdomains of the earlier phase, where they are kept."""
        space = self.setup.space
        if self.cells is None or not isinstance(space, PiecewiseConstant):
            return None
        return space.earlier(self.cells)


def prepare(
    configuration: Configuration,
    system: LinearSystem | None = None,
    x0: np.ndarray | None = None,
    stopped: Callable[[], bool] = lambda: False,
    phases: SetupPhases | None = None,
) -> SolveSetup:
    """Assemble the system, unless it is given, and set up everything on the device.

    stopped: cancellation request, tested before each part that may take long. phases: where the phases are noted.
    Raises InputError for what cannot be solved, StoppedError once `stopped` returns True.
    """
    phases = phases or SetupPhases()
    with phases(DEVICE):
        given = system.operator.shape[0] if system and not system.slab else 0
        rank = this_rank()
        device = rank.device(configuration, given) if rank else devices.device(configuration.device)
        device = device.limited(configuration.memory_limit)
    need = None
    with all_at_once(configuration, _operator_of_a_file, system and system.operator):
        if system is None:
            with phases(PROBLEM):
                need = check(configuration, device)
                system = assembled(configuration, device.slab)
        else:
            if not configuration.solver.complex_symmetric:
                check_stencil(system.operator)
            system = numbered(system)
            if (slab := device.slab) and not system.slab:
                system, x0 = rows_of(system, slab), None if x0 is None else x0[slab.rows]
        check_stopped(stopped)
        operator = system.operator
        check(configuration, device, operator)
    device.need(operator.dtype)
    device.forget_copies()
    with phases(PROBLEM):
        operator = in_format(operator, configuration.format, device)
        operator, empty = without_empty_rows(operator, device)
        system = system if operator is system.operator else system.with_operator(operator)
    if configuration.reduction != RUN["reduction"].default:
        # Runs on the cores import no other device.
        from workbench.devices.accelerator.device import as_accelerator

        device = as_accelerator(device).reducing(configuration.reduction)
    choice = configuration.solver.select(device, operator, traits_of(configuration), profile)
    solver, device = choice.solver, choice.device
    phases.on(device)
    with phases("A"):
        bound = operator.bind(device)
    null_space = null_space_of(operator, system.null_space, bound, device, empty)
    notes = [*(rank.notes() if rank else ()), *choice.reasons, *([device.note] if device.note else [])]
    if configuration.device == "auto":
        notes.append(f"device auto is {device.name} here, chosen by the memory bandwidth of the devices present")
    notes += [*bound.notes, *system.notes]
    if empty is not None:
        rows = device.total(empty.size)
        notes.append(f"A has {count(rows)} empty row{'s' * (rows > 1)}, of zeros alone; x is 0 there")
    if null_space.components is not None:
        parts = count(null_space.components.count)
        notes.append(f"A has {parts} components that nothing couples; x has mean 0 in each")
    check_near_null(system, configuration.preconditioner, configuration.deflation)
    notes += index_cuts(system, configuration.preconditioner, configuration.deflation)
    if system.given_rhs_name and configuration.rhs == RUN["rhs"].default:
        notes.append(f"{system.given_rhs_name} comes with the matrix; rhs given solves with it")
    with phases("vectors b and x₀"):
        sides = None
        if asks_for_blocks(configuration, system):
            check_rules(of_columns(configuration))
            vectors, sides = prepare_columns(configuration, system, x0, device, null_space, notes)
        else:
            vectors = prepare_vectors(configuration, system, x0, bound, device, null_space, notes, stopped)
    if solver.needs_symmetric_preconditioner and isinstance(configuration.preconditioner, InMemoryPreconditioner):
        configuration.preconditioner.check_symmetric(
            operator.shape[0], operator.dtype, bilinear=solver.complex_symmetric
        )
    workers = _connected(configuration.cluster) if configuration.cluster else None
    try:
        inner, product = _inner(configuration, system, bound, device)
        levels = _levels(configuration, inner, product, device, vectors, null_space, notes, stopped, workers, phases)
    except BaseException:
        if workers:
            workers.close()
        raise
    if need and levels.projection and levels.projection.coarse_name != configuration.coarse.name:
        # Which one it is depends on E.
        coarse = CoarseSolver.named(levels.projection.coarse_name)
        need = memory_need(dataclasses.replace(configuration, coarse=coarse), where_of(device))
    return SolveSetup(
        system=system,
        solver=solver,
        device=device,
        bound=bound,
        product=product,
        null_space=null_space,
        # Counted here, since a report must not delay the end of a run.
        entries=None if operator.nnz is None else device.total(operator.nnz),
        notes=notes,
        phases=phases,
        need=need,
        workers=workers,
        sides=sides,
        **vectors._asdict(),
        **levels._asdict(),
    )


def renewed(
    configuration: Configuration,
    setup: SolveSetup,
    system: LinearSystem,
    cells: np.ndarray | None,
    *,
    keep_coarse: bool = False,
) -> SolveSetup:
    """The setup for a system whose A has the pattern, the null space and the device of the one before, with its
    vectors.

    A and both levels are the same, bit by bit, as by `prepare`. What follows from configuration and size alone is kept.
    cells: flat places of the cells whose phase has changed, None for many: on the cores labels, and rows of E or of the
    first matrix of mg, are made anew for the boxes that hold them and their neighbours alone. keep_coarse: keep the
    levels below the finest one of a preconditioner that has some. Raises InputError as `prepare`, and for keep_coarse
    with any other method.
    """
    device = setup.device
    notes: list[str] = []
    device.forget_copies()
    system = system.with_operator(in_format(system.operator, configuration.format, device))
    bound = system.operator.bind(device)
    inner, product = _inner(configuration, system, bound, device)
    levels = _levels(
        configuration, inner, product, device, None, setup.null_space, notes, lambda: False, None,
        lambda _name: contextlib.nullcontext(), Before(setup, cells, keep_coarse),
    )  # fmt: skip
    return dataclasses.replace(setup, system=system, bound=bound, product=product, notes=notes, **levels._asdict())


def assembled(configuration: Configuration, slab: Slab | None = None) -> LinearSystem:
    """The system of the configuration's problem; slab: the rows of a rank."""
    problem, solver = configuration.problem, configuration.solver
    if slab:
        return problem.rows(slab, configuration.seed)
    return (problem.assemble_complex_symmetric if solver.complex_symmetric else problem.assemble)(configuration.seed)


def numbered(system: LinearSystem) -> LinearSystem:
    """The system, with a phase of 0 and 1 numbered by connected component where there are several.

    Boxes that are merged keep phases apart, and two bubbles of one number would be one: multilevel cycles then do not
    converge. Problems number theirs themselves.
    """
    phase, grid = system.phase, system.grid
    if phase is None or grid is None or system.slab or not has_unnumbered_components(phase, grid):
        return system
    return dataclasses.replace(system, phase=numbered_components(phase, grid))


def _operator_of_a_file(configuration: Configuration) -> Operator | None:
    """A of a matrix from a file, whose rules are known once it is read; None for a grid, which may be large."""
    return assembled(configuration).operator if configuration.problem.known_size is None else None


def _connected(cluster: str) -> Workers:
    # Few runs have a cluster.
    from workbench.run.setup.workers import connected

    return connected(cluster)


def _inner(
    configuration: Configuration, system: LinearSystem, bound: BoundOperator, device: Device
) -> tuple[LinearSystem, BoundOperator]:
    """The system for both levels, and its A on the device: in single precision where the precision is mixed."""
    if configuration.precision != MIXED:
        return system, bound
    operator = system.operator
    # That of a moved phase may have more kinds of cells than a byte tells apart.
    if not isinstance(operator, TwoPhaseStencil | SlabStencil):
        raise InputError(TWO_PHASES, changes=DOUBLE)
    inner = system.with_operator(operator.on(SINGLE))
    return inner, inner.operator.bind(device)


def _levels(
    configuration: Configuration,
    system: LinearSystem,
    bound: BoundOperator,
    device: Device,
    vectors: Vectors | None,
    null_space: NullSpace,
    notes: list[str],
    stopped: Callable[[], bool],
    workers: Workers | None,
    phases: Callable[[str], contextlib.AbstractContextManager[None]],
    before: Before | None = None,
) -> _Levels:
    """Both levels of the preconditioner, and the projection; x is projected if the variant asks for that. before: what
    they are made from where they are not made anew."""
    operator, variant = system.operator, configuration.variant
    with phases("preconditioner M"), needing_entries(configuration.preconditioner):
        if before:
            first_level = configuration.preconditioner.renewed(
                before.setup.first_level, system, device, before.cells, keep_coarse=before.keep_coarse
            )
        else:
            first_level = configuration.preconditioner.setup_of(system, device, workers)
    notes += first_level.notes
    context = DeflationContext(
        operator, bound, first_level, device, system.grid, system.phase, null_space, configuration.seed, system.slab,
        before.parts if before else None, system.near_null,
    )  # fmt: skip
    check_stopped(stopped)
    with phases("deflation vectors"), needing_entries(configuration.deflation):
        space = configuration.deflation.space(context)
        if isinstance(space, PiecewiseConstant):
            space.az_form = configuration.az
            if before and before.setup.projection:
                space.keep(before.setup.space, before.setup.projection.z, context.earlier)
    check_stopped(stopped)
    if space is None:
        check_rules(of_varying(configuration, first_level.varies, inexact=False))
        return _Levels(variant, first_level, first_level, None, None, 0)
    mixed = configuration.precision == MIXED
    bears = configuration.solver.applies_m_to_r and _takes_any_preconditioner(configuration, device)
    exact = not (variant.accepts_inexact and bears)
    projection = Projection(
        operator, bound, space, configuration.coarse, device, exact=exact, phase=phases, null_space=null_space
    )
    check_rules(of_inexact(configuration, projection.count, exact=projection.exact))
    # DEF1 needs more digits than vectors in single precision have.
    variant = variant.resolved(projection.exact and not mixed)
    if variant.uses_az:
        with phases("AZ"):
            projection.prepare_az()
    notes += projection.notes
    if variant.projects_start and not mixed and vectors is not None:
        with phases("start in the complement of Z"):
            projection.recover_solution(vectors.x, vectors.b)
    with phases(PLAN):
        if variant.adds_q:
            first_level = alike(configuration.preconditioner, first_level, operator, bound, device)
        M = _both_levels(variant, projection, first_level, operator, device)
    check_rules(of_varying(configuration, first_level.varies, inexact=M.varies))
    check_stopped(stopped)
    return _Levels(variant, first_level, M, projection, space, projection.count)


def _both_levels(
    variant: Variant,
    projection: Projection,
    first_level: BoundOperator | ElementWise,
    operator: Operator,
    device: Device,
) -> BoundOperator | ElementWise:
    """The preconditioner of the variant; the first level itself, still element-wise, where the variant adds nothing."""
    if not isinstance(first_level, ElementWise):
        return variant.precondition(projection, first_level, device)
    if variant.projects_system:
        # M stays in the passes of the solver: a kernel of its own would be compiled for nothing.
        return first_level
    applied = device.applied(first_level, operator.shape[0], operator.dtype)
    both = variant.precondition(projection, applied, device)
    return first_level if both is applied else both


def on_cores(
    configuration: Configuration, system: LinearSystem, column: int
) -> tuple[BoundOperator, np.ndarray, np.ndarray | None, NullSpace]:
    """A bound to the CPU, b in the range of A, the solution if it is known, and the null space of A.

    For snapshots of a run that has ended, on whatever device. column: of many right-hand sides. Raises InputError as
    `prepare` does.
    """
    device = devices.device("cpu")
    operator, empty = without_empty_rows(system.operator, device)
    bound = operator.bind(device)
    if asks_for_blocks(configuration, system):
        b, exact = np.ascontiguousarray(columns_of(configuration, system)[:, column]), None
    else:
        b, exact = right_hand_side(configuration, system, bound, device)
    null_space = null_space_of(operator, system.null_space, bound, device, empty)
    return bound, make_consistent(b, range_complement(configuration, null_space))[0], exact, null_space


def _takes_any_preconditioner(configuration: Configuration, device: Device) -> bool:
    """True if the method runs with an M that is not element-wise, such as that of both levels."""
    try:
        configuration.solver.check(device, MethodTraits(element_wise=False, deflated=True))
    except InputError:
        return False
    return True
