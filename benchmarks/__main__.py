"""Run benchmarks by name, or all of them: `python -m benchmarks [NAME ...] [--quick] [--output FOLDER]`.

A benchmark is a module of this package with a function `figures()` that returns plain data. Each prints one JSON
object: the figures and a description of the machine; with --output it is also written to FOLDER/NAME.json. Options
that `figures` takes are passed on: --quick runs few rounds, to test the benchmark, --only, --folder, --growth and
--device choose what takes part, --keep runs it in parts.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from pathlib import Path

import benchmarks
from benchmarks.common import publish

OPTIONS = ("quick", "week", "only", "folder", "growth", "keep", "device")


def main() -> None:
    named = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    known = [name for name in named if name not in ("__main__", "common")]
    parser = argparse.ArgumentParser(prog="benchmarks", description="Side-by-side measurements on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(known)}; all by default")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="also write NAME.json files here")
    parser.add_argument("--quick", action="store_true", help="few rounds, where a benchmark offers it")
    parser.add_argument("--week", action="store_true", help="of a class: five days on servers that are started again")
    parser.add_argument("--only", metavar="NAME", help="of matrices: those whose names contain this")
    parser.add_argument("--folder", type=Path, metavar="FOLDER", help="of matrices: also the .mtx files in it")
    parser.add_argument("--growth", action="store_true", help="of matrices: one disk of 130,000 to 2 million unknowns")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of matrices: go on with what is measured there")
    parser.add_argument("--device", metavar="DEVICE", help="of matrices: where ours runs, such as cuda")
    chosen = parser.parse_args()
    given = {name: value for name in OPTIONS if (value := getattr(chosen, name))}
    for name in chosen.names or known:
        if name not in known:
            parser.error(f"unknown benchmark {name!r}; known: {', '.join(known)}")
        figures = importlib.import_module(f"benchmarks.{name}").figures
        taken = inspect.signature(figures).parameters
        if chosen.names and (other := [f"--{each}" for each in given if each not in taken and each != "quick"]):
            parser.error(f"benchmark {name} has no option {', '.join(other)}; leave it out")
        publish(name, figures(**{each: value for each, value in given.items() if each in taken}), chosen.output)


if __name__ == "__main__":
    main()
