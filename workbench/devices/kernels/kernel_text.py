"""A kernel's text in pieces, so that it can be compiled alone or as one step of a persistent kernel, and the sources of
kernels: files in `text/`, in the common subset of CUDA C and OpenCL C.

A file is one kernel, or a piece that several share. Names such as `$items_per_row` are replaced by `fill`; whatever can
be a macro is one, see `prelude`.
"""

from __future__ import annotations

import dataclasses
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


@dataclasses.dataclass(frozen=True)
class KernelText:
    """KERNEL name(declaration) { statements }, in the common subset of CUDA C and OpenCL C.

    declaration: of the parameters, separated by commas. before: functions that it calls. on_scalars: one group works on
    scalars alone, so that in a persistent kernel every group may run it on its copy of them. partial_count: position of
    the argument that is the number of partial sums to add, or None. bounds: work-items of a group, and groups that
    shall fit a multiprocessor of CUDA at once, which limits registers.
    """

    name: str
    declaration: str
    statements: str
    before: str = ""
    on_scalars: bool = False
    partial_count: int | None = None
    bounds: tuple[int, int] | None = None

    @classmethod
    def of(cls, text: str, name: str, *, on_scalars: bool = False) -> KernelText:
        """Split a text that ends with one kernel and has no parentheses among its parameters."""
        before, head, rest = text.partition(f"KERNEL {name}(")
        if not head:
            raise ValueError(f"the text has no kernel {name}")
        declaration, _, rest = rest.partition(")")
        return cls(name, declaration, rest.partition("{")[2], before, on_scalars)

    @property
    def text(self) -> str:
        """The kernel, to be compiled behind a prelude."""
        bounds = f"BOUNDS({self.bounds[0]}, {self.bounds[1]}) " if self.bounds else ""
        return f"{self.before}KERNEL {bounds}{self.name}({self.declaration})\n{{{self.statements}"

    @property
    def parameters(self) -> list[str]:
        """The declarations of the parameters, one by one."""
        return [" ".join(parameter.split()) for parameter in self.declaration.split(",")]

    def function(self, first: str, begin: str) -> str:
        """The kernel as a device function with additional first parameters and an additional first statement."""
        return f"{self.before}DEVICE void {self.name}({first}, {self.declaration}) {{ {begin}{self.statements}"
