"""Modelled iterations on 1 to 4,096 ranks of a cluster, from an iteration traced on one rank of this machine.

Strong scaling: the rows are shared, the messages are modelled, and every rank solves with E as a whole. Nothing on
several ranks was measured; `papers.strong_scaling` compares the model with measurements of others.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

from workbench.devices.clock import CPU, NETWORK, rank_lane
from workbench.devices.dry_run import ITERATIONS
from workbench.devices.host.slab import slab_of
from workbench.errors import InputError
from workbench.extensions.models.one_rank import OneRank, Part
from workbench.extensions.models.schedules import Expected
from workbench.extensions.models.shared_rows import COARSE_SUM, Fabric, SharedRows, Steps, Work
from workbench.machines.profile import Number, Profile, profile, profiles
from workbench.machines.retime import retime
from workbench.records.trace import Trace
from workbench.registry import unknown_name

MOST = 4096
"""Ranks."""
COUNTS = tuple(2**k for k in range(2, 13))
"""4 to 4,096 ranks."""
SHAPES = ("slabs", "boxes")
NOTES = (
    "modelled from a trace of one rank on {machine}: nothing was measured on several ranks",
    "each rank has its share of the bandwidth of a node, also where other cores of the node are idle, and no cache",
    "exchanges are not hidden; sums are hidden where the lines allow it, as if the network worked by itself",
    "shown are the first rank, the one with the most rows, and the last",
)
REDUNDANT = "E^-1 on every rank: "


def clusters() -> dict[str, Profile]:
    """The clusters among the machines, by name.

    Examples:
        >>> from workbench.extensions.models.clusters import clusters
        >>> "archer2" in clusters()
        True
    """
    return {name: found for name, found in profiles().items() if found.ranks_per_node}


def cluster(name: str) -> Profile:
    """A cluster by name, or from a .toml file. Raises InputError for what is none."""
    found = profile(name) if name.endswith(".toml") else clusters().get(name.lower())
    if found is None:
        raise InputError(f"{unknown_name('cluster', name.lower(), clusters())}; or pass the path of a .toml file")
    found.required("ranks_per_node")
    return found


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
        >>> from workbench.extensions.models.clusters import cluster, expected_on_ranks
        >>> from workbench.extensions.models.one_rank import one_rank
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


def scaling_on_ranks(
    one: OneRank, machine: Profile, counts: Sequence[int] = COUNTS, **choices: object
) -> list[float | None]:
    """Modelled seconds of an iteration on each of these numbers of ranks, None where the grid has no rows for them.

    choices: as in `expected_on_ranks`.
    """
    return [expected_on_ranks(one, machine, count, **choices).seconds for count in counts]  # type: ignore[arg-type]


def overtakes(counts: Sequence[int], first: Sequence[float | None], other: Sequence[float | None]) -> int | None:
    """The least number of ranks from which on, up to the last, `other` takes less time than `first`; None if it never
    does, and where either is unknown.

    Examples:
        >>> from workbench.extensions.models.clusters import overtakes
        >>> overtakes([4, 8, 16, 32], [4.0, 3.0, 3.0, 3.0], [5.0, 2.9, 3.5, 2.0])
        32
    """
    found = None
    for count, a, b in zip(counts, first, other, strict=True):
        if a is None or b is None:
            continue
        found = (found or count) if b < a else None
    return found


def coarse_seconds(trace: Trace) -> float:
    """Seconds of an iteration of a modelled trace that the coarse level takes: the sum of Z^T r, and the coarse solve,
    which every rank makes as a whole."""
    lanes = (NETWORK, rank_lane(0))
    of_level = (COARSE_SUM, REDUNDANT)
    return sum(
        event.seconds
        for event in trace
        if event.iteration == ITERATIONS and event.lane in lanes and event.name.startswith(of_level)
    )


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
