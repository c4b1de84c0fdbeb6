"""A kernel of NumPy's generator PCG64 (O'Neill 2014, XSL-RR of 128 bits)."""

from __future__ import annotations

from workbench.devices.kernels.kernel_text import fill

BITS = 48
"""Most bits of the number of a first output."""
WORDS = {
    "opencl": {"unsigned": "ulong", "high_product": "mul_hi"},
    "cuda": {"unsigned": "unsigned long long", "high_product": "__umul64hi"},
}


def draw(language: str) -> str:
    """out[i] = output first + i of a stream, uniform in [0, 1)."""
    return fill("draw", bits=BITS, unit=repr(2.0**-53), **WORDS[language])
