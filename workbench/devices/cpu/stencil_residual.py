"""Z^T (b - A x) for a stencil and piecewise constant Z, in one pass that writes no vector.

The residual of a chunk is kept in the cache, summed over the runs of equal labels, and forgotten.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.devices.cpu import generated
from workbench.devices.cpu.subdomains import SUBDOMAINS, Subdomains
from workbench.devices.cpu.threads import chunks_of, cores, launch, prepare


class RestrictedResidual:
    """Z^T (b - A x). fixed: diagonal or one number for it, lower bands, strides. Work space: a chunk for each core."""

    def __init__(self, fixed: tuple[np.ndarray, ...], subdomains: Subdomains) -> None:
        main, *lower, _ = fixed
        self._subdomains = subdomains
        size, dtype = subdomains.size, main.dtype
        room = np.zeros((cores(), -(-size // chunks_of(size)) + 1), dtype)
        self._fixed = (*fixed, room, *subdomains.stored)
        self._kernel: Callable[..., None] = generated.kernel(_text(len(lower), dtype, constant=main.size < size))
        vector = np.empty(0, dtype)
        prepare(self._kernel, vector, vector, *self._fixed)

    def apply(self, b: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Shape (d,), in double precision; the array is reused by the next call."""
        launch(x.size, self._kernel, b, x, *self._fixed)
        return self._subdomains.coarse


def _text(bands: int, dtype: np.dtype, *, constant: bool) -> str:
    """Python source: a loop without branches for the rows that have all neighbours, and one for each end."""
    lows = [f"low{k}" for k in range(bands)]
    arguments = ", ".join(["taken", "b", "x", "main", *lows, "strides", "room", SUBDOMAINS])
    text = [f"def kernel({arguments}):"]
    text += ["    n, chunks, constant = x.size, cuts.size - 1, main[0]"]
    text += [f"    d{k} = strides[{k}]" for k in range(bands)]
    text += [f"    first = min(n, d{bands - 1})", f"    last = max(first, n - d{bands - 1})"]
    whole = ["mine = sums[group]", "for k in range(mine.size):", "    mine[k] = 0", "y = room[thread]"]
    whole += ["for chunk in range(groups[group], groups[group + 1]):"]
    whole += [f"    {line}" for line in _chunk(lows, dtype, constant)]
    text += [f"    {line}" for line in generated.over("sums.shape[0]", whole, "group")]
    # Plain loops: numba would start its threads for an expression over arrays.
    text += ["    for k in range(coarse.size):", "        coarse[k] = 0"]
    text += ["    for group in range(sums.shape[0]):", "        for k in range(coarse.size):"]
    return "\n".join([*text, "            coarse[k] += sums[group, k]"]) + "\n"


def _chunk(lows: list[str], dtype: np.dtype, constant: bool) -> list[str]:
    def conj(text: str) -> str:
        return f"np.conj({text})" if dtype.kind == "c" else text

    inner = "s_b[i] - constant*s_x[i]" if constant else "s_b[i] - s_main[i]*s_x[i]"
    views = {"s_b": "b[low_end:high_end]", "s_x": "x[low_end:high_end]", "s_y": "y[low_end - low:high_end - low]"}
    views |= {} if constant else {"s_main": "main[low_end:high_end]"}
    edge = ["v = b[i] - constant*x[i]" if constant else "v = b[i] - main[i]*x[i]"]
    for k, low in enumerate(lows):
        views |= {f"s_{low}": f"{low}[low_end:high_end]", f"s_{low}_up": f"{low}[low_end + d{k}:high_end + d{k}]"}
        views |= {f"s_below{k}": f"x[low_end - d{k}:high_end - d{k}]"}
        views |= {f"s_above{k}": f"x[low_end + d{k}:high_end + d{k}]"}
        inner += f" - s_{low}[i]*s_below{k}[i] - {conj(f's_{low}_up[i]')}*s_above{k}[i]"
        edge += [f"if i >= d{k}:", f"    v -= {low}[i]*x[i - d{k}]"]
        edge += [f"if i + d{k} < n:", f"    v -= {conj(f'{low}[i + d{k}]')}*x[i + d{k}]"]
    text = ["low = n*chunk//chunks", "high = n*(chunk + 1)//chunks"]
    text += ["low_end = max(low, first)", "high_end = max(low_end, min(high, last))"]
    text += [f"{name} = {view}" for name, view in views.items()]
    text += ["for i in range(high_end - low_end):", f"    s_y[i] = {inner}"]
    for start, stop in (("low", "min(high, first)"), ("max(low, last)", "high")):
        text += [f"for i in range({start}, {stop}):", *(f"    {line}" for line in edge), "    y[i - low] = v"]
    text += ["for run in range(cuts[chunk], cuts[chunk + 1]):"]
    text += ["    run_sum = coarse.dtype.type(0)"]
    text += ["    for i in range(np.int64(bounds[run]) - low, np.int64(bounds[run + 1]) - low):"]
    return [*text, "        run_sum += y[i]", "    mine[labels[run]] += run_sum"]
