"""Operators A in host memory: matrix-free stencils and boxes, CSR matrices, adapters for SciPy LinearOperators."""

from workbench.operators.base import BoundOperator, Operator, Size, stored_bytes
from workbench.operators.box_stencil import BoxStencil
from workbench.operators.conversion import as_operator
from workbench.operators.linear_operator import LinearOperatorAdapter
from workbench.operators.matrix import ComplexSymmetricMatrix, Matrix, UnsymmetricMatrix
from workbench.operators.stencil import BandStencil, Stencil, check_diagonal
from workbench.operators.two_phase import TwoPhaseStencil

__all__ = [
    "BandStencil",
    "BoundOperator",
    "BoxStencil",
    "ComplexSymmetricMatrix",
    "LinearOperatorAdapter",
    "Matrix",
    "Operator",
    "Size",
    "Stencil",
    "TwoPhaseStencil",
    "UnsymmetricMatrix",
    "as_operator",
    "check_diagonal",
    "stored_bytes",
]
