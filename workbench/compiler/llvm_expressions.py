"""Expressions as LLVM's text, and the lines they are made of: names of types, constants, values and labels of one
function.
"""

from __future__ import annotations

import struct

from workbench.compiler.tree import Function, Node, Pointer, Room, Scalar, Type, Vector, nodes

SCALARS: dict[Scalar, str] = {"i": "i64", "b": "i1", "f": "float", "d": "double"}
START = "start$"
"""The label of the first block: no name of a variable has this sign."""
MEMORY = {"b1": "i8", "f4": "float", "f8": "double"}


def typename(t: Type) -> str:
    """A type in a register."""
    match t:
        case Vector(of, width):
            return f"<{width} x {SCALARS[of]}>"
        case Pointer():
            return "ptr"
        case Room():
            raise AssertionError("memory is in no register")
    return SCALARS[t]


def results_of(function: Function) -> str:
    """The type of what a function returns."""
    names = [typename(t) for t in function.results]
    return names[0] if len(names) == 1 else f"{{ {', '.join(names)} }}" if names else "void"


def in_memory(t: Type) -> str:
    """The type of an element to which a pointer leads."""
    assert isinstance(t, Pointer)
    return MEMORY.get(t.memory) or f"i{8 * int(t.memory[1:])}"


def constant(t: Type, value: object) -> str:
    """A constant: numbers by their bits."""
    if isinstance(t, Vector):
        assert isinstance(value, tuple)
        return f"<{', '.join(f'{SCALARS[t.of]} {constant(t.of, each)}' for each in value)}>"
    if t == "b":
        return "true" if value else "false"
    assert isinstance(value, int | float)
    if t == "i":
        return str(int(value))
    # A number of single precision is written with the bits of double precision.
    exact = struct.unpack("f", struct.pack("f", value))[0] if t == "f" else float(value)
    return f"0x{struct.pack('>d', exact).hex().upper()}"


class Lines:
    """The lines of one function, and the declarations of the module for them."""

    def __init__(self, function: Function, declared: set[str]) -> None:
        self.function, self.declared = function, declared
        self.licences = "".join(f"{licence} " for licence in function.licences)
        self.lines: list[str] = []
        self.label = START
        """The block that is being written; empty after a line that leaves it."""
        self._count = 0

    def line(self, text: str) -> None:
        """Write a line, unless it would never be reached."""
        if self.label:
            self.lines.append("  " + text)
            if text.startswith(("br ", "ret ", "unreachable")):
                self.label = ""

    def new(self, text: str) -> str:
        """The name of a value that a line computes."""
        self._count += 1
        self.line(f"%${self._count} = {text}")
        return f"%${self._count}"

    def labels(self, *names: str) -> list[str]:
        """New labels."""
        self._count += 1
        return [f"{name}${self._count}" for name in names]

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """End the block with a jump."""
        self.line(f"br label %{label}")

    def jump_if(self, bit: str, yes: str, no: str) -> None:
        """End the block with a jump to one of two labels."""
        self.line(f"br i1 {bit}, label %{yes}, label %{no}")

    def variables(self) -> list[str]:
        """The lines at the start of the function, where variables get their places."""
        names = self.function.parameters | self.function.variables
        return [f"{START}:", *(f"  %{name} = alloca {_place(t)}" for name, t in names.items())]


def _place(t: Type) -> str:
    """The type of the memory of a variable."""
    return f"[{t.numbers} x {in_memory(Pointer(t.memory))}]" if isinstance(t, Room) else typename(t)


FRACTIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
INTEGERS = {
    "+": "add nsw",
    "-": "sub nsw",
    "*": "mul nsw",
    "<<": "shl",
    ">>": "ashr",
    "&": "and",
    "|": "or",
    "^": "xor",
}
TESTS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "copysign": "copysign", "fma": "fma"}
ATOMIC = {
    "add": "atomicrmw add ptr {}, i64 {} monotonic",
    "exchange": "atomicrmw xchg ptr {}, i64 {} acquire",
    "leave": "atomicrmw sub ptr {}, i64 {} acq_rel",
    "read": "load atomic i64, ptr {} acquire, align 8",
}
FREE = {"var", "const", "not", "neg", "to", "if", "and", "or", "&", "|", "+", "-", "*", *TESTS}
"""Operations that are computed even where their result is not needed: they are cheap and read no memory."""


