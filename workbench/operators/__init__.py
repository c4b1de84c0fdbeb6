"""A: matrix-free stencils, CSR matrices and foreign linear operators, all in host memory until bound to a device."""

from workbench.operators.base import BoundOperator, Operator, stored_bytes
from workbench.operators.matrix import Foreign, Matrix, as_operator
from workbench.operators.stencil import Stencil

__all__ = ["BoundOperator", "Foreign", "Matrix", "Operator", "Stencil", "as_operator", "stored_bytes"]
