"""The 125-point problem of the hybrid papers, 4.5M unknowns: assembled, matrix-free, and in SciPy.

    python -m benchmarks poisson125 [--output FOLDER]

Each assembly and the matrix-free solve run in a separate process, so that its peak resident memory is known; that of
Python and the libraries is measured there too and listed separately. Products and iterations of Jacobi-CG are
interleaved; seconds are medians, ratios are medians of the ratios within a round. A size whose matrix does not fit into
the free memory is reported as not run.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import linalg

from benchmarks.common import attempts, interleaved, median_ratio
from workbench.devices import device
from workbench.devices.host import memory
from workbench.errors import InputError
from workbench.run import Run, Stopping, configure, run_through

SIDES = (60, 90, 165)
ITERATIONS = 10
ROUNDS = 7
GENERATION = """
import json, resource, sys, time
import psutil
from workbench.problems.poisson import Poisson125
Poisson125(n=4).assemble()
before = psutil.Process().memory_info().rss
begun = time.perf_counter()
csr = Poisson125(n=int(sys.argv[1])).assemble().operator.to_csr()
seconds = time.perf_counter() - begun
peak = 1024*resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
size = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes
print(json.dumps({"seconds": seconds, "csr_GB": 1e-9*size, "before_GB": 1e-9*before, "peak_GB": 1e-9*peak,
                  "peak_over_csr": (peak - before)/size}))
"""
SOLVE = """
import json, resource, sys
from workbench.run import Stopping, configure, run_through
from workbench.run import Run
chosen = configure("poisson125", {"n": int(sys.argv[1]), "form": "matrix-free"}, stopping=Stopping(rtol=1e-5))
result = run_through(Run(chosen))
print(json.dumps({"converged": result.converged, "iterations": result.iterations,
                  "setup_s": result.setup_seconds, "iterations_s": result.iteration_seconds,
                  "peak_GB": 1.024e-6*resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))
"""


def figures() -> dict[str, Any]:
    """What `python -m benchmarks` prints."""
    return attempts({f"n={n}": partial(measure, n) for n in SIDES})


def measure(n: int) -> dict[str, Any]:
    """Assembly, the matrix-free solve, and the comparison of the forms."""
    found: dict[str, Any] = {"matrix_free_solve": apart(SOLVE, n)}
    try:
        found["generation"] = apart(GENERATION, n)
        return found | side_by_side(n)
    except InputError as sentence:
        return found | {"not run": str(sentence)}


def apart(text: str, n: int) -> dict[str, Any]:
    """The JSON that a program prints in a separate process. Raises InputError with its last line."""
    done = subprocess.run([sys.executable, "-c", text, str(n)], capture_output=True, text=True)
    if done.returncode:
        raise InputError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def side_by_side(n: int) -> dict[str, Any]:
    """Milliseconds of a product and of an iteration of Jacobi-CG, and their ratios to matrix-free."""
    stopping = Stopping(rtol=1e-30, maxiter=ITERATIONS)
    chosen = {
        form: configure("poisson125", {"n": n, "form": form}, rhs="random", stopping=stopping)
        for form in ("assembled", "matrix-free")
    }
    systems = {form: configuration.problem.assemble() for form, configuration in chosen.items()}
    matrix = systems["assembled"].operator.to_csr()
    x = memory.vector(matrix.shape[0], matrix.dtype)
    x[:] = np.random.default_rng(0).random(x.size)
    y, inverse = memory.vector(x.size, x.dtype), 1 / matrix.diagonal()
    jacobi = linalg.LinearOperator(matrix.shape, matvec=lambda r: inverse * r, dtype=matrix.dtype)
    bound = {form: system.operator.bind(device("cpu")) for form, system in systems.items()}
    products: dict[str, Callable[[], Any]] = {
        form: lambda product=product: product.apply(x, y) for form, product in bound.items()
    }
    products["scipy"] = lambda: matrix @ x
    inside: dict[str, list[float]] = {form: [] for form in chosen}

    def ours(form: str) -> None:
        result = run_through(Run(chosen[form], systems[form]))
        inside[form].append(statistics.median(np.diff(result.history["seconds"])))

    solves: dict[str, Callable[[], Any]] = {form: lambda form=form: ours(form) for form in chosen}
    solves["scipy"] = lambda: linalg.cg(matrix, x, rtol=1e-30, atol=0, maxiter=ITERATIONS, M=jacobi)
    of_products, of_solves = interleaved(products, ROUNDS), interleaved(solves, ROUNDS)
    # The first round of `interleaved` warms up and is not among its times.
    iterations = {form: taken[1:] for form, taken in inside.items()}
    iterations["scipy"] = [taken / ITERATIONS for taken in of_solves["scipy"]]
    return {
        "N": x.size,
        "nnz": int(matrix.nnz),
        "product": compared(of_products),
        "product_GB_per_s": {
            form: 1e-9 * product.traffic / statistics.median(of_products[form]) for form, product in bound.items()
        },
        "iteration": compared(iterations),
    }


def compared(seconds: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """Milliseconds, and the ratio to matrix-free and to SciPy in the same round."""
    return {
        name: {
            "ms": 1e3 * statistics.median(taken),
            "over_matrix_free": median_ratio(taken, seconds["matrix-free"]),
            "scipy_over_this": median_ratio(seconds["scipy"], taken),
        }
        for name, taken in seconds.items()
    }
