"""Z in the two shapes that it comes in: one label per unknown, or vectors without structure."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from workbench.arrays import cast, exact
from workbench.deflation.compact import compact_az, galerkin
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.operators import BoundOperator, Operator
from workbench.operators.matrix import check_indices

DEPENDENT = 1e-12
"""A combination of unit vectors shorter than this counts as zero."""
NULL = 1e-10
"""A vector counts as one of A's null space when its energy is below this times the largest."""
ROUNDED = 16
"""Rounding in (v, A v) of a unit null vector: this times eps times the largest diagonal entry of A."""


@dataclasses.dataclass(frozen=True, eq=False)
class Placed:
    """A subspace on a device with what its projection needs.

    z: restrict(w) = Z^H w and add(x, a) = x + Z a. az: subtract(w, a) = w - AZ a. matrix: E = Z^H A Z, shape (d, d).
    lengths: the norm of each column of Z, shape (d,).
    """

    z: Any
    az: Any
    matrix: sparse.csr_array
    lengths: np.ndarray
    notes: tuple[str, ...] = ()


class Subspace:
    """Base of both; `labels` is None where the vectors are not piecewise constant."""

    labels: np.ndarray | None = None

    def place(self, operator: Operator, bound: BoundOperator, device: Device) -> Placed:
        """Put Z and AZ on the device and form E. Raises InputError for a Z that cannot deflate A."""
        raise TypeError


class PiecewiseConstant(Subspace):
    """One vector a subdomain: 1 inside, 0 outside. Only the labels 0..d-1, shape (N,), are stored.

    Raises InputError for a subdomain without unknowns.
    """

    def __init__(self, labels: np.ndarray) -> None:
        self.labels = labels
        self.sizes = np.bincount(labels)
        if not self.sizes.all():
            raise InputError(
                f"deflation subdomain {int(np.argmin(self.sizes))} of {self.sizes.size} holds no unknown; renumber them"
            )

    def place(self, operator: Operator, bound: BoundOperator, device: Device) -> Placed:
        assert self.labels is not None
        count = self.sizes.size
        az = compact_az(operator, self.labels, count)
        return Placed(
            device.subdomains(self.labels, count, operator.dtype),
            device.compact_columns(az),
            galerkin(az, self.labels, count),
            np.sqrt(self.sizes),
        )


class SpannedBy(Subspace):
    """The span of any vectors, the columns of `vectors`, shape (N, d).

    Z becomes the Ritz vectors of A in that span: orthonormal, E diagonal. Columns that depend on others are left out,
    and so are directions that A maps to zero, which leave the span of AZ as it is; both are noted. Memory 2 d vectors
    (Z and AZ), setup d products with A and some 8 N d^2 flops, an application 4 N d flops. Raises InputError for
    entries that are not finite, and for an A that is indefinite in the span.
    """

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = np.asarray(vectors)

    def place(self, operator: Operator, bound: BoundOperator, device: Device) -> Placed:
        size, given = operator.shape[0], self.vectors.shape[-1]
        if self.vectors.shape != (size, given):
            raise InputError(f"deflation vectors have shape {self.vectors.shape}, but the matrix has {size} rows")
        if not np.isfinite(self.vectors).all():
            raise InputError("deflation vectors hold NaN or infinity; entries must be finite")
        wide = np.result_type(operator.dtype, np.float64)
        z = _orthonormal(_orthonormal(cast(self.vectors, wide, "a deflation vector"))).astype(operator.dtype)
        notes = [f"{given - z.shape[1]} dependent deflation vectors were left out"] if z.shape[1] < given else []
        az = np.empty(z.shape[::-1], operator.dtype)
        product = device.zeros(size, operator.dtype)
        for k in range(z.shape[1]):
            bound.apply(device.array(z[:, k], operator.dtype), product)
            az[k] = device.to_host(product)
        energies, rotation = np.linalg.eigh(z.conj().T.astype(wide) @ az.T)
        zero = max(NULL, np.finfo(operator.dtype).eps) * np.abs(energies).max(initial=0)
        kept = energies > zero
        if (energies < -max(zero, rounding(operator))).any():
            raise InputError(
                f"a deflation vector v has (v, A v) = {energies[0]:.3g}, but CG needs A positive definite; "
                "check the matrix"
            )
        if not kept.all():
            notes.append(f"E is singular: {int((~kept).sum())} deflation vectors that A maps to zero were left out")
        rotation = rotation[:, kept]
        return Placed(
            device.columns((rotation.T @ z.T).astype(operator.dtype)),
            device.columns((rotation.T @ az).astype(operator.dtype)),
            sparse.csr_array(sparse.diags_array(energies[kept]).astype(operator.dtype)),
            np.ones(rotation.shape[1]),
            tuple(notes),
        )


