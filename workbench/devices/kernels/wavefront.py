"""Solves with blocks of whole grid rows: an item goes along a row, one step behind the item of the row below.

At every step the items of a group stand on a diagonal of the block, and pass on what they found through local memory.
What a step reads besides does not depend on the steps before it, so it is loaded a stretch ahead.
"""

from __future__ import annotations

STRETCH = 8
"""Steps whose numbers are loaded at once; even, so that the two sides of the handed-over values are known."""

_ARGUMENTS = """KERNEL wavefront(GLOBAL const T* RESTRICT west, GLOBAL const T* RESTRICT south,
    GLOBAL const T* RESTRICT inverse, const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial,
    const I64 width, const I64 rows, const I64 rows_a_block)
"""
_LOAD_FORWARD = """
                const I64 x = ahead + m - j;
                const int here = mine && x >= 0 && x < width;
                const I64 i = base + (here ? x : 0);
                next_a[m] = here ? west[i] : T_OF(0);
                next_b[m] = here ? south[i] : T_OF(0);
                next_c[m] = here ? inverse[i] : T_OF(0);
                next_d[m] = here ? T_SCALE(scale, r[i]) : T_OF(0);
"""
# The bands of a neighbour to the east or north are stored there; on the last row of a block the north does not count.
_LOAD_BACKWARD = """
                const I64 x = width - 1 - (ahead + m - (last - j));
                const int here = mine && x >= 0 && x < width;
                const I64 i = base + (here ? x : 0);
                next_a[m] = here && x + 1 < width ? T_CONJ(west[i + 1]) : T_OF(0);
                next_b[m] = here && j < last ? T_CONJ(south[i + width]) : T_OF(0);
                next_c[m] = here ? inverse[i] : T_OF(0);
                next_d[m] = here ? u[i] : T_OF(0);
                next_e[m] = here ? r[i] : T_OF(0);
"""
_STEP_FORWARD = """
                const T v = T_MUL(T_SUB(T_SUB(d[m], T_MUL(a[m], before)), T_MUL(b[m], handed[from + j])), c[m]);
                const I64 x = t + m - j;
                if (mine && x >= 0 && x < width) u[base + x] = v;
                before = v;
                handed[to + j + 1] = v;
"""
_STEP_BACKWARD = """
                const T sum = T_ADD(T_MUL(a[m], before), T_MUL(b[m], handed[from + j + 2]));
                const T v = T_SUB(d[m], T_MUL(c[m], sum));
                const I64 x = width - 1 - (t + m - (last - j));
                if (mine && x >= 0 && x < width) u[base + x] = v;
                before = v;
                handed[to + j + 1] = v;
                xy = W_ADD(xy, W_DOT(e[m], v)); yy = W_ADD(yy, W_DOT(v, v)); xx = W_ADD(xx, W_DOT(e[m], e[m]));
"""


def _sweep(load: str, step: str, names: str) -> str:
    loading = f"UNROLL for (int m = 0; m < STRETCH; m++) {{{load}            }}"
    moves = " ".join(f"{name}[m] = next_{name}[m];" for name in names)
    return f"""
        before = T_OF(0);
        for (int k = j; k < 2*(GROUP + 2); k += GROUP) handed[k] = T_OF(0);
        BARRIER;
        ahead = 0;
        {loading}
        for (I64 t = 0; t < steps; t += STRETCH) {{
            UNROLL for (int m = 0; m < STRETCH; m++) {{ {moves} }}
            ahead = t + STRETCH;
            {loading}
            UNROLL for (int m = 0; m < STRETCH; m++) {{
                const int to = m % 2*(GROUP + 2), from = GROUP + 2 - to;{step}                BARRIER;
            }}
        }}
        BARRIER;"""


def wavefront() -> str:
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), blocks of at most GROUP grid rows of `width` unknowns.

    west and south are the bands at distances 1 and width. Leaves (r, u), (u, u) and (r, r).
    """
    forward = _sweep(_LOAD_FORWARD, _STEP_FORWARD, "abcd")
    backward = _sweep(_LOAD_BACKWARD, _STEP_BACKWARD, "abcde")
    arrays = ", ".join(f"{name}[STRETCH], next_{name}[STRETCH]" for name in "abcde")
    return f"""#define STRETCH {STRETCH}
#define UNROLL _Pragma("unroll")
{_ARGUMENTS}{{
    SHARED(T, handed, 2*(GROUP + 2));
    SHARED(W, room, 3*(GROUP + STRIPS));
    W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);
    T {arrays}, before;
    I64 ahead;
    const int j = LOCAL_ID;
    const I64 blocks = (rows + rows_a_block - 1)/rows_a_block;
    for (I64 block = GROUP_ID; block < blocks; block += GROUPS) {{
        const I64 first = block*rows_a_block, left = rows - first;
        const int count = (int)(left < rows_a_block ? left : rows_a_block), last = count - 1, mine = j < count;
        const I64 base = (first + (mine ? j : 0))*width, steps = width + last;
{forward}
{backward}
    }}
    room[LOCAL_ID] = xy;
    room[GROUP + LOCAL_ID] = yy;
    room[2*GROUP + LOCAL_ID] = xx;
    LEAVE_SUMS(room, partial, 3);
}}
"""
