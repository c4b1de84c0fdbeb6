"""Preconditioner advisor: predictions from coarser grids, then timed solves of the best pairs of levels.

How iterations grow with the grid depends on the second level: with a fixed number of cells per subdomain they stay
about constant; without a second level they double when the mesh width is halved. Pairs are therefore first solved on
two coarser grids, with the same number of cells per subdomain; both solves together give setup, iterations and seconds
per iteration on the full grid (`predictions`). The pairs with the best predictions are then solved there; a solve is
stopped when it clearly exceeds the best time so far. The neighbours of the best are solved too, and the fastest again
until their medians are known (`measuring`). A problem without a grid is probed only at full size. With
`probe_n` nothing is assembled or solved at full size: the ranking is of predictions alone. A sequence of systems is
solved at full size alone, and its pairs are ranked by the time of a step (`sequence_search`). A budget of time ends a
search (`budget`); the pairs are tried in an order that finds a good one early.

`advising` reports each event when it happens, and is cancelled by closing it or by `stopped`; `advise` consumes it.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Sequence

from workbench.advise.advice import Advice, Estimate, Event, Ranked, Stage, ranked
from workbench.advise.budget import Budget
from workbench.advise.level_pairs import LevelPair, coarsened, default_pair, level_pairs
from workbench.advise.sequence_search import PairSearch, SequenceSearch
from workbench.arrays.validation import random_numbers
from workbench.deflation import Deflation
from workbench.devices.interchange import on_host
from workbench.errors import InputError
from workbench.operators import as_operator
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.run import Stopping, configure
from workbench.run.choices.compatibility import index_cuts
from workbench.run.choices.in_memory import InMemoryProblem, has_columns, system_of, with_near_null
from workbench.run.machine_use import MACHINE_USE, sharing
from workbench.sequences.systems import SystemSequence
from workbench.settings import SEARCH_SECONDS
from workbench.words.numbers import counted, duration, number

RATIOS = (4, 2)
"""Coarsening ratios of the probing grids, per side."""
MIN_UNKNOWNS_TO_COARSEN = 60_000
"""Smaller problems are probed at full size only."""
CANDIDATES_AFTER = (24, 10)
"""Number of pairs that remain after each coarser grid; the last ones are solved at full size."""


def advise(
    problem: object,
    b: object = None,
    *,
    rtol: float = Stopping.rtol,
    seed: int = 0,
    devices: Sequence[str] = ("cpu",),
    probe_n: int | None = None,
    seconds: float | None = None,
    near_null: object = None,
    progress: Callable[[str], None] | None = None,
    **parameters: object,
) -> Advice:
    """Rank pairs of levels for a problem by the time of a solve to rtol, setup included; for a sequence by the time of
    a step, over 20 steps in which cells change.

    problem: a name, a link, a saved file or a `Problem`; of a link or a file only the problem is used. Or A, as
    `workbench.run.solve` takes it, with b of shape (N,), by default random by seed. The solver is cg and the norm that
    of the residual. probe_n: points per side of the largest grid that is solved on, for predictions alone; None also
    solves with the best pairs at full size. progress: called with one sentence per stage.

    seconds: the time of the search, without the compilation of kernels; a setup in progress is not interrupted. By
    default 20 times the fastest solve, at least 2 s, where A has no grid, else no limit. One pair is solved anyway.

    near_null: vectors that A maps to little, as of `workbench.run.solve`; pairs that take them are tried alone.

    Cost: about ten solves with the best pair, or `seconds`. Raises InputError for unknown names, for what `solve`
    refuses, and when no pair converges.

    Examples:
        >>> import numpy as np
        >>> from workbench.advise import advise
        >>> advise("poisson5", n=8).best.problem.n
        8
        >>> A = 2 * np.eye(50) - np.eye(50, k=1) - np.eye(50, k=-1)
        >>> advise(A, np.ones(50), seconds=0.5).choices["deflation"]
        'none'
    """
    doing = ""
    asked = {"rtol": rtol, "seed": seed, "devices": devices, "probe_n": probe_n, "seconds": seconds}
    asked["near_null"] = near_null
    for event in advising(problem, b, **asked, **parameters):  # pyright: ignore[reportArgumentType]
        if isinstance(event, Stage) and progress and (not event.doing or event.doing != doing):
            pairs = counted(event.candidates, "pair")
            progress(f"{event.doing}: {pairs}" if event.doing else f"{pairs} on {event.label}")
            doing = event.doing
        if isinstance(event, Ranked):
            return event.advice
    raise AssertionError("a search that is not cancelled ends with a ranking")


def advising(
    problem: object,
    b: object = None,
    *,
    rtol: float = Stopping.rtol,
    seed: int = 0,
    devices: Sequence[str] = ("cpu",),
    probe_n: int | None = None,
    seconds: float | None = None,
    near_null: object = None,
    stopped: Callable[[], bool] = lambda: False,
    **parameters: object,
) -> Iterator[Event]:
    """The events of `advise` as they happen; the last one is `Ranked`.

    stopped: cancellation request, tested before each solve; no event follows it. Raises InputError as `advise`.

    Examples:
        >>> from workbench.advise import advising
        >>> stage = next(advising("two-layer", n=8))
        >>> stage.full, stage.candidates > 10
        (True, True)
    """
    started = time.perf_counter()
    seconds = SEARCH_SECONDS.check(seconds)
    full, system = _asked(problem, b, seed, near_null)
    full = full.changed(parameters)
    sequence = isinstance(full, SystemSequence)
    for name, value in (("probe_n", probe_n), ("seconds", seconds)):
        if sequence and value is not None:
            raise InputError(f"problem {full.name} is a sequence, which is solved at full size; leave {name} out")
    ratios = RATIOS if probe_n is None else _ratios(full, probe_n)
    basis, cells = full, 1
    if probe_n is not None:
        basis, cells = full.changed({"n": full.n // ratios[-1]}), ratios[-1]  # pyright: ignore[reportAttributeAccessIssue]
    kind = SequenceSearch if sequence else PairSearch
    search = kind(full, system or basis.assemble(seed), cells, Stopping(rtol=rtol), seed, stopped)
    candidates = level_pairs(full, search.system, tuple(devices), cells)
    fitting = candidates = yield from search.fitting(candidates)
    # From here on: the first search of a process imports the blocks before.
    search.budget = budget = Budget(math.inf if seconds is None and search.system.grid is not None else seconds)
    if not candidates:
        raise InputError(f"no pair of levels fits for {full.label}: {next(iter(search.refused.values()))}")
    large = (search.unknowns >= MIN_UNKNOWNS_TO_COARSEN and not sequence) or probe_n is not None
    grids = [(coarsened(full, ratio), ratio, count) for ratio, count in zip(ratios, CANDIDATES_AFTER, strict=True)]
    probed = [(small, ratio, count) for small, ratio, count in grids if small is not None and large]
    work = [ratio ** -len(search.system.grid or (1,)) for _, ratio, _ in probed] + ([1.0] if probe_n is None else [])
    for place, (small, _, count) in enumerate(probed):
        later = tuple(zip((most for *_, most in probed[place:]), work[place + 1 :], strict=False))
        yield Stage(small.label, len(candidates), full=False, work=work[place], later=later)
        yield from search.probe(small, candidates)
        if stopped():
            return
        kept = sorted((pair for pair in candidates if pair in search.found), key=search.predicted_seconds)[:count]
        candidates = kept if kept or probe_n is not None else candidates
    shared = ""
    if probe_n is None:
        yield Stage(full.label, len(candidates), full=True)
        with MACHINE_USE, contextlib.closing(MACHINE_USE.watch()) as watch:
            yield from search.measure(candidates)
            shared = sharing(watch.most)
        if stopped():
            return
    rows = search.found.values()
    if not any(row.measured or probe_n is not None for row in rows):
        raise InputError(f"no pair of levels solves {full.label} to rtol {rtol:g}; loosen it, or check the matrix")
    ranking = ranked(rows)
    if probe_n is not None:
        # Those from the larger grid first: the others were left behind there.
        ranking.sort(key=lambda row: -(row.grid_n or 0))
    tried = (
        block
        for row in ranking
        for block in (Preconditioner.named(row.pair.preconditioner), Deflation.named(row.pair.deflation))
    )
    if budget.left <= 0 and (left := {*fitting} - search.tried):
        search.notes.append(
            f"the search ended after {duration(budget.seconds)} with {len(left)} of {len(fitting)} pairs untried; give "
            "it more seconds to try them"
        )
    of_default = _compared(ranking, [default_pair(search.system, device) for device in devices])
    notes = *filter(None, (shared,)), *of_default, *search.notes, *index_cuts(search.system, *tried)
    took = time.perf_counter() - started
    yield Ranked(Advice(full, tuple(ranking), search.refused, took, rtol, seed, notes))


def _compared(ranking: Sequence[Estimate], by_default: Sequence[LevelPair | None]) -> list[str]:
    """A sentence on each pair that a run takes which names none, next to the fastest."""
    found = []
    for row in ranking:
        if row.pair in by_default and row.measured:
            ratio = row.seconds / ranking[0].seconds
            much = f"{number(ratio, 2)} times the fastest" if row is not ranking[0] else "the fastest"
            found.append(f"levels by default: {row.pair.label}, {duration(row.seconds, 2)}, {much}")
    return found


def _asked(problem: object, b: object, seed: int, near_null: object) -> tuple[Problem, LinearSystem | None]:
    """The problem, and its system where it is given in memory."""
    if not isinstance(problem, str | Problem):
        A = on_host(problem, "A")
        operator = as_operator(A)
        given = random_numbers(seed, operator.shape[0]) if b is None else on_host(b, "b")
        if has_columns(given):
            raise InputError(f"b has {given.shape[1]} columns; the advisor ranks pairs for one, so give a vector")
        return InMemoryProblem(), with_near_null(system_of(operator, given)[0], on_host(near_null, "near_null"))
    if b is not None:
        raise InputError("b is for a matrix in memory; a problem by name has its own, so leave b out")
    if near_null is not None:
        raise InputError("near_null is for a matrix in memory; pass A and b in place of a name")
    return configure(problem).problem if isinstance(problem, str) else problem, None


def _ratios(problem: Problem, probe_n: int) -> tuple[int, int]:
    """The ratios of the problem's grid to the probing grids, per side. Raises InputError without such grids."""
    n = problem.per_side
    if n is None:
        raise InputError(
            f"problem {problem.name} has no parameter n, and is probed at full size only; leave probe_n out"
        )
    ratio = n // probe_n if probe_n > 0 else 0
    if ratio < 1 or coarsened(problem, 2 * ratio) is None:
        raise InputError(
            f"probe_n must be at least 16, since a grid twice coarser is solved on too, and at most n = {n}, "
            f"got {probe_n}"
        )
    return 2 * ratio, ratio
