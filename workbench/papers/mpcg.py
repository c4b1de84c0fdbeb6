"""Chen, "Parallel Implementation of Multipreconditioned Conjugate Gradient Methods": its tables. Figures 4 to 6 are in
`mpcg_figures`, what is printed in `mpcg_printed`."""

from __future__ import annotations

from typing import Any

from workbench.devices.default_accelerator import default_accelerator
from workbench.machine.describe import describe_machine
from workbench.papers.mpcg_counts import CG, MPCG, SUM_CG
from workbench.papers.mpcg_model import Fit, fitted, fitted_by_size
from workbench.papers.mpcg_printed import printed, printed_seconds
from workbench.papers.mpcg_solves import measured, solved
from workbench.papers.mpcg_sweeps import SWEEPS, modelled_cpu, modelled_gpu, point_seconds, sweep_seconds, sweeps_of
from workbench.papers.reproduction import Progress, Reproduction

CG_OPERATIONS = 20
"""Operations of CG per iteration and unknown: 10 for a product with 5 entries per row, 10 for vectors."""


def table1(max_n: int, progress: Progress) -> Reproduction:
    """Jacobi sweeps on one box with coefficients at every point."""
    title = "Table 1: 5 N^2 Jacobi sweeps on N x N points, coefficients at every point"
    return _sweeps("table1", title, max_n, progress, constant=False)


def table2(max_n: int, progress: Progress) -> Reproduction:
    """The same with constant coefficients."""
    title = "Table 2: 5 N^2 Jacobi sweeps on N x N points, constant coefficients"
    return _sweeps("table2", title, max_n, progress, constant=True)


def _sweeps(name: str, title: str, max_n: int, progress: Progress, *, constant: bool) -> Reproduction:
    accelerator, why = default_accelerator()
    rows = []
    for n, cpu, gpu, speedup in printed()[name]["rows"]:
        here = min(n, max_n)
        progress(f"{name}: N = {here}")
        row: dict[str, Any] = {"N": n, "printed_cpu_s": cpu, "modelled_cpu_s": modelled_cpu(n, name), "N_here": here}
        row["measured_cpu_s"] = near = sweep_seconds(here, sweeps_of(here), constant=constant)
        row |= {"printed_gpu_s": gpu, "modelled_gpu_s": modelled_gpu(n, constant=constant)}
        row[f"measured_{accelerator or 'accelerator'}_s"] = far = (
            sweep_seconds(here, sweeps_of(here), accelerator, constant=constant) if accelerator else None
        )
        row |= {"printed_speedup": speedup, "measured_speedup": far and near / far}
        rows.append(row)
    notes = [
        f"Measured: {SWEEPS} Jacobi sweeps in single precision, the median of several rounds, times 5 N^2 / {SWEEPS}; "
        "5 N^2 sweeps are not measured. On the cores all threads share a box; the paper's program is sequential.",
        f"Modelled, CPU: the paper's program takes {1e9 * point_seconds(name):.3g} ns for a point in a Jacobi sweep, "
        "the same for every N: fitted, as the paper names no processor.",
        "Modelled, GPU: a launch of 2.2 microseconds in each Jacobi sweep, fitted to N = 50, and its arrays over the "
        "bandwidth of an assumed GTX 1060 (data/machines); the paper names no GPU. The arrays fit its second-level "
        "cache, so the model is too slow for large N.",
        *about_here(why),
        *_shrunk(max_n, [line[0] for line in printed()[name]["rows"]]),
    ]
    return Reproduction(name, title, rows, notes)


