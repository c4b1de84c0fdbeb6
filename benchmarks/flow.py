"""Rising bubbles: test cases, steps a second, and the pressure solve of a sequence by method and start vector.

    python -m benchmarks flow [--quick] [--output FOLDER]

The methods of a table solve the same recorded systems: bubbles rise for some steps, of which the last ones are kept and
replayed by all methods and starts in turn, step by step. Times are medians over the steps after the first three. Every
solve ends at dt rms(div u) <= 1e-6. CPU seconds of all threads tell what a busy machine adds to wall-clock seconds.
"""

from __future__ import annotations

import dataclasses
import os
import statistics
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import attempts, median_ratio
from workbench.errors import InputError
from workbench.extensions.flow import records
from workbench.extensions.flow.reference import references
from workbench.extensions.papers.comparison import deviation
from workbench.run import MACHINE_USE, Configuration, Prepared, Stopping, configure
from workbench.sequences.method import Method
from workbench.sequences.sequence import Sequence
from workbench.sequences.starts import extend
from workbench.sequences.systems import StepSystem

ALONE: dict[str, Any] = {"preconditioner": "jacobi"}
"""From a good start it is enough for one bubble at density ratio 0.1."""
LEVELS: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:8"}
SEVEN: dict[str, Any] = {"count": 7, "geometry_seed": 1, "density_ratio": 1e-3}
"""Seven bubbles at random, density ratio 0.001."""
CUBE: dict[str, Any] = {"dimensions": 3, "n": 64, "height": 1.0, "radius": 0.1, **SEVEN}
DEEP: dict[str, Any] = {"preconditioner": "neumann:2", "deflation": "levelset:16", "coarse": "multilevel"}
CASES: dict[str, tuple[dict[str, Any], int, int]] = {
    "one bubble, ratio 0.1, 64 x 128": ({"n": 64}, 100, 30),
    "one bubble, ratio 0.001, 64 x 128": ({"n": 64, "density_ratio": 1e-3}, 60, 30),
    "seven bubbles, ratio 0.001, 64 x 128": ({"n": 64, "radius": 0.09, **SEVEN}, 60, 30),
    "seven bubbles, ratio 0.001, 64^3": (CUBE, 14, 7),
}
"""The problem, the steps that are made, and how many of the last ones are kept."""
METHODS: dict[str, dict[str, Any]] = {
    "jacobi": {"preconditioner": "jacobi"},
    "neumann:2 + stripes": {"preconditioner": "neumann:2", "deflation": "stripes"},
    "neumann:2 + blocks:8": {"preconditioner": "neumann:2", "deflation": "blocks:8"},
    "neumann:2 + levelset:8": LEVELS,
    "neumann:2 + levelset:16, multilevel": DEEP,
    "mg": {"preconditioner": "mg"},
}
STARTS = ("zero", "last", "linear", "quadratic", "fischer:5")
UNTIMED = 3
"""The first steps of a replay: compilation, and starts without earlier solutions."""


