"""The model of ranks next to two published curves of strong scaling, those of CG and of pipelined CG on Mox."""

from __future__ import annotations

import dataclasses
import functools
import tomllib
from typing import Any

import numpy as np

from workbench.extensions.models.one_rank import OneRank, one_rank_of
from workbench.extensions.models.ranks_model import cluster, overtakes, scaling_on_ranks
from workbench.files.data_files import data_folder
from workbench.lazy import sparse
from workbench.machines.profile import Number, Profile
from workbench.operators import Matrix
from workbench.problems import LinearSystem
from workbench.run import Run, Stopping, configure
from workbench.run.choices.in_memory import InMemoryProblem

SOLVERS = ("cg", "pipecg")
TRACED = 20_000
"""Rows of the band matrix that is traced."""
FITTED = (0, -1)
"""The points of CG from which bandwidth and latency are taken, where they are fitted: one node, and the most."""


@dataclasses.dataclass(frozen=True)
class Curve:
    """Seconds of an iteration on these numbers of ranks, published and modelled."""

    solver: str
    ranks: tuple[int, ...]
    published: tuple[float, ...]
    modelled: tuple[float, ...]
    fitted: tuple[int, ...] = ()
    """The points that the model was fitted to; all others are predictions."""

    @property
    def ratios(self) -> np.ndarray:
        """Modelled over published, of the predictions."""
        kept = [at for at in range(len(self.ranks)) if at not in self.fitted]
        return np.array(self.modelled)[kept] / np.array(self.published)[kept]


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Both curves with the numbers of a cluster. crossing: ranks from which on pipelined CG takes less than CG,
    published and modelled."""

    machine: Profile
    curves: tuple[Curve, ...]
    crossing: tuple[int | None, int | None]


@functools.cache
def published() -> dict[str, Any]:
    """The numbers and their source."""
    path = data_folder() / "measured" / "mox_strong_scaling.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def compared(*, fitted: bool) -> Comparison:
    """The published curves and the modelled ones.

    fitted: with the bandwidth of a node and the latency of the network from two points of CG, one node and the most,
    since PETSc ran with threads for asynchronous progress, and a message then takes far longer than by specification;
    else with the specifications. Cost: some seconds for traces of band matrices.
    """
    found = published()
    machine = cluster(found["cluster"])
    per_node = int(machine.required("ranks_per_node").value)
    ranks = tuple(nodes * per_node for nodes in found["nodes"])
    seconds = {name: tuple(value / found["iterations"] for value in found[name]) for name in SOLVERS}
    ones = {name: _one_rank(name) for name in SOLVERS}
    if fitted:
        machine = _fitted(machine, ones["cg"], ranks, seconds["cg"])
    modelled = {name: _modelled(ones[name], machine, ranks) for name in SOLVERS}
    curves = tuple(
        Curve(name, ranks, seconds[name], modelled[name], _places(ranks) if fitted and name == "cg" else ())
        for name in SOLVERS
    )
    crossing = overtakes(ranks, seconds["cg"], seconds["pipecg"]), overtakes(ranks, modelled["cg"], modelled["pipecg"])
    return Comparison(machine, curves, crossing)


def _places(ranks: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(at % len(ranks) for at in FITTED)


def _modelled(one: OneRank, machine: Profile, ranks: tuple[int, ...]) -> tuple[float, ...]:
    times = scaling_on_ranks(one, machine, ranks, n=published()["unknowns"])
    return tuple(float(value or np.nan) for value in times)


def _fitted(machine: Profile, cg: OneRank, ranks: tuple[int, ...], seconds: tuple[float, ...]) -> Profile:
    """The machine with the bandwidth and the network latency of two points: times are linear in 1/bandwidth on one
    node but for the latencies there, and in the latency on several."""
    first, last = (ranks[at] for at in FITTED)

    def time(count: int, **numbers: float) -> float:
        return _modelled(cg, _with(machine, **numbers), (count,))[0]

    wide = machine.bandwidth.value
    rest = 2 * time(first, bandwidth_nominal=2 * wide) - time(first, bandwidth_nominal=wide)
    bandwidth = wide * (time(first) - rest) / (seconds[FITTED[0]] - rest)
    machine = _with(machine, bandwidth_nominal=bandwidth)
    none, some = time(last, network_latency=0.0), time(last, network_latency=1e-3)
    return _with(machine, network_latency=1e-3 * (seconds[FITTED[1]] - none) / (some - none))


def _with(machine: Profile, **numbers: float) -> Profile:
    made = {name: Number(value, "assumed", "fitted to the published times") for name, value in numbers.items()}
    return dataclasses.replace(machine, **made)


def _one_rank(solver: str) -> OneRank:
    """An iteration with a band of the same width, without a preconditioner."""
    reach = published()["reach"]
    band = sparse.csr_array((TRACED, TRACED))
    for k in range(-reach, reach + 1):
        band = band + sparse.diags_array(np.full(TRACED - abs(k), 1e-4 if k else 2.0), offsets=k, format="csr")
    system = LinearSystem(Matrix(sparse.csr_array(band)), np.ones(TRACED))
    chosen = configure(
        InMemoryProblem(), solver=solver, preconditioner="none", rhs="random", stopping=Stopping(rtol=1e-300)
    )
    return one_rank_of(Run(chosen, system, trace=True))
