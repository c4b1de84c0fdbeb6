"""Compute the curves of the papers that come with the package: workbench/extensions/papers/data/recorded.json.

    python -m scripts.record_papers --seconds 180
    python -m scripts.record_papers two-level.table3 two-level.table4

Items share the seconds; what is not computed in them is printed. With names, the other items stay as they are. Run it
on a machine without other work.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import time

from workbench.extensions.papers import papers
from workbench.extensions.papers.items import Item, Solved
from workbench.extensions.papers.page.computing import Computing
from workbench.extensions.papers.recorded import FILE, Stored, StoredItem, stored, to_store
from workbench.extensions.papers.results import RESULTS
from workbench.files import write
from workbench.machines.describe import machine_line

ENDING = 120.0
"""Seconds after which a computation that was stopped must have ended."""


def computed(item: Item, seconds: float) -> StoredItem:
    """An item at the paper's values, as far as it is computed in some seconds; a work that fails is left out."""
    computing = Computing(item, lambda: None, lambda _records: None)
    computing.turn(item.paper_values)
    if not computing.wait(seconds):
        computing.stop()
        computing.wait(ENDING)
    computing.close()
    cases = [case.with_model() for case in item.cases(item.paper_values)]
    known = {}
    for at, case in enumerate(cases):
        for place, work in enumerate(case.works):
            found = RESULTS.get(work)
            if found is not None and not (isinstance(found, Solved) and not found.converged):
                known[at, place] = found
    return to_store(item, cases, known, f"{machine_line()} (load {os.getloadavg()[0]:.1f})")


def record_papers(seconds: float, names: list[str]) -> None:
    """Write all items, or those with these names. Each takes its share of half of the seconds, and those that are not
    whole share the rest."""
    known = {f"{item.paper}.{item.name}": item for paper in papers().values() for item in paper.items}
    items = {name: known[name] for name in names or known}
    begun, found = time.monotonic(), {each.name: each for each in stored().items if each.name in known}
    for name, item in items.items():
        found[name] = computed(item, seconds / len(items) / 2)
    left = [name for name in items if found[name].left]
    for place, name in enumerate(left):
        found[name] = computed(items[name], max(1.0, (begun + seconds - time.monotonic()) / (len(left) - place)))
    for name in items:
        if found[name].left:
            print(f"{name}: {found[name].left} of {found[name].works} works are not computed")
    file = Stored([found[name] for name in known if name in found])
    print(write(FILE, json.dumps(dataclasses.asdict(file), separators=(",", ":"), ensure_ascii=False) + "\n"))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", metavar="PAPER.ITEM")
    options.add_argument("--seconds", type=float, default=180.0)
    given = options.parse_args()
    record_papers(given.seconds, given.names)
