"""Examples for the Poisson builder: formulas that show something, in the square and in the cube."""

from __future__ import annotations

from typing import Any

Formulas = dict[str, Any]

OSCILLATING = "oscillating coefficient"
EXAMPLES: dict[str, tuple[Formulas, Formulas]] = {
    OSCILLATING: (
        {"a": "10**(2*sin(4*pi*x)*sin(4*pi*y))", "b": "", "f": "sin(2*pi*x)"},
        {"a": "10**(2*sin(4*pi*x)*sin(4*pi*y)*sin(4*pi*z))", "b": "", "c": "", "f": "sin(2*pi*x)"},
    ),
    "constant": ({"a": "1", "b": "", "f": "1"}, {"a": "1", "b": "", "c": "", "f": "1"}),
    "layered": (
        {"a": "where(y < 0.5, 1, 1000)", "b": "", "f": "1"},
        {"a": "where(z < 0.5, 1, 1000)", "b": "", "c": "", "f": "1"},
    ),
    "anisotropic": ({"a": "1", "b": "0.01", "f": "1"}, {"a": "1", "b": "1", "c": "0.01", "f": "1"}),
    "checkerboard": (
        {"a": "1 if sin(4*pi*x)*sin(4*pi*y) > 0 else 100", "b": "", "f": "1"},
        {"a": "1 if sin(4*pi*x)*sin(4*pi*y)*sin(4*pi*z) > 0 else 100", "b": "", "c": "", "f": "1"},
    ),
    "smooth bump": (
        {"a": "1 + 50*exp(-40*((x - 0.4)**2 + (y - 0.6)**2))", "b": "", "f": "sin(pi*x)*sin(pi*y)"},
        {
            "a": "1 + 50*exp(-40*((x - 0.4)**2 + (y - 0.6)**2 + (z - 0.5)**2))",
            "b": "",
            "c": "",
            "f": "sin(pi*x)*sin(pi*y)*sin(pi*z)",
        },
    ),
}
"""For each name the formulas in the square and those in the cube."""
