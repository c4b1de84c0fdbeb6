"""Kernels that multiply: stencils, terms of Neumann series, CSR matrices, and one step of a Chebyshev iteration.

Each leaves its groups' parts of three dot products of a left vector and the result: (left, y), (y, y), (left, left).
"""

from __future__ import annotations

ROOM = "    SHARED(W, room, 3*(GROUP + STRIPS));\n    W xy = W_OF(0), yy = W_OF(0), xx = W_OF(0);\n"
LEAVE = (
    "    room[LOCAL_ID] = xy;\n    room[GROUP + LOCAL_ID] = yy;\n    room[2*GROUP + LOCAL_ID] = xx;\n"
    "    LEAVE_SUMS(room, partial, 3);\n"
)

ALONG = 4
"""Rows along the farthest band that an item of a GPU takes."""


def sums_of(left: str) -> str:
    return f"xy = W_ADD(xy, W_DOT({left}, v)); yy = W_ADD(yy, W_DOT(v, v)); xx = W_ADD(xx, W_DOT({left}, {left}));"


def stencil(bands: int, *, constant: bool) -> str:
    """y = A x for a diagonal and lower bands at distances d0 < d1 < ..; rows without all neighbours are loops of their
    own, so that the long one has no branch. A constant diagonal is one number."""
    lows = "".join(f", GLOBAL const T* RESTRICT low{k}" for k in range(bands))
    start = "T v = T_MUL(diagonal[0], x[i]);" if constant else "T v = T_MUL(diagonal[i], x[i]);"
    below = [f"v = T_ADD(v, T_MUL(low{k}[i], x[i - d{k}]));" for k in range(bands)]
    above = [f"v = T_ADD(v, T_MUL(T_CONJ(low{k}[i + d{k}]), x[i + d{k}]));" for k in range(bands)]
    edge = [f"if (i >= d{k}) {line}" for k, line in enumerate(below)]
    edge += [f"if (i + d{k} < n) {line}" for k, line in enumerate(above)]
    end = f"y[i] = v; {sums_of('x[i]')}"
    return (
        f"KERNEL stencil(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, GLOBAL const T* RESTRICT diagonal{lows}"
        f"{_distances(bands)}, GLOBAL W* partial, const I64 n)\n{{\n{ROOM}"
        f"    const I64 first = d{bands - 1} < n ? d{bands - 1} : n;\n"
        "    const I64 last = n - first > first ? n - first : first;\n"
        f"    EACH_IN(i, n, first, last) {{ {start} {' '.join(below + above)} {end} }}\n"
        f"    EACH_IN(i, n, 0, first) {{ {start} {' '.join(edge)} {end} }}\n"
        f"    EACH_IN(i, n, last, n) {{ {start} {' '.join(edge)} {end} }}\n"
        f"{LEAVE}}}\n"
    )


def stencil_columns(bands: int, *, constant: bool) -> str:
    """The same for GPUs: an item goes some rows along the farthest band, so that what it reads there of x and of the
    band stays in registers; otherwise the second-level cache, from which a row takes twice what it takes from memory,
    would be the limit."""
    far = f"d{bands - 1}"
    lows = "".join(f", GLOBAL const T* RESTRICT low{k}" for k in range(bands))
    near = [f"if (i >= d{k}) v = T_ADD(v, T_MUL(low{k}[i], x[i - d{k}]));" for k in range(bands - 1)]
    near += [f"if (i + d{k} < n) v = T_ADD(v, T_MUL(T_CONJ(low{k}[i + d{k}]), x[i + d{k}]));" for k in range(bands - 1)]
    return f"""KERNEL stencil(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, GLOBAL const T* RESTRICT diagonal{lows}{
        _distances(bands)
    }, GLOBAL W* partial, const I64 n)
{{
{ROOM}    const I64 across = {far} < n ? {far} : n;
    const I64 pieces = ((n + across - 1)/across + {ALONG - 1})/{ALONG};
    EACH(item, across*pieces) {{
        const I64 piece = item/across;
        I64 i = item - piece*across + piece*{ALONG}*across;
        T before = i >= {far} && i < n ? x[i - {far}] : T_OF(0), here = i < n ? x[i] : T_OF(0);
        T coupled = i >= {far} && i < n ? low{bands - 1}[i] : T_OF(0);
        for (int step = 0; step < {ALONG} && i < n; step++) {{
            const int inside = i + {far} < n;
            const T after = inside ? x[i + {far}] : T_OF(0), coupling = inside ? low{bands - 1}[i + {far}] : T_OF(0);
            T v = T_MUL(diagonal[{0 if constant else "i"}], here);
            v = T_ADD(T_ADD(v, T_MUL(coupled, before)), T_MUL(T_CONJ(coupling), after));
            {" ".join(near)}
            y[i] = v; {sums_of("here")}
            before = here; here = after; coupled = coupling; i += {far};
        }}
    }}
{LEAVE}}}
"""


