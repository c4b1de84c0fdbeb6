"""The command `workbench solve`: one run from command-line options, its summary, and files of the run and its trace."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.common import CONVERGED, NOT_CONVERGED, Commands, print_summary
from workbench.cli.options import add_option, chosen, parameters, problem_arguments
from workbench.cli.streams import StatusLine
from workbench.errors import InputError
from workbench.files import replacing
from workbench.files.codec import finite
from workbench.settings import BLOCKS, RUN, STOPPING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike

    from workbench.cli.mpiexec import CommandRank
    from workbench.problems import LinearSystem
    from workbench.records import Trace
    from workbench.run import Configuration, Result, Run
    from workbench.run.setup.setup_phases import SetupPhases

PROGRESS_SECONDS = 0.1
ASK_SECONDS = 0.25
"""Seconds between two questions whether the run is to end."""
COMBINED = {"sum": "sum-cg", "multi": "mpcg"}
"""The solver of each --combine."""


def add(verbs: Commands) -> None:
    """Add the command `solve` to the subparsers of argparse."""
    solve = verbs.add_parser("solve")
    problem_arguments(solve)
    for declared in (*BLOCKS.values(), *RUN.values(), *STOPPING.values()):
        add_option(solve, declared)
    solve.add_argument(
        "--combine",
        choices=tuple(COMBINED),
        help="several preconditioners as their sum, in solver sum-cg, or each with a direction of its own, in mpcg",
    )
    solve.add_argument(
        "--engine", default="workbench", help="workbench or petsc: whose method of that name makes the run"
    )
    solve.add_argument("--options", default="", help='options of PETSc, as in --options "-ksp_pipelcg_pipel 2"')
    solve.add_argument("--json", action="store_true", help="print one JSON object")
    solve.add_argument("--save", metavar="FILE", help="write the run to one file")
    solve.add_argument("--solution", metavar="FILE", help="write x as an array of NumPy, .npy")
    solve.add_argument("--stop-file", metavar="FILE", help="end the run in order once this file exists")
    solve.add_argument("--trace", metavar="FILE", help="write kernel timings as JSON for ui.perfetto.dev")
    solve.set_defaults(command=_solve)


def configuration_of(options: argparse.Namespace) -> Configuration:
    """The configuration to run: a link or saved configuration is complete, and options replace what they name."""
    from workbench.run import configure

    settings = chosen(options, (*BLOCKS, *RUN))
    if options.combine:
        if "solver" in settings:
            raise InputError("--combine chooses the solver; leave out --combine or --solver")
        settings["solver"] = COMBINED[options.combine]
    if options.engine != "workbench" or options.options:
        from workbench.run.choices.engines import on_engine

        settings["solver"] = on_engine(options.engine, settings.get("solver"), options.options)
    return configure(options.problem, parameters(options), stopping=chosen(options, STOPPING), **settings)


def with_default_levels(
    configuration: Configuration, options: argparse.Namespace, phases: SetupPhases
) -> tuple[Configuration, LinearSystem | None]:
    """The configuration with levels by the rule of `run.choices.levels`, and its system, for a matrix from a file and a
    command that names none; else as it is, and None. phases: where the time of reading is noted."""
    from workbench.problems.files import MatrixFile
    from workbench.problems.suitesparse import SuiteSparse
    from workbench.run.choices.levels import AUTO, filled_in
    from workbench.run.choices.link_codec import is_shared
    from workbench.run.setup.setup_phases import PROBLEM

    problem, named = configuration.problem, chosen(options, ("preconditioner", "deflation"))
    alone = bool(named or options.rank or is_shared(options.problem) or configuration.ranks > 1)
    if alone or not isinstance(problem, MatrixFile | SuiteSparse):
        return configuration, None
    try:
        with phases(PROBLEM):
            system = problem.assemble(configuration.seed)
    except InputError:
        # The setup says it, with all that is to be changed.
        return configuration, None
    found = filled_in(AUTO, AUTO, system.operator, configuration.solver, configuration.device, alone=False)
    if not found.note:
        return configuration, None
    levels = {"preconditioner": found.preconditioner, "deflation": found.deflation}
    return dataclasses.replace(configuration, **levels), system.with_parts(notes=(*system.notes, found.note))


def _solve(options: argparse.Namespace) -> int:
    from workbench.jit.compiler import start_if_nothing_is_stored

    start_if_nothing_is_stored()
    # Imported here because it takes a third of a second, and other commands do not need it.
    from workbench.run import Reason, Run
    from workbench.run.choices.levels import set_up_by_default
    from workbench.run.machine_use import MACHINE_USE
    from workbench.run.setup.numbering import renumbered
    from workbench.run.setup.setup_phases import SetupPhases

    rank: CommandRank | None = options.rank
    stop, first = options.stop_file, rank is None or rank.is_first
    if rank:
        rank.enter()
    # The ranks of a run are one run.
    with MACHINE_USE if first else contextlib.nullcontext():
        phases = SetupPhases()
        configuration, system = with_default_levels(configuration_of(options), options, phases)
        other = renumbered(configuration, system, None, phases) if system and not options.trace else None
        trace = options.trace is not None
        if system:
            begun = (other.configuration, other.system) if other else (configuration, system)
            run = set_up_by_default(
                lambda chosen, of: Run(chosen, of, trace=trace, phases=phases), *begun, system.notes[-1]
            )
        else:
            run = Run(configuration, trace=trace, phases=phases)
        trace_of_all = rank.trace_of_all(run) if rank else lambda: run.trace
        progress = _Progress()
        try:
            # No callback, because an accelerator would have to synchronize after every iteration.
            for _ in _stepping(run, rank, lambda: stop is not None and os.path.exists(stop)):
                progress(run)
            result = run.result()
        except KeyboardInterrupt:
            run.cancel()
            result = run.result()
        progress.clear()
    x = other.back(result.x) if other and result.x.size else result.x
    result = dataclasses.replace(result, x=x, trace=trace_of_all())
    if options.solution and result.reason is not Reason.DEVICE_LOST:
        _save_solution(result.x, Path(options.solution), rank)
    if options.save and first:
        from workbench.records import save

        save(result.record(), options.save)
    if result.trace is not None and first:
        from workbench.records import save_trace

        save_trace(result.trace, options.trace)
    if options.json:
        print(json.dumps(finite(_plain(run.configuration, result))))
    else:
        print_summary(result.summary, result.provenance["notes"])
        if result.trace is not None:
            _print_kernels(result.trace)
    return CONVERGED if result.converged else NOT_CONVERGED


def _stepping(run: Run, rank: CommandRank | None, is_stopped: Callable[[], bool]) -> Iterator[None]:
    """Step a run to its end; a few times a second `is_stopped` is asked, by the first of several ranks, and all cancel
    the run."""
    left = 1
    while run.step():
        yield
        left -= 1
        if left:
            continue
        # As many iterations as are expected until it is asked next, for all ranks.
        made = max(1, run.iterations)
        expected = int(ASK_SECONDS * made / max(run.iteration_seconds, 1e-9))
        answer = max(1, min(2 * made, expected)), is_stopped()
        left, ends = rank.agreed(answer) if rank else answer
        if ends:
            run.cancel()
            return


def _save_solution(x: ArrayLike, path: Path, rank: CommandRank | None) -> None:
    """Write x; of a run on ranks every rank its rows."""
    import numpy as np

    if rank:
        rank.write(x, path)
        return
    with replacing(path) as stream:
        np.save(stream, np.asarray(x))


def _plain(configuration: Configuration, result: Result) -> dict[str, Any]:
    """The summary, the problem, the residual history and the notes as plain data."""
    problem = configuration.problem
    return {
        **result.summary,
        "residual_history": result.history["residual"].tolist(),
        "problem": problem.name,
        "parameters": problem.to_dict()["parameters"],
        "notes": result.provenance["notes"],
    }


def _print_kernels(trace: Trace) -> None:
    """Print the time of each kernel, longest first, with the levels of a coarse solve below it.

    Kernels of several lanes, which may have one name, are printed with their lanes.
    """
    from workbench.records import kernel_table, with_levels_summed

    print(f"\n{trace.label} on {trace.machine}")
    rows = with_levels_summed(kernel_table(trace))
    lanes = {row["lane"] for row in rows if row["lane"]}
    width = 2 + max(map(len, lanes)) if len(lanes) > 1 else 0
    print(f"{'share':>7}{'ms':>11}{'calls':>8}{'GB/s':>8}  {'lane' if width else '':{width}}kernel")
    for row in rows:
        rate = f"{row['GB_per_s']:8.1f}" if row["GB_per_s"] else " " * 8
        lane = f"{row['lane'] if width else '':{width}}"
        print(f"{row['share']:7.1%}{1e3 * row['seconds']:11.3f}{row['calls']:8}{rate}  {lane}{row['kernel']}")


class _Progress:
    """A status line on a terminal, updated at most ten times a second."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._next = 0.0

    def __call__(self, run: Run) -> None:
        now = time.monotonic()
        if not self._line.shown or now < self._next:
            return
        self._next = now + PROGRESS_SECONDS
        name = run.configuration.stopping.norm
        self._line.show(f"iteration {run.iterations}, {name} norm {run.history[name][-1]:.3e} of {run.threshold:.3e}")

    def clear(self) -> None:
        self._line.show("")
