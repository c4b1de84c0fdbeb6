"""CSR products by tiles: a group multiplies the entries of some rows side by side, then adds up row by row.

Entries are read in the order in which they lie, whatever the lengths of the rows, and products wait in local memory.
Source: Greathouse, Daga 2014, CSR-stream and, for rows longer than a tile, CSR-vector.
"""

from __future__ import annotations

from workbench.devices.kernels.products import LEAVE, ROOM, row_result

PER_ITEM = 4
"""Entries of a tile for every work-item of the group."""


def csr_tiles(*, based: bool = False, scaled: bool = False, summed: bool = True) -> str:
    """y = A x, or based: y = (base - A x)*scale, for a CSR matrix whose tile t is the rows bounds[t] to bounds[t + 1].

    A tile has at most PER_ITEM*GROUP entries, or is one row.
    """
    more = ", GLOBAL const T* RESTRICT base" if based else ""
    more += ", GLOBAL const T* RESTRICT scale" if scaled else ""
    more += ", GLOBAL const T* RESTRICT left, GLOBAL W* partial" if summed else ""
    finish = row_result(based=based, scaled=scaled, summed=summed)
    return f"""KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const INDEX* RESTRICT bounds, GLOBAL const T* RESTRICT x,
    GLOBAL T* RESTRICT y{more}, const I64 tiles)
{{
{ROOM if summed else ""}    SHARED(T, products, {PER_ITEM}*GROUP);
    for (I64 tile = GROUP_ID; tile < tiles; tile += GROUPS) {{
        const INDEX top = bounds[tile], end = bounds[tile + 1], from = starts[top], to = starts[end];
        const int whole = to - from <= {PER_ITEM}*GROUP;
        if (whole) {{
            _Pragma("unroll") for (int m = 0; m < {PER_ITEM}; m++) {{
                const INDEX j = from + m*GROUP + LOCAL_ID;
                if (j < to) products[j - from] = T_MUL(data[j], x[indices[j]]);
            }}
        }} else {{
            T part = T_OF(0);
            for (INDEX j = from + LOCAL_ID; j < to; j += GROUP) part = T_ADD(part, T_MUL(data[j], x[indices[j]]));
            products[LOCAL_ID] = part;
        }}
        BARRIER;
        for (INDEX row = top + LOCAL_ID; row < end; row += GROUP) {{
            const INDEX first = whole ? starts[row] - from : 0, last = whole ? starts[row + 1] - from : GROUP;
            T sum = T_OF(0);
            for (INDEX j = first; j < last; j++) sum = T_ADD(sum, products[j]);
            {finish}
        }}
        BARRIER;
    }}
{LEAVE if summed else ""}}}
"""