def stencil_term(bands: int, *, upper: bool, scaled: bool = False) -> str:
    """y = (base - L x)*scale, or base - L^H x, for the lower bands of L. The upper one leaves dot products."""
    lows = "".join(f", GLOBAL const T* RESTRICT low{k}" for k in range(bands))
    lows += ", GLOBAL const T* RESTRICT scale" if scaled else ""
    if upper:
        lines = [f"v = T_SUB(v, T_MUL(T_CONJ(low{k}[i + d{k}]), x[i + d{k}]));" for k in range(bands)]
        edge = [f"if (i + d{k} < n) {line}" for k, line in enumerate(lines)]
        ranges = ("0, bound", "bound, n")
    else:
        lines = [f"v = T_SUB(v, T_MUL(low{k}[i], x[i - d{k}]));" for k in range(bands)]
        edge = [f"if (i >= d{k}) {line}" for k, line in enumerate(lines)]
        ranges = ("bound, n", "0, bound")
    end = "v = T_MUL(v, scale[i]); y[i] = v;" if scaled else "y[i] = v;"
    end += f" {sums_of('left[i]')}" if upper else ""
    more = ", GLOBAL const T* RESTRICT left, GLOBAL W* partial" if upper else ""
    bound = f"n - d{bands - 1}" if upper else f"d{bands - 1}"
    return (
        "KERNEL term(GLOBAL const T* RESTRICT base, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y"
        f"{lows}{_distances(bands)}{more}, const I64 n)\n{{\n{ROOM if upper else ''}"
        f"    const I64 bound = {bound} < 0 ? 0 : {bound} > n ? n : {bound};\n"
        f"    EACH_IN(i, n, {ranges[0]}) {{ T v = base[i]; {' '.join(lines)} {end} }}\n"
        f"    EACH_IN(i, n, {ranges[1]}) {{ T v = base[i]; {' '.join(edge)} {end} }}\n"
        f"{LEAVE if upper else ''}}}\n"
    )


def csr(lanes: int, *, based: bool = False, scaled: bool = False, summed: bool = True, part: bool = False) -> str:
    """y = A x, or based: y = (base - A x)*scale, for a CSR matrix; `lanes` items of a group share a row.

    One lane a row where rows are short or the device is a processor; else a power of two, at most GROUP.
    part: of row i only the entries starts[i] to ends[i], with columns counted from `first`; based: y = base + A x.
    """
    more = ", GLOBAL const T* RESTRICT base" if based else ""
    more += ", GLOBAL const T* RESTRICT scale" if scaled else ""
    more += ", GLOBAL const T* RESTRICT left, GLOBAL W* partial" if summed else ""
    ends = ", GLOBAL const INDEX* RESTRICT ends, const I64 first" if part else ""
    end_of_row, column = ("ends[row]", "indices[j] - first") if part else ("starts[row + 1]", "indices[j]")
    head = (
        "KERNEL csr(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices, "
        f"GLOBAL const INDEX* RESTRICT starts{ends}, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y"
        f"{more}, const I64 rows)\n{{\n{ROOM if summed else ''}"
    )
    end = row_result(based=based, scaled=scaled, summed=summed, added=part)
    if lanes == 1:
        loop = f"""    EACH(row, rows) {{
        T sum = T_OF(0);
        for (INDEX j = starts[row]; j < {end_of_row}; j++) sum = T_ADD(sum, T_MUL(data[j], x[{column}]));
        {end}
    }}
"""
    else:
        loop = f"""    SHARED(T, lanes, GROUP);
    const int lane = LOCAL_ID%{lanes}, rows_a_group = GROUP/{lanes};
    for (I64 top = GROUP_ID*rows_a_group; top < rows; top += GROUPS*rows_a_group) {{
        const I64 row = top + LOCAL_ID/{lanes};
        T part = T_OF(0);
        if (row < rows)
            for (INDEX j = starts[row] + lane; j < {end_of_row}; j += {lanes})
                part = T_ADD(part, T_MUL(data[j], x[{column}]));
        lanes[LOCAL_ID] = part;
        BARRIER;
        for (int reach = {lanes // 2}; reach > 0; reach /= 2) {{
            if (lane < reach) lanes[LOCAL_ID] = T_ADD(lanes[LOCAL_ID], lanes[LOCAL_ID + reach]);
            BARRIER;
        }}
        if (lane == 0 && row < rows) {{
            const T sum = lanes[LOCAL_ID];
            {end}
        }}
        BARRIER;
    }}
"""
    return head + loop + (LEAVE if summed else "") + "}\n"


