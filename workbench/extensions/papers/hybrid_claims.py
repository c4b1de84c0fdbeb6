"""Tiwari, Vadhiyar: printed speedups compared with modelled ones."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

from workbench.devices.dry_run import Sizes
from workbench.extensions.models import host_and_gpu as hybrid_machines
from workbench.extensions.models.host_and_gpu import REACHED, machine, with_slower_cores
from workbench.extensions.models.schedules import LIBRARY, Expected, Method, balanced_share, expected
from workbench.extensions.papers.comparison import Row
from workbench.extensions.papers.hybrid_model import HYBRIDS, MODEL, systems
from workbench.extensions.papers.hybrid_pipecg import POISSON_SIDES, printed
from workbench.extensions.papers.reproduction import Progress, Reproduction
from workbench.extensions.papers.standing import Reason, Support
from workbench.machines.profile import Number
from workbench.machines.retime import Machine

ON_CORES = ("cg cpu", "pipecg cpu")
NO_PARALUTION = "Paralution is not available here, and PETSc not on a GPU"
UNTRIED = {
    "PETSc-PCG-MPI over Paralution-PCG-OpenMP": ("k20m", "k40"),
    "PETSc-PCG-GPU over Paralution-PCG-GPU": ("k20m",),
}
"""Claims on speedups that are below 1 for all matrices and cannot be tried here, and the machines of the papers."""
NO_LATENCY = {
    "slowest hybrid": Reason(
        "a loop on the cores has no latency in the model, and bcsstk15 has few rows; with 5 µs a loop the claim holds "
        "on the K40, and on the K20m with cores that reach 0.7 of their bandwidth, not with nominal ones",
        Support.PLAUSIBLE,
    )
}
LOOPS_US = (5, 10, 20)
"""Latencies of a loop on the cores, µs, with which the claim on all versions on the CPU is tried."""
SLOWER = ("offshore", "Serena", "Queen_4147")
"""Matrices for which the papers found PCG on the GPU faster than hybrid 1 and 2."""


def claims(max_n: int, progress: Progress) -> Reproduction:
    """Printed speedups and modelled ones, over fused baselines and over baselines with one pass per line."""
    claimed, rows = printed()["claims"], []
    for name in ("k20m", "k40"):
        progress(f"claims: {name}")
        rows += _speedups(name, "cg cpu", "PCG on the CPU", claimed["vs_pcg_cpu"])
        rows += _speedups(name, "cg gpu", "PCG on the GPU", claimed["vs_pcg_gpu"])
        rows.append(_over_the_cores(name))
    rows += [_claim(claim, where, ["below 1"], None, None, None) for claim, at in UNTRIED.items() for where in at]
    rows += _against_libraries()
    for name in ("k20m", "k40", "v100"):
        progress(f"claims: too large for {name}")
        rows += _too_large(name, claimed)
    notes = [
        "printed: measured by the papers. modelled: over our fused baseline. modelled library: over one with one "
        "pass per line, as in libraries of vector operations (PETSc, Paralution). slower cores: that with cores that "
        f"reach {REACHED:g} of their nominal bandwidth.",
        "Speedups over PCG: of the best of the three hybrid methods, over the seven matrices. The other rows: hybrid 3 "
        "over pipelined CG on the cores, which is the baseline of the papers' figures.",
        "above 1, below 1: the papers' figures on the GPU have no numbers; their text says that PCG on the GPU "
        f"is faster than hybrid 1 and 2 for {', '.join(SLOWER)}.",
        "fits: whether the whole system fits the GPU in the model. share: hybrid 3's share of the rows on the GPU, and "
        "the share by bandwidths alone.",
        *MODEL,
        *hybrid_machines.NOTES,
        *_claim_notes(rows),
    ]
    return Reproduction("claims", "Claims: printed, and modelled", rows, notes)


def _speedups(name: str, method: str, baseline_name: str, claimed: dict[str, float]) -> list[dict[str, Any]]:
    """Maximum and mean speedup of the best hybrid over a baseline, over the matrices of the papers."""
    where, library = machine(name), LIBRARY[method]
    every = _factors(where, method), _factors(where, library), _factors(with_slower_cores(where), library)
    kinds = (("max", max), ("mean", statistics.mean))
    return [
        _claim(f"{kind} over {baseline_name}", name, [claimed[kind]], *map(reduce, every)) for kind, reduce in kinds
    ]


def _factors(where: Machine, baseline: str | Method, hybrids: Sequence[str] = HYBRIDS) -> list[float]:
    """Speedup of the best of some hybrid methods for each of the seven matrices, where the baseline fits."""
    factors = []
    for _, sizes, _ in systems()[: len(printed()["matrices"]["rows"])]:
        alone = expected(baseline, sizes, where).seconds
        found = [seconds for each in hybrids if (seconds := expected(each, sizes, where).seconds) is not None]
        if alone is not None:
            factors.append(alone / min(found))
    return factors


def untried(row: Row) -> str:
    """Why a claim cannot be tried here; empty for one that is."""
    return NO_PARALUTION if row["claim"] in UNTRIED else ""


def _over_the_cores(name: str) -> dict[str, Any]:
    """The speedup of the slowest hybrid over the fastest version on the cores, for the matrix where it is least; the
    papers find all hybrids faster than all versions, for all matrices."""
    where, library = machine(name), [LIBRARY[method] for method in ON_CORES]
    every = [
        _least(where, ON_CORES),
        _least(where, library),
        _least(with_slower_cores(where), library),
    ]
    matrix = every[1][1]
    claim = f"slowest hybrid over the fastest version on the CPU, {matrix}"
    return _claim(claim, name, ["above 1"], *(speedup for speedup, _ in every))


def with_loops(where: Machine, microseconds: float) -> Machine:
    """The machine with a latency of every loop on the cores."""
    latency = Number(1e-6 * microseconds, "assumed", "assumed, to see what depends on it")
    return dataclasses.replace(where, cores=dataclasses.replace(where.cores, launch_latency=latency))


def over_the_cores(where: Machine) -> tuple[float, str]:
    """The least speedup of the slowest hybrid over the fastest version on the cores with one pass per line, and its
    matrix."""
    return _least(where, [LIBRARY[method] for method in ON_CORES])


def _least(where: Machine, versions: Sequence[str | Method]) -> tuple[float, str]:
    """The least of the speedups of the slowest hybrid over the fastest of some versions, and its matrix."""
    found = []
    for matrix, sizes, _ in systems()[: len(printed()["matrices"]["rows"])]:
        hybrids, alone = (
            [seconds for each in methods if (seconds := expected(each, sizes, where).seconds) is not None]
            for methods in (HYBRIDS, versions)
        )
        found.append((min(alone) / max(hybrids), matrix))
    return min(found)


def _against_libraries() -> list[dict[str, Any]]:
    """Speedups of hybrid 1 and 2 over PCG on the K20m, matrix by matrix."""
    where, rows = machine("k20m"), []
    for matrix, sizes, machines in systems():
        if "Poisson" in matrix or "k20m" not in machines:
            continue
        fused, library = (expected(method, sizes, where).seconds for method in ("cg gpu", LIBRARY["cg gpu"]))
        assert fused
        assert library
        for hybrid in ("hybrid1", "hybrid2"):
            seconds = expected(hybrid, sizes, where).seconds
            assert seconds
            claimed = "below 1" if matrix in SLOWER else "above 1"
            claim = f"{hybrid} over PCG on the GPU, {matrix}"
            rows.append(_claim(claim, "k20m", [claimed], fused / seconds, library / seconds, None))
    return rows


def _too_large(name: str, claims: dict[str, Any]) -> list[dict[str, Any]]:
    """Speedups of hybrid 3 over pipelined CG on the cores, for systems that exceed the GPU's memory."""
    where, claimed = machine(name), claims[f"out_of_gpu_memory_{name}"]
    rows = []
    for matrix, sizes, machines in systems():
        if "Poisson" not in matrix or name not in machines:
            continue
        hybrid = expected("hybrid3", sizes, where)
        fused, library = (over_cores(sizes, where, each) for each in ("pipecg cpu", LIBRARY["pipecg cpu"]))
        factor = claimed.get(matrix.split()[0]) if isinstance(claimed, dict) else claimed
        row = _claim(
            f"hybrid 3, {matrix}",
            name,
            factor if isinstance(factor, list) else [factor],
            fused,
            library,
            over_cores(sizes, with_slower_cores(where), LIBRARY["pipecg cpu"]),
        )
        row["fits"] = "yes" if expected("pipecg gpu", sizes, where).seconds else "no"
        row["share"] = [1 - _core_rows(hybrid) / sizes.size, balanced_share(where.cores, where.accelerator)]
        rows.append(row)
    return rows


