"""Lines of LLVM's text: names of types, constants, values and labels of one function."""

from __future__ import annotations

import struct

from workbench.compiler.tree import Function, Pointer, Room, Scalar, Type, Vector

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
