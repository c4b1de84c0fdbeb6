"""The printer for accelerators: one kernel in the common subset of OpenCL C and CUDA C, behind the prelude of
`workbench.devices.kernels`.

    KERNEL name(arguments.., partial_, items_)

items_: the number of rows. Where rows of block vectors are `spread`, on GPUs, a work-item computes column k_ of every
so many rows; on processors it computes whole rows, in short loops over registers. partial_: as `Dots` has them, (sums,
groups); of block vectors (groups, sums*columns), a sum for every column.
"""

from __future__ import annotations

import functools

import numpy as np

from workbench.kernel_language.grammar import KernelError
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
    Type,
    Typed,
    Variable,
    While,
    real_of,
)

_WORDS = {"+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV"}
_INTEGERS = {"int64": "I64", "int32": "int", "int8": "signed char", "uint64": "unsigned long", "uint32": "unsigned int"}
_INTEGERS |= {"uint8": "unsigned char"}
_COLUMNS = '#define COLUMNS _Pragma("unroll") for (int k_ = 0; k_ < {columns}; k_++)\n'


@functools.lru_cache(512)
def c_text(of: Typed, *, spread: bool) -> str:
    """The kernel, to be compiled behind a prelude. spread: see the head of this module."""
    printer, blocked = _Printer(of, spread=spread), bool(of.blocks)
    if spread and blocked:
        return _spread(of, printer)
    declared = [_declarations(of), *(["GLOBAL W* partial_"] if of.sums else []), "const I64 items_"]
    text = [f"KERNEL {of.name}({', '.join(declared)})", "{"]
    text += [f"    SHARED(W, room_, {of.sums}*(GROUP + STRIPS));"] if of.sums else []
    text += [f"    W sum_{k}_ = W_OF(0);" for k in range(of.sums)]
    text += [f"    const I64 rows_ = {printer.rows()};"]
    text += [f"    {line}" for line in _assignments(of)]

    def rows(head: str, block: Block) -> list[str]:
        return [f"    {head} {{", *printer.declared(block, 2), "    }"]

    if of.halo is None:
        text += rows(f"FOR_EACH({of.row}, rows_)", of.body)
    else:
        text += [f"    const I64 halo_ = {printer.text(of.halo)}, first_ = halo_ < rows_ ? halo_ : rows_;"]
        text += ["    const I64 last_ = rows_ - halo_ > first_ ? rows_ - halo_ : first_;"]
        text += rows(f"FOR_EACH_IN({of.row}, rows_, first_, last_)", of.body)
        text += rows(f"FOR_EACH_IN({of.row}, rows_, 0, first_)", of.edge)
        text += rows(f"FOR_EACH_IN({of.row}, rows_, last_, rows_)", of.edge)
    text += [f"    room_[{k}*GROUP + LOCAL_ID] = sum_{k}_;" for k in range(of.sums)]
    text += [f"    STORE_GROUP_SUMS(room_, partial_, {of.sums});"] if of.sums else []
    head = _COLUMNS.format(columns=of.columns) if blocked else ""
    return head + "\n".join([*text, "}"]) + "\n"


def _spread(of: Typed, printer: _Printer) -> str:
    """The kernel with a work-item for one column of a row."""
    columns, phases = of.columns, f"(GROUP/{of.columns})"
    declared = [_declarations(of), *(["GLOBAL W* RESTRICT partial_"] if of.sums else []), "const I64 items_"]
    text = [f"KERNEL {of.name}({', '.join(declared)})", "{"]
    text += ["    SHARED(W, room_, GROUP);"] if of.sums else []
    text += [f"    const I64 rows_ = {printer.rows()};"]
    text += [f"    const int k_ = LOCAL_ID%{columns}, phase_ = LOCAL_ID/{columns};"]
    text += [f"    W sum_{k}_ = W_OF(0);" for k in range(of.sums)]
    text += [f"    {line}" for line in _assignments(of)]
    first, step = f"GROUP_ID*{phases} + phase_", f"GROUPS*{phases}"
    loop = f"for (I64 {of.row} = {first}; {of.row} < rows_; {of.row} += {step})"
    text += [f"    if (phase_ < {phases})", f"        {loop} {{"]
    text += [*printer.declared(of.body if of.halo is None else of.edge, 3), "        }"]
    text += [f"    {line}" for line in column_sums(of.sums, columns)]
    return "\n".join([*text, "}"]) + "\n"


