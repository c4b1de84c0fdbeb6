"""Kernels of the second level: restriction, prolongation, products with AZ, and solves with E. No atomics: every sum is
made in two stages, the second in a fixed order."""

from __future__ import annotations

# Adds up room[0..GROUP-1] into room[0]; GROUP is a power of two.
_TREE = """    BARRIER;
    for (int reach = GROUP/2; reach > 0; reach /= 2) {
        if (LOCAL_ID < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
        BARRIER;
    }
"""

COMBINE = f"""KERNEL combine(GLOBAL const W* RESTRICT parts, GLOBAL const INDEX* RESTRICT order,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL W* RESTRICT coarse)
{{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (INDEX k = starts[GROUP_ID] + LOCAL_ID; k < starts[GROUP_ID + 1]; k += GROUP)
        sum = W_ADD(sum, parts[order[k]]);
    room[LOCAL_ID] = sum;
{_TREE}    if (LOCAL_ID == 0) coarse[GROUP_ID] = room[0];
}}
"""
"""coarse[k] = the sum of the parts named by order[starts[k]:starts[k + 1]], one group a k."""


def runs(lanes: int) -> str:
    """parts[run] = the sum of w over a run of equal labels; `lanes` items of a group share a run."""
    head = (
        "KERNEL runs(GLOBAL const T* RESTRICT w, GLOBAL const INDEX* RESTRICT bounds, GLOBAL W* RESTRICT parts, "
        "const I64 count)\n{\n"
    )
    if lanes == 1:
        return (
            head
            + """    EACH(run, count) {
        W sum = W_OF(0);
        const I64 end = bounds[run + 1];
        for (I64 i = bounds[run]; i < end; i++) sum = W_ADD(sum, W_OF_T(w[i]));
        parts[run] = sum;
    }
}
"""
        )
    return (
        head
        + f"""    SHARED(W, room, GROUP);
    const int lane = LOCAL_ID%{lanes}, runs_a_group = GROUP/{lanes};
    for (I64 first = GROUP_ID*runs_a_group; first < count; first += GROUPS*runs_a_group) {{
        const I64 run = first + LOCAL_ID/{lanes};
        W sum = W_OF(0);
        if (run < count)
            for (INDEX i = bounds[run] + lane; i < bounds[run + 1]; i += {lanes}) sum = W_ADD(sum, W_OF_T(w[i]));
        room[LOCAL_ID] = sum;
        BARRIER;
        for (int reach = {lanes // 2}; reach > 0; reach /= 2) {{
            if (lane < reach) room[LOCAL_ID] = W_ADD(room[LOCAL_ID], room[LOCAL_ID + reach]);
            BARRIER;
        }}
        if (lane == 0 && run < count) parts[run] = room[LOCAL_ID];
        BARRIER;
    }}
}}
"""
    )


PROLONG = """KERNEL prolong(GLOBAL T* RESTRICT x, GLOBAL const INDEX* RESTRICT labels, GLOBAL const W* RESTRICT coarse,
    const V sign, const I64 n)
{
    EACH(i, n) x[i] = T_OF_W(W_ADD(W_OF_T(x[i]), W_SCALE(sign, coarse[labels[i]])));
}
"""
"""x = x + sign Z a for a label per unknown."""

COMPACT = """KERNEL compact(GLOBAL const INDEX* RESTRICT rows, GLOBAL const INDEX* RESTRICT starts,
    GLOBAL const INDEX* RESTRICT columns, GLOBAL const T* RESTRICT data, GLOBAL T* w, GLOBAL const W* RESTRICT coarse,
    const I64 count)
{
    EACH(k, count) {
        W v = W_OF_T(w[rows[k]]);
        for (INDEX j = starts[k]; j < starts[k + 1]; j++)
            v = W_SUB(v, W_MUL(W_OF_T(data[j]), coarse[columns[j]]));
        w[rows[k]] = T_OF_W(v);
    }
}
"""
"""w = w - AZ a, on the rows of AZ that have entries."""