def over_cores(sizes: Sizes, where: Machine, baseline: str | Method, share: float | None = None) -> float:
    """The speedup of hybrid 3 over a method on the cores. share: of the rows on the GPU, by default in proportion to
    the bandwidths; at most what fits."""
    alone, shared = expected(baseline, sizes, where).seconds, expected("hybrid3", sizes, where, share=share).seconds
    assert alone
    assert shared
    return alone / shared


def share_for(speedup: float, sizes: Sizes, where: Machine) -> float | None:
    """The smallest share of the rows on the GPU, in hundredths, with which hybrid 3 has this speedup to 2% over the
    library's pipelined CG on the cores; None where none that fits has."""
    shares, least = (k / 100 for k in range(1, 100)), 0.98 * speedup
    return next((each for each in shares if over_cores(sizes, where, LIBRARY["pipecg cpu"], each) >= least), None)


def _core_rows(found: Expected) -> int:
    """Number of rows on the cores, from the bytes of m that the host copies to the accelerator."""
    assert found.trace is not None
    return next(event.bytes for event in found.trace if event.lane == "copy to device") // 8


def _claim(
    claim: str,
    name: str,
    factors: Sequence[float | str | None],
    fused: float | None,
    library: float | None,
    slower_cores: float | None,
) -> dict[str, Any]:
    return {
        "claim": claim,
        "machine": name,
        "printed": factors[0] if len(factors) == 1 else factors,
        "modelled": fused,
        "modelled_library": library,
        "slower_cores": slower_cores,
        "fits": None,
        "share": None,
    }