def table3(max_n: int, progress: Progress) -> Reproduction:
    """Seconds of MPCG to 1e-6, next to CG with the sum of the same boxes and CG."""
    fit, rows = fitted(), []
    # Compiles.
    solved(16, "mpcg", "2x2")
    for n, seconds in reversed(printed()["table3"]["rows"]):
        here = min(n, max_n)
        progress(f"table 3: cg, N = {here}")
        cg_iterations, cg_seconds = measured(here, "cg")
        for boxes, printed_s in zip(printed()["table3"]["boxes"], seconds, strict=True):
            progress(f"table 3: {boxes} boxes, N = {here}")
            iterations, seconds_here = measured(here, "mpcg", boxes)
            sum_iterations, sum_seconds = measured(here, "sum-cg", boxes)
            modelled = fit.seconds(n, boxes, MPCG[n][boxes])
            row = {"N": n, "boxes": boxes, "printed_s": printed_s, "modelled_s": modelled}
            row["difference_percent"] = 100 * (modelled / printed_s - 1)
            row |= {"modelled_sum_cg_s": fit.solves(n, boxes, SUM_CG[n][boxes]), "N_here": here}
            row |= {"measured_s": seconds_here, "measured_sum_cg_s": sum_seconds, "measured_cg_s": cg_seconds}
            row |= {"iterations": iterations, "sum_cg_iterations": sum_iterations, "cg_iterations": cg_iterations}
            rows.append(row)
    notes = [
        f"Modelled: {fit_sentence()}",
        "The model takes the iterations of exact solves in boxes with an overlap of one point and f = 1, as those "
        "measured; the paper prints neither overlap nor f nor counts. 2 x 3 boxes are larger than 3 x 3 and need more "
        "iterations, hence the minimum of the printed times at 3 x 3; their rise after it is line 10.",
        _by_size(),
        _competitors(fit),
        "Measured: boxes are solved exactly and one after another, in double precision, and terms are stored on their "
        "boxes alone, so that line 10 costs N^2 operations per old block and not k^2 N^2.",
        *about_here(),
        *_shrunk(max_n, [line[0] for line in printed()["table3"]["rows"]]),
    ]
    return Reproduction("table3", "Table 3: seconds of MPCG to a relative residual of 1e-6", rows, notes)


def _by_size() -> str:
    """What the deviations of Table 3 have in common."""
    found = fitted_by_size()
    rates = ", ".join(f"{1e-9 * rate:.3g} for N = {n}" for n, rate in found.rates.items())
    return (
        f"The deviations go with N: with a rate of line 10 for each, {rates} GFLOP/s, the model meets the table to "
        f"{100 * found.rms:.1f}% rms and {100 * found.most:.0f}% at most. Iterations that grow faster with N than "
        "those counted here would do the same, by a tenth or two from N = 300 to 500; the paper prints neither."
    )


def _competitors(fit: Fit) -> str:
    """What CG would take on the paper's machines, with the sum of the solves and without boxes."""
    cases = [(n, boxes) for n, counts in MPCG.items() for boxes in counts]
    more = [SUM_CG[n][boxes] / MPCG[n][boxes] for n, boxes in cases]
    wins = sum(fit.solves(n, boxes, SUM_CG[n][boxes]) < printed_seconds(n, boxes) for n, boxes in cases)
    plain = {n: CG_OPERATIONS * n * n * iterations / fit.rate for n, iterations in CG.items()}
    return (
        f"CG with the sum of the same solves needs {min(more):.2g} to {max(more):.2g} times as many iterations and no "
        f"line 10: modelled on the paper's machines it is faster than the printed time in {wins} of {len(cases)} "
        "cases. CG without boxes, at the rate of line 10, would take "
        + ", ".join(f"{seconds:.2g} s at N = {n} ({CG[n]} iterations)" for n, seconds in plain.items())
        + "."
    )


def fit_sentence() -> str:
    """What was fitted, and how well."""
    fit = fitted()
    return (
        f"T = it t + 2 it^2 k^2 N^2 / rate, k boxes solved at the same time, t = {fit.factor:.3g} times that of 5 m "
        f"Jacobi sweeps on m = N^2/k points in Table 2, rate = {1e-9 * fit.rate:.3g} GFLOP/s for line 10; fitted to "
        f"the 15 entries of Table 3, which it meets to {100 * fit.rms:.1f}% rms."
    )


def about_here(why: str = "") -> list[str]:
    """The machine of measured columns."""
    about = describe_machine()
    load = f"Measured on {about['cpu']}, {about['cores_usable']} cores; other load on this machine raises times."
    return [f"{load} {why}".strip()]


def _shrunk(max_n: int, sizes: list[int]) -> list[str]:
    """A sentence where not all sizes are the paper's."""
    if max(sizes) <= max_n:
        return []
    return [f"N here is at most {max_n}; --max-n {max(sizes)} takes the paper's sizes."]
