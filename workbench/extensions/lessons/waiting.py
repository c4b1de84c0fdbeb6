"""Exercises of lesson 6: from CG to pipelined CG, and what each change does to the waiting on many processors."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence

from workbench.costs.solver_costs import LineCounts, line_counts
from workbench.devices.clock import ACCELERATOR, GPU, NETWORK, WAITING
from workbench.devices.dry_run import Sizes
from workbench.errors import InputError
from workbench.extensions.lessons.check_turn import computed
from workbench.extensions.lessons.exercise import Exercise, Number, Order, Text, Verdict
from workbench.extensions.lessons.first_difference import FirstDifference, first_difference
from workbench.extensions.lessons.next_step import NextStep, waiting_race
from workbench.extensions.models.host_and_gpu import machine
from workbench.extensions.models.schedules import Method
from workbench.extensions.models.several_gpus import ON_SEVERAL, expected_on
from workbench.extensions.models.shared_rows import Fabric
from workbench.lines.dependence import Waiting, waiting
from workbench.lines.edit import without_unread
from workbench.machines.profile import profile
from workbench.records.slices import slice_iterations, typical_iterations
from workbench.records.trace import Trace
from workbench.run import Run, Stopping, configure, run_through
from workbench.solvers import Solver
from workbench.solvers.cg import CG
from workbench.solvers.pipecg import PipelinedCG
from workbench.solvers.user_defined import UserSolver, tidied
from workbench.stepping.line_by_line import Moment, walk
from workbench.words.names import typeset
from workbench.words.numbers import apart, count, counted, duration, number

START = tidied(PipelinedCG.start)
"""The lines before the loop: all that a method of the lesson reads first. With beta = 0 and alpha = 1 an iteration may
begin with lines that end the one before."""
SIDE = 8
SMALL = configure("two-layer", n=SIDE)
"""The configuration that both methods run on: a grid of SIDE times SIDE."""
MACHINE, RANKS = "h200", 4096
MODELLED = (4, 5)
"""The iterations on the lanes: by then the schedule is periodic."""
MIDDLE = f"{GPU}{RANKS // 2 + 1}"
"""A GPU with neighbours on both sides, so no other is ready later: it waits for sums alone."""
CHRONOPOULOS_GEAR = 5
"""The change of the derivation of pipelined CG after which one wait is left."""
POWERS = [2**k for k in range(13)]
SIZES = Sizes(3 * 10**7, 21 * 10**7)
"""Sizes of the modelled system: a matrix with 7 entries a row, as of a 7-point stencil."""
INSTANT = 1e-9
"""Seconds up to which a wait is rounding of the model."""
SLOWER = 1.02
"""Multiple of the modelled time of the lines in their best order that counts as equal: rounding, and no more."""


@dataclasses.dataclass(frozen=True)
class Change:
    """A step of a derivation: its name, why it is allowed, and the lines of an iteration afterwards."""

    title: str
    why: str
    lines: str


@dataclasses.dataclass(frozen=True)
class Assessed:
    """Lines of an iteration: the start and each iteration on `SMALL`, the first difference of x from that of CG, the
    waits, and the counts of the lines. On `RANKS` GPUs, modelled: the seconds of an iteration, those in which a GPU
    waits for sums, the all-reduces that it waits for, and two iterations as a trace."""

    moments: Sequence[Moment]
    difference: FirstDifference | None
    waits: Waiting
    counts: LineCounts
    seconds: float
    waited: float
    stops: int
    trace: Trace

    @property
    def waiting(self) -> str:
        """The waiting part of an iteration, in words."""
        if not self.stops:
            return "none of it waiting for a sum"
        return f"{duration(self.waited)} of it waiting for {counted(self.stops, 'sum')}"


def solver_of(lines: str) -> UserSolver:
    """The method with these lines in every iteration, and before the loop those of `START` that it reads.

    Raises InputError for the first error in the lines.
    """
    lines = tidied(lines)
    return UserSolver("own-lines", without_unread(START, lines)[0], lines)


@functools.lru_cache(maxsize=256)
@computed
def assessed(lines: str) -> Assessed:
    """The assessment of lines. Cost: both methods on 64 unknowns and a dry run, tens of milliseconds. Raises InputError
    for the first error in the lines."""
    solver = solver_of(lines)
    seconds, trace = _modelled(Method(solver, ACCELERATOR), RANKS)
    shown = slice_iterations(trace, *MODELLED)
    waits = [event for event in trace if event.iteration in MODELLED and (event.name, event.lane) == (WAITING, MIDDLE)]
    sums = [event for event in trace if event.lane == NETWORK]
    # One wait may be for two messages, the second of which begins when the first has ended.
    stops = sum(min(e.end, w.end) - max(e.start, w.start) > INSTANT for w in waits for e in sums) // len(MODELLED)
    moments = walked(solver)
    return Assessed(
        moments,
        first_difference(walked(CG()), moments),
        waiting(lines),
        line_counts(lines),
        seconds,
        sum(event.seconds for event in waits) / len(MODELLED),
        stops,
        shown,
    )


@functools.lru_cache(maxsize=64)
@computed
def walked(solver: Solver) -> list[Moment]:
    """The start and each iteration on `SMALL`, up to the tolerance."""
    return walk(dataclasses.replace(SMALL, solver=solver), 60, SMALL.stopping.rtol)


@computed
def _modelled(method: str | Method, gpus: int) -> tuple[float, Trace]:
    found = expected_on(method, SIZES, machine(MACHINE), Fabric.of(profile(MACHINE)), gpus)
    if found.seconds is None or found.trace is None:
        raise InputError(f"nothing is modelled on {count(gpus)} GPUs: {found.why}")
    return found.seconds, found.trace


def measured(*solvers: str) -> list[Trace]:
    """Three iterations of each solver on 65,536 unknowns, measured now: of the fastest of five runs of 60 iterations,
    made in turns. Cost: 0.2 s on two cores."""
    stopping = Stopping(maxiter=60)
    chosen = [configure("two-layer", n=256, solver=solver, stopping=stopping) for solver in solvers]
    rounds = [[typical_iterations(run_through(Run(each, trace=True)).trace) for each in chosen] for _ in range(5)]
    return [min(traces, key=lambda trace: trace.seconds) for traces in zip(*rounds, strict=True)]


def differing(found: FirstDifference) -> str:
    """A sentence on where x first differs from that of CG."""
    since = f"x differs from that of CG from iteration {found.iteration} on"
    if not found.reached:
        since = f"x is that of CG up to iteration {found.iteration - 1}, in which the method breaks down"
    if not found.line:
        return f"{since}; no other line gives another value than in CG before."
    return (
        f"{since}, and {typeset(found.line)} is the first line that gives another value than in CG, "
        f"in iteration {found.at}, relative difference {number(found.relative)}."
    )


def _one_reduction(lines: str) -> Verdict:
    found = assessed(lines)
    if found.difference:
        return Verdict(False, differing(found.difference))
    if found.waits.reductions > 1:
        return Verdict(False, f"x is that of CG, but {found.waits.reductions} reductions still follow one another.")
    if found.counts.with_a > 1:
        return Verdict(False, f"one reduction remains, but the lines apply A {counted(found.counts.with_a, 'time')}.")
    before = assessed(CG_LINES).seconds
    order = "" if found.stops < 2 else f". As the lines stand, {found.stops} sums are waited for"
    best = assessed(DERIVATIONS["pipelined"][CHRONOPOULOS_GEAR].lines).seconds
    if found.seconds > SLOWER * best:
        order += (
            ". The model sends a sum where its kernel ends, so sums of two kernels are two messages, which other "
            f"programs send as one; an order in which one travels while A works takes {duration(best)}"
        )
    return Verdict(
        True,
        f"x is that of CG, no sum needs another one, and an iteration on {count(RANKS)} GPUs takes "
        f"{duration(found.seconds)} in the model, and one of CG {duration(before)}{order}.",
    )


def _hidden(lines: str) -> Verdict:
    found, best = assessed(lines), assessed(PIPELINED).seconds
    if found.difference:
        return Verdict(False, differing(found.difference))
    said = (
        f"x is that of CG, and an iteration on {count(RANKS)} GPUs takes {duration(found.seconds)} in the model, "
        f"{found.waiting}"
    )
    if found.seconds > SLOWER * best:
        return Verdict(False, f"{said}; there is an order with {duration(best)}.")
    return Verdict(True, f"{said}; the order before took {duration(assessed(EXPOSED).seconds)}.")


def _crossover(gpus: int) -> Verdict:
    if gpus not in POWERS:
        raise InputError(f"the numbers of GPUs are 1, 2, 4 and so on, and {gpus} is none of them")

    def shorter(number_of: int) -> tuple[bool, str]:
        cg, pipelined = (_modelled(method, number_of)[0] for method in ON_SEVERAL)
        one, other = apart(cg, pipelined, duration)
        return pipelined < cg, f"on {counted(number_of, 'GPU')} CG takes {one} and pipelined CG {other}"

    pays, said = shorter(gpus)
    if not pays:
        return Verdict(False, f"{said}.")
    if gpus == 1:
        return Verdict(True, f"{said}.")
    earlier, half = shorter(gpus // 2)
    return Verdict(not earlier, f"{said}, but already {half}." if earlier else f"{said}; {half}.")


def _without(lines: str, *unwanted: str) -> str:
    return "\n".join(line for line in lines.split("\n") if line not in unwanted)


def _moved(lines: str, line: str, behind: str = "") -> str:
    """The lines with one of them behind another, by default in front of all."""
    rest = _without(lines, line).split("\n")
    rest.insert(rest.index(behind) + 1 if behind else 0, line)
    return "\n".join(rest)


def _replaced(lines: str, **others: str) -> str:
    """The lines with others in place of those that set these names."""
    return "\n".join(others.get(line.split(" = ")[0], line) for line in lines.split("\n"))


CG_LINES = tidied(CG.iterate)


def _derived(lines: str, *changes: tuple[str, str, Callable[[str], str]]) -> tuple[Change, ...]:
    made = []
    for title, why, change in changes:
        lines = change(lines)
        made.append(Change(title, why, lines))
    return tuple(made)


_BEGIN = (
    (
        "x earlier",
        "x needs α and p, which are there",
        lambda lines: _moved(lines, "x = x + alpha*p", "previous = gamma"),
    ),
    (
        "the direction first",
        "u and β are those with which the iteration before has ended; β = 0 before the loop gives p = u",
        lambda lines: _moved(lines, "p = u + beta*p"),
    ),
    (
        "A applied to u",
        "s = A p, and A (u + β p) = A u + β A p, so s follows from w = A u and the s before",
        lambda lines: _replaced(lines, s="w = A(u)\ns = w + beta*s"),
    ),
)
_M_OF_S = "u = M⁻¹ r, and r loses α s, so u loses α q with q = M⁻¹ s"
_W_EARLIER = "u is known there, and w before the loop", lambda lines: _moved(lines, "w = A(u)", "rr = (r, r)")
DERIVATIONS = {
    "pipelined": _derived(
        CG_LINES,
        *_BEGIN,
        (
            "(p, A p) from (u, A u)",
            "p is conjugate to the p before, and u is orthogonal to the r before, so (p, s) = (u, w) − β γ/α",
            lambda lines: _replaced(lines, delta="omega = (u, w)\ndelta = omega - beta*gamma/alpha"),
        ),
        ("the product at the end", *_W_EARLIER),
        (
            "its dot product too: Chronopoulos and Gear",
            "γ travels while A works, ω follows at once, and both are there before δ, so one wait is left",
            lambda lines: _moved(lines, "omega = (u, w)", "w = A(u)"),
        ),
        (
            "M applied to w",
            f"{_M_OF_S}, which is m + β q with m = M⁻¹ w",
            lambda lines: _replaced(
                lines,
                p="p = u + beta*p\nq = m + beta*q",
                u="u = u - alpha*q",
                omega="omega = (u, w)\nm = M(w)",
            ),
        ),
        (
            "A applied to m: pipelined CG",
            "w = A u loses α z with z = A q, which is n + β z with n = A m",
            lambda lines: _replaced(
                lines, q="q = m + beta*q\nz = n + beta*z", w="w = w - alpha*z", m="m = M(w)\nn = A(m)"
            ),
        ),
    ),
    "Gropp": _derived(
        CG_LINES,
        *_BEGIN,
        (
            "M applied to s, behind the first sum",
            f"{_M_OF_S}, which is needed there and not before",
            lambda lines: _replaced(lines, delta="delta = (p, s)\nq = M(s)", u="u = u - alpha*q"),
        ),
        ("A behind the second sum: Gropp's CG", *_W_EARLIER),
    ),
}
"""From CG one change at a time: every step makes the iterates of CG."""
PIPELINED = DERIVATIONS["pipelined"][-1].lines
_SUMS = ("gamma = (r, u)", "omega = (u, w)", "uu = (u, u)", "rr = (r, r)", "beta = gamma/previous")
EXPOSED = "\n".join((_without(PIPELINED, *_SUMS), *_SUMS))
"""Pipelined CG with its sums behind the products, where nothing is left to hide them."""

EXERCISES = (
    Exercise(
        "Rewrite these lines of CG so that one reduction of two remains, A is applied once, and x stays the same. "
        "Before the loop u = M(r), w = A(u), omega = (u, w), gamma = (r, u), p = u, s = w, alpha = 1 and beta = 0.",
        Text(CG_LINES),
        _one_reduction,
        "compare with change 6 above: which line replaces (p, s), and where does A stand?",
    ),
    Exercise(
        f"These are the lines of pipelined CG, but on {count(RANKS)} GPUs its sums are waited for. Move lines, and "
        "change none, so that an iteration is as short as it can be in the model.",
        Order(EXPOSED),
        _hidden,
        "a sum starts where its line stands; put behind it what does not need it.",
    ),
    Exercise(
        f"From how many GPUs on (1, 2, 4, …, {count(RANKS)}) is an iteration of pipelined CG shorter than one of CG "
        f"in the model of the H200, for {count(SIZES.size)} unknowns with 7 entries a row?",
        Number(1, RANKS, whole=True, unit="GPUs"),
        _crossover,
        "compare both curves at this number of GPUs, and at half of it.",
    ),
)

NEXT_STEPS = (
    NextStep(
        "Pipelined CG line by line: which lines need a sum?",
        "learn.step",
        lambda: configure("two-layer", n=8, solver="pipecg"),
    ),
    NextStep(
        "CG, Gropp's CG and pipelined CG here, where there is no waiting.",
        "compare.race",
        race=lambda: waiting_race(
            "seconds", *(configure("two-layer", n=128, solver=name) for name in ("cg", "gropp", "pipecg"))
        ),
    ),
    NextStep(
        "The lanes of other machines and systems: when does a hybrid method pay?",
        "learn.schedules",
    ),
)
"""Where the lesson leads: problems and views of the workbench."""
