"""Kernel sources: files in `text/`, in the common subset of CUDA C and OpenCL C.

A file is one kernel, or a piece that several share. Names such as `$items_per_row` are replaced by `fill`; whatever
can be a macro is one, see `prelude`.
"""

from __future__ import annotations

import functools
import re
import textwrap
from string import Template

_ON_ITS_OWN_LINE = re.compile(r"^( *)\$(\w+)\n", re.MULTILINE)


@functools.cache
def read(name: str) -> str:
    """The file `text/<name>.cl`."""
    from importlib import resources

    return resources.files("workbench.devices.kernels").joinpath("text", f"{name}.cl").read_text("utf-8")


@functools.cache
def fill(name: str, **values: object) -> str:
    """The text of that name with every `$name` replaced, made once.

    A name that is alone on its line may be replaced by several lines, which get its indentation, or by none. Raises
    KeyError for a name without a value.
    """

    def lines(found: re.Match[str]) -> str:
        value = str(values[found[2]]).strip()
        return textwrap.indent(value, found[1]) + "\n" if value else ""

    return Template(_ON_ITS_OWN_LINE.sub(lines, read(name))).substitute(values)


def dots(left: str, *, wanted: bool = True) -> dict[str, str]:
    """The pieces of a kernel that computes (left, v), (v, v) and (left, left), as one partial sum per group."""
    if not wanted:
        return {"dots_begin": "", "dots_add": "", "dots_end": ""}
    add = fill("dots_add", left=left).strip()
    return {"dots_begin": read("dots_begin"), "dots_add": add, "dots_end": read("dots_end")}
