"""Rows of block vectors in the text for the cores: tiles of `workbench.jit.tiles`, consecutive columns in registers."""

from __future__ import annotations

from collections.abc import Callable

from workbench.kernel_language.grammar import KernelError
from workbench.kernel_language.tree import Call, Constant, Convert, Element, Expression, Negation, Operation, Typed


class TileText:
    """The text of rows, for the columns from `column` to `column + width - 1`; number: the text of numbers."""

    def __init__(self, number: Callable[[Expression], str], of: Typed, column: int, width: int) -> None:
        self._number, self._column, self._width = number, column, width
        self._blocks = {of.wide: "partial_"} | {of.arguments[name].type.dtype: name for name in of.blocks}

    def put(self, array: str, place: Expression, value: Expression) -> str:
        """A statement that stores a row."""
        return f"put({array}, {self._number(place)}, {self._column}, {self._number(value)})"

    def text(self, node: Expression) -> str:
        """A row."""
        match node:
            case Element(array=array, place=place):
                return f"take({array}, {self._number(place)}, {self._column}, {self._width})"
            case Convert(value=Constant(value=0)):
                return self._zeros(node)
            case Convert(value=value) if value.type.row:
                return f"widened({self._number(value)})"
            case Convert(value=value):
                return f"filled({self._blocks[node.type.dtype]}, {self._width}, {self._number(value)})"
            case Negation(value=value):
                return f"add_scaled({self._zeros(node)}, -1, {self._number(value)})"
            case Operation(sign="*"):
                return self.added(self._zeros(node), node)
            case Operation(sign=sign, left=Convert(value=Constant(value=0)), right=right):
                return (
                    self._number(right)
                    if sign == "+"
                    else f"add_scaled({self._zeros(node)}, -1, {self._number(right)})"
                )
            case Operation(sign="+", left=left, right=Operation(sign="*") as product):
                return self.added(self._number(left), product)
            case Operation(sign="-", left=left, right=Operation(sign="*", left=factor) as product) if (
                not factor.type.row
            ):
                return self.added(self._number(left), product, "-")
            case Operation(sign=sign, left=left, right=right):
                return f"add_scaled({self._number(left)}, {1 if sign == '+' else -1}, {self._number(right)})"
            case Call(function="conj", arguments=(value,)):
                return f"conjugated({self._number(value)})"
        raise KernelError(f"the cores have no {type(node).__name__} of rows")

    def added(self, total: str, product: Operation, minus: str = "") -> str:
        """total + left*right in one operation."""
        left, right = self._number(product.left), self._number(product.right)
        return f"{'add_products' if product.left.type.row else 'add_scaled'}({total}, {minus}{left}, {right})"

    def _zeros(self, node: Expression) -> str:
        return f"zeros({self._blocks[node.type.dtype]}, {self._width})"
