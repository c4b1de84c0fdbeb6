"""Every public function that hands an array to a kernel gives the right answer, or refuses it in one sentence."""

import functools
import inspect

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

from scripts.reference import public
from workbench.deflation import DenseSubspace, PiecewiseConstant, as_subspace
from workbench.devices.slices import PlaneSlice
from workbench.errors import InputError
from workbench.operators import BandStencil, LinearOperatorAdapter, TwoPhaseStencil, as_operator
from workbench.problems import LinearSystem
from workbench.run import Run, configure, prepare, run_through, solve
from workbench.run.choices.in_memory import InMemoryProblem
from workbench.spectra import preconditioned

N = 36
GRID = (6, 6)
VALUES = np.random.default_rng(0).permutation(N) + 1.0


@functools.cache
def system():
    return configure("poisson5", n=6).problem.assemble()


@functools.cache
def prepared():
    return prepare(system())


def matrix():
    return system().operator.to_csr()


def run_of(b, x0=None):
    result = run_through(Run(configure(InMemoryProblem()), LinearSystem(system().operator, b, grid=GRID), x0))
    return matrix() @ result.x


def with_nullspace(v):
    return solve(sparse.diags_array(np.r_[0.0, np.ones(N - 1)]) if v is None else matrix(), np.ones(N), nullspace=v)


ONE = np.ones(N)
OPERATOR = linalg.LinearOperator((N, N), lambda x: VALUES * x, dtype=np.float64)
# By name: the function of a vector, and what it returns of a right one, None where that is not compared.
VECTORS = {
    "Prepared.product(x)": (lambda v: prepared().product(v), lambda v: matrix() @ v),
    "Prepared.precondition(r)": (lambda v: prepared().precondition(v), lambda v: v / 4),
    "Prepared.solve(b)": (lambda v: matrix() @ prepared().solve(v).x, lambda v: v),
    "Prepared.solve(x0)": (lambda v: matrix() @ prepared().solve(ONE, v).x, lambda v: ONE),
    "solve(b)": (lambda v: matrix() @ solve(matrix(), v).x, lambda v: v),
    "solve(x0)": (lambda v: matrix() @ solve(matrix(), ONE, v).x, lambda v: ONE),
    "solve(diagonal)": (lambda v: VALUES * solve(OPERATOR, ONE, diagonal=v).x, lambda v: ONE),
    "solve(nullspace)": (with_nullspace, None),
    "LinearSystem(given_b)": (run_of, lambda v: v),
    "Run(x0)": (lambda v: run_of(ONE, v), lambda v: ONE),
    "LinearSystem(null_space)": (lambda v: LinearSystem(system().operator, ONE, null_space=v), None),
    "LinearSystem(near_null)": (lambda v: LinearSystem(system().operator, ONE, near_null=column(v)), None),
    "preconditioned(v)": (lambda v: preconditioned(configure("poisson5", n=6), v), lambda v: v / 4),
    "LinearOperatorAdapter(main)": (lambda v: LinearOperatorAdapter(OPERATOR, main=v).diagonal(), lambda v: v),
    "LinearOperatorAdapter.with_diagonal(main)": (
        lambda v: LinearOperatorAdapter(OPERATOR).with_diagonal(v).diagonal(),
        lambda v: v,
    ),
    "LinearSystem(coefficients)": (lambda v: LinearSystem(system().operator, ONE, coefficients=v), None),
    "DenseSubspace(vectors)": (lambda v: deflated(DenseSubspace(column(v))), None),
    "BandStencil(main)": (lambda v: BandStencil((N,), v, (0 * ONE,)).to_csr().diagonal(), lambda v: v),
    "PlaneSlice(vector)": (lambda v: PlaneSlice(0, (6, 1), GRID)(v).ravel(), lambda v: v),
}
NOT_CONVERTED = {"BandStencil(main)", "PlaneSlice(vector)"}
NOT_CONVERTED |= {f"LinearSystem({name})" for name in ("given_b", "coefficients", "near_null")}
"""Functions that want arrays as they are, and refuse what others convert."""
UNCHECKED_VALUES = {"PlaneSlice(vector)"}
UNCHECKED_VALUES |= {f"LinearSystem({name})" for name in ("coefficients", "null_space", "near_null")}
"""Nothing is computed with the entries."""


