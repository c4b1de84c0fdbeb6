"""`workbench formats`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping

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
        "--deflation also the forms of AZ, with --time a product in each and the conversion to it.",
    )
    problem_arguments(formats)
    for declared in CHOICES:
        add_option(formats, declared)
    formats.add_argument(
        "--time",
        action="store_true",
        help="measure a product in each format, medians of 15 in turns, and the conversion from CSR, of 3; a time of "
        "less than 0.2 ms is that of several",
    )
    formats.add_argument("--json", action="store_true", help="print JSON")
    formats.set_defaults(command=_formats)


def _formats(options: argparse.Namespace) -> int:
    # Imported here: it takes longer than the other commands need.
    from workbench.extensions.formats.comparison import storage_of
    from workbench.extensions.formats.measured import medians
    from workbench.run import MACHINE_USE, configure

    names = [declared.name for declared in CHOICES]
    found = storage_of(configure(options.problem, parameters(options), **chosen(options, names)))
    seconds, converted = {}, {}
    if options.time:
        with MACHINE_USE:
            *_, stored = found.conversions()
            *_, rounds = found.rounds()
        seconds, converted = medians(rounds), medians(stored)
    timed = {name: _by_text(each) for name, each in (("seconds", seconds), ("conversion_seconds", converted)) if each}
    print(json.dumps(finite({**found.plain(), **timed})) if options.json else found.text(seconds, converted))
    return CONVERGED


def _by_text(seconds: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Seconds by setting and value in one text, as in format:csr."""
    return {f"{setting}:{value}": each for (setting, value), each in seconds.items()}
