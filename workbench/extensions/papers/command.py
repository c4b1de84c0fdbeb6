"""`workbench reproduce`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.common import CONVERGED, NOT_CONVERGED, Commands
from workbench.cli.streams import log
from workbench.errors import InputError
from workbench.extensions.papers.printed import FILES
from workbench.files.codec import finite

if TYPE_CHECKING:
    from workbench.extensions.papers.report import Asked, Choices

ALL = "all"
"""The name of every target of a paper, one after another."""
DEVICES = ("cuda", "opencl", "cpu")


def add(verbs: Commands) -> None:
    """Add the command `reproduce` to the subparsers of argparse."""
    reproduce = verbs.add_parser(
        "reproduce", help="reproduce tables and figures of papers, next to the published ones", epilog=listing()
    )
    reproduce.add_argument("paper", nargs="?", default="", help=", ".join(FILES))
    reproduce.add_argument(
        "target",
        nargs="?",
        default="",
        help="a table or figure, such as table1 or fig5, see below; or all",
    )
    reproduce.add_argument("--all", action="store_true", help="all tables and figures, of a paper or of all")
    reproduce.add_argument(
        "--output", dest="report", metavar="FOLDER", help="write a report there, a page with all that is in it"
    )
    reproduce.add_argument("--quick", action="store_true", help="smaller sizes: all papers take a minute on two cores")
    reproduce.add_argument(
        "--max-n", type=int, default=512, metavar="N", help="largest grid points per side (default 512)"
    )
    reproduce.add_argument(
        "--device", choices=DEVICES, default="", help="the accelerator that is measured (default: what there is)"
    )
    reproduce.add_argument("--json", action="store_true", help="print JSON")
    reproduce.add_argument("--picture", metavar="FILE", help="write the figure here (default PAPER_TARGET.svg)")
    reproduce.set_defaults(command=_reproduce)


def listing() -> str:
    """The papers with their tables and figures, as a sentence."""
    # Only this command reads them.
    from workbench.extensions.papers import PAPERS

    return "Tables and figures: " + "; ".join(f"{paper}: {', '.join(items)}" for paper, items in PAPERS.items()) + "."


def _reproduce(options: argparse.Namespace) -> int:
    from workbench.extensions.papers.report import Choices, asked, left_out

    every = options.all or options.target == ALL
    if options.all and options.target not in ("", ALL):
        raise InputError(f"--all takes all tables and figures: leave out {options.target}, or --all")
    if not every and not options.target:
        known = f"; those of {options.paper} are {', '.join(one.name for one in asked(options.paper))}" * bool(
            options.paper
        )
        raise InputError(f"name a paper and one of its tables or figures, or take --all{known}")
    items, choices = (
        asked(options.paper, "" if every else options.target),
        Choices(options.max_n, options.quick, options.device),
    )
    _check_picture(options, items, every)
    choices.check()
    if every:
        small = left_out(items, choices)
        for item in small:
            log(f"left out: {item.words}, which begins at --max-n {item.target.smallest}")
        # Where none is left, the first one is refused with its smallest size.
        items = [item for item in items if item not in small] or items[:1]
    for item in items:
        item.target.check(choices.size(item.target), item.words)
    if options.report:
        return _write_report(options, items, choices)
    return _print(options, items, choices, every)


def _check_picture(options: argparse.Namespace, items: list[Asked], every: bool) -> None:
    """Raise InputError where there is no one figure to write."""
    if options.report and (options.json or options.picture):
        raise InputError("a report holds JSON and figures: leave out --json and --picture, or --output")
    if not options.picture:
        return
    if every:
        raise InputError("all targets have more than one figure; leave out --picture, or name one target")
    if not items[0].target.draws:
        raise InputError(f"{items[0].words} is a table and has no figure; leave out --picture")


def _print(options: argparse.Namespace, items: list[Asked], choices: Choices, every: bool) -> int:
    """Print each item, and write its figure."""
    from workbench.devices.default_accelerator import accelerators_among
    from workbench.plots.figures.saving import save

    made = []
    for item in items:
        with accelerators_among(choices.accelerators):
            made.append(item.target.made(choices.size(item.target), log, choices.device))
        if made[-1].figure is not None:
            path = save(made[-1].figure, options.picture or f"{item.paper}_{item.name}.svg")
            log(f"wrote the figure to {path}")
        if not options.json:
            print(*([""] if len(made) > 1 else []), made[-1].text(), sep="\n")
    if options.json:
        plain = [finite(one.to_dict()) for one in made]
        print(json.dumps(plain if every else plain[0]))
    return CONVERGED


def _write_report(options: argparse.Namespace, items: list[Asked], choices: Choices) -> int:
    """Make the items that the report lacks; those made so far stay when a user interrupts it."""
    from tqdm import tqdm

    from workbench.extensions.papers.report import Report

    report, failed, done = Report(Path(options.report)), [], 0
    try:
        with tqdm(items, unit="item", disable=None) as bar:
            for item in bar:
                bar.set_description_str(item.words)
                if report.kept(item, choices) is None:
                    if bar.disable:
                        log(f"{item.words}, {done + 1} of {len(items)}")
                    entry = report.make(item, choices, bar.set_postfix_str)
                    report.write_page()
                    if entry["failed"]:
                        failed.append(item.words)
                        tqdm.write(f"failed: {item.words}: {entry['failed']}", file=sys.stderr)
                done += 1
    except KeyboardInterrupt:
        log(f"{done} of {len(items)} items are made and kept in {options.report}; the same command makes the others")
        raise
    print(report.write_page())
    if failed:
        log(f"{len(failed)} of {len(items)} items failed: {', '.join(failed)}; the same command tries them again")
        return NOT_CONVERGED
    return CONVERGED