def rounding(operator: Operator) -> float:
    """The energy, of either sign, that rounding can give a unit vector of A's null space; 0 for a hidden A."""
    try:
        return ROUNDED * float(np.finfo(operator.dtype).eps * np.abs(operator.diagonal()).max())
    except InputError:
        return 0.0


def _orthonormal(vectors: np.ndarray) -> np.ndarray:
    """A basis of the span by the singular vectors of unit columns: two calls make it orthonormal to rounding."""
    lengths = np.linalg.norm(vectors, axis=0)
    vectors = vectors[:, lengths > 0] / lengths[lengths > 0]
    squares, rotation = np.linalg.eigh(vectors.conj().T @ vectors)
    kept = squares > DEPENDENT
    return vectors @ (rotation[:, kept] / np.sqrt(squares[kept]))


def as_subspace(Z: Any, size: int) -> Subspace:
    """A user's Z for N = `size` unknowns: labels of shape (N,), or vectors of shape (N, d), dense or sparse.

    Columns that are one constant each and do not overlap become labels. Raises InputError for whatever does not fit.
    """
    if not sparse.issparse(Z):
        if isinstance(Z, np.ma.MaskedArray):
            raise InputError("Z is a masked array; fill the masked entries: Z.filled(value)")
        try:
            Z = np.asarray(Z)
        # Ragged lists, and what lies on a device.
        except Exception as error:
            raise InputError(f"Z is no array of numbers: {error}") from None
    if Z.ndim not in (1, 2) or Z.shape[0] != size or 0 in Z.shape:
        raise InputError(
            f"deflation vectors have shape {Z.shape}, but the matrix has {size} rows; "
            f"give labels of shape ({size},) or vectors of shape ({size}, d)"
        )
    if Z.ndim == 1:
        return PiecewiseConstant(_checked_labels(Z))
    if sparse.issparse(Z):
        check_indices(Z, "Z")
        Z = sparse.csc_array(Z)
        Z = sparse.csc_array((exact(Z.data, "Z"), Z.indices, Z.indptr), shape=Z.shape)
    else:
        Z = exact(Z, "Z")
    labels = _labels_of(sparse.csc_array(Z))
    if labels is not None:
        return PiecewiseConstant(labels)
    return SpannedBy(Z.toarray() if sparse.issparse(Z) else Z)


def _checked_labels(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind not in "iu":
        raise InputError(
            f"labels of deflation subdomains are whole numbers 0..d-1, got {labels.dtype}; "
            "for a single vector give an array of shape (N, 1)"
        )
    if labels.min() < 0 or labels.max() >= labels.size:
        raise InputError(
            f"labels of deflation subdomains are numbers 0..d-1 with d at most {labels.size}, "
            f"got {labels.min()} to {labels.max()}"
        )
    return labels.astype(np.int32)


def _labels_of(columns: sparse.csc_array) -> np.ndarray | None:
    """The labels that say the same as these columns, or None."""
    columns = columns.copy()
    columns.eliminate_zeros()
    counts = np.diff(columns.indptr)
    if columns.nnz != columns.shape[0] or not counts.all() or np.unique(columns.indices).size != columns.nnz:
        return None
    firsts = np.repeat(columns.data[columns.indptr[:-1]], counts)
    if not np.array_equal(columns.data, firsts):
        return None
    labels = np.empty(columns.shape[0], np.int32)
    labels[columns.indices] = np.repeat(np.arange(columns.shape[1], dtype=np.int32), counts)
    return labels