def _claim_notes(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences on the model's agreement with claims without numbers, and on speedups that it does not reach."""
    qualitative = [row for row in rows if "over PCG on the GPU, " in row["claim"]]
    agreeing = [row for row in qualitative if (row["printed"] == "above 1") == (row["modelled_library"] > 1)]
    faster = sum(row["modelled"] > 1 for row in qualitative)
    return [
        f"Hybrid 1 and 2 over PCG on the GPU: for a baseline with one pass per line, the model agrees with the papers "
        f"in {len(agreeing)} of {len(qualitative)} cases; over our fused CG, they are faster in {faster}.",
        *_causes(rows),
    ]


def _causes(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences on the parts of the model that deviations from printed numbers depend on."""
    at = {(row["claim"], row["machine"]): row for row in rows}
    cpu, gpu = (at[f"mean over PCG on the {device}", "k20m"] for device in ("CPU", "GPU"))
    most = at["max over PCG on the CPU", "k20m"]
    first_two = statistics.mean(_factors(machine("k20m"), LIBRARY["cg gpu"], HYBRIDS[:2]))
    shares = {
        matrix.split()[0]: share_for(factor, sizes, machine("k20m"))
        for matrix, sizes, _ in systems()
        if (factor := printed()["claims"]["out_of_gpu_memory_k20m"].get(matrix.split()[0])) is not None
    }
    needed = ", ".join(f"{share:.2f} for {name}" for name, share in shares.items() if share is not None)
    beyond = ", ".join(name for name, share in shares.items() if share is None)
    return [
        "Plausible for the means: the nominal bandwidths of the assumed hosts. With slower cores the mean over PCG on "
        f"the CPU is {cpu['slower_cores']:.2f} on the K20m and not {cpu['modelled_library']:.2f}, that over PCG on the "
        f"GPU {gpu['slower_cores']:.2f} and not {gpu['modelled_library']:.2f}. With hybrid 1 and 2 alone the latter is "
        f"{first_two:.2f}: the model has hybrid 3 faster than the papers, whose times include its setup.",
        f"Not explained: the printed maximum over PCG on the CPU, {most['printed']:g}, and that over PCG on the GPU. "
        "Bytes and bandwidths do not make a baseline so slow. Of 15 pairs that were tried for the cores (0, 5, 10, 20 "
        "or 30 µs a loop; 1, 0.7 or 0.5 of the nominal bandwidth) 10 µs and 0.7 come near both means, and none meets "
        "means and maxima.",
        *_loops(),
        *_trend(),
        f"Not tried: {' and '.join(UNTRIED)}; {NO_PARALUTION}.",
        "Poisson matrices on the K20m: the share of the rows that fits limits the speedup, and falls with N, where the "
        "printed speedup rises; slower cores change nothing of that. The model needs a share of "
        f"{needed} to reach what is printed"
        + (f", and reaches that of {beyond} with no share that fits: not explained. " if beyond else ". ")
        + "The papers choose the share by products with the first rows, and say themselves that a better choice would "
        "gain more: plausible where the model is above the print.",
    ]


def _loops() -> list[str]:
    """A sentence on the claim about all versions on the CPU, with latencies of loops on the cores."""
    words = []
    for name in ("k20m", "k40"):
        where = machine(name)
        for title, each in (("nominal", where), ("slower cores", with_slower_cores(where))):
            found = [over_the_cores(with_loops(each, latency)) for latency in LOOPS_US]
            words.append(f"{name}, {title}: {', '.join(f'{least:.2f} ({matrix})' for least, matrix in found)}")
    tried = ", ".join(map(str, LOOPS_US))
    return [
        f"Slowest hybrid over the fastest version on the CPU, with {tried} µs a loop on the cores: {'; '.join(words)}."
    ]


def _trend() -> list[str]:
    """A sentence on the rise of the printed speedups of hybrid 3 with N, and what a setup could make of it."""
    at = {matrix.split()[0]: sizes for matrix, sizes, _ in systems() if "Poisson" in matrix}
    small, large = "4.5M", "6M"
    found = [over_cores(at[name], machine("k20m"), LIBRARY["pipecg cpu"]) for name in (small, large)]
    said = [printed()["claims"]["out_of_gpu_memory_k20m"][name] for name in (small, large)]
    needed = said[1] / said[0] / (found[1] / found[0])
    shared = POISSON_SIDES[large] / POISSON_SIDES[small]
    return [
        f"Not explained: the rise of the printed speedup from {said[0]:g} for {small} to {said[1]:g} for {large}, "
        f"where the model has {found[0]:.2f} and {found[1]:.2f}. The papers' times include the setup of hybrid 3; with "
        f"iterations that grow as the cells per side, a setup that more of them share raises it by "
        f"{100 * (shared - 1):.0f}% at most, "
        f"and {100 * (needed - 1):.0f}% are needed."
    ]
