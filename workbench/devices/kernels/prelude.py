"""The macros that make one kernel text CUDA C and OpenCL C, for real and complex numbers in either precision.

T is the type of vectors and W that of scalars and sums, R and V the real types of their parts. Arithmetic is written
T_ADD(a, b), W_MUL(a, b) and so on, since OpenCL C has no operators for complex numbers.
"""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np

from workbench.devices.kernels.kernel_text import read

STOP, COUNT, LIMIT, MOST = range(4)
"""Slots before the named scalars: iterations do nothing while STOP is not 0; see `watch.py` for the other three."""
NAMED = 4
"""The first slot of the named scalars and small matrices of a program."""
STRIPS = 16
"""Intermediate sums of a reduction in a group, at most."""
END = "/* Here the prelude ends. */\n"


@dataclasses.dataclass(frozen=True)
class Layout:
    """The distribution of work on a device.

    language: "opencl" or "cuda". group: work-items of a group in loops over elements, a power of two. finish: the same
    for the one group that adds the partial sums of all groups. chunked: a group takes a contiguous run of elements, in
    a plain loop that compilers for processors vectorize; else consecutive work-items take consecutive elements. least:
    elements of a group, at least. groups: most groups. double: whether the device computes in double precision.
    """

    language: str
    group: int
    finish: int
    chunked: bool
    least: int
    groups: int
    double: bool = True

    def groups_for(self, items: int) -> int:
        """Number of groups for a loop over `items` elements."""
        return max(1, min(self.groups, -(-items // self.least)))

    def accumulator(self, dtype: np.dtype) -> np.dtype:
        """The dtype of scalars and sums: double precision where the device has it."""
        wide = np.dtype(dtype) if not self.double else np.result_type(dtype, np.float64)
        return np.dtype(wide)


def strips(group: int) -> int:
    """Intermediate sums of a reduction in a group of `group` work-items, each with the same number of terms."""
    return math.gcd(STRIPS, group)


def prelude(layout: Layout, dtype: np.dtype, index: np.dtype | type = np.int32) -> str:
    """The text in front of every kernel. `index` is the type INDEX of the integer arrays of sparse matrices."""
    dtype, wide = np.dtype(dtype), layout.accumulator(dtype)
    head = _piece(layout.language)
    if layout.language == "opencl" and wide.itemsize == (16 if wide.kind == "c" else 8):
        head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + head
    head += f"typedef {_real(dtype)} R;\ntypedef {_real(wide)} V;\n"
    head += f"typedef {'int' if np.dtype(index).itemsize == 4 else 'I64'} INDEX;\n"
    head += f"#define GROUP {layout.group}\n#define FINISH {layout.finish}\n"
    head += f"#define STRIPS {strips(layout.group)}\n"
    head += f"#define STOP {STOP}\n#define COUNT {COUNT}\n#define LIMIT {LIMIT}\n#define MOST {MOST}\n"
    head += _piece("chunked" if layout.chunked else "strided")
    for letter, real, kind in (("T", "R", dtype), ("W", "V", wide)):
        head += _arithmetic(letter, real, kind)
    return head + _piece("convert_complex" if dtype.kind == "c" else "convert_real") + _piece("sums") + END


def _arithmetic(letter: str, real: str, dtype: np.dtype) -> str:
    """The operations of one type; in the files it is X, its real type real_t, the vector type of two reals pair_t."""
    text = _piece("complex" if dtype.kind == "c" else "real").replace("real_t", real)
    return re.sub(r"\bX", letter, text).replace("pair_t", _real(dtype) + "2")


def _piece(name: str) -> str:
    return "\n" + read(f"prelude_{name}")


def _real(dtype: np.dtype) -> str:
    return "float" if dtype.itemsize == (8 if dtype.kind == "c" else 4) else "double"
