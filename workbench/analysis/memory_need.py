"""The memory that a solve with a pair of levels takes, and that a device has."""

from __future__ import annotations

import psutil

from workbench import devices
from workbench.analysis.candidates import MULTILEVEL, LevelPair
from workbench.errors import InputError
from workbench.operators import Operator, Stencil, TwoPhaseStencil

VECTORS = 9
"""b, x, the residual, the best x, and those of CG and its checks."""
WORDS = {"none": 0, "jacobi": 1, "neumann": 6, "block-ic": 6, "ic": 6, "mic": 6, "ssor": 6, "chebyshev": 3, "mg": 6}
"""Vectors of a first level on a stencil, factors and work space included."""
MATRIX_WORDS = {"fsai": 24, "amg": 75, "amgx": 60}
"""The same for first levels that assemble A: CSR of 7 entries takes 11, and hierarchies several times that."""
PER_VECTOR = 120
"""Bytes of the levels per deflation vector; see coarse solver multilevel."""


def needed(pair: LevelPair, operator: Operator, cells: float, dimensions: int) -> float:
    """Bytes of a solve, about. operator: A on a grid with `cells` times fewer unknowns."""
    size = operator.shape[0] * cells
    name = pair.preconditioner.partition(":")[0]
    words = VECTORS + WORDS.get(name, MATRIX_WORDS.get(name, 10))
    if isinstance(operator, TwoPhaseStencil):
        matrix = 1.0
        # Bands are made where a first level asks for them.
        words += 0 if name in ("none", "jacobi", "neumann", "mg") else dimensions + 1
    else:
        matrix = 8.0 * (dimensions + 1) if isinstance(operator, Stencil) else 12.0 * operator.nnz / operator.shape[0]
    total = size * (8.0 * words + matrix)
    kind, _, argument = pair.deflation.partition(":")
    if kind == "none":
        return total
    # Labels and AZ.
    total += 16.0 * size
    parts = float(argument) if argument else (size ** (1 / dimensions))
    vectors = parts**dimensions if argument else 2 * parts ** (dimensions - 1)
    if pair.coarse == MULTILEVEL:
        return total + PER_VECTOR * vectors
    return total + 8 * vectors * parts ** max(0, dimensions - 1)


def available(device: str) -> float:
    """Bytes that a solve may take on a device now. Raises InputError for one that cannot be used."""
    room = devices.device(device).room(0)
    return float(psutil.virtual_memory().available if room is None else room)


def refusal(pair: LevelPair, operator: Operator, cells: float, dimensions: int) -> str:
    """Why a pair does not fit, as a sentence; empty if it does."""
    try:
        room = available(pair.device)
    except InputError as error:
        return str(error)
    need = needed(pair, operator, cells, dimensions)
    if need <= room:
        return ""
    return f"needs about {need / 1e9:.3g} GB, and device {pair.device} has {room / 1e9:.3g} GB"
