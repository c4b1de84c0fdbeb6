"""Modelled iterations on 1 to 4,096 ranks of a cluster, from an iteration traced on one rank of this machine.

Strong scaling: the rows are shared, the messages are modelled, and every rank solves with E as a whole. Nothing on
several ranks was measured; `papers.strong_scaling` compares the model with measurements of others.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import statistics
from collections.abc import Callable

import numpy as np

from workbench.devices.clock import CPU, rank_lane
from workbench.devices.host.slab import slab_of
from workbench.errors import InputError
from workbench.extensions.models.schedules import Expected
from workbench.extensions.models.shared_rows import Fabric, SharedRows, Steps, Work, launches
from workbench.lines.schedule import Step, operator_of
from workbench.machines.profile import Number, Profile
from workbench.machines.retime import retime
from workbench.operators import Operator, Stencil
from workbench.records.trace import Event, Trace
from workbench.registry import unknown_name
from workbench.run import Configuration, Run, Stopping
from workbench.run.choices.rank_rules import check_on_ranks
from workbench.run.loop.tracing import recording
from workbench.words.names import name_of, sentence_case

MOST = 4096
"""Ranks."""
SHAPES = ("slabs", "boxes")
NOTES = (
    "modelled from a trace of one rank on {machine}: nothing was measured on several ranks",
    "each rank has its share of the bandwidth of a node, also where other cores of the node are idle, and no cache",
    "exchanges are not hidden; sums are hidden where the lines allow it, as if the network worked by itself",
    "shown are the first rank, the one with the most rows, and the last",
)
REDUNDANT = "E^-1 on every rank: "
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
    if configuration.solver.needs_accelerator:
        raise InputError(
            f"the model of ranks has one device for each, and solver {configuration.solver.name} uses two; use cg, "
            "pipecg or gropp"
        )
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
    with recording(run.workspace.clock):
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


def expected_on_ranks(
    one: OneRank,
    machine: Profile,
    ranks: int,
    *,
    n: int | None = None,
    shape: str = "slabs",
    fabric: Fabric | None = None,
) -> Expected:
    """The modelled time of an iteration on ranks of a cluster, and its trace.

    n: planes, by default as traced; other work grows with the unknowns, while coarse vectors and the coarse solve stay
    as traced. shape: `slabs` of planes, as runs on ranks have them, or `boxes`, which they do not. fabric: by default
    that of the machine. Raises InputError for a number of ranks that is not modelled.

    Examples:
        >>> from workbench.extensions.models.one_rank import expected_on_ranks, one_rank
        >>> from workbench.extensions.models.ranks_model import cluster
        >>> from workbench.run import configure
        >>> one = one_rank(configure("poisson7", n=16))
        >>> expected_on_ranks(one, cluster("archer2"), 4, n=512).seconds < 1
        True
    """
    if not 1 <= ranks <= MOST:
        raise InputError(f"the model has 1 to {MOST} ranks, got {ranks}")
    if shape not in SHAPES:
        raise InputError(unknown_name("shape", shape, SHAPES))
    if n is not None and n < 1:
        raise InputError(f"the model needs at least 1 plane, got {n}")
    fabric = fabric or Fabric.of(machine)
    grid = one.grid if n is None else tuple(max(1, round(side * n / one.grid[0])) for side in one.grid)
    shared = _Shared(one, grid, ranks, shape, fabric)
    try:
        rows = shared.rows()
    except InputError as error:
        return Expected(None, f"{error}, or shape boxes")
    places = sorted({0, max(range(ranks), key=lambda place: (rows[place], -abs(place - ranks // 2))), ranks - 1})
    of_a_rank = _rank_of(machine)
    timed = [shared.timed(place, rows[place], of_a_rank) for place in places]
    notes = [note.format(machine=one.machine) for note in NOTES] + timed[0][1]
    on_ranks = SharedRows(
        [rank_lane(place) for place in places],
        [steps for steps, _ in timed],
        functools.partial(fabric.all_reduce, ranks) if ranks > 1 else None,
        one.itemsize,
    )
    return on_ranks.expected(f"{ranks} ranks on {machine.title}", notes)


def _rank_of(machine: Profile) -> Profile:
    """The share of a rank in a node."""
    per_node = machine.required("ranks_per_node").value

    def share(number: Number | None) -> Number | None:
        return dataclasses.replace(number, value=number.value / per_node) if number else None

    names = ("bandwidth_nominal", "bandwidth_measured", "flops", "cache_bytes")
    return dataclasses.replace(machine, **{name: share(getattr(machine, name)) for name in names})


@dataclasses.dataclass(frozen=True)
class _Shared:
    """The rows of a grid on ranks."""

    one: OneRank
    grid: tuple[int, ...]
    ranks: int
    shape: str
    fabric: Fabric

    @property
    def plane(self) -> int:
        """Rows of a plane."""
        return math.prod(self.grid[1:])

    def rows(self) -> list[int]:
        """The rows of each rank. Raises InputError where slabs are too thin."""
        if self.shape == "boxes":
            size = math.prod(self.grid)
            if size < self.ranks:
                raise InputError(f"{size} rows on {self.ranks} ranks leave none to some")
            return [-(-size // self.ranks)] * self.ranks
        given = self.one.ghosts, self.one.at_once(self.grid), "the preconditioner"
        return [slab_of(self.grid, place, self.ranks, *given).size for place in range(self.ranks)]

    def timed(self, place: int, rows: int, machine: Profile) -> tuple[Steps, list[str]]:
        """The steps of a rank, with times and messages; and sentences on what the times leave out."""
        scaled = Trace(self.one.machine)
        for _, parts in self.one.steps:
            for part in parts:
                event = part.event
                share = 1.0 if part.redundant else (rows + self.ghost_rows(place, rows, part)) / self.one.unknowns
                kernel = scaled.kernel(event.name, CPU, round(event.bytes * share), round(event.flops * share))
                scaled.add(kernel, 0.0, event.seconds if part.redundant else event.seconds * share)
        retimed = retime(scaled, machine)
        events, made = iter(retimed), []
        for step, parts in self.one.steps:
            works = []
            for part in parts:
                event = next(events)
                name = f"{REDUNDANT}{event.name}" if part.redundant else event.name
                before = self.exchange(place, rows, part) if part.planes and self.ranks > 1 else None
                works.append(Work(name, event.seconds, event.bytes, event.flops, before, part.words))
            made.append((step, works))
        return made, retimed.notes

    def ghost_rows(self, place: int, rows: int, part: Part) -> int:
        """Rows of neighbours that a rank computes as well."""
        if self.ranks == 1:
            return 0
        if self.shape == "boxes":
            return round(2 * len(self.grid) * part.planes * self.face(rows))
        return part.planes * self.plane * sum(0 <= other < self.ranks for other in (place - 1, place + 1))

    def face(self, rows: int) -> float:
        """Rows of a face of a box."""
        return rows ** ((len(self.grid) - 1) / len(self.grid))

    def exchange(self, place: int, rows: int, part: Part) -> tuple[float, int]:
        """Seconds of the exchange in front of a part, and the bytes that arrive."""
        nbytes = self.ghost_rows(place, rows, part) * self.one.itemsize
        if self.shape == "boxes":
            face = part.planes * self.face(rows) * self.one.itemsize
            return self.fabric.exchange_of_boxes(self.ranks, len(self.grid), face), nbytes
        others = [other for other in (place - 1, place + 1) if 0 <= other < self.ranks]
        return self.fabric.exchange(place, others, [nbytes // max(1, len(others))] * len(others)), nbytes


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
