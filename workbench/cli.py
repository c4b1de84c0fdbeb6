"""The command line: the same verbs as the notebooks. Exit 0 converged, 1 not converged, 2 wrong input."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
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
    calibrate = verbs.add_parser("calibrate", help="measure this machine into a profile for retime")
    calibrate.add_argument("--name", default="this", help="what to call it (default this)")
    calibrate.add_argument("--output", metavar="FILE", help="write the profile here, as .toml")
    calibrate.add_argument("--json", action="store_true", help="print JSON")
    calibrate.set_defaults(command=_calibrate)
    retime = verbs.add_parser("retime", help="what a traced run would take on another machine")
    retime.add_argument("file", help="a trace written by `workbench solve --trace`")
    retime.add_argument("--machine", required=True, help="v100, k40, ... or a .toml file that calibrate wrote")
    retime.add_argument("--accelerator", metavar="MACHINE", help="the machine for what ran on an accelerator")
    retime.add_argument("--output", metavar="FILE", help="write the modelled trace, for Perfetto")
    retime.add_argument("--json", action="store_true", help="print JSON")
    retime.set_defaults(command=_retime)
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
    add("--device", default="cpu", help="where to compute (default cpu)")
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
    add("--trace", metavar="FILE", help="write where the time went as JSON that ui.perfetto.dev opens")
    solve.set_defaults(command=_solve)


def _solve(chosen: argparse.Namespace) -> int:
    # Imported here because numba takes a second to import and the other commands need none of it.
    from workbench.recording import save, save_trace
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
    # A long solve should not end with nowhere to put its result.
    for path in (chosen.save, chosen.trace):
        if path and not Path(path).parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {Path(path).parent}; choose another place")
    run = Run(configuration, trace=chosen.trace is not None)
    progress = _Progress()
    try:
        result = run_through(run, progress)
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
        print(json.dumps(_finite(plain)))
    else:
        _print_summary(result.summary, result.provenance["notes"])
        if result.trace is not None:
            _print_kernels(result.trace)
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


def _calibrate(chosen: argparse.Namespace) -> int:
    from workbench.machine.calibrate import calibrate
    from workbench.recording.files import write

    if chosen.output and not chosen.output.endswith(".toml"):
        raise InputError(f"a profile is a .toml file, got {chosen.output}")
    profile = calibrate(chosen.name)
    if chosen.output:
        write(Path(chosen.output), profile.to_toml().encode())
        print(f"workbench: the profile is in {chosen.output}", file=sys.stderr)
    print(json.dumps(profile.to_dict()) if chosen.json else profile.to_toml(), end="\n" if chosen.json else "")
    return CONVERGED


def _retime(chosen: argparse.Namespace) -> int:
    from workbench.machine.profile import profile
    from workbench.machine.retime import compare, retime
    from workbench.recording import kernel_table, load_trace, save_trace

    trace = load_trace(chosen.file)
    accelerator = profile(chosen.accelerator) if chosen.accelerator else None
    modelled = retime(trace, profile(chosen.machine), accelerator)
    rows = compare(trace, modelled)
    predicted = {(row["kernel"], row["lane"]): row["seconds"] for row in kernel_table(modelled)}
    kernels = [
        {
            "kernel": row["kernel"],
            trace.label: row["seconds"],
            "modelled": predicted.get((row["kernel"], row["lane"]), 0.0),
        }
        for row in kernel_table(trace)
    ]
    if chosen.output:
        save_trace(modelled, chosen.output)
    if chosen.json:
        about = {trace.label: trace.machine, "modelled": modelled.machine, "lanes": rows}
        about |= {"kernels": kernels, "notes": modelled.notes}
        print(json.dumps(_finite(about)))
        return CONVERGED
    print(f"{trace.label} on {trace.machine}\n{modelled.label} on {modelled.machine}\n")
    print(f"{trace.label + ', ms':>14}{modelled.label + ', ms':>14}{'ratio':>8}")
    for name, table in (("kernel", kernels), ("lane", rows)):
        for row in table:
            given, wanted = 1e3 * row[trace.label], 1e3 * row["modelled"]
            ratio = f"{wanted / given:8.3f}" if given > 0 else " " * 8
            print(f"{given:14.3f}{wanted:14.3f}{ratio}  {row[name]}")
        print()
    for number, note in enumerate(modelled.notes, 1):
        print(f"note {number}  {note}")
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
