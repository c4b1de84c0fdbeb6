"""Whole solves with matrices that have no grid, side by side with other libraries.

    python -m benchmarks matrices [--quick] [--only NAME] [--folder FOLDER] [--growth] [--keep FOLDER] [--device cuda]

The matrices are made here, from a seed (`made.py`); --only takes those whose names contain NAME, --folder adds the
Matrix Market files of a folder, --growth takes a disk of 130,000 to 2 million unknowns in place of all. Every solve
begins with A as SciPy's CSR matrix and x0 = 0, and ends at ||b - A x|| <= 1e-8 ||b||, which is recomputed for all. Ours
takes part by its default choice and by the fastest of the pairs that are tried before. The first round only warms up,
rounds are interleaved, figures are medians: setup, iterations, both together, and `cpu_s`, the CPU time of all threads
and ranks. A contestant that takes five times as long as the fastest one is solved with once. With --device cuda ours
runs on a GPU, next to AmgX's PCG; `together_s` then includes the copies of A, and `upload_s` is that of AmgX alone.

--keep FOLDER writes the figures of each matrix to a file there as soon as they are measured, and leaves out matrices
that have one: the list can be run in parts. Its table.md is the table of docs/benchmarks.md, of all that is there.

A table is printed on standard error, the figures on standard output.
"""

from __future__ import annotations

import functools
import gc
import json
import math
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from benchmarks.amgx import Row, solves
from benchmarks.common import attempts, report
from benchmarks.matrices import contestants, made, tables
from benchmarks.matrices.made import System

ROUNDS = 3
LARGE = 100_000
"""Unknowns from which matrices count in the geometric means."""
DEFAULT, BEST = "ours, by default", "ours, best pair"
PEERS = ("PyAMG", "SciPy", "PETSc gamg", "PETSc hypre", "AmgX")
ANY, SETUP = "fastest peer", "setup share"
PATIENCE = 5.0
"""Times the fastest contestant from which one solve is enough."""
TABLE = "table.md"


