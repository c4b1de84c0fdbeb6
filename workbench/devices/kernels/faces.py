"""Kernels on codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal, and E of parts.

A coefficient is selected from arguments, which are kept in registers.
"""

from __future__ import annotations

from workbench.devices.kernels.products import ALONG
from workbench.devices.kernels.source import dots, fill
from workbench.host.face_codes import BITS, CHOICES

CLOSED = (1 << 8) - 1
"""A code whose faces are all at the edge of the grid."""


def product_columns(directions: int, *, walled: bool) -> str:
    """y = A x for GPUs: a work-item computes several rows in the farthest direction (see `products`)."""
    far = directions - 1
    lower = [(f"i >= d{k}", face(k, "code"), f"i - d{k}") for k in range(far)]
    upper = [(f"i + d{k} < n", face(k, f"codes[i + d{k}]"), f"i + d{k}") for k in range(far)]
    return fill(
        "faces_columns",
        **_head(directions, "W"),
        farthest=f"d{far}",
        along=ALONG,
        along_less_one=ALONG - 1,
        closed=CLOSED,
        wall=_wall(directions, "code", walled),
        far_face=face(far, "code"),
        far_face_above=face(far, "above"),
        near=" ".join(f"if ({test}) sum += {face}*(here - W_OF_T(x[{place}]));" for test, face, place in lower + upper),
        **dots("x[i]"),
    )


def box_matrix(directions: int, *, walled: bool, most: int) -> str:
    """The rows of E = Z^T A Z for parts of boxes; only faces between two parts count."""
    couplings = []
    for k in range(directions):
        lower = {"inside": f"i >= d{k}", "value": face(k, "codes[i]"), "neighbour": f"i - d{k}"}
        upper = {"inside": f"i + d{k} < size", "value": face(k, f"codes[i + d{k}]"), "neighbour": f"i + d{k}"}
        couplings += [fill("face_coupling", **side, most=most) for side in (lower, upper)]
    return fill(
        "box_matrix",
        operator=_head(directions, "R")["arguments"],
        own=f"values[0] += {_wall(directions, 'codes[i]', walled, of='1')};" if walled else "",
        couplings="\n".join(couplings),
        most=most,
    )


def face(direction: int, code: str) -> str:
    """The coefficient of the face in a direction."""
    return _selected("f", code, BITS * direction)


def _wall(directions: int, code: str, walled: bool, of: str = "here") -> str:
    return f"{_selected('w', code, BITS * directions)}*{of}" if walled else "W_OF(0)"


def _selected(name: str, code: str, shift: int) -> str:
    low, high = f"({code}) & {1 << shift}", f"({code}) & {2 << shift}"
    return f"({high} ? ({low} ? {name}3 : {name}2) : ({low} ? {name}1 : {name}0))"


def _head(directions: int, real: str) -> dict[str, str]:
    """The arguments of an operator: codes, coefficients, wall terms and distances."""
    numbers = [f"const {real} {name}{k}" for name in "fw" for k in range(CHOICES)]
    steps = [f"const I64 d{k}" for k in range(directions)]
    return {"arguments": ", ".join(["GLOBAL const unsigned char* RESTRICT codes", *numbers, *steps])}
