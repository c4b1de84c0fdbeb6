"""The command line: the same verbs as the notebooks. Exit 0 converged, 1 not converged, 2 wrong input."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from typing import Any, NoReturn

import workbench
from workbench.errors import InputError

CONVERGED, NOT_CONVERGED, WRONG_INPUT = 0, 1, 2
PROGRESS_SECONDS = 0.1


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    try:
        chosen = _parser().parse_args(arguments)
        return chosen.command(chosen)
    except InputError as error:
        print(f"workbench: {error}", file=sys.stderr)
        return WRONG_INPUT
    except MemoryError:
        print("workbench: not enough memory for this problem; choose a smaller n", file=sys.stderr)
        return WRONG_INPUT
    except KeyboardInterrupt:
        print("workbench: stopped by the user", file=sys.stderr)
        return NOT_CONVERGED
    except BrokenPipeError:
        sys.stderr.close()
        return NOT_CONVERGED


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaints are one sentence like all others."""

    def error(self, message: str) -> NoReturn:
        raise InputError(f"{message}; see `{self.prog} --help`")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="workbench", description="A workbench for conjugate gradient methods.")
    parser.add_argument("--version", action="version", version=f"workbench {workbench.__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="COMMAND")
    _solve_parser(verbs.add_parser("solve", help="solve a problem and print how it went"))
    listing = verbs.add_parser("blocks", help="list the registered blocks and their parameters")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(command=_blocks)
    doctor = verbs.add_parser("doctor", help="what this machine has, and what would add what it lacks")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(command=_doctor)
    show = verbs.add_parser("show", help="print the summary of a saved run, or export it as CSV")
    show.add_argument("file", help="a run written by `workbench solve --save`")
    show.add_argument("--csv", metavar="FILE", help="write the history as CSV")
    show.set_defaults(command=_show)
    again = verbs.add_parser("reproduce", help="make a paper's table or figure again, its numbers beside ours")
    again.add_argument("paper", help="two-level")
    again.add_argument("target", help="table1 to table4, fig1, fig9 to fig12")
    again.add_argument("--max-n", type=int, default=512, metavar="N", help="largest n, points per side (default 512)")
    again.add_argument("--json", action="store_true", help="print JSON")
    again.add_argument("--picture", metavar="FILE", help="where the picture goes (default PAPER_TARGET.svg here)")
    again.set_defaults(command=_reproduce)
    return parser


def _solve_parser(solve: argparse.ArgumentParser) -> None:
    add = solve.add_argument
    add(
        "problem",
        metavar="PROBLEM",
        help="a registered problem, a SuiteSparse name, or a path to a .mtx or .mtx.gz file",
    )
    add("--n", metavar="N", help="grid points per side")
    add(
        "--param", metavar="KEY=VALUE", action="append", default=[], help="another parameter of the problem; repeatable"
    )
    add("--preconditioner", default="jacobi", metavar="BLOCK", help="first level, as neumann:2 (default jacobi)")
    add("--deflation", default="none", metavar="BLOCK", help="second level, as stripes or blocks:6 (default none)")
    add("--coarse", default="cholesky", metavar="BLOCK", help="coarse solver, inverse or cholesky (default)")
    add("--variant", default="def1", metavar="BLOCK", help="how the two levels combine: def1 (default), a-def2, ...")
    add("--solver", default="cg", metavar="BLOCK", help="the method (default cg)")
    add("--device", default="cpu", help="cpu (default), opencl, opencl:<number or name>, cuda, cuda:<number>, or auto")
    add("--rtol", type=float, default=1e-6, help="stop at this fraction of ||b|| (default 1e-6)")
    add("--atol", type=float, default=0.0, help="or at this norm (default 0)")
    add(
        "--norm",
        default="residual",
        help="residual (default), preconditioned, natural, or error with --rhs ones-scaled",
    )
    add("--maxiter", type=int, metavar="N", help="iteration limit (default 10 times the unknowns)")
    add("--max-seconds", type=float, metavar="S", help="limit of iteration time in seconds")
    add("--rhs", default="problem", help="problem (default), ones, ones-scaled (b = A x*, x* = 1/sqrt(N)) or random")
    add("--x0", default="problem", help="problem (default), zero or random")
    add("--seed", type=int, default=0, help="seed of all randomness (default 0)")
    add("--json", action="store_true", help="print one JSON object")
    add("--save", metavar="FILE", help="write the run to one file")
    solve.set_defaults(command=_solve)


def _solve(chosen: argparse.Namespace) -> int:
    # Imported here because numba takes a second to import and the other commands need none of it.
    from workbench.recording import save
    from workbench.run import Run, Stopping, configure, run_through

    parameters = dict(_key_value(text) for text in chosen.param)
    if chosen.n is not None:
        parameters["n"] = chosen.n
    stopping = Stopping(
        rtol=chosen.rtol, atol=chosen.atol, norm=chosen.norm, maxiter=chosen.maxiter, max_seconds=chosen.max_seconds
    )
    names = ("solver", "preconditioner", "deflation", "coarse", "variant", "device", "rhs", "x0", "seed")
    configuration = configure(
        chosen.problem, parameters, stopping=stopping, **{name: getattr(chosen, name) for name in names}
    )
    run = Run(configuration)
    progress = _Progress()
    try:
        result = run_through(run, progress)
    except KeyboardInterrupt:
        run.cancel()
        result = run.result()
    progress.clear()
    if chosen.save:
        save(result.record(), chosen.save)
    if chosen.json:
        plain = {**result.summary, "residual_history": result.history["residual"].tolist()}
        plain["problem"] = configuration.problem.name
        plain["parameters"] = configuration.problem.to_dict()["parameters"]
        plain["notes"] = result.provenance["notes"]
        print(json.dumps(_finite(plain)))
    else:
        _print_summary(result.summary, result.provenance["notes"])
    return CONVERGED if result.converged else NOT_CONVERGED


def _key_value(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise InputError(f"--param takes KEY=VALUE, got {text!r}")
    return key, value


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity; both become null."""
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print_summary(summary: dict[str, Any], notes: list[str]) -> None:
    plain = dict(summary)
    problem = plain.pop("problem")
    described = ", ".join(f"{name}={value}" for name, value in problem["parameters"].items())
    rows = {"problem": f"{problem['name']} ({described})" if described else problem["name"], **plain}
    for number, note in enumerate(notes, 1):
        rows[f"note {number}"] = note
    width = max(map(len, rows))
    for name, value in rows.items():
        if value is not None:
            shown = f"{value:.6g}" if isinstance(value, float) else value
            print(f"{name.replace('_', ' '):{width}}  {shown}")


class _Progress:
    """One line on a terminal, rewritten at most ten times a second; silent elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()
        self._next = 0.0

    def __call__(self, run: Any) -> None:
        now = time.monotonic()
        if not self._shown or now < self._next:
            return
        self._next = now + PROGRESS_SECONDS
        norm = run.history[run.configuration.stopping.norm][-1]
        text = f"iteration {run.iterations}, {run.configuration.stopping.norm} norm {norm:.3e} of {run.threshold:.3e}"
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _blocks(chosen: argparse.Namespace) -> int:
    # Importing the runs registers every block.
    import workbench.run  # noqa: F401
    from workbench.blocks import catalogue

    listed = catalogue()
    if chosen.json:
        print(json.dumps(listed))
        return CONVERGED
    for kind, entries in listed.items():
        print(kind)
        for entry in entries:
            print(f"  {entry['name']:16}{entry['title']}")
            for declared in entry["parameters"]:
                print(f"    {declared['name']} = {declared['default']!r}: {declared['help']} ({declared['bounds']})")
    return CONVERGED


def _doctor(chosen: argparse.Namespace) -> int:
    from workbench.machine.doctor import examine

    report = examine(measure=True)
    print(json.dumps(report.to_dict()) if chosen.json else report.text())
    return CONVERGED


def _reproduce(chosen: argparse.Namespace) -> int:
    from workbench.figures import save
    from workbench.papers import reproduce

    def tell(what: str) -> None:
        print(f"workbench: {what}", file=sys.stderr)

    made = reproduce(chosen.paper, chosen.target, chosen.max_n, tell)
    if made.figure is not None:
        path = save(made.figure, chosen.picture or f"{chosen.paper}_{chosen.target}.svg")
        tell(f"the picture is in {path}")
    print(json.dumps(_finite(made.to_dict())) if chosen.json else made.text())
    return CONVERGED


def _show(chosen: argparse.Namespace) -> int:
    from workbench.recording import load, to_csv

    record = load(chosen.file)
    if chosen.csv:
        print(to_csv(record, chosen.csv))
    else:
        _print_summary(record.summary, record.provenance.get("notes", []))
    return CONVERGED


if __name__ == "__main__":
    sys.exit(main())