def deflated(space):
    device = prepared()._setup.device
    return space.bind(system().operator, system().operator.bind(device), device)


def column(values):
    """The same as a matrix of one column, where it is a vector."""
    if isinstance(values, list):
        return [[value] for value in values]
    return values[:, None] if np.ndim(values) == 1 else values


def outcome(function, values):
    """The one sentence by which values are refused, or an empty one, and what the function returned."""
    try:
        return "", function(values)
    except InputError as error:
        refused = str(error)
    assert refused
    assert "\n" not in refused
    return refused, None


def masked(values):
    return np.ma.masked_array(values, np.arange(values.size) == 1)


def read_only(values):
    copied = values.copy()
    copied.flags.writeable = False
    return copied


SHAPES = {
    "too short": lambda v: v[:-1],
    "one entry": lambda v: v[:1],
    "too long": lambda v: np.append(v, v[:1]),
    "2-D": lambda v: np.stack([v, v]),
    "a number": lambda v: v[0],
    "None": lambda v: None,
}
ENTRIES = {
    "object": lambda v: v.astype(object),
    "text": lambda v: v.astype(str),
    "NaN": lambda v: np.where(np.arange(v.size) == 3, np.nan, v),
    "infinity": lambda v: np.where(np.arange(v.size) == 3, np.inf, v),
    "masked": masked,
}
RIGHT = {
    "strided": lambda v: np.repeat(v, 2)[::2],
    "reversed": lambda v: v[::-1].copy()[::-1],
    "read-only": read_only,
}
CONVERTED = {
    "list": lambda v: v.tolist(),
    "integers": lambda v: v.astype(np.int16),
    "other byte order": lambda v: v.astype(v.dtype.newbyteorder(">")),
    "column": column,
}


@pytest.mark.parametrize("kind", [*SHAPES, *ENTRIES, *RIGHT, *CONVERTED, "complex"])
@pytest.mark.parametrize("name", VECTORS)
def test_a_vector_is_refused_in_a_sentence_or_gives_the_right_answer(name, kind):
    function, answer = VECTORS[name]
    made = {**SHAPES, **ENTRIES, **RIGHT, **CONVERTED, "complex": lambda v: v * 1j}[kind](VALUES)
    may_refuse = kind not in RIGHT and not (kind in CONVERTED and kind != "column" and name not in NOT_CONVERTED)
    refused, found = outcome(function, made)
    if refused:
        assert may_refuse or name == "solve(nullspace)", refused
        return
    optional = {"Prepared.solve(x0)", "solve(x0)", "Run(x0)", "solve(nullspace)", "solve(diagonal)"}
    allowed_none = kind == "None" and name in {*optional, *UNCHECKED_VALUES, "LinearOperatorAdapter(main)"}
    assert allowed_none or kind not in SHAPES or (name, kind) == ("PlaneSlice(vector)", "too long"), found
    assert kind not in ENTRIES or name in UNCHECKED_VALUES, found
    if answer and kind in {**RIGHT, **CONVERTED}:
        expected = answer(np.asarray(made, float).reshape(-1))
        np.testing.assert_allclose(np.ravel(found), expected, atol=1e-4 * np.abs(expected).max())


LABELS = np.arange(N) // 6


def bound_labels(labels):
    return deflated(PiecewiseConstant(labels)).matrix.toarray()


INTEGERS = {
    "PiecewiseConstant(labels)": bound_labels,
    "as_subspace(labels)": lambda v: deflated(as_subspace(v, N)).matrix.toarray(),
    "LinearSystem(phase)": lambda v: LinearSystem(system().operator, ONE, phase=v).phase,
}


