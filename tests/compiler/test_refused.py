"""Kernels that are not in the grammar: the sentence names file, line, what is wrong with which kinds, and where."""

from __future__ import annotations

import importlib
import sys

import numpy as np
import pytest

from workbench.compiler.kinds import KernelError
from workbench.jit import compiled
from workbench.jit.threads import launch

WRONG = {
    "counts = local(np.int64, 8)\n    tile = zeros(counts, 4)": "a tile of 4 numbers of a local array of int64",
    "tile = zeros(x, 0)": "tiles have at least one real or complex number",
    "out[0] = complex(1j, 2).real": "no such function of numbers",
    "out[0] = x[::2][1]": "a slice with a step, or before an index",
    "out[0] = x[1:3, 0]": "2 indices of an array of float64 with 1 dimension",
    "out[0] = np.sum(x)": "no such function of numbers",
    "out[0] = np.linalg.norm(x)": "a call of something that is no function of kernels",
    "out[0] = x.sum()": "no attribute .sum of an array of float64 with 1 dimension",
    "out[0] = x[0] ** 0.5": "no such expression",
    "out[0] = x[0] @ x[1]": "no such expression",
    "out[0] = nobody": "a name that is neither a variable nor a constant",
    "out[0] = nobody(x)": "a call of something that is no function of kernels",
    "out[0] = 'text'": "a name that is neither a variable nor a constant",
    "number = 1\n    number = x": "one variable for an integer literal and an array of float64 with 1 dimension",
    "x = 1": "one variable for an array of float64 with 1 dimension and an integer literal",
    "out[0] = x[0.5]": "a number float64 where an integer is needed",
    "out[0] = x[x[0]]": "a number float64 where an integer is needed",
    "out[0] = (x[0], x[1])[2]": "entry 2 of a tuple of 2",
    "a, b = (x[0], x[1], x[2])": "3 values for 2 names",
    "pair = x[0], x[1]\n    a, b, c = pair": "2 entries for 3 names",
    "out[0] = x": "an array of float64 with 1 dimension as a number float64",
    "out[0] = -x": "the negative of an array of float64 with 1 dimension",
    "out[0] = x + 1": "an array of float64 with 1 dimension and an integer literal where numbers are needed",
    "out[0] = x[0] // 2": "// of a number float64",
    "out[0] = x[0] & 1": "& of a number float64",
    "out[0] = 1 // 0": "integer division or modulo by zero",
    "out[0] = x[0] is x[1]": "no such comparison",
    "out[0] = x[0] in (1, 2)": "no such comparison",
    "out[0] = {0: x[0]}[0]": "no such expression",
    "out[0] = max(x[0])": "no such function of numbers",
    "out[0] = min(x[0], key=x)": "a call with named arguments",
    "for i in x:\n        out[0] = i": "a loop over an array of float64 with 1 dimension",
    "for i in range(0, 5, 0):\n        out[i] = i": "a step of 0",
    "for i in (1, 2):\n        break": "a loop over a tuple with `break` or `continue`",
    "while x[0] > 0:\n        x[0] -= 1\n    else:\n        pass": "no such statement",
    "raise ValueError": "no such statement",
    "with x:\n        pass": "no such statement",
    "return x[0]": "a kernel has no `return`",
    "for i in range(3):\n        if x[i] > 1:\n            return": "a kernel has no `return`",
    "fixed[0] = 1": "a store into an array that is read-only",
    "out[0] = take(x, 0, 0, 2)": "rows of an array of float64 with 1 dimension",
    "out[0] = take(x, 0, 0, x.size)": "not a constant integer",
    "publish(x, 0, 1)": "counters in an array of float64 with 1 dimension",
    "out[0] = twice(x[0], 1)": "2 arguments for 1 parameter",
    "out[0] = again(x[0])": "a function that calls itself",
    "out[0] = spread_out(x)": "parameters other than plain names",
    "out[0] = 1j": "a number complex128 as a number float64",
    "out[0] = scaled(x[0])": "no value of factor, a constant",
    "out[0] = scaled(x[0], factor=x[1])": "a number float64 whose value is not known while the kernel is read",
    "out[0] = scaled(x[0], factor=2, more=1)": "more is no constant of this function",
    "out[0] = scaled(x[0], **x)": "a call with ** arguments",
    "out[0] = twice(x=x[0])": "a number float64 whose value is not known while the kernel is read",
    "for k in unrolled(x[0]):\n        out[k] = 0": "",
    "for k in unrolled(2):\n        for k in (x[0], 1):\n            break": "a loop over a tuple with `break`",
    "for width in (4, 1):\n        tile = zeros(x, width)": (
        "one variable for a tile of 4 float64 and a tile of 1 float64; a helper that is called for each has variables"
    ),
    "sums = ()\n    for k in range(2):\n        sums += (x[k],)": "a tuple of 0 becomes one of 1 in a branch",
    "if x[0] > 0:\n        sums = ()\n        sums += (x[0],)\n    out[0] = sums[0]": "sums is read where",
    "for i in range(x.size):\n        out[i] = i\n    out[0] = i": "i is read where it is not set on every path",
    "for i in range(x.size):\n        a = i\n    out[0] = a": "a is read where it is not set on every path",
    "for i in range(3):\n        if x[i] > 0:\n            continue\n        a = i\n    out[0] = a": "a is read where",
    "while True:\n        if x[0] > 0:\n            break\n        a = x[0]\n    out[0] = a": "a is read where",
    "if x[0] > 0:\n        a = 1\n    a += 1": "a is read where it is not set on every path; set it before",
    "if x[0] > 0:\n        a = (1, 2)\n    a[0] = 1": "a is read where it is not set on every path",
    "out[0] = scale\n    scale = 3": "scale is read where it is not set on every path",
    "range = 3\n    for i in range(3):\n        out[i] = i": "a call of an integer literal",
    "for i in unrolled(3):\n        out[i] = i\n    unrolled = 3": "unrolled is read where it is not set on every path",
    "for i in range(0, 5, x.size):\n        out[i] = i": "a step that may be 0 or negative; say max(1, step)",
    "out[0] = x[0] and x[1]": "a number float64 among `and` and `or`, whose value would be a number; compare it",
    "out[0] = x.size or 7": "a number int64 among `and` and `or`, whose value would be a number",
    "out[0] = x.size << 64": "a shift by less than 0 or by more than 63 bits",
    "out[0] = x.size >> -1": "a shift by less than 0 or by more than 63 bits",
    "one = [1.0, 2.0]\n    other = one\n    other[0] = 3": "an entry of a list that may have another name is set",
    "one = [1.0, 2.0]\n    other = 1, one\n    one[0] = 3": "an entry of a list that may have another name is set",
    "out[0] = entry_set([1.0, 2.0])": "an entry of a list that may have another name is set",
    "out[0] = partly(x[0])": "a function that returns a value on some paths and ends without one on others",
    "out[stored(x)] = 1": "an index with a call that stores into arrays; name its result before",
    "out[int(fixed[0])] += stored(x)": "an index is loaded before a call that stores into arrays; name it before",
    "out[0] = roomy(1) + roomy(2) + roomy(3)\n    rooms = local(np.int32, 16384)": "311296 bytes of local arrays",
    "n = 1\n    for thread in threads(taken):\n        n += 1\n    out[0] = n": "n set in the loop over",
    "for thread in threads(taken):\n        n = 1\n    out[0] = n": "n set in the loop over threads and read after it",
    "sums = 1\n    sums = (x[0],)": "one variable for an integer literal and a tuple of 1",
    "sums = (x[0],)\n    sums[1] = 2": "entry 1 of a tuple of 1",
    "x @= x": "no such statement",
    "x[0] **= 2": "no such statement",
    "room = local(np.float64, x.size)": "not a constant integer",
    "room = local(np.float64, 0)": "a local array of 0 float64: at least one entry, and at most 65536 bytes",
    "room = local(x, 3)": "a word with other arguments",
    "room = local(np.float64, 3) if x[0] > 0 else x": "one variable for a local array of float64 with 1",
    "out[0] = wide(x[0])": "wide in a function that is not one of rows",
    "out[0] = 1 if inside(0) else 0": "wide in a function that is not one of rows",
    "out[0] = columns((out,), 0, x.size)[0][0]": "not a constant integer",
    "out[0] = room_of()[0]": "memory of a thread or a group ends with its function, which returns it",
    "n = out[1] = x[0]\n    for thread in threads(taken):\n        out[thread] = n": "n set before a statement",
}


