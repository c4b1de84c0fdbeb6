"""Whole solves with matrices that have no grid, side by side with other libraries.

    python -m benchmarks matrices [--quick] [--only NAME] [--folder FOLDER] [--device cuda] [--output FOLDER]

The matrices are made here, from a seed (`made.py`); --only takes those whose names contain NAME, --folder adds the
Matrix Market files of a folder. Every solve begins with A as SciPy's CSR matrix and x0 = 0, and ends at
||b - A x|| <= 1e-8 ||b||, which is recomputed for all. Ours takes part by its default choice and by the fastest of the
pairs that are tried before. The first round only warms up, rounds are interleaved, figures are medians: setup,
iterations, both together, and `cpu_s`, the CPU time of all threads. With --device cuda ours runs on a GPU, next to
AmgX's PCG; `together_s` then includes the copies of A, and `upload_s` is that of AmgX alone.

A table is printed on standard error, the figures on standard output.
"""

from __future__ import annotations

import gc
import math
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from benchmarks.amgx import Row, solves
from benchmarks.common import attempts, report
from benchmarks.matrices import contestants, made
from benchmarks.matrices.made import System

ROUNDS = 3
LARGE = 100_000
"""Unknowns from which matrices count in the geometric means."""
DEFAULT, BEST = "ours, by default", "ours, best pair"
PEERS = ("PyAMG", "SciPy", "PETSc gamg", "PETSc hypre", "AmgX")


def figures(quick: bool = False, only: str = "", folder: Path | None = None, device: str = "cpu") -> dict[str, Any]:
    """What `python -m benchmarks` prints. Raises ValueError where no matrix has that name."""
    names = [case.name for case in made.CASES if only in case.name]
    files = [path for path in matrix_files(folder) if only in path.name]
    if not (names or files):
        known = ", ".join([case.name for case in made.CASES] + [path.name for path in matrix_files(folder)])
        raise ValueError(f"no matrix is named {only!r}; choose among {known}")
    found = {}
    for name, system in systems(names, files, quick=quick):
        found[name] = case(name, system, device, 1 if quick else ROUNDS)
        del system
        gc.collect()
    summary = summed_up(found)
    report("summary", summary)
    print_table(found)
    return {"device": device, "matrices": found, "summary": summary}


def matrix_files(folder: Path | None) -> list[Path]:
    """The Matrix Market files of a folder."""
    return sorted(path for path in folder.iterdir() if ".mtx" in path.suffixes) if folder else []


def systems(names: Iterable[str], files: Iterable[Path], *, quick: bool) -> Iterator[tuple[str, System]]:
    """The matrices with their names, one after another. Files of other than real symmetric matrices are left out."""
    for each in made.CASES:
        if each.name in names:
            yield each.name, each.make(each.quick if quick else each.size)
    for path in files:
        matrix = sparse.csr_array(mmread(path))
        if matrix.dtype.kind == "c" or matrix.shape[0] != matrix.shape[1] or abs(matrix - matrix.T).max() > 0:
            report(path.name, "is not real and symmetric")
            continue
        yield (
            path.name,
            System(made.symmetric(matrix), np.random.default_rng(made.SEED).standard_normal(matrix.shape[0])),
        )


def case(name: str, system: System, device: str, rounds: int) -> dict[str, Any]:
    """All contestants on one matrix: pairs once each, after a solve that warms up, the others by rounds."""

    def pair(first: str, second: str) -> Row:
        return contestants.ours(system, device, M=first, deflation=second)

    def twice(first: str, second: str) -> Row:
        pair(first, second)
        return pair(first, second)

    tried = attempts(
        {
            f"{name}, {first} + {second}": lambda first=first, second=second: twice(first, second)
            for first, second in contestants.pairs(device)
        }
    )
    tried = {label.removeprefix(f"{name}, "): row for label, row in tried.items()}
    runs: contestants.Runs = {DEFAULT: lambda: contestants.ours(system, device)}
    if solved := [label for label, row in tried.items() if "together_s" in row]:
        best = min(solved, key=lambda label: tried[label]["together_s"])
        runs[f"{BEST} ({best})"] = lambda: pair(*best.split(" + "))
    with tempfile.TemporaryDirectory() as folder:
        runs |= contestants.peers(system, device, Path(folder))
        rows = solves(name, runs, rounds)
    about = {"N": system.b.size, "nnz": int(system.matrix.nnz), "singular": system.singular}
    return {**about, "solves": rows, "pairs": tried, "ratios": ratios(rows)}


def ratios(rows: dict[str, Row]) -> dict[str, float]:
    """Seconds of the fastest contestant of each library, and of the best pair, over those of ours by default; and the
    share of ours that is setup."""
    own = rows[DEFAULT]
    if "together_s" not in own:
        return {}
    found = {"setup share": own["setup_s"] / own["together_s"]}
    for who in (BEST, *PEERS):
        theirs = [row["together_s"] for name, row in rows.items() if name.startswith(who) and "together_s" in row]
        if theirs:
            found[who] = min(theirs) / own["together_s"]
    return found


def summed_up(found: dict[str, Any]) -> dict[str, Any]:
    """Geometric means of ratios over matrices of at least `LARGE` unknowns, the least ratio over all, and where."""
    made: dict[str, Any] = {}
    for who in (BEST, *PEERS):
        of_all = {name: one["ratios"][who] for name, one in found.items() if who in one["ratios"]}
        large = [ratio for name, ratio in of_all.items() if found[name]["N"] >= LARGE]
        if of_all:
            least = min(of_all, key=lambda name: of_all[name])
            made[who] = {"least": of_all[least], "at": least}
            if large:
                made[who]["geometric mean"] = math.exp(sum(map(math.log, large)) / len(large))
    return made


def print_table(found: dict[str, Any]) -> None:
    """A row for each contestant on each matrix, on standard error."""
    head = f"{'matrix':26}{'contestant':46}{'iterations':>10}{'setup':>9}{'iterating':>10}{'together':>9}{'cpu':>8}"
    lines = [head]
    for name, one in found.items():
        for who, row in one["solves"].items():
            if "together_s" not in row:
                lines.append(f"{name:26}{who:46}{row.get('failed', '')}")
                continue
            seconds = "".join(
                f"{row[key]:{width}.3f}" if key in row else " " * width
                for key, width in (("setup_s", 9), ("iterate_s", 10), ("together_s", 9), ("cpu_s", 8))
            )
            lines.append(f"{name:26}{who:46}{row['iterations']:10.0f}{seconds}")
    report("table", "\n" + "\n".join(lines))
