"""Several methods on the ranks of a cluster: their curves, where one overtakes the first, and the cost of the coarse
level there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from workbench.devices.clock import NETWORK, rank_lane
from workbench.devices.dry_run import ITERATIONS
from workbench.errors import InputError
from workbench.extensions.models.one_rank import REDUNDANT, OneRank, expected_on_ranks, one_rank
from workbench.extensions.models.shared_rows import COARSE_SUM, Fabric
from workbench.machines.profile import Profile, profile, profiles
from workbench.records.trace import Trace
from workbench.registry import unknown_name
from workbench.run import Configuration
from workbench.words.numbers import count, duration

__all__ = ["RanksModel", "model_on_ranks"]

COUNTS = tuple(2**k for k in range(2, 13))
"""4 to 4,096 ranks."""


def clusters() -> dict[str, Profile]:
    """The clusters among the machines, by name.

    Examples:
        >>> from workbench.extensions.models.ranks_model import clusters
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


@dataclasses.dataclass(frozen=True)
class RanksModel:
    """Modelled seconds of an iteration by method, on each number of ranks, None where the grid has no rows for them.

    coarse: those of the coarse level among them. crossings: by method, the number of ranks from which on it takes less
    than the first one. why: there is nothing on the most ranks.

    Examples:
        >>> from workbench.extensions.models.ranks_model import model_on_ranks
        >>> from workbench.run import configure
        >>> model = model_on_ranks([configure("poisson7", n=16)], "archer2", n=64)
        >>> model.counts[-1], model.seconds["CG"][-1], model.why[0][-36:]
        (4096, None, 'use at most 64 ranks, or shape boxes')
    """

    title: str
    counts: tuple[int, ...]
    seconds: dict[str, list[float | None]]
    coarse: dict[str, list[float | None]]
    crossings: dict[str, int | None]
    why: list[str]
    notes: list[str]

    @property
    def sentences(self) -> list[str]:
        """Sentences on crossings with the first method, and on the coarse level's cost there, or on the most ranks."""
        first = next(iter(self.seconds))
        made = [
            f"{name} takes less time than {first} from {count(crossing)} ranks on"
            if crossing
            else f"{name} does not take less time than {first} on the most ranks that are modelled"
            for name, crossing in self.crossings.items()
        ]
        marked = min((crossing for crossing in self.crossings.values() if crossing), default=self.counts[-1])
        for name, times in self.coarse.items():
            known = [at for at, seconds in enumerate(times) if seconds and self.counts[at] <= marked]
            if known:
                at = known[-1]
                whole = self.seconds[name][at] or 0.0
                made.append(
                    f"{name}: the coarse level takes {duration(times[at] or 0.0)} of {duration(whole)} "
                    f"on {count(self.counts[at])} ranks"
                )
        return [*made, *self.why]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {**dataclasses.asdict(self), "sentences": self.sentences}


def model_on_ranks(configurations: Sequence[Configuration], machine: str | Profile, **choices: Any) -> RanksModel:
    """The model of some configurations, of which each is traced on one rank here.

    machine: a cluster, by its name, as a .toml file, or as a profile. choices: `counts`, the numbers of ranks; `n`,
    planes of the grid, by default as traced; `shape`, slabs or boxes; `noise`, seconds, the mean delay of a rank at a
    sum. Raises InputError for what does not run on ranks or is not modelled.

    Examples:
        >>> from workbench.extensions.models.ranks_model import model_on_ranks
        >>> from workbench.run import configure
        >>> solvers = [configure("poisson7", n=16, solver=name) for name in ("cg", "pipecg")]
        >>> model_on_ranks(solvers, "archer2", n=64, shape="boxes").crossings
        {'Pipelined CG': 512}
    """
    machine = cluster(machine) if isinstance(machine, str) else machine
    return model_ranks([one_rank(each) for each in configurations], machine, **choices)


def model_ranks(
    ones: Sequence[OneRank],
    machine: Profile,
    *,
    counts: Sequence[int] = COUNTS,
    n: int | None = None,
    shape: str = "slabs",
    noise: float = 0.0,
    fabric: Fabric | None = None,
) -> RanksModel:
    """The model of traced iterations.

    n: planes of the grid, by default as traced. shape: slabs or boxes. noise: seconds, the mean delay of a rank at a
    sum. fabric: by default that of the machine. Raises InputError for no method, two of one name, and a negative noise.
    """
    if not 0 <= noise < float("inf"):
        raise InputError(f"noise is the mean delay in seconds, not negative, got {noise:g}")
    if not ones:
        raise InputError("a model needs at least one method; pass a configuration")
    if len({one.title for one in ones}) < len(ones):
        raise InputError("two methods have the same solver and deflation; model each once")
    fabric = dataclasses.replace(fabric or Fabric.of(machine), noise=noise)
    seconds: dict[str, list[float | None]] = {}
    coarse: dict[str, list[float | None]] = {}
    why: dict[str, None] = {}
    notes: dict[str, None] = {}
    for one in ones:
        found = [expected_on_ranks(one, machine, each, n=n, shape=shape, fabric=fabric) for each in counts]
        seconds[one.title] = [each.seconds for each in found]
        coarse[one.title] = [coarse_seconds(each.trace) if each.trace else None for each in found]
        # The last of them is on the most ranks.
        why |= dict.fromkeys([each.why for each in found if each.why][-1:])
        notes |= {note: None for each in found if each.trace for note in each.trace.notes}
    first = ones[0].title
    crossings = {name: overtakes(counts, seconds[first], times) for name, times in seconds.items() if name != first}
    planes = n or ones[0].grid[0]
    sides = " x ".join(count(max(1, round(side * planes / ones[0].grid[0]))) for side in ones[0].grid)
    title = f"{sides} unknowns in {shape}, modelled on {machine.title}"
    return RanksModel(title, tuple(counts), seconds, coarse, crossings, list(why), list(notes))


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
        >>> from workbench.extensions.models.ranks_model import overtakes
        >>> overtakes([4, 8, 16, 32], [4.0, 3.0, 3.0, 3.0], [5.0, 2.9, 3.5, 2.0])
        32
    """
    found = None
    for ranks, a, b in zip(counts, first, other, strict=True):
        if a is None or b is None:
            continue
        found = (found or ranks) if b < a else None
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
