"""`workbench flow`: a sequence of systems from its first step to its end, or a record of one solved again."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.common import CONVERGED, NOT_CONVERGED, Commands
from workbench.cli.options import add_option, chosen, parameters
from workbench.cli.streams import StatusLine, log
from workbench.errors import InputError
from workbench.files import check_target, write
from workbench.files.codec import finite
from workbench.settings import BLOCKS, RUN, STOPPING
from workbench.words.numbers import counted

if TYPE_CHECKING:
    from workbench.extensions.flow.scenes import Reel
    from workbench.sequences.sequence import Sequence
    from workbench.sequences.systems import SystemSequence

PROBLEM = "rising-bubbles, heat-steps, a record (.seq.npz), a share link, or a .cg.json file"
SETTINGS = (*BLOCKS.values(), RUN["device"], RUN["precision"])
AGAINST = (
    'a further method on the same systems, as what differs from the first: "preconditioner=mg deflation=none", or '
    "start=zero, or renewed_every=20 for an mg that keeps its levels for 20 steps; repeatable"
)
CRITERIA = (STOPPING["rtol"], STOPPING["maxiter"])


def add(verbs: Commands) -> None:
    """Add the command `flow` to the subparsers of argparse."""
    flow = verbs.add_parser(
        "flow",
        help="solve a sequence of systems: bubbles that rise, heat that spreads, or a record of either",
        description="Solve a sequence of systems step by step. Without options it is rising-bubbles, the first case "
        "of Hysing et al. 2009 on 64 x 128 cells.",
    )
    flow.add_argument("problem", metavar="SEQUENCE", nargs="?", default="rising-bubbles", help=PROBLEM)
    flow.add_argument("--n", metavar="N", help="cells across the width")
    flow.add_argument("--until", metavar="TIME", help="time at which it ends")
    flow.add_argument("--renewed-every", metavar="STEPS", help="steps for which mg keeps its coarse levels")
    flow.add_argument("--start", metavar="START", help="zero, last, linear (the default), quadratic, or fischer:m")
    flow.add_argument(
        "--param",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="another parameter of the sequence; repeatable",
    )
    for declared in (*SETTINGS, *CRITERIA):
        add_option(flow, declared)
    flow.add_argument("--csv", metavar="FILE", help="write a row for every step as CSV")
    flow.add_argument("--film", metavar="FILE", help="write a film of the interface and of the iterations as .gif")
    flow.add_argument("--against", metavar="METHOD", action="append", default=[], help=AGAINST)
    flow.add_argument("--record", metavar="FILE", help="write the sequence as .seq.npz, to replay and to continue")
    flow.add_argument("--resume", action="store_true", help="continue the record from where it was saved")
    flow.add_argument("--json", action="store_true", help="print one JSON object")
    flow.set_defaults(command=_flow)


def _flow(options: argparse.Namespace) -> int:
    from workbench.extensions.flow.records import save, table, target

    if options.record:
        # Fail before the first step, rather than after the last.
        check_target(target(options.record))
    sequence, line, failure = _begun(options), StatusLine(), ""
    reel = _reel(sequence) if options.film else None
    try:
        for step in sequence:
            if reel:
                reel.note()
            line.show(f"step {step.number}, time {step.time:.4g}: {counted(step.iterations, 'iteration')}")
    except KeyboardInterrupt:
        failure = "interrupted"
    except InputError as error:
        failure = str(error)
    line.show("")
    if options.film and reel:
        from workbench.extensions.flow.film import film_of

        write(Path(options.film), film_of(reel))
    # Steps that were made stay, also where one failed.
    if options.csv and sequence.steps:
        write(Path(options.csv), table(sequence))
    if options.record and sequence.steps:
        log(f"wrote the record to {save(sequence, options.record)}")
    if failure and not sequence.steps:
        raise InputError(failure)
    summary, rows = _summary(sequence), sequence.ranking()
    if options.json:
        print(json.dumps(finite({**summary, "methods": rows, "failure": failure or None, "series": sequence.series})))
    else:
        width = max(map(len, summary))
        for name, value in summary.items():
            print(f"{name.replace('_', ' '):{width}}  {f'{value:.6g}' if isinstance(value, float) else value}")
        if len(rows) > 1:
            print(f"\n{sequence.ranked()}")
    if failure:
        log(f"ended after {sequence.steps} steps: {failure}")
    return NOT_CONVERGED if failure else CONVERGED


def _begun(options: argparse.Namespace) -> Sequence:
    from workbench.extensions.flow.records import resume
    from workbench.run import configure
    from workbench.sequences.method import problem_of
    from workbench.sequences.sequence import Sequence

    method = chosen(options, [declared.name for declared in SETTINGS])
    given = {**parameters(options), **chosen(options, ["until", "start"])}
    criteria = chosen(options, [declared.name for declared in CRITERIA])
    kept: dict[str, Any] = chosen(options, ["renewed_every"])
    if options.resume:
        if given:
            raise InputError(f"a record is continued with its own parameters; leave out {', '.join(given)}")
        sequence = resume(options.problem)
        if method or criteria or kept:
            _check_rtol(sequence.problem, criteria)
            sequence.use(**method, **kept, **({"stopping": criteria} if criteria else {}))
        for other in _others(options):
            sequence.add(**other)
        return sequence
    configuration, others = configure(options.problem, given, stopping=criteria, **method), _others(options)
    _check_rtol(problem_of(configuration), criteria)
    return Sequence(configuration, keep=options.record is not None, others=others, **kept)


def _check_rtol(problem: SystemSequence, criteria: dict[str, Any]) -> None:
    """Raise InputError for an rtol that a tolerance of the sequence replaces."""
    if "rtol" in criteria and problem.tolerance:
        raise InputError(
            f"--rtol has no effect on {problem.name}, whose solves end at a tolerance of its own; leave it out, and "
            f"choose --param {problem.tolerance_by}=NUMBER"
        )


def _others(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Settings of the further methods."""
    made = []
    for text in options.against:
        pairs = [word.partition("=") for word in text.split()]
        wrong = next((word for word, sign, _ in pairs if not sign), "")
        if wrong or not pairs:
            raise InputError(f"--against takes words such as preconditioner=mg, got {wrong or text!r}")
        made.append({name: value for name, _, value in pairs})
    return made


def _reel(sequence: Sequence) -> Reel:
    from workbench.extensions.flow.plane_scene import Look, quantities
    from workbench.extensions.flow.scenes import Reel

    return Reel(sequence, Look(quantities(sequence)[0]))


def _summary(sequence: Sequence) -> dict[str, Any]:
    """The summary to print: sums, means, and the measures at the end."""
    series, seconds = sequence.series, sequence.seconds
    solved = sum(part["solve"] + part["setup"] + part["start"] for part in seconds)
    return {
        "sequence": sequence.problem.label,
        "method": sequence.configuration.label,
        "start": sequence.problem.start,
        "steps": sequence.steps,
        "time": series["time"][-1] if sequence.steps else 0.0,
        "iterations_per_step": sum(series["iterations"]) / max(sequence.steps, 1),
        "seconds": sum(series["seconds"]),
        "seconds_of_solves": solved,
        **{name: series[name][-1] for name in sequence.problem.measured if sequence.steps},
    }
