"""Solves with blocks of whole grid rows: an item goes along a row, one step behind the item of the row before.

At every step the items of a group stand on a diagonal of the block, and pass on what they found: through local memory,
or from lane to lane where a group is a CUDA warp. What a step reads besides does not depend on the steps before it, so
it is loaded a stretch ahead, and the steps themselves are two multiplications long.
"""

from __future__ import annotations

STRETCH = 8
"""Steps whose numbers are loaded at once; even, so that the two sides of the handed-over values are known."""

_PASSING = """
#define STRETCH @
#define UNROLL _Pragma("unroll")
#if defined(__CUDACC__) && GROUP == 32
#define FROM_BEFORE(v, m) got = lane_before(v)
#define FROM_BEHIND(v, m) got = lane_behind(v)
#else
#define SIDE(m) ((m) % 2*(GROUP + 2) + j + 1)
#define FROM_BEFORE(v, m) handed[SIDE(m)] = v; BARRIER; got = handed[SIDE(m) - 1]
#define FROM_BEHIND(v, m) handed[SIDE(m)] = v; BARRIER; got = handed[SIDE(m) + 1]
#endif
"""
_LANES_REAL = """
#if defined(__CUDACC__) && GROUP == 32
DEVICE T lane_before(T v) { return __shfl_up_sync(0xffffffffu, v, 1); }
DEVICE T lane_behind(T v) { return __shfl_down_sync(0xffffffffu, v, 1); }
#endif
"""
_LANES_COMPLEX = """
#if defined(__CUDACC__) && GROUP == 32
DEVICE T lane_before(T v) {
    return T_FROM(__shfl_up_sync(0xffffffffu, v.x, 1), __shfl_up_sync(0xffffffffu, v.y, 1));
}
DEVICE T lane_behind(T v) {
    return T_FROM(__shfl_down_sync(0xffffffffu, v.x, 1), __shfl_down_sync(0xffffffffu, v.y, 1));
}
#endif
"""
# v = (d - a*before - b*got)*c; c is multiplied in when a stretch begins. The first row of a block has none before it.
_LOAD_FORWARD = """
                const int x = ahead + m - j, here = mine && x >= 0 && x < width;
                const I64 i = base + (here ? x : 0);
                next_a[m] = here ? west[i] : T_OF(0);
                next_b[m] = here && j > 0 ? south[i] : T_OF(0);
                next_c[m] = here ? inverse[i] : T_OF(0);
                next_d[m] = here ? T_SCALE(scale, r[i]) : T_OF(0);
"""
_STEP_FORWARD = """
                const int x = t + m - j;
                const T v = T_SUB(T_SUB(d[m], T_MUL(a[m], before)), T_MUL(b[m], got));
                if (mine && x >= 0 && x < width) u[base + x] = v;
                before = v;
                FROM_BEFORE(v, m);
"""
# v = d - (a*before + b*got)*c; the bands of a neighbour to the east or north are stored there.
_LOAD_BACKWARD = """
                const int x = width - 1 - (ahead + m - (last - j)), here = mine && x >= 0 && x < width;
                const I64 i = base + (here ? x : 0);
                next_a[m] = here && x + 1 < width ? T_CONJ(west[i + 1]) : T_OF(0);
                next_b[m] = here && j < last ? T_CONJ(south[i + width]) : T_OF(0);
                next_c[m] = here ? inverse[i] : T_OF(0);
                next_d[m] = here ? u[i] : T_OF(0);
                next_e[m] = here ? r[i] : T_OF(0);
"""
_STEP_BACKWARD = """
                const int x = width - 1 - (t + m - (last - j));
                const T v = T_SUB(T_SUB(d[m], T_MUL(a[m], before)), T_MUL(b[m], got));
                if (mine && x >= 0 && x < width) u[base + x] = v;
                before = v;
                FROM_BEHIND(v, m);
                xy = W_ADD(xy, W_DOT(e[m], v)); yy = W_ADD(yy, W_DOT(v, v)); xx = W_ADD(xx, W_DOT(e[m], e[m]));
"""


def _sweep(load: str, step: str, moves: str) -> str:
    loading = f"UNROLL for (int m = 0; m < STRETCH; m++) {{{load}            }}"
    return f"""
        before = got = T_OF(0);
        for (int k = j; k < 2*(GROUP + 2); k += GROUP) handed[k] = T_OF(0);
        BARRIER;
        ahead = 0;
        {loading}
        for (int t = 0; t < steps; t += STRETCH) {{
            UNROLL for (int m = 0; m < STRETCH; m++) {{
                a[m] = T_MUL(next_c[m], next_a[m]);
                b[m] = T_MUL(next_c[m], next_b[m]);
                {moves}
            }}
            ahead = t + STRETCH;
            {loading}
            UNROLL for (int m = 0; m < STRETCH; m++) {{{step}            }}
        }}
        BARRIER;"""


def wavefront(*, is_complex: bool) -> str:
    """u = scale M^-1 r for M = (E + L) E^-1 (E + L^H), blocks of at most GROUP grid rows of `width` unknowns.

    west and south are the bands at distances 1 and width. Leaves (r, u), (u, u) and (r, r).
    """
    forward = _sweep(_LOAD_FORWARD, _STEP_FORWARD, "d[m] = T_MUL(next_c[m], next_d[m]);")
    backward = _sweep(_LOAD_BACKWARD, _STEP_BACKWARD, "d[m] = next_d[m]; e[m] = next_e[m];")
    arrays = ", ".join(f"{name}[STRETCH], next_{name}[STRETCH]" for name in "abde")
    passing = _PASSING.replace("@", str(STRETCH)) + (_LANES_COMPLEX if is_complex else _LANES_REAL)
    return f"""{passing}
KERNEL wavefront(GLOBAL const T* RESTRICT west, GLOBAL const T* RESTRICT south, GLOBAL const T* RESTRICT inverse,
    const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial, const int width, const I64 rows,
    const I64 rows_a_block)
{{
    SHARED(T, handed, 2*(GROUP + 2));
    SHARED(W, room, 3*(GROUP + STRIPS));
    W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);
    T {arrays}, next_c[STRETCH], before, got;
    int ahead;
    const int j = LOCAL_ID;
    const I64 blocks = (rows + rows_a_block - 1)/rows_a_block;
    for (I64 block = GROUP_ID; block < blocks; block += GROUPS) {{
        const I64 first = block*rows_a_block, left = rows - first;
        const int count = (int)(left < rows_a_block ? left : rows_a_block), last = count - 1, mine = j < count;
        const I64 base = (first + (mine ? j : 0))*width;
        const int steps = width + last;
{forward}
{backward}
    }}
    room[LOCAL_ID] = xy;
    room[GROUP + LOCAL_ID] = yy;
    room[2*GROUP + LOCAL_ID] = xx;
    LEAVE_SUMS(room, partial, 3);
}}
"""