def column_sums(count: int, columns: int) -> list[str]:
    """The last lines of a kernel that sums by columns: partial_[GROUP_ID*count*columns + p*columns + k_] = the sums
    sum_p_ of column k_ over the phases of a group. room_ has an entry for every work-item."""
    lines = []
    for p in range(count):
        lines += ["BARRIER;"] if p else []
        lines += [f"room_[LOCAL_ID] = sum_{p}_;", "BARRIER;", "if (phase_ == 0) {"]
        lines += [f"    for (int m_ = 1; m_ < GROUP/{columns}; m_++)"]
        lines += [f"        sum_{p}_ = W_ADD(sum_{p}_, room_[m_*{columns} + k_]);"]
        lines += [f"    partial_[(GROUP_ID*{count} + {p})*{columns} + k_] = sum_{p}_;", "}"]
    return lines


def _declarations(of: Typed) -> str:
    """The arguments of a kernel."""
    return ", ".join(map(_Printer(of, spread=True).argument, of.arguments))


def _assignments(of: Typed) -> list[str]:
    """What is the same for all rows; of numbers per column that of column k_."""
    printer = _Printer(of, spread=True)
    return [f"const {printer.variable(one.name, one.value.type)} = {printer.text(one.value)};" for one in of.numbers]


def statements(of: Typed, block: Block, depth: int) -> list[str]:
    """Indented lines with statements of a kernel, for another text; the variables of the kernel first."""
    return _Printer(of, spread=True).declared(block, depth)