HEAD = """
import numpy as np
from workbench.compiler.words import columns, inside, local, publish, shared, take, threads, unrolled, wide, zeros
from workbench.jit.compiled import kernel


scale = 2


def twice(x):
    return 2 * x


def again(x):
    return again(x - 1)


def spread_out(*x):
    return x


def scaled(x, *, factor):
    return factor * x


def entry_set(of):
    of[0] = 2
    return of[0]


def partly(x):
    if x > 0:
        return 1


def stored(x):
    x[0] = 1
    return 1


def roomy(x):
    more = local(np.float64, 8192)
    more[0] = x
    return halves(x) + more[0]


def halves(x):
    some = local(np.float32, 4096)
    some[0] = x
    return some[0]


def room_of():
    return local(np.float64, 3)


@kernel()
def wrong(taken, x, out, fixed):
    """


@pytest.mark.parametrize("lines", WRONG)
def test_a_kernel_that_is_not_in_the_grammar(lines, tmp_path, monkeypatch):
    (tmp_path / "wrong_kernels.py").write_text(f"{HEAD}{lines}\n")
    monkeypatch.syspath_prepend(tmp_path)
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    try:
        module = importlib.import_module("wrong_kernels")
        with pytest.raises(KernelError) as found:
            launch(1, module.wrong, np.ones(3), np.zeros(3), fixed)
    finally:
        sys.modules.pop("wrong_kernels", None)
    place, _, sentence = str(found.value).partition(": ")
    file, _, line = place.rpartition(":")
    assert file == str(tmp_path / "wrong_kernels.py")
    assert 1 < int(line) <= HEAD.count("\n") + 1 + lines.count("\n")
    assert WRONG[lines] in sentence


@compiled.kernel()
def with_constants(taken, x, *, count, dtypes):
    x[0] = count


@pytest.mark.parametrize(
    ("constants", "sentence"),
    [
        ({}, "no value of count, dtypes, a constant"),
        ({"count": 1}, "no value of dtypes, a constant"),
        ({"count": 1, "dtypes": (), "more": 1}, "more is no constant of this function"),
        ({"count": "1"}, "the constant count is a str; kernels take numbers, truths, dtypes of numbers and tuples"),
        ({"dtypes": ("f8", [1])}, "the constant dtypes is a str"),
        ({"dtypes": np.dtype("M8[s]")}, "the constant dtypes is a DateTime64DType"),
    ],
)
def test_constants_that_a_kernel_does_not_take(constants, sentence, monkeypatch):
    with pytest.raises(KernelError, match=sentence):
        launch(1, with_constants.of(**constants), np.ones(3))
