"""`workbench blocks`, `workbench doctor` and `workbench show`."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from workbench.cli.common import CONVERGED, Commands, print_summary
from workbench.errors import InputError, one_line

if TYPE_CHECKING:
    from workbench.registry.extensions import Extension
    from workbench.run.jobs.race_record import RaceRecord


def add(verbs: Commands) -> None:
    """Add the commands `blocks`, `doctor` and `show` to the subparsers of argparse."""
    listing = verbs.add_parser("blocks")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(command=_blocks)
    doctor = verbs.add_parser("doctor")
    doctor.add_argument("--json", action="store_true", help="print JSON")
    doctor.set_defaults(command=_doctor)
    show = verbs.add_parser("show")
    show.add_argument(
        "file", help="a run written by `workbench solve --save`, or a race: its file, its link, or the address with it"
    )
    show.add_argument("--csv", metavar="FILE", help="write the convergence history as CSV")
    show.add_argument("--html", metavar="FILE", help="write a page with its plots, which needs no kernel")
    show.set_defaults(command=_show)


def _blocks(options: argparse.Namespace) -> int:
    # Importing workbench.run says in which packages blocks are.
    import workbench.run  # noqa: F401
    from workbench.registry import catalogue

    listed = catalogue()
    of_extensions = _extensions()
    if options.json:
        print(json.dumps({**listed, "extensions": of_extensions}))
        return CONVERGED
    for kind, entries in listed.items():
        print(kind)
        for entry in entries:
            print(f"  {entry['name']:16}{entry['title']}")
            for declared in entry["parameters"]:
                print(f"    {declared['name']} = {declared['default']!r}: {declared['help']} ({declared['bounds']})")
    print("extensions")
    for entry in of_extensions:
        print(f"  {entry['name']:16}{entry['title']}".rstrip())
        for kind, names in entry["adds"].items():
            print(f"    {kind}: {', '.join(names)}")
        if entry["lacks"]:
            print(f"    without {', '.join(entry['lacks'])}; see `workbench doctor`")
        if entry["problem"]:
            print(f"    {entry['problem']}")
    return CONVERGED


def _extensions() -> list[dict[str, Any]]:
    """All extensions as plain data, of the form of a block's but for what they add; those that cannot be loaded last.
    After their blocks have been imported, which finds out what is broken."""
    from workbench.registry.extensions import broken, extensions

    wrong, found = broken(), extensions().values()
    unloaded = {name: sentence for name, sentence in wrong.items() if name not in extensions()}

    def plain(name: str, title: str, problem: str, adds: dict[str, list[str]], lacks: list[str]) -> dict[str, Any]:
        return {"name": name, "title": title, "parameters": [], "adds": adds, "lacks": lacks, "problem": problem}

    return [
        *(plain(each.name, each.title, wrong.get(each.name, ""), _added(each), each.missing) for each in found),
        *(plain(name, "", sentence, {}, []) for name, sentence in unloaded.items()),
    ]


def _added(extension: Extension) -> dict[str, list[str]]:
    """The names of what an extension adds, by what they are: blocks by kind, devices, engines, commands, views."""
    added: dict[str, list[str]] = {}
    for what, name in extension.claims():
        added.setdefault(what, []).append(name)
    return added


def _doctor(options: argparse.Namespace) -> int:
    from workbench.machines.doctor import examine

    report = examine(measure=True)
    print(json.dumps(report.to_dict()) if options.json else report.text())
    return CONVERGED


def _show(options: argparse.Namespace) -> int:
    from workbench.records import load, to_csv
    from workbench.run.choices.link_codec import is_shared
    from workbench.run.jobs.race_codec import is_race, race_at

    if is_race(options.file):
        if options.csv or options.html:
            option = "--csv" if options.csv else "--html"
            raise InputError(f"a race has no table or page of its own; leave out {option}")
        _print_race(race_at(options.file))
        return CONVERGED
    if is_shared(options.file):
        raise InputError("this is a problem with a method, which was not run yet; run it by `workbench solve`")
    record = load(options.file)
    if options.csv:
        print(to_csv(record, options.csv))
    if options.html:
        from workbench.live.inspect.plain import save_page

        print(save_page(record, options.html))
    if not (options.csv or options.html):
        print_summary(record.summary, record.provenance.get("notes", []))
    return CONVERGED


def _print_race(race: RaceRecord) -> None:
    """Print a race: its problem, its verdict, when and where it ended, and a row for each entry."""
    from workbench.words.distinct import distinct_names
    from workbench.words.numbers import count, duration

    # A file of others may hold what a terminal would obey.
    head = (race.entries[0].configuration.problem.label, race.verdict, race.where)
    print("\n".join(one_line(text) for text in head if text))
    names = distinct_names([entry.configuration.parts for entry in race.entries])
    rows = [("entry", "setup", "iterating", "iterations", "end")]
    for name, entry in zip(names, race.entries, strict=True):
        summary = entry.record.summary if entry.record else {}
        setup, iterating = (duration(summary.get(f"{part}_seconds")) for part in ("setup", "iteration"))
        made = count(summary["iterations"]) if summary else "–"
        ended = one_line(summary.get("reason") or entry.error or "not run")
        rows.append((one_line(name), setup, iterating, made, ended))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