@pytest.mark.parametrize("kind", [*SHAPES, "object", "text", "masked", "negative", "too large", "floats", *RIGHT])
@pytest.mark.parametrize("name", INTEGERS)
def test_labels_and_phases_are_refused_in_a_sentence_or_right(name, kind):
    more = {"negative": lambda v: v - 1, "too large": lambda v: v + N, "floats": lambda v: v + 0.5}
    made = {**SHAPES, **ENTRIES, **RIGHT, **more}[kind](LABELS)
    refused, found = outcome(INTEGERS[name], made)
    if refused:
        assert kind not in RIGHT
        return
    of_phases = name == "LinearSystem(phase)" and kind == "None"
    # Phases may be any numbers, and labels that leave some out are renumbered.
    of_numbers = kind == "too large" and name in {
        "LinearSystem(phase)",
        "PiecewiseConstant(labels)",
        "as_subspace(labels)",
    }
    of_vectors = name == "as_subspace(labels)" and kind == "2-D"
    assert kind in RIGHT or of_phases or of_vectors or of_numbers
    if kind in RIGHT:
        np.testing.assert_array_equal(found, INTEGERS[name](LABELS))


@pytest.mark.parametrize("grid", [(7, 9), (36, 2), (6,), ()])
def test_a_grid_has_as_many_cells_as_the_matrix_has_rows(grid):
    with pytest.raises(InputError, match="cells, but the matrix has 36 rows"):
        LinearSystem(as_operator(matrix()), ONE, grid=grid)


def test_codes_of_faces_are_those_of_the_grid():
    faces = configure("two-layer", n=6).problem.assemble().operator.faces
    with pytest.raises(InputError, match="has 35 cells, but there are codes of 36"):
        TwoPhaseStencil((5, 7), faces)


ELSEWHERE = {
    # Tests of their own: A, M and Z (run/test_bad_input, run/test_boundary), updates (run/test_prepared).
    *(f"{call}({name})" for call in ("solve", "prepare") for name in ("A", "M", "deflation", "nullspace", "more")),
    "Prepared.update(values)", "Prepared.update(moved)", "BandStencil(lower)", "check_diagonal(diagonal)",
    # The same checks as those of Run.
    "Session(x0)", "start_run(x0)",
    # What a run returns, choices, and scalars of a history, of which no kernel is made.
    "Result(x)", "PreparedResult(x)", "configure(more)", "sweep(choices)", "estimates(exact)",
    *(f"Estimates({name})" for name in ("bound", "bound_so_far", "lower", "true", "upper")),
    # Of the authors of blocks: the arrays are those of the library.
    *(f"LinearOperatorAdapter.plus_diagonal({name})" for name in ("values", "main", "rows")),
    "Deflation.labels(phase)", "Deflation.labels_and_boxes(phase)", "DeflationContext(phase)",
    "DeflationContext(near_null)", "Deflation.labels_of(phase)", "Matrix.in_order(order)", "LinearSystem(order)",
    "PiecewiseConstant.earlier(cells)", "Preconditioner.renewed(cells)", "Projection.drift_of(restricted)",
    "Projection.solve_columns(coarse)", "Stencil(assemble)", "TwoPhaseStencil(assemble)",
    *(f"{kind}.box_matrix(labels)" for kind in ("Stencil", "BandStencil", "TwoPhaseStencil")),
    *(f"{kind}.moved({name})" for kind in ("Stencil", "TwoPhaseStencil") for name in ("phase", "cells")),
}  # fmt: skip
COMPUTING = {"run", "problems", "operators", "deflation", "spectra", "costs", "devices", "preconditioners", "solvers"}
"""Modules with kernels; pictures, records and lessons compute with NumPy."""


def taking_arrays():
    """The arguments of public functions, classes and methods that may be arrays."""
    for module, name, each in public():
        if module.partition(".")[0] not in COMPUTING or not callable(each):
            continue
        methods = vars(each).items() if inspect.isclass(each) else ()
        calls = [(name, each), *((f"{name}.{key}", value) for key, value in methods if inspect.isfunction(value))]
        for called, function in calls:
            if "._" in called:
                continue
            for argument in inspect.signature(function).parameters.values():
                kind = str(argument.annotation)
                if "ndarray" in kind or (module == "run" and kind == "Any"):
                    yield f"{called}({argument.name})"


def test_every_public_argument_that_may_be_an_array_is_tried_here_or_named():
    assert set(taking_arrays()) - ELSEWHERE - VECTORS.keys() - INTEGERS.keys() == set()