def figures(quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    second = {"eotvos": 125.0, "density_ratio": 1e-3, "viscosity_ratio": 1e-2}
    cases = {
        "case 1, 40 x 80": lambda: case({"n": 40, **ALONE}, quick),
        "case 1, 80 x 160": lambda: case({"n": 80, **ALONE}, quick),
        "case 1, 40 x 80, levelset:8": lambda: case({"n": 40, **LEVELS}, quick),
        "case 2, 80 x 160": lambda: case({"n": 80, **second, **LEVELS}, quick),
        "128^2": lambda: speed({"n": 128, "height": 1.0, **ALONE}, 4 if quick else 200),
        "128^2, levelset:8": lambda: speed({"n": 128, "height": 1.0, **LEVELS}, 4 if quick else 200),
        "64^3, seven bubbles, ratio 0.001": lambda: speed({**CUBE, **DEEP}, 4 if quick else 24),
    }
    found = attempts(cases)
    for name, (problem, steps, kept) in CASES.items():
        chosen = (4, 4) if quick else (steps, kept)
        with tempfile.TemporaryDirectory() as folder:
            path = recorded(problem, *chosen, Path(folder))
            found |= attempts({f"starts: {name}": lambda path=path: starts(path)})
            if problem["n"] == 64 and "density_ratio" not in problem:
                found |= attempts({f"kept or made anew: {name}": lambda path=path: kept_or_made_anew(path)})
    return {**found, "load_average": os.getloadavg()}


def case(problem: dict[str, Any], quick: bool) -> dict[str, Any]:
    """A whole run, and how far its measures are from the range of those of the first test case."""
    begun, used = time.perf_counter(), time.process_time()
    sequence = Sequence("rising-bubbles", **problem, **({"until": 0.02} if quick else {}))
    series = {name: np.array(values) for name, values in sequence.run().series.items()}
    seconds, used = time.perf_counter() - begun, time.process_time() - used
    extreme = {
        "circularity": series["circularity"].min(),
        "rise_velocity": series["rise_velocity"].max(),
        "centre": series["centre"][-1],
    }
    pressure = sum(part["setup"] + part["start"] + part["solve"] for part in sequence.seconds)
    found = {"steps": sequence.steps, "seconds": seconds, "cpu_seconds": used, "seconds_of_pressure": pressure}
    found |= {"iterations": float(series["iterations"].mean()), **{name: float(at) for name, at in extreme.items()}}
    found["volume_drift"] = float(np.ptp(series["volume"]) / series["volume"][0])
    found["shift_in_cells"] = float(series["shift"][-1] * problem["n"])
    if "eotvos" not in problem:
        found["off_by"] = {
            name: deviation(references("case1")[name].values, float(at)) / 100 for name, at in extreme.items()
        }
    return found


def speed(problem: dict[str, Any], steps: int) -> dict[str, Any]:
    """Steps a second, and the share of every part, after a third of the steps."""
    sequence = Sequence("rising-bubbles", **{"until": 1000.0, **problem})
    begun, used, timed = 0.0, 0.0, steps - steps // 3
    with MACHINE_USE:
        for number in range(steps):
            if number == steps - timed:
                begun, used = time.perf_counter(), time.process_time()
            sequence.step()
    whole, used = (time.perf_counter() - begun) / timed, (time.process_time() - used) / timed
    parts = {
        name: 1e3 * statistics.mean(part[name] for part in sequence.seconds[-timed:]) for name in sequence.seconds[-1]
    }
    pressure = parts["setup"] + parts["start"] + parts["solve"]
    return {
        "steps_per_second": 1 / whole,
        "cpu_ms": 1e3 * used,
        "pressure_share": pressure / (1e3 * whole),
        "iterations": statistics.mean(sequence.series["iterations"][-timed:]),
        "ms": parts,
    }


def recorded(problem: dict[str, Any], steps: int, kept: int, folder: Path) -> Path:
    """A record of the last of so many steps."""
    sequence = Sequence("rising-bubbles", keep=kept, **{"until": 1000.0, **DEEP, **problem})
    for _ in range(steps):
        sequence.step()
    return records.save(sequence, folder / "recorded")


def starts(path: Path) -> dict[str, Any]:
    """Iterations and milliseconds of a step, by method and start. Setup: of moved phases, kept else."""
    replays = {
        f"{name}, {start}": Sequence(str(path), start=start, **method)
        for name, method in METHODS.items()
        for start in STARTS
    }
    failed: dict[str, str] = {}
    with MACHINE_USE:
        for _ in range(records.load(path).arrays["b"].shape[0]):
            for label, sequence in replays.items():
                if label not in failed:
                    try:
                        sequence.step()
                    except InputError as error:
                        failed[label] = str(error)
    return {label: {"failed": failed[label]} if label in failed else row(each) for label, each in replays.items()}


def row(sequence: Sequence) -> dict[str, float]:
    """Means of iterations and medians of times."""
    timed = sequence.seconds[UNTIMED:]
    ms = {f"{name}_ms": 1e3 * statistics.median(part[name] for part in timed) for name in ("setup", "start", "solve")}
    whole = statistics.median(part["setup"] + part["start"] + part["solve"] for part in timed)
    return {"iterations": statistics.mean(sequence.series["iterations"][UNTIMED:]), **ms, "ms": 1e3 * whole}


def kept_or_made_anew(path: Path) -> dict[str, Any]:
    """A pressure solve with everything kept against its iterations, against a setup made anew, and against PyAMG's
    Ruge-Stuben rebuilt in every step; all from the same start, to the same tolerance."""
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for label in ("jacobi", "neumann:2 + blocks:8", "neumann:2 + levelset:8"):
        method = Method(configure(str(path), **METHODS[label]))
        for made, moved in _steps(method):
            problem: Any = method.configuration.problem
            atol = problem.tolerance * made.unit
            system = problem.system(made)
            start = method.starts.vector(made.time, made.b, lambda x: x)
            if label == "jacobi":
                # Its time has no part of ours in it.
                rows.setdefault("PyAMG Ruge-Stuben", []).append(_theirs(system, made.b, start, atol))
            begun = time.perf_counter()
            prepared = Prepared(_fresh(method.configuration, atol), problem.system(made))
            anew = prepared.solve(made.b, start)
            rows.setdefault(f"{label}, made anew", []).append((time.perf_counter() - begun, 0.0, anew.iterations))
            result, parts = method.solve(made, moved)
            method.take(made.time, result, parts)
            rows.setdefault(label, []).append((sum(parts.values()), result.iteration_seconds, result.iterations))
            rows.setdefault(f"{label}, solve alone", []).append(
                (parts["solve"], result.iteration_seconds, result.iterations)
            )
            # The first solve has left its programs.
            cold = prepared.solve(made.b)
            rows.setdefault(f"{label}, solve alone from zero", []).append(
                (cold.seconds, cold.iteration_seconds, cold.iterations)
            )
    found: dict[str, Any] = {}
    columns = {label: [list(column) for column in zip(*timed[UNTIMED:], strict=True)] for label, timed in rows.items()}
    for label, (seconds, iterating, iterations) in columns.items():
        found[label] = {"ms": 1e3 * statistics.median(seconds), "mean_ms": 1e3 * statistics.mean(seconds)}
        found[label]["iterations"] = statistics.mean(iterations)
        if all(iterating):
            found[label]["times its iterations"] = median_ratio(seconds, iterating)
        own = label.partition(",")[0]
        if label.endswith("made anew"):
            found[label]["times slower than kept"] = median_ratio(seconds, columns[own][0])
        if label == own and label in METHODS:
            found[label]["times faster than PyAMG"] = median_ratio(columns["PyAMG Ruge-Stuben"][0], seconds)
    return found


def _steps(method: Method) -> Iterable[tuple[StepSystem, int]]:
    """The systems of a record, with the number of cells that moved; starts follow their phase."""
    problem: Any = method.configuration.problem
    systems, before = problem.systems(), None
    while (made := systems.next()) is not None:
        moved = np.flatnonzero((made.labels > 0) != (before > 0)) if before is not None else np.empty(0, int)
        if before is not None:
            extend(method.starts.solutions, made.labels, before, moved)
        yield made, moved.size
        before = made.labels.copy()
        systems.end(made.b)


def _fresh(configuration: Configuration, atol: float) -> Configuration:
    return dataclasses.replace(configuration, stopping=Stopping(rtol=0.0, atol=atol))


def _theirs(system: Any, b: np.ndarray, start: np.ndarray, atol: float) -> tuple[float, float, float]:
    """PyAMG's setup and CG with one symmetric cycle; its matrix is given."""
    import pyamg

    A, smoother = system.operator.to_csr(), ("gauss_seidel", {"sweep": "symmetric"})
    b = b - b.mean()
    begun, residuals = time.perf_counter(), []
    levels = pyamg.ruge_stuben_solver(A, presmoother=smoother, postsmoother=smoother, coarse_solver="pinv")
    tolerance = atol / float(np.linalg.norm(b))
    x, _ = pyamg.krylov.cg(
        A, b, x0=start, tol=tolerance, criteria="rr", M=levels.aspreconditioner("V"), maxiter=200, residuals=residuals
    )
    seconds = time.perf_counter() - begun
    if not np.linalg.norm(b - A @ x) <= 1.01 * atol:
        raise InputError("PyAMG has not met the tolerance")
    return seconds, 0.0, len(residuals) - 1
