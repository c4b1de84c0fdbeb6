"""`workbench blocks`, `workbench doctor` and `workbench show`."""

from __future__ import annotations

import argparse
import json

from workbench.cli.common import CONVERGED, print_summary
from workbench.cli.streams import log


def add(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands `blocks`, `doctor` and `show` to the subparsers of argparse."""
    listing = verbs.add_parser("blocks", help="list the registered blocks and their parameters")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(command=_blocks)
    doctor = verbs.add_parser("doctor", help="devices and packages of this machine, and how to install missing ones")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(command=_doctor)
    show = verbs.add_parser("show", help="print the summary of a saved run, or export it")
    show.add_argument("file", help="a run written by `workbench solve --save`")
    show.add_argument("--csv", metavar="FILE", help="write the convergence history as CSV")
    show.add_argument("--html", metavar="FILE", help="write a page with its plots, which needs no kernel")
    show.set_defaults(command=_show)


def _blocks(options: argparse.Namespace) -> int:
    # Importing workbench.run says in which packages blocks are.
    import workbench.run  # noqa: F401
    from workbench.registry import catalogue
    from workbench.registry.extensions import broken

    listed = catalogue()
    for sentence in broken().values():
        log(sentence)
    if options.json:
        print(json.dumps(listed))
        return CONVERGED
    for kind, entries in listed.items():
        print(kind)
        for entry in entries:
            print(f"  {entry['name']:16}{entry['title']}")
            for declared in entry["parameters"]:
                print(f"    {declared['name']} = {declared['default']!r}: {declared['help']} ({declared['bounds']})")
    return CONVERGED


def _doctor(options: argparse.Namespace) -> int:
    from workbench.machines.doctor import examine

    report = examine(measure=True)
    print(json.dumps(report.to_dict()) if options.json else report.text())
    return CONVERGED


def _show(options: argparse.Namespace) -> int:
    from workbench.records import load, to_csv

    record = load(options.file)
    if options.csv:
        print(to_csv(record, options.csv))
    if options.html:
        from workbench.live.inspect.plain import save_page

        print(save_page(record, options.html))
    if not (options.csv or options.html):
        print_summary(record.summary, record.provenance.get("notes", []))
    return CONVERGED
