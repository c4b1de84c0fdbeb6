"""`workbench solve`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any

from workbench.cli.common import (
    CONVERGED,
    NOT_CONVERGED,
    finite,
    parameters,
    print_summary,
    problem_arguments,
)
from workbench.cli.streams import StatusLine

if TYPE_CHECKING:
    from workbench.run import Configuration

PROGRESS_SECONDS = 0.1
RULES = ("rtol", "atol", "norm", "maxiter", "max_seconds", "stagnation", "check_every", "true_every")


def add(verbs: Any) -> None:
    """Add the command."""
    solve = verbs.add_parser("solve", help="solve a problem and print how it went")
    problem_arguments(solve)
    add = solve.add_argument
    add("--preconditioner", metavar="BLOCK", help="first level, as neumann:2 (default jacobi)")
    add("--deflation", metavar="BLOCK", help="second level, as stripes or blocks:6 (default none)")
    add("--coarse", metavar="BLOCK", help="coarse solver, inverse or cholesky (default)")
    add("--variant", metavar="BLOCK", help="how the two levels combine: def1 (default), a-def2, ...")
    add("--solver", metavar="BLOCK", help="the method (default cg)")
    add("--device", help="cpu (default), opencl, opencl:<number or name>, cuda, cuda:<number>, or auto")
    add("--memory-limit", metavar="BYTES", help="of the device's memory, as 100MB or 2GiB (default all)")
    add(
        "--check-every",
        type=int,
        metavar="N",
        help="iterations between checks on an accelerator (default: adaptive)",
    )
    add("--true-every", type=int, metavar="N", help="compute b - A x every N iterations for the history")
    add("--rtol", type=float, help="stop at this fraction of ||b|| (default 1e-6)")
    add("--atol", type=float, help="or at this norm (default 0)")
    add(
        "--norm",
        help="residual (default), preconditioned, natural, or error with --rhs ones-scaled",
    )
    add("--maxiter", type=int, metavar="N", help="iteration limit (default 10 times the unknowns)")
    add("--stagnation", type=int, metavar="N", help="give up after N iterations without progress (default 5000)")
    add("--max-seconds", type=float, metavar="S", help="limit of iteration time in seconds")
    add("--rhs", help="problem (default), ones, ones-scaled (b = A x*, x* = 1/sqrt(N)) or random")
    add("--x0", help="problem (default), zero or random")
    add("--seed", type=int, help="seed of all randomness (default 0)")
    add("--json", action="store_true", help="print one JSON object")
    add("--save", metavar="FILE", help="write the run to one file")
    add("--trace", metavar="FILE", help="write where the time went as JSON that ui.perfetto.dev opens")
    solve.set_defaults(command=_solve)


def _solve(chosen: argparse.Namespace) -> int:
    # Imported here because numba takes a second to import and the other commands need none of it.
    from workbench.recording import save, save_trace
    from workbench.run import Run

    configuration = _configuration(chosen)
    run = Run(configuration, trace=chosen.trace is not None)
    progress = _Progress()
    try:
        # Not as a callback, for which an accelerator would have to stop after every iteration.
        while run.step():
            progress(run)
        result = run.result()
    except KeyboardInterrupt:
        run.cancel()
        result = run.result()
    progress.clear()
    if chosen.save:
        save(result.record(), chosen.save)
    if result.trace is not None:
        save_trace(result.trace, chosen.trace)
    if chosen.json:
        plain = {**result.summary, "residual_history": result.history["residual"].tolist()}
        plain["problem"] = configuration.problem.name
        plain["parameters"] = configuration.problem.to_dict()["parameters"]
        plain["notes"] = result.provenance["notes"]
        print(json.dumps(finite(plain)))
    else:
        print_summary(result.summary, result.provenance["notes"])
        if result.trace is not None:
            _print_kernels(result.trace)
    return CONVERGED if result.converged else NOT_CONVERGED


def _configuration(chosen: argparse.Namespace) -> Configuration:
    """What is to be run: a link or a saved configuration says all of it, and options replace what they name."""
    from workbench.run import configure, read_size

    limit = None if chosen.memory_limit is None else read_size(chosen.memory_limit)
    names = ("solver", "preconditioner", "deflation", "coarse", "variant", "device", "rhs", "x0", "seed")
    given = {name: getattr(chosen, name) for name in names}
    configuration = configure(chosen.problem, parameters(chosen), memory_limit=limit, **given)
    rules = {name: getattr(chosen, name) for name in RULES if getattr(chosen, name) is not None}
    return dataclasses.replace(configuration, stopping=dataclasses.replace(configuration.stopping, **rules))


def _print_kernels(trace: Any) -> None:
    """Where the time went, a line a kernel, the longest first."""
    from workbench.recording import kernel_table

    print(f"\n{trace.label} on {trace.machine}")
    print(f"{'share':>7}{'ms':>11}{'calls':>8}{'GB/s':>8}  kernel")
    for row in kernel_table(trace):
        rate = f"{row['GB_per_s']:8.1f}" if row["GB_per_s"] else " " * 8
        print(f"{row['share']:7.1%}{1e3 * row['seconds']:11.3f}{row['calls']:8}{rate}  {row['kernel']}")


class _Progress:
    """One line on a terminal, rewritten at most ten times a second; silent elsewhere."""

    def __init__(self) -> None:
        self._line = StatusLine()
        self._next = 0.0

    def __call__(self, run: Any) -> None:
        now = time.monotonic()
        if not self._line.shown or now < self._next:
            return
        self._next = now + PROGRESS_SECONDS
        norm = run.history[run.configuration.stopping.norm][-1]
        self._line.say(
            f"iteration {run.iterations}, {run.configuration.stopping.norm} norm {norm:.3e} of {run.threshold:.3e}"
        )

    def clear(self) -> None:
        self._line.say("")
