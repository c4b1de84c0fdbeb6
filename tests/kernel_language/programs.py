"""Random kernels as text."""

from __future__ import annotations

import numpy as np

ROWS = 97
VECTORS = ("x", "y", "z")
"""Vectors that are only read. Also d, real numbers away from zero, k, integers from 0 to 11, a, a number of vectors,
and b, a real one. Only d, k and b decide anything, so that rounding cannot turn a test."""
WRITTEN = ("p", "q")
PLACES = (
    "row",
    "(row + 3) % 97",
    "k[row]",
    "row//2",
    "row & 7",
    "(k[row] << 3) % 97",
    "min(row + 1, 96)",
    "max(row - 2, 0)",
    "(row >> 1) | 1",
    "96 - row",
)


class Program:
    """The text of a kernel of some statements that writes two vectors and returns three terms of sums."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)
        self._loops = 0
        lines = ["u = wide(x[row]) + 1", "v = 0", *(line for _ in range(5) for line in self._statement(2))]
        lines += [f"{name}[row] = {self._value(1)} + {part}" for name, part in zip(WRITTEN, "uv", strict=True)]
        lines += [f"p[row] -= {self._value(0)}", f"return {', '.join(self._value(1) for _ in range(3))}"]
        head = "def program(row, x, y, z, d, k, a, b, p, q, *, half=0.5):"
        self.text = "\n".join([head, *(f"    {line}" for line in lines)]) + "\n"

    def _one_of(self, choices):
        return choices[self._rng.integers(len(choices))]

    def _element(self):
        return f"{self._one_of(VECTORS)}[{self._one_of(PLACES)}]"

    def _atom(self):
        return self._one_of([self._element(), self._element(), "a", "b", "d[row]", "0.25", "half", "2", "k[row]"])

    def _value(self, depth):
        """A number of vectors, whose modulus is a few times that of its parts."""
        if depth == 0:
            return self._one_of([self._element(), "u", "v"])
        left, right = self._value(depth - 1), self._atom()
        forms = [f"({left} + {right})", f"({right} - {left})", f"{left}*{right}", f"{right}*{left}/2", f"-{left}"]
        forms += [f"{left}/(2 + abs({right}))", f"conj({left})", f"wide({left})", f"sqrt(1 + abs({left}))*{right}"]
        forms += [f"({left} if {self._test()} else {right})", f"mixed({left}, {right})", f"real({left})*a"]
        forms += [f"min(d[row], {self._one_of(['b', '1'])})*{left}", f"max(b, 0.4)*{left}", f"{right}/d[row]"]
        forms += [f"row//3*{left}/50", f"(x[row - 5] if inside(row - 5) else {left})"]
        forms += [f"(x[row + 2] if inside(row + 2) and d[row] > 0 else {left})"]
        return self._one_of(forms)

    def _test(self):
        sign = self._one_of(["<", "<=", ">", ">=", "==", "!="])
        tests = [
            f"d[row] {sign} {self._one_of(['0.5', 'b', 'half'])}",
            f"k[row] {sign} {self._one_of(['5', 'row', 'row % 7'])}",
        ]
        tests += ["k[row] & 1", "not k[row]", f"(row > 9 {self._one_of(['and', 'or'])} b > d[row])", "half > 0.25"]
        return self._one_of(tests)

    def _statement(self, depth):
        name, value = self._one_of("uv"), self._value(self._rng.integers(1, 3))
        kinds = ["assign", "assign", "add", *(["if", "for", "while", "unrolled"] if depth else [])]
        match self._one_of(kinds):
            case "assign":
                return [f"{name} = ({value} + {name})/2"]
            case "add":
                return [f"{name} {self._one_of(['+=', '-='])} {value}"]
            case "if":
                return [f"if {self._test()}:", *self._inner(depth), *self._one_of([[], ["else:", *self._inner(depth)]])]
            case "for":
                j = self._loop()
                lines = self._one_of([[], [f"if {j} == 7:", "    break"], [f"if {j} & 1:", "    continue"]])
                lines = [
                    *lines,
                    f"{name} += {self._one_of(VECTORS)}[(row + {j}) % 97]*0.125",
                    *self._statement(depth - 1),
                ]
                bounds = self._one_of(["k[row]", "2, 9", "1, 9, 3", "k[row], row + 1, k[row] + 4"])
                return [f"for {j} in range({bounds}):", *(f"    {line}" for line in lines)]
            case "while":
                j = self._loop()
                body = [*self._statement(depth - 1), f"{j} -= 1"]
                return [f"{j} = row % 4", f"while {j} > 0:", *(f"    {line}" for line in body)]
            case "unrolled":
                j = self._loop()
                lines = [
                    f"if {j} > 1 or row > 5:",
                    f"    {name} = {name}*half + {j}*x[row]",
                    *self._statement(depth - 1),
                ]
                return [f"for {j} in unrolled(3):", *(f"    {line}" for line in lines)]

    def _inner(self, depth):
        return [f"    {line}" for line in self._statement(depth - 1)]

    def _loop(self):
        self._loops += 1
        return f"j{self._loops}"
