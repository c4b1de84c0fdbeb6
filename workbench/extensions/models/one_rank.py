"""One iteration of a run as one rank makes it: its steps, with what has to be exchanged and summed."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable

import numpy as np

from workbench.errors import InputError
from workbench.extensions.models.shared_rows import launches
from workbench.lines.schedule import Step, operator_of
from workbench.operators import Operator, Stencil
from workbench.records.trace import Event
from workbench.run import Configuration, Run, Stopping
from workbench.run.choices.rank_rules import check_on_ranks
from workbench.run.loop.tracing import noting
from workbench.words.names import name_of, sentence_case

WARM_UP, MEASURED = 2, 5
"""Iterations before the measured ones, and the measured ones."""
FIRST_LEVELS = ("none", "jacobi", "neumann", "block-ic")
"""First levels with known messages: none, or one exchange in front."""


@dataclasses.dataclass(frozen=True)
class Part:
    """An event of a step. planes: exchanged in front of it. words: of a coarse vector, summed behind it. redundant:
    of the coarse solve, which every rank makes as a whole."""

    event: Event
    planes: int = 0
    words: int = 0
    redundant: bool = False


@dataclasses.dataclass(frozen=True)
class OneRank:
    """An iteration traced on one rank.

    title: of the solver, with the deflation. grid: cells a side, slowest first. ghosts: planes that vectors have room
    for on either side. at_once: of a grid, the planes that slabs have a multiple of. machine: where events without
    bytes were measured.
    """

    title: str
    grid: tuple[int, ...]
    itemsize: int
    steps: tuple[tuple[Step, tuple[Part, ...]], ...]
    ghosts: int
    at_once: Callable[[tuple[int, ...]], int]
    machine: str

    @property
    def unknowns(self) -> int:
        """Unknowns of the traced system."""
        return math.prod(self.grid)


def one_rank(configuration: Configuration) -> OneRank:
    """Trace some iterations of a configuration on the cores, where it runs on ranks.

    Cost: the setup and eight iterations. Raises InputError for what does not run on ranks or is not modelled.
    """
    check_on_ranks(configuration, 2)
    if configuration.preconditioner.name not in FIRST_LEVELS:
        raise InputError(
            f"the model of ranks has preconditioner {', '.join(FIRST_LEVELS)}, got {configuration.preconditioner.name}"
        )
    return one_rank_of(Run(dataclasses.replace(configuration, stopping=Stopping(rtol=1e-300)), trace=True))


def one_rank_of(run: Run) -> OneRank:
    """Trace some iterations of a run that has been made with a trace, and not been stepped.

    The run is of no other use afterwards. A system without a grid is one of planes of one row, of which a product reads
    as many as its band is wide.
    """
    trace, setup = run.trace, run.setup
    if trace is None:
        raise InputError("the model of ranks needs a traced run; make it with trace=True")
    for _ in range(WARM_UP):
        run.step(1)
    program = run.workspace.programs[-1]
    before = program.calls
    run.step(1)
    if program.calls != before + 1:
        raise InputError(f"iterations of solver {run.configuration.solver.name} differ; use cg, pipecg or gropp")
    taken: list[list[list[Event]]] = [[] for _ in program.runs]
    with noting(run.workspace.clock):
        for _ in range(MEASURED):
            for place, call in enumerate(program.runs):
                first = trace.count
                call()
                taken[place].append(list(trace)[first:])
    # A series of order m reads m planes, and has room for one more.
    grid = setup.system.grid or (setup.b.size,)
    reach = _reach(setup.operator, math.prod(grid[1:]))
    first = run.configuration.preconditioner
    room = first.ghost_planes
    words = setup.projection.count if setup.projection else 0
    steps = tuple(
        (
            step,
            _parts([_median(same) for same in zip(*events, strict=True)], reach, room - 1, words)
            if launches(step)
            else (),
        )
        for step, events in zip(program.steps, taken, strict=True)
    )
    chosen = run.configuration
    name = sentence_case(name_of("solver", chosen.solver.name))
    name += f", {chosen.deflation.text}" * (chosen.deflation.name != "none")
    return OneRank(name, grid, setup.b.dtype.itemsize, steps, max(reach, room), first.planes_at_once, trace.machine)


def _reach(operator: Operator, plane: int) -> int:
    """Planes on either side that a product reads."""
    if isinstance(operator, Stencil):
        return 1
    matrix = operator.to_csr()
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return max(1, round(float(abs(matrix.indices - rows).max(initial=0)) / plane))


def _median(same: tuple[Event, ...]) -> Event:
    """An event with the median duration of its repetitions."""
    return dataclasses.replace(same[0], start=0.0, end=statistics.median(event.seconds for event in same))


def _parts(events: list[Event], reach: int, depth: int, words: int) -> tuple[Part, ...]:
    """The events of a step, with their messages by their names. depth: planes that M reads."""
    made, coarse = [], False
    for event in events:
        operator = operator_of(event.name).partition(",")[0]
        if operator in ("AZ", "Z"):
            coarse = False
        planes = reach if operator == "A" or operator.startswith("b - A") else depth if operator == "M" else 0
        restricts = "Z^T" in event.name
        made.append(Part(event, 0 if coarse else planes, words if restricts else 0, coarse))
        coarse = coarse or restricts
    return tuple(made)