class _Printer:
    """Statements and expressions. T and W are the types of vectors and sums, R and V those of their parts."""

    def __init__(self, of: Typed, *, spread: bool) -> None:
        self._of, self._whole_rows = of, not spread
        self._letters = {np.dtype(np.float32): "float"}
        self._letters |= {real_of(of.wide): "V", of.wide: "W", real_of(of.vector): "R", of.vector: "T"}

    def rows(self) -> str:
        """How many rows are computed."""
        return f"{self.text(self._of.wanted)} ? items_ : 0" if self._of.wanted else "items_"

    def argument(self, name: str) -> str:
        """The declaration of an argument."""
        argument = self._of.arguments[name]
        kind = self._kind(argument.type.dtype)
        if not argument.array:
            return f"const {kind} {name}"
        return f"GLOBAL {'' if argument.written else 'const '}{kind}* RESTRICT {name}"

    def variable(self, name: str, kind: Type) -> str:
        """The declaration of a variable."""
        rows = f"[{self._of.columns}]" if kind.row and self._whole_rows else ""
        return f"{self._kind(kind.dtype)} {name}{rows}"

    def declared(self, lines: Block, depth: int) -> list[str]:
        """Indented lines behind the declarations of all variables."""
        text = [f"{'    ' * depth}{self.variable(name, kind)};" for name, kind in self._of.variables.items()]
        return [*text, *self.block(lines, depth)]

    def block(self, lines: Block, depth: int) -> list[str]:
        """Indented lines."""
        return [text for line in lines for text in self._statement(line, depth)]

    def _statement(self, line: Statement, depth: int) -> list[str]:
        pad = "    " * depth
        match line:
            case Assign(name=name, value=value):
                return [f"{pad}{self._assigned(Variable(name, value.type), value)}"]
            case Store(array=array, place=place, value=value):
                return [f"{pad}{self._assigned(Element(array, place, value.type), value)}"]
            case For(name=name, first=first, end=end, step=step, body=body):
                last, next_one = f"{name}_end_", f"{name} += {self.text(step)}"
                head = f"for (I64 {name} = {self.text(first)}, {last} = {self.text(end)}; {name} < {last}; {next_one})"
                return [f"{pad}{head} {{", *self.block(body, depth + 1), f"{pad}}}"]
            case While(test=test, body=body):
                return [f"{pad}while ({self.text(test)}) {{", *self.block(body, depth + 1), f"{pad}}}"]
            case If(test=test, body=body, otherwise=otherwise):
                text = [f"{pad}if ({self.text(test)}) {{", *self.block(body, depth + 1)]
                text += [f"{pad}}} else {{", *self.block(otherwise, depth + 1)] if otherwise else []
                return [*text, f"{pad}}}"]
            case Leave(word=word):
                return [f"{pad}{word};"]
            case Sum(terms=terms, first=first):
                return [f"{pad}{text}" for text in self._sums([self.text(term) for term in terms], first)]

    def _assigned(self, target: Expression, value: Expression) -> str:
        columns = "COLUMNS " if value.type.row and self._whole_rows else ""
        return f"{columns}{self.text(target)} = {self.text(value)};"

    def _sums(self, terms: list[str], first: int) -> list[str]:
        text = []
        if self._of.dots:
            text = [f"const W left_ = {terms[0]}, right_ = {terms[1]};"]
            terms = [f"W_MUL(W_CONJ({left}), {right})" for left, right in PAIRS[: self._of.sums]]
        return text + [f"sum_{k}_ = W_ADD(sum_{k}_, {term});" for k, term in enumerate(terms, first)]

    def text(self, node: Expression) -> str:
        """An expression; of a row its column k_."""
        match node:
            case Constant(value=value, type=kind):
                return self._constant(value, kind)
            case Variable(name=name, type=kind):
                return f"{name}[k_]" if kind.row and self._whole_rows else name
            case Element(array=array, place=place, type=kind):
                where = self.text(place)
                return f"{array}[{where}*{self._of.columns} + k_]" if kind.row else f"{array}[{where}]"
            case Convert(value=value, type=kind):
                return self.text(value) if value.type.dtype == kind.dtype else self._converted(value, kind.dtype)
            case Operation():
                return self._operation(node)
            case Negation(value=value, type=kind):
                return (
                    f"{self._kind(kind.dtype)}_NEG({self.text(value)})" if kind.is_complex else f"(-{self.text(value)})"
                )
            case Comparison(sign=sign, left=left, right=right):
                return f"({self.text(left)} {sign} {self.text(right)})"
            case Both(tests=tests, any=one):
                return f"({(' || ' if one else ' && ').join(map(self.text, tests))})"
            case Not(test=test):
                return f"(!{self.text(test)})"
            case Choice(test=test, body=body, otherwise=otherwise):
                return f"({self.text(test)} ? {self.text(body)} : {self.text(otherwise)})"
            case Call(function=function, arguments=arguments):
                return self._call(function, *arguments)

    def _constant(self, value: float, kind: Type) -> str:
        if kind.dtype.kind in "bi":
            return str(int(value))
        number = repr(float(value)) + ("f" if real_of(kind.dtype).itemsize == 4 else "")
        return f"{self._kind(kind.dtype)}_OF({number})" if kind.is_complex else number

    def _converted(self, value: Expression, dtype: np.dtype) -> str:
        text, kind = self.text(value), self._kind(dtype)
        if dtype.kind != "c":
            return f"(({kind})({text}))"
        if value.type.is_complex:
            return f"{kind}_OF_{self._kind(value.type.dtype)}({text})"
        return f"{kind}_OF(({self._kind(real_of(dtype))})({text}))"

    def _operation(self, node: Operation) -> str:
        left, right = self.text(node.left), self.text(node.right)
        if node.type.is_complex:
            word = _WORDS[node.sign] if node.left.type.is_complex else "SCALE"
            return f"{self._kind(node.type.dtype)}_{word}({left}, {right})"
        # A literal that is shifted would be a number of 32 bits.
        left = f"(I64){left}" if node.sign == "<<" else left
        return f"({left} {'/' if node.sign == '//' else node.sign} {right})"

    def _call(self, function: str, *arguments: Expression) -> str:
        texts, kind = [self.text(argument) for argument in arguments], arguments[0].type
        if kind.is_complex:
            text = f"{self._kind(kind.dtype)}_{function.upper()}({texts[0]})"
            return f"{self._kind(kind.dtype)}_REAL({text})" if function == "abs" else text
        match function:
            case "abs":
                # Not fabs, which PoCL calls as a function.
                return f"({texts[0]} < 0 ? -{texts[0]} : {texts[0]})"
            case "min" | "max":
                return f"({texts[0]} {'<' if function == 'min' else '>'} {texts[1]} ? {texts[0]} : {texts[1]})"
        return f"{function}({texts[0]})"

    def _kind(self, dtype: np.dtype) -> str:
        if dtype.kind == "b":
            return "int"
        found = _INTEGERS.get(dtype.name) if dtype.kind in "iu" else self._letters.get(dtype)
        if found is None:
            raise KernelError(
                f"kernel {self._of.name}: accelerators have no {dtype} next to vectors of {self._of.vector}"
            )
        return found
