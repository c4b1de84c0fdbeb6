"""Products with box operators: y = (diagonal - coupling) x + coupling S x, S the window sums along z, y and x.

Both forms leave their groups' parts of (x, y), (y, y) and (x, x).
"""

from __future__ import annotations

import itertools

from workbench.devices.kernels.products import LEAVE, ROOM, sums_of

TILE_WIDTH = 32
"""Cells along x that the items of a group take side by side, so that they read memory in whole lines."""


def window() -> str:
    """For processors: y = the window sums of x along one axis, where `inner` cells lie between neighbours; lines of
    `inner` cells are added up, in plain loops."""
    return """KERNEL window(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const I64 inner, const I64 side,
    const I64 reach, const I64 lines)
{
    EACH(line, lines) {
        const I64 at = line*inner, here = line%side;
        for (I64 i = 0; i < inner; i++) y[at + i] = x[at + i];
        for (I64 k = here < reach ? -here : -reach; k <= reach && here + k < side; k++)
            if (k != 0)
                for (I64 i = 0; i < inner; i++) y[at + i] = T_ADD(y[at + i], x[at + k*inner + i]);
    }
}
"""


def rows(reach: int) -> str:
    """For processors: the window sums of w along x, and the product made of them."""
    steps = range(1, reach + 1)
    inside = " ".join(f"sum = T_ADD(sum, T_ADD(w[at + i - {k}], w[at + i + {k}]));" for k in steps)
    edge = " ".join(
        f"if (i >= {k}) sum = T_ADD(sum, w[at + i - {k}]); if (i + {k} < nx) sum = T_ADD(sum, w[at + i + {k}]);"
        for k in steps
    )
    product = (
        f"const T v = T_ADD(T_SCALE(own, x[at + i]), T_SCALE(coupling, sum)); y[at + i] = v; {sums_of('x[at + i]')}"
    )
    loops = "\n".join(
        f"        for (I64 i = {start}; i < {end}; i++) {{ T sum = w[at + i]; {added} {product} }}"
        for start, end, added in (("0", "first", edge), ("first", "last", inside), ("last", "nx", edge))
    )
    return f"""KERNEL rows(GLOBAL const T* RESTRICT w, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const R own,
    const R coupling, const I64 nx, GLOBAL W* partial, const I64 lines)
{{
{ROOM}    const I64 first = {reach} < nx ? {reach} : nx, last = nx - {reach} > first ? nx - {reach} : first;
    EACH(line, lines) {{
        const I64 at = line*nx;
{loops}
    }}
{LEAVE}}}
"""


def columns(reach: int) -> str:
    """For GPUs: a group goes through planes with a tile of cells. It sums the tile along x and y in shared memory; an
    item keeps the last sums of its cell in registers and adds them up along z."""
    width, halo = TILE_WIDTH, 2 * reach
    wide, tall = width + halo, f"GROUP/{width}"
    kept = [f"s{k}" for k in range(halo + 1)]
    along = f"T sum = raw[row*{wide} + column]; " + " ".join(
        f"sum = T_ADD(sum, raw[row*{wide} + column + {k}]);" for k in range(1, halo + 1)
    )
    across = f"s{halo} = middle[ty*{width} + tx]; " + " ".join(
        f"s{halo} = T_ADD(s{halo}, middle[(ty + {k})*{width} + tx]);" for k in range(1, halo + 1)
    )
    shift = " ".join(f"{a} = {b};" for a, b in itertools.pairwise(kept))
    total = "T sum = s0; " + " ".join(f"sum = T_ADD(sum, {name});" for name in kept[1:])
    return f"""KERNEL columns(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const R own, const R coupling,
    const I64 nz, const I64 ny, const I64 nx, const I64 slabs, GLOBAL W* partial)
{{
{ROOM}    SHARED(T, raw, {wide}*({tall} + {halo}));
    SHARED(T, middle, {width}*({tall} + {halo}));
    const I64 across = (nx + {width - 1})/{width}, tiles = across*((ny + {tall} - 1)/({tall}));
    const int tx = LOCAL_ID%{width}, ty = LOCAL_ID/{width};
    for (I64 job = GROUP_ID; job < tiles*slabs; job += GROUPS) {{
        const I64 tile = job%tiles, slab = job/tiles;
        const I64 left = tile%across*{width}, top = tile/across*({tall});
        const I64 low = nz*slab/slabs, high = nz*(slab + 1)/slabs;
        T {", ".join(f"{name} = T_OF(0)" for name in kept)};
        for (I64 z = low - {reach}; z < high + {reach}; z++) {{
            for (int m = LOCAL_ID; m < {wide}*({tall} + {halo}); m += GROUP) {{
                const I64 column = left + m%{wide} - {reach}, row = top + m/{wide} - {reach};
                const int inside = z >= 0 && z < nz && row >= 0 && row < ny && column >= 0 && column < nx;
                raw[m] = inside ? x[(z*ny + row)*nx + column] : T_OF(0);
            }}
            BARRIER;
            for (int m = LOCAL_ID; m < {width}*({tall} + {halo}); m += GROUP) {{
                const int column = m%{width}, row = m/{width};
                {along}
                middle[m] = sum;
            }}
            BARRIER;
            {shift} {across}
            const I64 plane = z - {reach}, row = top + ty, column = left + tx;
            if (plane >= low && row < ny && column < nx) {{
                const I64 i = (plane*ny + row)*nx + column;
                {total}
                const T v = T_ADD(T_SCALE(own, x[i]), T_SCALE(coupling, sum));
                y[i] = v; {sums_of("x[i]")}
            }}
        }}
    }}
{LEAVE}}}
"""
