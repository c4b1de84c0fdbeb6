"""Run benchmarks by name, or all of them: `python -m benchmarks [NAME ...] [--quick] [--output FOLDER]`.

A benchmark is a module of this package with a function `figures()` that returns plain data. Each prints one JSON
object: the figures and a description of the machine; with --output it is also written to FOLDER/NAME.json. If `figures`
takes `quick`, --quick runs few rounds, to test the benchmark.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
from pathlib import Path

import benchmarks
from benchmarks.common import publish


def main() -> None:
    named = [module.name for module in pkgutil.iter_modules(benchmarks.__path__)]
    known = [name for name in named if name not in ("__main__", "common")]
    parser = argparse.ArgumentParser(prog="benchmarks", description="Side-by-side measurements on this machine.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one or more of {', '.join(known)}; all by default")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="also write NAME.json files here")
    parser.add_argument("--quick", action="store_true", help="few rounds, where a benchmark offers it")
    chosen = parser.parse_args()
    for name in chosen.names or known:
        if name not in known:
            parser.error(f"unknown benchmark {name!r}; known: {', '.join(known)}")
        figures = importlib.import_module(f"benchmarks.{name}").figures
        options = {"quick": True} if chosen.quick and "quick" in inspect.signature(figures).parameters else {}
        publish(name, figures(**options), chosen.output)


if __name__ == "__main__":
    main()
