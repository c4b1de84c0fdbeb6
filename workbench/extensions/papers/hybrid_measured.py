"""Tiwari, Vadhiyar: measured times of all methods, and of conversions from CSR, on this machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.devices.default_accelerator import default_accelerator
from workbench.extensions.formats.comparison import storage_of
from workbench.extensions.formats.measured import medians, products_of
from workbench.extensions.papers.hybrid_pipecg import ROWS_PER_N, real_file, spec_of
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.machines.describe import describe_machine
from workbench.problems import LinearSystem
from workbench.run import Configuration, Run, Stopping, configure, run_through

SIDES = (16, 32)
ITERATIONS = 40
ONE_DEVICE = ("cg", "pipecg")
HYBRID = ("hybrid1", "hybrid2", "hybrid3")


def measured(max_n: int, progress: Progress) -> Reproduction:
    """Milliseconds per iteration on the cores, and on an accelerator of this machine if there is one."""
    accelerator, why = default_accelerator()
    rows = []
    for label, problem, parameters in _cases(max_n):
        progress(f"measured: {label}")
        system = configure(problem, parameters).problem.assemble()
        operator = system.operator
        row: dict[str, Any] = {"system": label, "N": operator.shape[0], "nnz": operator.nnz}
        for solver in ONE_DEVICE:
            row[f"{solver} cpu"] = _milliseconds(problem, parameters, solver, "cpu", system)
        for solver in (*ONE_DEVICE, *HYBRID):
            name = f"{solver} {accelerator}" if accelerator else f"{solver} accelerator"
            row[name] = _milliseconds(problem, parameters, solver, accelerator, system) if accelerator else None
        rows.append(row)
    about = describe_machine()
    notes = [
        f"measured on {about['cpu']}, {about['cores_usable']} cores: medians of up to {ITERATIONS} iterations, in ms.",
        why,
        "125-point Poisson problems as assembled matrices, and bcsstk15 if its file is available and it has at most "
        f"{ROWS_PER_N} max-n rows. Other load on this machine increases all times.",
    ]
    return Reproduction("measured", "Milliseconds per iteration, measured", rows, notes)


def conversions(max_n: int, progress: Progress) -> Reproduction:
    """Milliseconds of a product in each storage format and of the conversion from CSR, on the cores."""
    side = min(SIDES[-1], max_n)
    progress(f"formats: poisson125, n = {side}")
    found = storage_of(configure("poisson125", n=side))
    *_, stored = found.conversions()
    *_, products = found.rounds()
    seconds, converted = medians(products), medians(stored)
    rows = [
        {
            "format": name,
            # A form that does not fit next to the others has no product.
            "product_ms": None if (one := seconds.get(("format", name))) is None else 1e3 * one,
            "conversion_ms": 1e3 * taken,
            "conversion_in_products": products_of("format", taken, seconds),
        }
        for (_, name), taken in converted.items()
    ]
    notes = [
        "The paper, section V-A: a conversion from CSR to other formats takes significant time, hence CSR. Here it is "
        f"that of the 125-point Poisson matrix with n = {side}, and as many products in CSR.",
        f"{found.pays(seconds, converted)}.",
        "Other load on this machine increases all times; `workbench formats --time` has the same for any matrix.",
    ]
    return Reproduction("formats", "Section V-A: conversions from CSR, measured", rows, notes)


def _cases(max_n: int) -> list[tuple[str, str, dict[str, Any]]]:
    cases: list[tuple[str, str, dict[str, Any]]] = [
        (f"poisson125, n = {n}", "poisson125", {"n": n}) for n in SIDES if n <= max_n
    ]
    if real_file("bcsstk15") and max_n * ROWS_PER_N >= 3948:
        cases.insert(0, ("bcsstk15", spec_of("bcsstk15"), {}))
    return cases


def _milliseconds(
    problem: str, parameters: dict[str, Any], solver: str, device: str, system: LinearSystem
) -> float | None:
    stopping = Stopping(rtol=1e-14, maxiter=ITERATIONS, check_every=1)
    chosen: Configuration = configure(
        problem, parameters, solver=solver, device=device, rhs="random", x0="zero", stopping=stopping
    )
    result = run_through(Run(chosen, system))
    steps = np.diff(result.history["seconds"])[1:]
    return float(1e3 * np.median(steps)) if steps.size else None
