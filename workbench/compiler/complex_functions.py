"""Functions of complex numbers, in the language of kernels: helpers of their real and imaginary parts.

They have no licences of LLVM, whoever calls them: in another order sums and products of theirs overflow.
"""

from __future__ import annotations

from math import copysign, sqrt

from workbench.compiler.source import helper


@helper()
def complex_quotient(a, b, c, d):
    """(a + b i)/(c + d i), scaled so that no square overflows, as NumPy divides (Smith, 1962)."""
    if abs(c) >= abs(d):
        if c == 0 and d == 0:
            return a / abs(c), b / abs(c)
        ratio = d / c
        scale = 1 / (c + d * ratio)
        return (a + b * ratio) * scale, (b - a * ratio) * scale
    ratio = c / d
    scale = 1 / (d + c * ratio)
    return (a * ratio + b) * scale, (b * ratio - a) * scale


@helper()
def complex_modulus(a, b):
    """|a + b i|; no square overflows or becomes 0."""
    large, small = abs(a), abs(b)
    if small > large:
        large, small = small, large
    ratio = 1 if small == large else small / large
    return large * sqrt(1 + ratio * ratio)


@helper()
def complex_root(a, b):
    """The square root of a + b i whose real part is not negative."""
    root = sqrt(abs(a) / 2 + complex_modulus(a, b) / 2)
    if root == 0:
        return root, b
    other = b / (2 * root)
    if a >= 0:
        return root, other
    return abs(other), copysign(root, b)