class Expressions(Lines):
    """The values of expressions of one function."""

    def value(self, node: Node) -> str:
        """Write what computes an expression; the name of its value."""
        match node:
            case Node("const", t, _, value):
                return constant(t, value)
            case Node("given", _, _, str(name)):
                return name
            case Node("var", t, _, name):
                return self.new(f"load {typename(t)}, ptr %{name}")
            case Node("room", _, _, name):
                return f"%{name}"
            case Node("place", _, (pointer, index)):
                return self.place(pointer, index)
            case Node("load", t, (pointer, index)):
                return self._loaded(t, pointer, index)
            case Node("if", t, (test, one, two)):
                return self._chosen(t, test, one, two)
            case Node("and" | "or" as word, _, (left, right)):
                if _is_free(right):
                    return self.new(f"{word} i1 {self.value(left)}, {self.value(right)}")
                known = Node("const", "b", (), word == "or")
                return self._chosen("b", left, *((right, known) if word == "and" else (known, right)))
            case Node("not", _, (of,)):
                return self.new(f"xor i1 {self.value(of)}, true")
            case Node("neg", t, (of,)):
                return self.new(f"sub i64 0, {self.value(of)}" if t == "i" else f"fneg {typename(t)} {self.value(of)}")
            case Node("to", t, (of,)):
                return self._converted(of.type, t, self.value(of))
            case Node("call", _, args, Function() as function):
                return self.called(function, args)
            case Node("atomic", _, (pointer, index, *values), str(word)):
                return self.new(ATOMIC[word].format(self.place(pointer, index), *map(self.value, values)))
            case Node("fn", t, args, str(name)):
                return self._of_library(name, t, args, self.licences)
            case Node("fma", t, args):
                return self._of_library("fma", t, args, "")
            case Node("splat" | "pick" | "head", Vector() as vector, args):
                return self._vector(node, vector, args)
            case Node("below", _, (left, right)):
                return self.new(f"icmp ult i64 {self.value(left)}, {self.value(right)}")
            case Node(sign, "b", (left, right)) if sign in TESTS:
                return self._comparison(sign, left, right)
            case Node(sign, t, (left, right)):
                return self._operation(sign, t, left, right)
        raise AssertionError(node.op)

    def place(self, pointer: Node, index: Node) -> str:
        """The address of an element."""
        base = self.value(pointer)
        if index.op == "const" and index.of == 0:
            return base
        return self.new(f"getelementptr inbounds {in_memory(pointer.type)}, ptr {base}, i64 {self.value(index)}")

    def called(self, function: Function, args: tuple[Node, ...]) -> str:
        """A call of a helper; the name of what it returns, empty where that is nothing."""
        given = ", ".join(f"{typename(each.type)} {self.value(each)}" for each in args)
        text = f"call {results_of(function)} @{function.name}({given})"
        if function.results:
            return self.new(text)
        self.line(text)
        return ""

    def branch(self, test: Node, yes: str, no: str) -> None:
        """Jump to one of two labels as soon as the answer is known.

        LLVM makes a choice between values of a truth that is tested later, and what follows would wait for both.
        """
        match test:
            case Node("and" | "or" as word, _, (left, right)):
                (more,) = self.labels("more")
                self.branch(left, *((more, no) if word == "and" else (yes, more)))
                self.begin(more)
                self.branch(right, yes, no)
            case Node("not", _, (of,)):
                self.branch(of, no, yes)
            case _:
                self.jump_if(self.value(test), yes, no)

    def _loaded(self, t: Type, pointer: Node, index: Node) -> str:
        memory = in_memory(pointer.type)
        kind = typename(t) if isinstance(t, Vector) else memory
        found = self.new(f"load {kind}, ptr {self.place(pointer, index)}{aligned(t)}")
        if t == "b":
            return self.new(f"icmp ne i8 {found}, 0")
        if t == "i" and memory != "i64":
            assert isinstance(pointer.type, Pointer)
            extended = "zext" if pointer.type.memory[0] in "ub" else "sext"
            return self.new(f"{extended} {memory} {found} to i64")
        return found

    def _chosen(self, t: Type, test: Node, one: Node, two: Node) -> str:
        if _is_free(one) and _is_free(two):
            bit, a, b = self.value(test), self.value(one), self.value(two)
            return self.new(f"select i1 {bit}, {typename(t)} {a}, {typename(t)} {b}")
        yes, no, end = self.labels("yes", "no", "chosen")
        self.branch(test, yes, no)
        found = []
        for label, side in ((yes, one), (no, two)):
            self.begin(label)
            found.append(f"[ {self.value(side)}, %{self.label} ]")
            self.jump(end)
        self.begin(end)
        return self.new(f"phi {typename(t)} {', '.join(found)}")

    def _comparison(self, sign: str, left: Node, right: Node) -> str:
        t, word = typename(left.type), TESTS[sign]
        a, b = self.value(left), self.value(right)
        if left.type in ("i", "b"):
            # As an integer with a sign, a truth would be 0 or -1.
            order = "" if sign in ("==", "!=") else "u" if left.type == "b" else "s"
            return self.new(f"icmp {order}{word} {t} {a}, {b}")
        return self.new(f"fcmp {self.licences}{'une' if sign == '!=' else 'o' + word} {t} {a}, {b}")

    def _operation(self, sign: str, t: Type, left: Node, right: Node) -> str:
        if sign in ("//", "%"):
            return self._rounded_down(sign, left, right)
        a, b = self.value(left), self.value(right)
        if t in ("i", "b"):
            return self.new(f"{INTEGERS[sign]} {typename(t)} {a}, {b}")
        return self.new(f"{FRACTIONS[sign]} {self.licences}{typename(t)} {a}, {b}")

    def _rounded_down(self, sign: str, left: Node, right: Node) -> str:
        """A quotient of integers, or its remainder; 0 where the divisor is 0, where processors would raise a signal, as
        they do for the least integer over -1."""
        a = self.value(left)
        if right.op == "const" and isinstance(right.of, int) and right.of > 0 and right.of.bit_count() == 1:
            by = right.of
            return self.new(f"ashr i64 {a}, {by.bit_length() - 1}" if sign == "//" else f"and i64 {a}, {by - 1}")
        b = given = self.value(right)
        zero = "" if right.op == "const" else self.new(f"icmp eq i64 {given}, 0")
        minus = "" if right.op == "const" and right.of != -1 else self.new(f"icmp eq i64 {given}, -1")
        for special in filter(None, (zero, minus)):
            b = self.new(f"select i1 {special}, i64 1, i64 {b}")
        rest = self.new(f"srem i64 {a}, {b}")
        opposite = self.new(f"icmp slt i64 {self.new(f'xor i64 {rest}, {b}')}, 0")
        down = self.new(f"and i1 {self.new(f'icmp ne i64 {rest}, 0')}, {opposite}")
        plain = rest if sign == "%" else self.new(f"sdiv i64 {a}, {b}")
        lower = self.new(f"add i64 {rest}, {b}" if sign == "%" else f"sub i64 {plain}, 1")
        found = self.new(f"select i1 {down}, i64 {lower}, i64 {plain}")
        if minus:
            opposite = "0" if sign == "%" else self.new(f"sub i64 0, {a}")
            found = self.new(f"select i1 {minus}, i64 {opposite}, i64 {found}")
        return self.new(f"select i1 {zero}, i64 0, i64 {found}") if zero else found

    def _converted(self, before: Type, after: Type, value: str) -> str:
        a, b = typename(before), typename(after)
        match before, after:
            case "b", "i":
                return self.new(f"zext i1 {value} to i64")
            case "b", _:
                return self.new(f"uitofp i1 {value} to {b}")
            case "i", _:
                return self.new(f"sitofp i64 {value} to {b}")
            case _, "i":
                return self.new(f"fptosi {a} {value} to i64")
        return self.new(f"{'fpext' if 'double' in b else 'fptrunc'} {a} {value} to {b}")

    def _vector(self, node: Node, vector: Vector, args: tuple[Node, ...]) -> str:
        kind, none = typename(vector), f"<{vector.width} x i32> zeroinitializer"
        match node:
            case Node("splat", _, (of,)):
                if of.op == "const":
                    return constant(vector, (of.of,) * vector.width)
                first = self.new(f"insertelement {kind} poison, {typename(of.type)} {self.value(of)}, i64 0")
                return self.new(f"shufflevector {kind} {first}, {kind} poison, {none}")
            case Node("pick", _, _, tuple(places)):
                # As integers: for those alone does LLVM choose the instruction that shifts two registers.
                bits = f"<{vector.width} x {'i64' if vector.of == 'd' else 'i32'}>"
                one, two = (self.new(f"bitcast {kind} {self.value(each)} to {bits}") for each in args)
                mask = f"<{len(places)} x i32> <{', '.join(f'i32 {k}' for k in places)}>"
                found = self.new(f"shufflevector {bits} {one}, {bits} {two}, {mask}")
                return self.new(f"bitcast {bits} {found} to {kind}")
        line, count = args
        numbers = f"<{vector.width} x i64>"
        first = self.new(f"insertelement {numbers} poison, i64 {self.value(count)}, i64 0")
        counts = self.new(f"shufflevector {numbers} {first}, {numbers} poison, {none}")
        order = ", ".join(f"i64 {k}" for k in range(vector.width))
        kept = self.new(f"icmp slt {numbers} <{order}>, {counts}")
        return self.new(f"select <{vector.width} x i1> {kept}, {kind} {self.value(line)}, {kind} zeroinitializer")

    def _of_library(self, name: str, t: Type, args: tuple[Node, ...], licences: str) -> str:
        """A call of a function of LLVM, or of C."""
        kind, scalar = typename(t), t.of if isinstance(t, Vector) else t
        suffix = f"v{t.width}" if isinstance(t, Vector) else ""
        suffix += {"float": "f32", "double": "f64"}[SCALARS[scalar]] if isinstance(scalar, str) else ""
        symbol = f"llvm.{INTRINSICS[name]}.{suffix}" if name in INTRINSICS else name + ("f" if t == "f" else "")
        self.declared.add(f"declare {kind} @{symbol}({', '.join([kind] * len(args))})")
        return self.new(f"call {licences}{kind} @{symbol}({', '.join(f'{kind} {self.value(each)}' for each in args)})")


def aligned(t: Type) -> str:
    """The alignment of a vector in memory: that of its numbers."""
    return f", align {8 if t.of == 'd' else 4}" if isinstance(t, Vector) else ""


def _is_free(node: Node) -> bool:
    return all(each.op in FREE for each in nodes(node))
