"""Subdomain solves on four local Dask workers, compared with those in this process, by the size of a box.

    python -m benchmarks cluster [--output FOLDER] [--quick]

One application of the box solves of `schwarz:2x2,overlap=4` on poisson-fd: here, boxes side by side on all cores, and
on workers, one box each. Rounds are interleaved, figures are medians. Workers share the cores of this machine, so that
the difference is what the cluster costs: messages through the loopback device, Dask, and more processes than cores.

`sums` are the inner products and the step of an iteration of `mpcg` with the same boxes and workers, computed here and
by workers in a tree, with the messages and bytes of the step.

`modelled` is not measured: 100 machines with a box each and one network link to the first, by `modelled_seconds`.
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import attempts, interleaved
from workbench import devices
from workbench.extensions.dask.box_workers import BoxWorkers
from workbench.registry import blocks as registry
from workbench.run import configure
from workbench.solvers.multi.directions import InnerProducts

WORKERS = 4
OVERLAP = 4
TERMS = 20
"""Iterations whose terms are kept."""
SIZES = (200, 400, 600, 800, 1000)
COEFFICIENTS = {"eigenvectors": "1", "sparse factors": "1 + x*y"}
"""By how boxes are solved: with these coefficients a box is a Kronecker sum, or is not."""
MACHINES = 10
"""Machines, and boxes, per side of the grid in the model."""


class Network(NamedTuple):
    """Assumptions of the model. flops: per second, of a machine. handling: seconds of the first machine per request and
    reply, to pack, send and unpack. round_trip: seconds of a message to a machine and back. bandwidth: bytes per second
    of the first machine's link in one direction."""

    flops: float
    handling: float
    round_trip: float = 2e-4
    bandwidth: float = 1.25e9


def figures(*, quick: bool = False) -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    sizes, rounds = ((100,), 3) if quick else (SIZES, 15)
    workers = BoxWorkers(f"local:{WORKERS}")
    try:
        cases = {
            f"{how}, n={n}": partial(application, workers, n, a, rounds)
            for how, a in COEFFICIENTS.items()
            for n in sizes
        }
        found = attempts(cases)
        found["sums"] = attempts({f"n={n}": partial(sums, workers, n, rounds) for n in sizes})
    finally:
        workers.close()
    smallest, largest = (found[f"eigenvectors, n={n}"] for n in (sizes[0], sizes[-1]))
    network = Network(
        flops=WORKERS * largest["GFLOP per box"] / largest["here, ms"] * 1e12,
        handling=1e-3 * smallest["messages per worker, ms"] / WORKERS,
    )
    found["modelled"] = {
        "assumptions": network._asdict(),
        **{f"n={n}": modelled(n, network) for n in (1000, 4000, 10000)},
    }
    return found


def application(workers: BoxWorkers, n: int, a: str, rounds: int) -> dict[str, float]:
    """Milliseconds of an application here and on workers, their difference, and what workers did in it."""
    system = configure("poisson-fd", n=n, a=a).problem.assemble()
    M: Any = registry.find("preconditioner", f"schwarz:2x2,overlap={OVERLAP}")
    device, size = devices.device("cpu"), system.operator.shape[0]
    members = {
        "here": M.setup_of(system, device).members[0],
        "workers": M.setup_of(system, device, workers).members[0],
    }
    r = np.random.default_rng(0).standard_normal(size)
    z = {name: np.zeros(member.vectors.pieces.local_size) for name, member in members.items()}
    seconds = interleaved({name: partial(member.apply, r, z[name]) for name, member in members.items()}, rounds)
    assert np.allclose(z["here"], z["workers"], rtol=1e-9, atol=1e-12 * np.abs(z["here"]).max())
    # The first application is not timed by `interleaved` either.
    compute, transfer, waiting = np.median(members["workers"].solver.times[1:], axis=0).tolist()
    here, there = (1e3 * statistics.median(seconds[name]) for name in ("here", "workers"))
    local = members["here"].vectors.pieces.local_size
    return {
        "unknowns per box": local // WORKERS,
        "MB sent and received": 16e-6 * local,
        "GFLOP per box": 1e-9 * members["here"].flops / WORKERS,
        "here, ms": here,
        "workers, ms": there,
        "overhead, ms": there - here,
        "compute per worker, ms": 1e3 * compute,
        "messages per worker, ms": 1e3 * transfer,
        "waiting per worker, ms": 1e3 * waiting,
    }


def sums(workers: BoxWorkers, n: int, rounds: int) -> dict[str, float]:
    """Milliseconds of the inner products and of the step of an iteration, here and on workers, with TERMS terms of each
    box; and what is sent for the step."""
    system = configure("poisson-fd", n=n).problem.assemble()
    device, operator = devices.device("cpu"), system.operator
    M: Any = registry.find("preconditioner", f"schwarz:2x2,overlap={OVERLAP}")
    several = M.setup_of(system, device, workers)
    products = {
        "here": InnerProducts(several, operator.bind(device), device, operator.dtype),
        "workers": several.members[0].sums_on_workers(),
    }
    rng, kept = np.random.default_rng(0), []
    r = np.zeros(operator.shape[0])
    for _ in range(TERMS):
        r[:] = rng.standard_normal(r.size)
        kept.append(several.zeros())
        products["workers"].terms(r, kept[-1])
        columns = products["workers"].columns(kept)

    def computed(name: str) -> np.ndarray:
        products[name].multiply(kept[-1], r)
        return products[name].columns(kept)

    steps = {name: np.zeros(r.size) for name in products}
    weights = rng.standard_normal((TERMS, several.count))

    def combined(name: str) -> np.ndarray:
        products[name].combine(kept, weights, steps[name])
        return steps[name]

    assert np.allclose(computed("here"), columns, rtol=1e-9, atol=1e-12 * np.abs(columns).max())
    assert np.allclose(combined("here"), combined("workers"), rtol=1e-9, atol=1e-12 * np.abs(steps["here"]).max())
    found: dict[str, float] = {}
    for what, compute in {"inner products": computed, "step": combined}.items():
        seconds = interleaved({name: partial(compute, name) for name in products}, rounds)
        found |= {f"{what} {name}, ms": 1e3 * statistics.median(seconds[name]) for name in products}
    messages, nbytes = products["workers"].sent_for_step(TERMS)
    return {**found, "messages of the step": messages, "MB of the step": 1e-6 * nbytes}


def modelled(n: int, network: Network) -> dict[str, float]:
    """Milliseconds of an application on one machine and on all, box solves by eigenvectors."""
    side, boxes = (n - 1) // MACHINES + 2 * OVERLAP, MACHINES**2
    solve = 8 * side**3 / network.flops
    return {
        "unknowns per box": side**2,
        "one machine, ms": 1e3 * boxes * solve,
        "100 machines, ms": 1e3 * modelled_seconds(boxes, 8 * side**2, solve, network),
        "of that solves, ms": 1e3 * solve,
    }


def modelled_seconds(boxes: int, nbytes: int, solve: float, network: Network) -> float:
    """An application with a machine per box. The first machine handles all requests and replies one after another, and
    its link carries all boxes in one direction and then in the other; a solve and a round trip are not hidden."""
    return boxes * (network.handling + 2 * nbytes / network.bandwidth) + network.round_trip + solve
