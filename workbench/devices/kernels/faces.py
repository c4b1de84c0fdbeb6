"""Kernels on codes of faces (see `face_codes`): products, terms of a Neumann series, the diagonal, and E of parts.

A coefficient is selected from arguments, which are kept in registers.
"""

from __future__ import annotations

from workbench.devices.kernels.products import ALONG
from workbench.devices.kernels.source import dots, fill
from workbench.host.face_codes import BITS, CHOICES

CLOSED = (1 << 8) - 1
"""A code whose faces are all at the edge of the grid."""


def product(directions: int, *, walled: bool) -> str:
    """y = A x; rows without all neighbours are separate loops, so that the long one has no branch."""
    inside, edge = _neighbours(directions, "codes[i]")
    return fill(
        "faces",
        **_head(directions, "W"),
        farthest=f"d{directions - 1}",
        wall=_wall(directions, "codes[i]", walled),
        inside=" ".join(inside),
        edge=" ".join(edge),
        **dots("x[i]"),
    )


def product_columns(directions: int, *, walled: bool) -> str:
    """The same for GPUs: a work-item computes several rows in the farthest direction (see `products`)."""
    far = directions - 1
    lower_and_upper = _neighbours(directions, "code")[1]
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
        near=" ".join([*lower_and_upper[:far], *lower_and_upper[directions:-1]]),
        **dots("x[i]"),
    )


def term(directions: int, *, upper: bool, raw: bool = False) -> str:
    """y = D^-1 (base + F x), F being the coefficients of the lower faces; upper: y = base + D^-1 F^T x, with dot
    products. raw: the lower one with D^-1 x in place of x."""
    inside, edge = [], []
    for k in range(directions):
        near, test = (f"i + d{k}", f"i + d{k} < n") if upper else (f"i - d{k}", f"i >= d{k}")
        coefficient = face(k, f"codes[{near}]" if upper else "code")
        inside += [f"sum += {coefficient}*x[{near}]{f'*scale[{near}]' if raw else ''};"]
        edge += [f"if ({test}) {inside[-1]}"]
    far = f"d{directions - 1}"
    rows, bound = (("0, bound", "bound, n"), f"n - {far}") if upper else (("bound, n", "0, bound"), far)
    return fill(
        "face_term",
        **_head(directions, "R"),
        dots_arguments=", GLOBAL const T* RESTRICT left, GLOBAL W* partial" if upper else "",
        bound=bound,
        whole_rows=rows[0],
        edge_rows=rows[1],
        code="" if upper else "const int code = codes[i];",
        inside=" ".join(inside),
        edge=" ".join(edge),
        result="base[i] + scale[i]*sum" if upper else "scale[i]*(base[i] + sum)",
        **dots("left[i]", wanted=upper),
    )


def inverse_diagonal(directions: int, *, walled: bool) -> str:
    """1 over the sum of the coefficients of each cell, 0 where that is 0."""
    lines = []
    for k in range(directions):
        lines += [f"sum += {face(k, 'code')};", f"if (i + d{k} < n) sum += {face(k, f'codes[i + d{k}]')};"]
    wall = _wall(directions, "code", walled, of="W_OF(1)")
    return fill("face_diagonal", **_head(directions, "W"), wall=wall, faces="\n".join(lines))


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


def _neighbours(directions: int, code: str) -> tuple[list[str], list[str]]:
    """The statements for the lower and upper faces, without and with a test whether the neighbour exists."""
    lower = [f"sum += {face(k, code)}*(here - W_OF_T(x[i - d{k}]));" for k in range(directions)]
    upper = [f"sum += {face(k, f'codes[i + d{k}]')}*(here - W_OF_T(x[i + d{k}]));" for k in range(directions)]
    edge = [f"if (i >= d{k}) {line}" for k, line in enumerate(lower)]
    edge += [f"if (i + d{k} < n) {line}" for k, line in enumerate(upper)]
    return lower + upper, edge


def _head(directions: int, real: str) -> dict[str, str]:
    """The arguments of an operator: codes, coefficients, wall terms and distances."""
    numbers = [f"const {real} {name}{k}" for name in "fw" for k in range(CHOICES)]
    steps = [f"const I64 d{k}" for k in range(directions)]
    return {"arguments": ", ".join(["GLOBAL const unsigned char* RESTRICT codes", *numbers, *steps])}
