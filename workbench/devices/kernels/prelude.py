"""The macros that make one kernel text CUDA C and OpenCL C, for real and complex numbers in either precision.

T is the type of vectors and W that of scalars and sums, R and V the real types of their parts. Arithmetic is written
T_ADD(a, b), W_MUL(a, b) and so on, since OpenCL C has no operators for complex numbers.
"""

from __future__ import annotations

import dataclasses

import numpy as np

STOP, COUNT, LIMIT, MOST = 64, 65, 66, 67
"""Places behind the named scalars: iterations do nothing while STOP is not 0; see `watch.py` for the other three."""
ROOM = 68
STRIPS = 16
"""Strips in which a group adds up the parts of its items, fewer where it has fewer items."""
END = "/* Here the prelude ends. */\n"


@dataclasses.dataclass(frozen=True)
class Layout:
    """How work is cut on a device.

    language: "opencl" or "cuda". group: work-items of a group in sweeps, a power of two. finish: the same where one
    group adds up what all groups left. chunked: a group takes a run of elements, in a plain loop that compilers for
    processors vectorize; else the items of all groups go through the vector side by side. Of at least `least` elements
    a group there are at most `groups` groups. double: whether the device computes in double precision.
    """

    language: str
    group: int
    finish: int
    chunked: bool
    least: int
    groups: int
    double: bool = True

    def groups_for(self, items: int) -> int:
        """Groups of a sweep over `items` elements."""
        return max(1, min(self.groups, -(-items // self.least)))

    def accumulator(self, dtype: np.dtype) -> np.dtype:
        """The dtype of scalars and sums: double precision where the device has it."""
        wide = np.dtype(dtype) if not self.double else np.result_type(dtype, np.float64)
        return np.dtype(wide)


def prelude(layout: Layout, dtype: np.dtype, index: np.dtype | type = np.int32) -> str:
    """The text in front of every kernel. `index` is the type INDEX of the integer arrays of sparse matrices."""
    dtype, wide = np.dtype(dtype), layout.accumulator(dtype)
    head = _OPENCL if layout.language == "opencl" else _CUDA
    if layout.language == "opencl" and wide.itemsize == (16 if wide.kind == "c" else 8):
        head = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + head
    head += f"typedef {_real(dtype)} R;\ntypedef {_real(wide)} V;\n"
    head += f"typedef {'int' if np.dtype(index).itemsize == 4 else 'I64'} INDEX;\n"
    head += f"#define GROUP {layout.group}\n#define FINISH {layout.finish}\n"
    head += f"#define STRIPS {min(STRIPS, layout.group)}\n"
    head += f"#define STOP {STOP}\n#define COUNT {COUNT}\n#define LIMIT {LIMIT}\n#define MOST {MOST}\n"
    head += _CHUNKED if layout.chunked else _STRIDED
    for letter, real, kind in (("T", "R", dtype), ("W", "V", wide)):
        text = _COMPLEX if kind.kind == "c" else _REAL
        head += text.replace("@", letter).replace("real_t", real).replace("pair_t", _real(kind) + "2")
    return head + (_CONVERT_COMPLEX if dtype.kind == "c" else _CONVERT_REAL) + _SUMS + END


def literal(value: float, dtype: np.dtype) -> str:
    """A number as C text in the real type of `dtype`."""
    return f"{float(value)!r}{'f' if _real(np.dtype(dtype)) == 'float' else ''}"


def _real(dtype: np.dtype) -> str:
    return "float" if dtype.itemsize == (8 if dtype.kind == "c" else 4) else "double"


_OPENCL = """
#define KERNEL __kernel void
#define DEVICE static inline
#define GLOBAL __global
#define LOCAL __local
#define SHARED(type, name, size) __local type name[size]
#define RESTRICT restrict
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#define GROUP_ID ((I64)get_group_id(0))
#define GROUPS ((I64)get_num_groups(0))
#define LOCAL_ID ((int)get_local_id(0))
#define GLOBAL_ID ((I64)get_global_id(0))
#define MAKE(type, x, y) ((type)((x), (y)))
typedef long I64;
"""
_CUDA = """
#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define GLOBAL
#define LOCAL
#define SHARED(type, name, size) __shared__ type name[size]
#define RESTRICT __restrict__
#define BARRIER __syncthreads()
#define GROUP_ID ((I64)blockIdx.x)
#define GROUPS ((I64)gridDim.x)
#define LOCAL_ID ((int)threadIdx.x)
#define GLOBAL_ID ((I64)blockIdx.x * blockDim.x + threadIdx.x)
#define MAKE(type, x, y) make_##type((x), (y))
typedef long long I64;
"""
_CHUNKED = """
#define LOW(n) ((n)*GROUP_ID/GROUPS)
#define HIGH(n) ((n)*(GROUP_ID + 1)/GROUPS)
#define EACH(i, n) EACH_IN(i, n, 0, n)
#define EACH_IN(i, n, from, to) \\
    for (I64 i = LOW(n) > (from) ? LOW(n) : (from), i##_end = HIGH(n) < (to) ? HIGH(n) : (to); i < i##_end; i++)
"""
_STRIDED = """
#define EACH(i, n) EACH_IN(i, n, 0, n)
#define EACH_IN(i, n, from, to) for (I64 i = (from) + GROUP_ID*GROUP + LOCAL_ID; i < (to); i += GROUPS*GROUP)
"""
# @ is T or W, real_t its real type, pair_t the vector type of two of them.
_REAL = """
typedef real_t @;
#define @_OF(a) ((@)(a))
#define @_FROM(a, b) ((@)(a))
#define @_REAL(a) (a)
#define @_ADD(a, b) ((a) + (b))
#define @_SUB(a, b) ((a) - (b))
#define @_MUL(a, b) ((a)*(b))
#define @_DIV(a, b) ((a)/(b))
#define @_NEG(a) (-(a))
#define @_CONJ(a) (a)
#define @_SCALE(s, a) ((s)*(a))
#define @_ABS(a) fabs(a)
#define @_SQRT(a) sqrt(a)
"""
_COMPLEX = """
typedef pair_t @;
DEVICE @ @_OF(real_t a) { return MAKE(pair_t, a, (real_t)0); }
DEVICE @ @_FROM(real_t a, real_t b) { return MAKE(pair_t, a, b); }
DEVICE real_t @_REAL(@ a) { return a.x; }
DEVICE @ @_ADD(@ a, @ b) { return MAKE(pair_t, a.x + b.x, a.y + b.y); }
DEVICE @ @_SUB(@ a, @ b) { return MAKE(pair_t, a.x - b.x, a.y - b.y); }
DEVICE @ @_MUL(@ a, @ b) { return MAKE(pair_t, a.x*b.x - a.y*b.y, a.x*b.y + a.y*b.x); }
DEVICE @ @_NEG(@ a) { return MAKE(pair_t, -a.x, -a.y); }
DEVICE @ @_CONJ(@ a) { return MAKE(pair_t, a.x, -a.y); }
DEVICE @ @_SCALE(real_t s, @ a) { return MAKE(pair_t, s*a.x, s*a.y); }
DEVICE @ @_ABS(@ a) { return MAKE(pair_t, hypot(a.x, a.y), (real_t)0); }
/* Smith's quotient: no part of the divisor is squared. */
DEVICE @ @_DIV(@ a, @ b) {
    if (fabs(b.x) >= fabs(b.y)) {
        const real_t q = b.y/b.x, d = b.x + b.y*q;
        return MAKE(pair_t, (a.x + a.y*q)/d, (a.y - a.x*q)/d);
    }
    const real_t q = b.x/b.y, d = b.x*q + b.y;
    return MAKE(pair_t, (a.x*q + a.y)/d, (a.y*q - a.x)/d);
}
DEVICE @ @_SQRT(@ a) {
    const real_t m = hypot(a.x, a.y);
    if (m == (real_t)0) return MAKE(pair_t, (real_t)0, a.y);
    const real_t h = sqrt((m + fabs(a.x))/(real_t)2);
    if (a.x >= (real_t)0) return MAKE(pair_t, h, a.y/((real_t)2*h));
    return MAKE(pair_t, fabs(a.y)/((real_t)2*h), a.y < (real_t)0 ? -h : h);
}
"""
_CONVERT_REAL = """
#define W_OF_T(a) ((W)(a))
#define T_OF_W(a) ((T)(a))
"""
_CONVERT_COMPLEX = """
DEVICE W W_OF_T(T a) { W b; b.x = a.x; b.y = a.y; return b; }
DEVICE T T_OF_W(W a) { T b; b.x = a.x; b.y = a.y; return b; }
"""
# room holds, for each of `sums` sums, the parts of all GROUP items, and STRIPS words behind them.
_SUMS = """
#define W_DOT(a, b) W_MUL(W_CONJ(W_OF_T(a)), W_OF_T(b))
#define LEAVE_SUMS(room, partial, sums) leave_sums(room, partial, sums, GROUPS, GROUP_ID)
/* partial[k*groups + group] = sum over the group's items of room[k*GROUP + item]. */
DEVICE void leave_sums(LOCAL W* room, GLOBAL W* partial, int sums, I64 groups, I64 group) {
    LOCAL W* strips = room + sums*GROUP;
    BARRIER;
    for (int j = LOCAL_ID; j < sums*STRIPS; j += GROUP) {
        const int first = (j/STRIPS)*GROUP + j%STRIPS;
        W sum = W_OF(0);
        for (int m = 0; m < GROUP; m += STRIPS) sum = W_ADD(sum, room[first + m]);
        strips[j] = sum;
    }
    BARRIER;
    for (int k = LOCAL_ID; k < sums; k += GROUP) {
        W sum = W_OF(0);
        for (int m = 0; m < STRIPS; m++) sum = W_ADD(sum, strips[k*STRIPS + m]);
        partial[k*groups + group] = sum;
    }
}
"""