def figures(
    quick: bool = False,
    only: str = "",
    folder: Path | None = None,
    growth: bool = False,
    keep: Path | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """The figures that `python -m benchmarks` prints. Raises ValueError where no matrix has that name."""
    cases = made.GROWTH if growth else made.CASES
    names = [case.name for case in cases if only in case.name]
    files = [path for path in matrix_files(folder) if only in path.name]
    if not (names or files):
        known = ", ".join([case.name for case in cases] + [path.name for path in matrix_files(folder)])
        raise ValueError(f"no matrix is named {only!r}; choose among {known}")
    found = kept(keep)
    missing = contestants.absent(device)
    for name, sentence in missing.items():
        report(name, sentence)
    done = set(found)
    for each in cases:
        if each.name in names and each.name not in done:
            of_this_size = functools.partial(sized, each, quick=quick)
            found[each.name] = measured(each.name, of_this_size, device, keep, quick=quick)
    for path in files:
        if path.name not in done and (system := read(path)):
            found[path.name] = measured(path.name, lambda system=system: (system, system), device, keep, quick=quick)
    summary = summed_up(found)
    report("summary", summary)
    report("table", "\n" + tables.plain(found))
    if keep:
        text = f"{tables.markdown(found, DEFAULT, BEST)}\n\n{tables.summary(summary, LARGE)}\n"
        (keep / TABLE).write_text(text)
    return {"device": device, **missing, "matrices": found, "summary": summary, "growth": grown(found)}


def kept(folder: Path | None) -> dict[str, Any]:
    """The figures of matrices that were measured before, by name, in the order of the lists; the folder is made."""
    if not folder:
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    order = [case.name for case in (*made.CASES, *made.GROWTH)]
    found = {one["name"]: one for one in (json.loads(path.read_text()) for path in folder.glob("*.json"))}
    listed = [name for name in order if name in found]
    return {name: found[name] for name in [*listed, *sorted(found.keys() - set(listed))]}


def sized(each: made.Case, *, quick: bool) -> tuple[System, System]:
    """A system of its size, and a small one of its kind."""
    small = each.make(each.quick)
    return (small if quick else each.make(each.size)), small


def measured(
    name: str, make: Callable[[], tuple[System, System]], device: str, keep: Path | None, *, quick: bool
) -> dict[str, Any]:
    """The figures of one matrix, also written to a file of `keep`. make: the system, and a small one of its kind."""
    system, small = make()
    begun, load = time.perf_counter(), os.getloadavg()[0]
    growing = name in [each.name for each in made.GROWTH]
    one = {"name": name, **case(name, system, small, device, 1 if quick else ROUNDS, growing=growing)}
    one |= {"quick": quick, "seconds": time.perf_counter() - begun, "load": [load, os.getloadavg()[0]]}
    if keep:
        (keep / f"{name.replace(' ', '-')}.json").write_text(json.dumps(one, indent=2, default=str))
    gc.collect()
    return one


def matrix_files(folder: Path | None) -> list[Path]:
    """The Matrix Market files of a folder."""
    return sorted(path for path in folder.iterdir() if ".mtx" in path.suffixes) if folder else []


def read(path: Path) -> System | None:
    """The system of a Matrix Market file, with a random b; None for another than a real symmetric matrix."""
    matrix = sparse.csr_array(mmread(path))
    if matrix.dtype.kind == "c" or matrix.shape[0] != matrix.shape[1] or abs(matrix - matrix.T).max() > 0:
        report(path.name, "is not real and symmetric")
        return None
    return System(made.symmetric(matrix), np.random.default_rng(made.SEED).standard_normal(matrix.shape[0]))


def case(
    name: str, system: System, small: System, device: str, rounds: int, *, growing: bool = False
) -> dict[str, Any]:
    """All contestants on one matrix: pairs once each, after a solve with a small matrix, which loads their kernels; the
    others by rounds. growing: without those whose iterations grow with the matrix."""

    def pair(first: str, second: str) -> Row:
        return contestants.ours(system, device, M=first, deflation=second)

    def warmed(first: str, second: str) -> Row:
        contestants.ours(small, device, M=first, deflation=second)
        return pair(first, second)

    tried = attempts(
        {
            f"{name}, {first} + {second}": lambda first=first, second=second: warmed(first, second)
            for first, second in (contestants.GROWING if growing else contestants.pairs(device))
        }
    )
    tried = {label.removeprefix(f"{name}, "): row for label, row in tried.items()}
    runs: contestants.Runs = {DEFAULT: lambda: contestants.ours(system, device)}
    if solved := [label for label, row in tried.items() if "together_s" in row]:
        best = min(solved, key=lambda label: tried[label]["together_s"])
        runs[f"{BEST} ({best})"] = lambda: pair(*best.split(" + "))
    with tempfile.TemporaryDirectory() as folder:
        peers = contestants.peers(system, device, Path(folder))
        runs |= {who: run for who, run in peers.items() if not growing or who != contestants.PLAIN}
        rows = solves(name, runs, rounds, PATIENCE)
    about = {"N": system.b.size, "nnz": int(system.matrix.nnz), "singular": system.singular}
    return {**about, "solves": rows, "pairs": tried, "ratios": ratios(rows)}


def grown(found: dict[str, Any]) -> dict[str, float]:
    """Iterations with the largest matrix of `made.GROWTH` over those with the smallest, of those that are there."""
    there = [found[each.name]["solves"] for each in made.GROWTH if each.name in found]
    if len(there) < 2:
        return {}
    both = [who for who, row in there[0].items() if row.get("iterations") and there[-1].get(who, {}).get("iterations")]
    return {who: there[-1][who]["iterations"] / there[0][who]["iterations"] for who in both}


def ratios(rows: dict[str, Row]) -> dict[str, float]:
    """Seconds of the fastest contestant of each library, and of the best pair, over those of ours by default; and the
    share of ours that is setup."""
    own = rows[DEFAULT]
    if "together_s" not in own:
        return {}
    found = {SETUP: own["setup_s"] / own["together_s"]}
    for who in (BEST, *PEERS):
        theirs = [row["together_s"] for name, row in rows.items() if name.startswith(who) and "together_s" in row]
        if theirs:
            found[who] = min(theirs) / own["together_s"]
    if fastest := [ratio for who, ratio in found.items() if who in PEERS]:
        found[ANY] = min(fastest)
    return found


def summed_up(found: dict[str, Any]) -> dict[str, Any]:
    """Geometric means of ratios over matrices of at least `LARGE` unknowns, the least ratio over all, and where."""
    made: dict[str, Any] = {}
    for who in (BEST, *PEERS, ANY):
        of_all = {name: one["ratios"][who] for name, one in found.items() if who in one["ratios"]}
        large = [ratio for name, ratio in of_all.items() if found[name]["N"] >= LARGE]
        if of_all:
            least = min(of_all, key=lambda name: of_all[name])
            made[who] = {"least": of_all[least], "at": least}
            if large:
                made[who]["geometric mean"] = math.exp(sum(map(math.log, large)) / len(large))
    return made