COLUMN_DOTS = f"""KERNEL column_dots(GLOBAL const T* RESTRICT vectors, GLOBAL const T* RESTRICT w,
    GLOBAL W* RESTRICT parts, const I64 count, const I64 n)
{{
    SHARED(W, room, GROUP);
    const I64 chunks = GROUPS/count, chunk = GROUP_ID/count, k = GROUP_ID%count;
    const I64 low = n*chunk/chunks, high = n*(chunk + 1)/chunks;
    GLOBAL const T* z = vectors + k*n;
    W sum = W_OF(0);
    for (I64 i = low + LOCAL_ID; i < high; i += GROUP) sum = W_ADD(sum, W_DOT(z[i], w[i]));
    room[LOCAL_ID] = sum;
{_TREE}    if (LOCAL_ID == 0) parts[k*chunks + chunk] = room[0];
}}
"""
"""parts[k*chunks + chunk] = a chunk's part of (z_k, w); neighbouring groups share the chunk of w."""

COLUMN_SUM = """KERNEL column_sum(GLOBAL const T* RESTRICT vectors, GLOBAL T* RESTRICT x,
    GLOBAL const W* RESTRICT coarse, const V sign, const I64 count, const I64 n)
{
    EACH(i, n) {
        W v = W_OF(0);
        for (I64 k = 0; k < count; k++) v = W_ADD(v, W_MUL(coarse[k], W_OF_T(vectors[k*n + i])));
        x[i] = T_OF_W(W_ADD(W_OF_T(x[i]), W_SCALE(sign, v)));
    }
}
"""
"""x = x + sign Z a for vectors side by side."""

DENSE = f"""KERNEL dense(GLOBAL const W* RESTRICT matrix, GLOBAL const W* RESTRICT a, GLOBAL W* RESTRICT solved,
    const I64 size)
{{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    if (GROUP_ID < size)
        for (I64 j = LOCAL_ID; j < size; j += GROUP) sum = W_ADD(sum, W_MUL(matrix[GROUP_ID*size + j], a[j]));
    room[LOCAL_ID] = sum;
{_TREE}    if (LOCAL_ID == 0) solved[GROUP_ID] = room[0];
}}
"""
"""solved = matrix a, one group a row; zero in the rows from `size` on."""

BAND = """KERNEL band(GLOBAL const W* RESTRICT factor, GLOBAL const INDEX* RESTRICT order, GLOBAL const W* RESTRICT a,
    GLOBAL W* RESTRICT solved, GLOBAL W* s, GLOBAL W* t, const I64 size, const I64 width, const I64 count)
{
    for (I64 i = LOCAL_ID; i < size; i += GROUP) s[i] = a[order[i]];
    for (I64 i = size + LOCAL_ID; i < count; i += GROUP) solved[i] = W_OF(0);
    BARRIER;
    for (I64 j = 0; j < size; j++) {
        GLOBAL const W* column = factor + j*(width + 1);
        const W y = W_DIV(s[j], column[0]);
        const I64 below = j + width < size ? width : size - 1 - j;
        for (I64 k = 1 + LOCAL_ID; k <= below; k += GROUP) s[j + k] = W_SUB(s[j + k], W_MUL(column[k], y));
        if (LOCAL_ID == 0) t[j] = y;
        BARRIER;
    }
    for (I64 j = size - 1; j >= 0; j--) {
        const W y = W_DIV(t[j], W_CONJ(factor[j*(width + 1)]));
        const I64 above = j < width ? j : width;
        for (I64 k = 1 + LOCAL_ID; k <= above; k += GROUP)
            t[j - k] = W_SUB(t[j - k], W_MUL(W_CONJ(factor[(j - k)*(width + 1) + k]), y));
        if (LOCAL_ID == 0) solved[order[j]] = y;
        BARRIER;
    }
}
"""
"""One group solves with L L^H; factor[j*(width + 1) + k] = L[j + k, j], rows and columns in the given order."""

ENERGY = f"""KERNEL energy(GLOBAL const W* RESTRICT a, GLOBAL const W* RESTRICT b, GLOBAL W* partial, const I64 count)
{{
    SHARED(W, room, GROUP);
    W sum = W_OF(0);
    for (I64 k = LOCAL_ID; k < count; k += GROUP) sum = W_ADD(sum, W_MUL(W_CONJ(a[k]), b[k]));
    room[LOCAL_ID] = sum;
{_TREE}    if (LOCAL_ID == 0) partial[0] = W_SUB(partial[0], room[0]);
}}
"""
"""Takes (a, b) from the first dot product, in the place of its first part. One group."""
