"""`workbench formats`."""

from __future__ import annotations

import argparse
import json

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option, chosen, parameters, problem_arguments
from workbench.files.codec import finite
from workbench.settings import BLOCKS, RUN

CHOICES = (BLOCKS["deflation"], RUN["device"], RUN["seed"])


def add(verbs: Commands) -> None:
    """Add the command `formats` to the subparsers of argparse."""
    formats = verbs.add_parser(
        "formats",
        description="Words and padding of A in each storage format, and which one a device would choose by bytes; with "
        "--deflation also the forms of AZ, with --time a product in each.",
    )
    problem_arguments(formats)
    for declared in CHOICES:
        add_option(formats, declared)
    formats.add_argument("--time", action="store_true", help="measure a product in each format, medians of 15 in turns")
    formats.add_argument("--json", action="store_true", help="print JSON")
    formats.set_defaults(command=_formats)


def _formats(options: argparse.Namespace) -> int:
    # Imported here: it takes longer than the other commands need.
    from workbench.extensions.formats.comparison import medians, storage_of
    from workbench.run import MACHINE_USE, configure

    names = [declared.name for declared in CHOICES]
    found = storage_of(configure(options.problem, parameters(options), **chosen(options, names)))
    seconds = {}
    if options.time:
        with MACHINE_USE:
            *_, rounds = found.rounds()
        seconds = medians(rounds)
    timed = {f"{setting}:{value}": each for (setting, value), each in seconds.items()}
    plain = {**found.plain(), **({"seconds": timed} if timed else {})}
    print(json.dumps(finite(plain)) if options.json else found.text(seconds))
    return CONVERGED
