"""A: matrix-free stencils and boxes, CSR matrices, foreign linear operators, in host memory until bound to a device."""

from workbench.operators.base import BoundOperator, Operator, Size, stored_bytes
from workbench.operators.box import Box
from workbench.operators.matrix import Foreign, Matrix, as_operator
from workbench.operators.stencil import Stencil

__all__ = ["BoundOperator", "Box", "Foreign", "Matrix", "Operator", "Size", "Stencil", "as_operator", "stored_bytes"]
