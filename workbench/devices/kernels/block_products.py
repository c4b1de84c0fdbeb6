"""Products with N x s block vectors, row-major: an item computes a row for all s columns."""

from __future__ import annotations

TAKE = """KERNEL take(GLOBAL const T* RESTRICT block, GLOBAL T* RESTRICT column, const I64 columns, const I64 k,
    const I64 n)
{
    EACH(i, n) column[i] = block[i*columns + k];
}
"""
"""A column of a block vector."""

PUT = """KERNEL put(GLOBAL const T* RESTRICT column, GLOBAL T* RESTRICT block, const I64 columns, const I64 k,
    const I64 n)
{
    EACH(i, n) block[i*columns + k] = column[i];
}
"""


def csr(columns: int) -> str:
    """y = A x for a CSR matrix."""
    return f"""KERNEL csr_block(GLOBAL const T* RESTRICT data, GLOBAL const INDEX* RESTRICT indices,
    GLOBAL const INDEX* RESTRICT starts, GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y, const I64 rows)
{{
    EACH(row, rows) {{
        T sum[{columns}];
        for (int k = 0; k < {columns}; k++) sum[k] = T_OF(0);
        for (INDEX j = starts[row]; j < starts[row + 1]; j++) {{
            const I64 from = (I64)indices[j]*{columns};
            {_added("data[j]", "x[from + k]", columns)}
        }}
        for (int k = 0; k < {columns}; k++) y[row*{columns} + k] = sum[k];
    }}
}}
"""


def stencil(bands: int, columns: int, *, constant: bool) -> str:
    """y = A x for a diagonal and lower bands at distances d0 < d1 < ..; a constant diagonal is one number."""
    lows = "".join(f", GLOBAL const T* RESTRICT low{k}" for k in range(bands))
    distances = "".join(f", const I64 d{k}" for k in range(bands))
    below = [
        f"if (i >= d{k}) {{ {_added(f'low{k}[i]', f'x[(i - d{k})*{columns} + k]', columns)} }}" for k in range(bands)
    ]
    above = [
        f"if (i + d{k} < n) {{ " + _added(f"T_CONJ(low{k}[i + d{k}])", f"x[(i + d{k})*{columns} + k]", columns) + " }"
        for k in range(bands)
    ]
    rows = "\n        ".join([*below, *above])
    return f"""KERNEL stencil_block(GLOBAL const T* RESTRICT x, GLOBAL T* RESTRICT y,
    GLOBAL const T* RESTRICT diagonal{lows}{distances}, const I64 n)
{{
    EACH(i, n) {{
        T sum[{columns}];
        for (int k = 0; k < {columns}; k++) sum[k] = T_MUL(diagonal[{0 if constant else "i"}], x[i*{columns} + k]);
        {rows}
        for (int k = 0; k < {columns}; k++) y[i*{columns} + k] = sum[k];
    }}
}}
"""


def _added(entry: str, factor: str, columns: int) -> str:
    return f"const T a = {entry}; for (int k = 0; k < {columns}; k++) sum[k] = T_ADD(sum[k], T_MUL(a, {factor}));"