def row_result(*, based: bool, scaled: bool, summed: bool, added: bool = False) -> str:
    """What becomes of the sum over a row; added: to the base, not taken from it."""
    combine = "T_ADD" if added else "T_SUB"
    text = f"T v = {combine}(base[row], sum);" if based else "T v = sum;"
    text += " v = T_MUL(v, scale[row]);" if scaled else ""
    return text + " y[row] = v;" + (f" {sums_of('left[row]')}" if summed else "")


def chebyshev(*, first: bool) -> str:
    """p = a p + b D^-1 (r - s), u = u + p; the first step takes s = p = u = 0."""
    if first:
        lines = "const T q = T_SCALE(b, T_MUL(inverse[i], r[i])); const T v = q;"
    else:
        lines = (
            "const T q = T_ADD(T_SCALE(a, p[i]), T_SCALE(b, T_MUL(inverse[i], T_SUB(r[i], s[i])))); "
            "const T v = T_ADD(u[i], q);"
        )
    return (
        "KERNEL chebyshev(GLOBAL const T* RESTRICT inverse, GLOBAL const T* RESTRICT r, GLOBAL const T* RESTRICT s, "
        "GLOBAL T* RESTRICT p, GLOBAL T* RESTRICT u, const R a, const R b, GLOBAL W* partial, const I64 n)\n"
        f"{{\n{ROOM}    EACH(i, n) {{ {lines} p[i] = q; u[i] = v; {sums_of('r[i]')} }}\n{LEAVE}}}\n"
    )


_BLOCKS = """
    GLOBAL const T* RESTRICT low, GLOBAL const INDEX* RESTRICT low_indices, GLOBAL const INDEX* RESTRICT low_starts,
    GLOBAL const T* RESTRICT up, GLOBAL const INDEX* RESTRICT up_indices, GLOBAL const INDEX* RESTRICT up_starts,
    GLOBAL const T* RESTRICT inverse, const R scale, GLOBAL const T* RESTRICT r, GLOBAL T* u, GLOBAL W* partial,
"""
_FORWARD = """T v = T_SCALE(scale, r[i]);
            for (INDEX j = low_starts[i]; j < low_starts[i + 1]; j++) v = T_SUB(v, T_MUL(low[j], u[low_indices[j]]));
            u[i] = T_MUL(v, inverse[i]);"""
_BACKWARD = f"""T sum = T_OF(0);
            for (INDEX j = up_starts[i]; j < up_starts[i + 1]; j++) sum = T_ADD(sum, T_MUL(up[j], u[up_indices[j]]));
            const T v = T_SUB(u[i], T_MUL(inverse[i], sum));
            u[i] = v;
            {sums_of("r[i]")}"""

BLOCKS = f"""KERNEL blocks({_BLOCKS}    const I64 block, const I64 n)
{{
{ROOM}    const I64 count = (n + block - 1)/block;
    EACH(k, count) {{
        const I64 first = k*block, end = first + block < n ? first + block : n;
        for (I64 i = first; i < end; i++) {{
            {_FORWARD}
        }}
        for (I64 i = end - 1; i >= first; i--) {{
            {_BACKWARD}
        }}
    }}
{LEAVE}}}
"""
"""u = scale M^-1 r for M = (E + L) E^-1 (E + L^H) without couplings between blocks: an item goes through a block."""

LEVELS = f"""KERNEL levels({_BLOCKS}    GLOBAL const INDEX* RESTRICT order, GLOBAL const INDEX* RESTRICT bounds,
    GLOBAL const INDEX* RESTRICT firsts, const I64 count)
{{
{ROOM}    for (I64 k = GROUP_ID; k < count; k += GROUPS) {{
        for (INDEX level = firsts[k]; level < firsts[k + 1]; level++) {{
            for (INDEX m = bounds[level] + LOCAL_ID; m < bounds[level + 1]; m += GROUP) {{
            const INDEX i = order[m];
            {_FORWARD}
            }}
            BARRIER;
        }}
        for (INDEX level = firsts[k + 1]; level > firsts[k]; level--) {{
            for (INDEX m = bounds[level - 1] + LOCAL_ID; m < bounds[level]; m += GROUP) {{
            const INDEX i = order[m];
            {_BACKWARD}
            }}
            BARRIER;
        }}
    }}
{LEAVE}}}
"""
"""The same, a group a block: the rows of a level need only rows of levels before it, and in L^H of levels after it."""


def _distances(bands: int) -> str:
    return "".join(f", const I64 d{k}" for k in range(bands))
