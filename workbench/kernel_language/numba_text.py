"""The printer for the cores: the source of a function `kernel` for `workbench.jit.generated`.

    kernel(taken, arguments.., begins_, partial_, sums_)

begins_: the first rows of the chunks, and the number of rows; threads share the chunks. partial_, shape (chunks, sums),
and sums_, shape (sums,), are there for kernels with sums. Elements are read and written by `at` and `set_at`, which
test no index, so that loops vectorize; division of integers has no test for signs (see `workbench.jit.elements`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from workbench.kernel_language.tile_text import TileText
from workbench.kernel_language.tree import (
    PAIRS,
    Assign,
    Block,
    Both,
    Call,
    Choice,
    Comparison,
    Constant,
    Convert,
    Element,
    Expression,
    For,
    If,
    Leave,
    Negation,
    Not,
    Operation,
    Statement,
    Store,
    Sum,
    Typed,
    Variable,
    While,
)

Tiles = Sequence[tuple[int, int]]
"""First column and width of the tiles that cover a row of a block vector."""
_DIVISIONS = {"//": "quotient", "%": "remainder"}


@functools.lru_cache(512)
def numba_text(of: Typed, tiles: Tiles = ((0, 1),)) -> str:
    """The source of the kernel. tiles: for block vectors."""
    arguments = ["taken", *of.arguments, "begins_", *(("partial_", "sums_") if of.sums else ())]
    once = _Printer(of, *tiles[0])
    text = [f"def kernel({', '.join(arguments)}):", *once.block(of.before, 1)]
    if of.body:
        text += ["    rows_ = np.int64(begins_[begins_.size - 1])"]
        text += ["    for thread_ in threads(taken):"]
        text += ["        for chunk_ in shared(taken, thread_, begins_.size - 1):"]
        text += ["            low_, high_ = np.int64(begins_[chunk_]), np.int64(begins_[chunk_ + 1])"]
        text += [f"            {line}" for line in chunk(of, tiles)]
    text += ["    total(partial_, sums_)"] if of.sums else []
    return "\n".join([*text, *once.block(of.after, 1)]) + "\n"


@functools.lru_cache(512)
def chunk(of: Typed, tiles: Tiles = ((0, 1),), origin: str = "") -> tuple[str, ...]:
    """Lines for rows low_ to high_ of chunk chunk_; its sums go to partial_.

    origin: the place of element 0 of the arrays that are written, by default 0.
    """

    def rows(first: str, end: str, block: Block) -> list[str]:
        text = [f"for {of.row} in range({first}, {end}):"]
        return text + [line for tile in tiles for line in _Printer(of, *tile, origin).block(block, 1)]

    printers = [_Printer(of, *tile, origin) for tile in (tiles if of.columnwise else tiles[:1])]
    text = [line for printer in printers for line in printer.begin()]
    if of.halo is None:
        text += rows("low_", "high_", of.body)
    else:
        text += [f"halo_ = {_Printer(of, *tiles[0]).text(of.halo)}", "inner_first_ = min(rows_, halo_)"]
        text += ["inner_end_ = max(inner_first_, rows_ - halo_)"]
        text += rows("max(low_, inner_first_)", "min(high_, inner_end_)", of.body)
        # One text for both ends, which takes less time to compile than two.
        text += ["for side_ in range(2):", "    from_ = low_ if side_ == 0 else max(low_, inner_end_)"]
        text += ["    to_ = min(high_, inner_first_) if side_ == 0 else high_"]
        text += [f"    {line}" for line in rows("from_", "to_", of.edge)]
    return (*text, *(line for printer in printers for line in printer.end()))


class _Printer:
    """Statements and expressions; rows of block vectors as the tile of `width` columns from `column` on."""

    def __init__(self, of: Typed, column: int, width: int, origin: str = "") -> None:
        self._of, self._origin = of, f" - {origin}" if origin else ""
        self._tile = TileText(self.text, of, column, width)
        self._column, self._width = column, width
        self._sums_of = [f"sum_{k}_{column}_" for k in range(of.sums)]

    def begin(self) -> list[str]:
        """Lines before the rows of a chunk."""
        zero = f"zeros(partial_, {self._width})" if self._of.columnwise else f"np.{self._of.wide.name}(0)"
        return [*(f"{name} = {zero}" for name in self._sums_of), *self.block(self._of.numbers, 0)]

    def end(self) -> list[str]:
        """Lines behind them."""
        if not self._of.columnwise:
            return [f"partial_[chunk_, {k}] = {name}" for k, name in enumerate(self._sums_of)]
        places = [k * self._of.columns + self._column for k in range(self._of.sums)]
        return [f"put(partial_, chunk_, {place}, {name})" for place, name in zip(places, self._sums_of, strict=True)]

    def block(self, lines: Block, depth: int) -> list[str]:
        """Indented lines."""
        return [text for line in lines for text in self._statement(line, depth)]

    def _statement(self, line: Statement, depth: int) -> list[str]:
        pad = "    " * depth
        match line:
            case Assign(name=name, value=value):
                return [f"{pad}{self._name(name, value)} = {self.text(value)}"]
            case Store(array=array, place=place, value=value):
                if value.type.row:
                    return [f"{pad}{self._tile.put(array, place, value)}"]
                return [f"{pad}set_at({array}, {self.text(place)}{self._origin}, {self.text(value)})"]
            case For(name=name, first=first, end=end, step=step, body=body):
                bounds = ", ".join(map(self.text, (first, end, step)))
                return [f"{pad}for {name} in range({bounds}):", *self._body(body, depth)]
            case While(test=test, body=body):
                return [f"{pad}while {self.text(test)}:", *self._body(body, depth)]
            case If(test=test, body=body, otherwise=otherwise):
                text = [f"{pad}if {self.text(test)}:", *self._body(body, depth)]
                return [*text, *([f"{pad}else:", *self._body(otherwise, depth)] if otherwise else [])]
            case Leave(word=word):
                return [f"{pad}{word}"]
            case Sum(terms=(Operation() as product,), first=first) if product.type.row:
                return [f"{pad}{self._sums_of[first]} = {self._tile.added(self._sums_of[first], product)}"]
            case Sum(terms=terms, first=first):
                return [f"{pad}{text}" for text in self._sums([self.text(term) for term in terms], first)]

    def _body(self, block: Block, depth: int) -> list[str]:
        return self.block(block, depth + 1) or ["    " * (depth + 1) + "pass"]

    def _sums(self, terms: list[str], first: int) -> list[str]:
        if not self._of.dots:
            return [f"{self._sums_of[k]} += {term}" for k, term in enumerate(terms, first)]
        conj = "np.conj" if self._of.wide.kind == "c" else ""
        text = [f"left_, right_ = {terms[0]}, {terms[1]}"]
        pairs = zip(self._sums_of, PAIRS, strict=True)
        return text + [f"{name} += {conj}({left})*{right}" for name, (left, right) in pairs]

    def text(self, node: Expression) -> str:
        """An expression."""
        if node.type.row and not isinstance(node, Variable):
            return self._tile.text(node)
        match node:
            case Constant(value=value, type=kind):
                return (
                    repr(value)
                    if kind.dtype.kind == "b"
                    else str(int(value))
                    if kind.is_integer
                    else _number(kind.dtype, repr(value))
                )
            case Variable(name=name):
                return self._name(name, node)
            case Element(array=array, place=place):
                return f"at({array}, {self.text(place)})"
            case Convert(value=value, type=kind):
                return _number(kind.dtype, self.text(value))
            case Operation():
                return self._operation(node)
            case Negation(value=value):
                return f"(-{self.text(value)})"
            case Comparison(sign=sign, left=left, right=right):
                return f"({self.text(left)} {sign} {self.text(right)})"
            case Both(tests=tests, any=one):
                # Not `and`: the branch would keep a loop from vectorizing.
                return f"({(' | ' if one else ' & ').join(map(self.text, tests))})"
            case Not(test=test):
                return f"(not {self.text(test)})"
            case Choice(test=test, body=body, otherwise=otherwise):
                return f"({self.text(body)} if {self.text(test)} else {self.text(otherwise)})"
            case Call(function=function, arguments=arguments):
                return _call(function, *map(self.text, arguments))

    def _name(self, name: str, value: Expression) -> str:
        """The name of a variable with this value; every tile has its own for what has a number for each column."""
        return f"{name}_{self._column}_" if value.type.row else name

    def _operation(self, node: Operation) -> str:
        left, right = self.text(node.left), self.text(node.right)
        if node.sign in _DIVISIONS:
            return f"{_DIVISIONS[node.sign]}({left}, {right})"
        if node.type.is_complex and node.sign == "/":
            return f"np.true_divide({left}, {right})"
        if node.type.is_complex and not node.left.type.is_complex:
            return f"scaled_by({left}, {right})"
        return f"({left} {node.sign} {right})"


def _number(dtype: object, text: str) -> str:
    return f"np.{dtype}({text})"


def _call(function: str, *arguments: str) -> str:
    match function:
        case "real":
            return f"{arguments[0]}.real"
        case "min" | "max":
            first, second = arguments
            return f"({first} if {first} {'<' if function == 'min' else '>'} {second} else {second})"
    return f"np.{function}({', '.join(arguments)})"
