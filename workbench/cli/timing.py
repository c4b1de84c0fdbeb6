"""`workbench calibrate` and `workbench retime`: this machine as a profile, and a traced run on another one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from workbench.cli.common import CONVERGED, finite
from workbench.cli.streams import tell
from workbench.errors import InputError


def add(verbs: Any) -> None:
    """Add the commands."""
    calibrate = verbs.add_parser("calibrate", help="measure this machine into a profile for retime")
    calibrate.add_argument("--name", default="this", help="what to call it (default this)")
    calibrate.add_argument("--device", default="cpu", help="cpu (default), opencl, cuda, ...")
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


def _calibrate(chosen: argparse.Namespace) -> int:
    from workbench.files import write
    from workbench.machine.calibrate import calibrate

    if chosen.output and not chosen.output.endswith(".toml"):
        raise InputError(f"a profile is a .toml file, got {chosen.output}")
    profile = calibrate(chosen.name, chosen.device)
    if chosen.output:
        write(Path(chosen.output), profile.to_toml().encode())
        tell(f"the profile is in {chosen.output}")
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
        print(json.dumps(finite(about)))
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
