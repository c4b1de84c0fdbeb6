"""`workbench calibrate` and `workbench retime`: measured machine profiles, and traces modelled on other machines."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option
from workbench.cli.streams import log
from workbench.errors import InputError, printable
from workbench.files.codec import finite
from workbench.settings import RUN


def add(verbs: Commands) -> None:
    """Add the commands `calibrate` and `retime` to the subparsers of argparse."""
    calibrate = verbs.add_parser("calibrate")
    calibrate.add_argument("--name", default="this", help="name of the profile (default this)")
    add_option(calibrate, RUN["device"], default=RUN["device"].default)
    calibrate.add_argument("--output", metavar="FILE", help="write the profile to this .toml file")
    calibrate.add_argument("--json", action="store_true", help="print JSON")
    calibrate.set_defaults(command=_calibrate)
    retime = verbs.add_parser("retime")
    retime.add_argument("file", help="a trace written by `workbench solve --trace`")
    retime.add_argument("--machine", required=True, help="v100, k40, ... or a .toml file written by calibrate")
    retime.add_argument("--accelerator", metavar="MACHINE", help="machine that replaces the accelerator")
    retime.add_argument("--output", metavar="FILE", help="write the modelled trace, for Perfetto")
    retime.add_argument("--json", action="store_true", help="print JSON")
    retime.set_defaults(command=_retime)


def _calibrate(options: argparse.Namespace) -> int:
    from workbench.files import write
    from workbench.machines.calibrate import calibrate

    if options.output and not options.output.endswith(".toml"):
        raise InputError(f"--output takes a .toml file, got {options.output}")
    profile = calibrate(options.name, options.device)
    if options.output:
        write(Path(options.output), profile.to_toml())
        log(f"wrote the profile to {options.output}")
    print(json.dumps(profile.to_dict()) if options.json else profile.to_toml(), end="\n" if options.json else "")
    return CONVERGED


def _retime(options: argparse.Namespace) -> int:
    from workbench.machines.profile import profile
    from workbench.machines.retime import compare, retime
    from workbench.records import kernel_table, load_trace, save_trace

    trace = load_trace(options.file)
    accelerator = profile(options.accelerator) if options.accelerator else None
    modelled = retime(trace, profile(options.machine), accelerator)
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
    if options.output:
        save_trace(modelled, options.output)
    if options.json:
        about = {trace.label: trace.machine, "modelled": modelled.machine, "lanes": rows}
        about |= {"kernels": kernels, "notes": modelled.notes}
        print(json.dumps(finite(about)))
        return CONVERGED
    # A file of others may hold what a terminal would obey.
    for each in (trace, modelled):
        print(printable(f"{each.label} on {each.machine}"))
    print()
    print(f"{printable(trace.label) + ', ms':>14}{modelled.label + ', ms':>14}{'ratio':>8}")
    for name, table in (("kernel", kernels), ("lane", rows)):
        for row in table:
            measured, modelled_ms = 1e3 * row[trace.label], 1e3 * row["modelled"]
            ratio = f"{modelled_ms / measured:8.3f}" if measured > 0 else " " * 8
            print(f"{measured:14.3f}{modelled_ms:14.3f}{ratio}  {printable(row[name])}")
        print()
    for number, note in enumerate(modelled.notes, 1):
        print(f"note {number}  {printable(note)}")
    return CONVERGED
