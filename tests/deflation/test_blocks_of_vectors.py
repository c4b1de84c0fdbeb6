"""Deflation of many right-hand sides at once, against the same column by column and against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.all_pairs import on_devices
from tests.conftest import DTYPES, projection_of, random_values
from workbench.deflation.block_subspace import LONGEST_ROW, TOGETHER, _restriction
from workbench.deflation.subspace import DenseSubspace, PiecewiseConstant
from workbench.devices.programs.in_blocks import ColumnByColumn, in_blocks
from workbench.operators import Matrix
from workbench.registry import registered
from workbench.run import configure

VARIANTS = sorted(set(registered("variant")) - {"pcdeflation"})
"""That of PETSc takes columns one by one, on the cores alone; see test_pcdeflation.py."""


def hermitian(n, dtype):
    """The 5-point Laplacian of n x n points, complex ones with unit phases."""
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    A = sparse.kronsum(line, line).tocsr()
    if np.dtype(dtype).kind == "c":
        phases = sparse.diags_array(np.exp(2j * np.pi * np.random.default_rng(1).random(n * n)))
        A = phases @ A @ phases.conj()
    return sparse.csr_array(A.astype(dtype))


def space(name, size, dtype):
    """The subspace, and Z: labels, few dense vectors, or more than are read at once."""
    if name == "labels":
        labels = (np.arange(size) // 97).astype(np.int32)
        return PiecewiseConstant(labels), np.eye(labels.max() + 1)[labels]
    Z = random_values((size, 3 if name == "few" else TOGETHER + 1), dtype, 2)
    return DenseSubspace(Z), Z


@on_devices(s=[1, 3, 17], dtype=DTYPES, vectors=["labels", "few", "many"])
def test_block_vectors_are_projected_as_dense_algebra_says(device, case):
    s, dtype, n = case["s"], case["dtype"], 23
    A = hermitian(n, dtype)
    double = np.result_type(dtype, np.float64)
    subspace, Z = space(case["vectors"], n * n, dtype)
    projection = projection_of(Matrix(A), subspace, device=device)
    block = projection.block(s)
    assert block is projection.block(s)
    dense, Z = A.toarray().astype(double), Z.astype(double)
    Q = Z @ np.linalg.solve(Z.conj().T @ dense @ Z, Z.conj().T)
    P = np.eye(n * n) - dense @ Q
    V, B = random_values((n * n, s), dtype, 2), random_values((n * n, s), dtype, 2)[::-1].copy()

    def result(method, *others):
        made = device.zero_block(n * n, s, np.dtype(dtype))
        device.assign(made, device.array(V, np.dtype(dtype)))
        method(made, *(device.array(other, np.dtype(dtype)) for other in others))
        return device.to_host(made)

    close = {"rtol": 0, "atol": 2e4 * np.finfo(dtype).eps}
    np.testing.assert_allclose(result(block.project), P @ V, **close)
    np.testing.assert_allclose(result(block.project_transposed), P.conj().T @ V, **close)
    np.testing.assert_allclose(result(block.add_correction, B), V + Q @ B, **close)
    np.testing.assert_allclose(result(block.recover_solution, B), Q @ B + P.conj().T @ V, **close)
    out = device.zero_block(n * n, s, np.dtype(dtype))
    block.apply(device.array(V, np.dtype(dtype)), out)
    np.testing.assert_allclose(device.to_host(out), P @ (dense @ V), **close)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_levels_of_a_block_are_those_of_its_columns(variant, device):
    s = 5
    chosen = configure("two-layer", n=20, preconditioner="neumann:1", deflation="stripes", variant=variant)
    system = chosen.problem.assemble()
    operator, dtype = system.operator, system.operator.dtype
    labels = (np.arange(operator.shape[0]) // 37).astype(np.int32)
    projection = projection_of(operator, labels, device=device)
    both = chosen.variant.precondition(projection, chosen.preconditioner.setup(operator, device), device)
    block = in_blocks(device, both, operator.shape[0], s, dtype)
    columns = ColumnByColumn(device, both, operator.shape[0], s, dtype)
    R = device.array(random_values((operator.shape[0], s), dtype, 2), dtype)
    made = [device.zero_block(operator.shape[0], s, dtype) for _ in range(2)]
    for form, out in zip((block, columns), made, strict=True):
        form.apply(R, out)
    assert chosen.variant.projects_system or not isinstance(block, ColumnByColumn)
    np.testing.assert_allclose(*map(device.to_host, made), rtol=1e-11, atol=1e-9)


@settings(max_examples=60)
@given(st.lists(st.integers(1, 3 * LONGEST_ROW), min_size=1, max_size=6), st.integers(0, 2**31))
def test_sums_of_pieces_are_sums_of_subdomains(sizes, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))
    (order, starts), (pieces, ends) = _restriction(labels, len(sizes))
    ones = np.ones(labels.size)
    first = sparse.csr_array((ones, order, starts), shape=(starts.size - 1, labels.size))
    second = sparse.csr_array((ones[: pieces.size], pieces, ends), shape=(len(sizes), starts.size - 1))
    assert np.diff(starts).max() <= LONGEST_ROW
    np.testing.assert_array_equal((second @ first).toarray(), np.eye(len(sizes))[labels].T)


def test_an_inner_iteration_solves_column_by_column():
    A = hermitian(9, float)
    labels = (np.arange(81) // 10).astype(np.int32)
    right = random_values((9, 4), float, 2)
    direct, inner = (projection_of(Matrix(A), labels, name).solve_columns(right) for name in ("cholesky", "inner-cg"))
    np.testing.assert_allclose(inner, direct, rtol=1e-6)
