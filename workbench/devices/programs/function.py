"""A program as a function of named arrays and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from workbench.devices.operator_protocols import OnePass
from workbench.devices.programs.program import ProgramDevice
from workbench.devices.programs.workspace import Compiled, Workspace
from workbench.lines.parse import parse
from workbench.lines.schedule import Inlined
from workbench.lines.types import LinesError
from workbench.process.forks import WorkLock
from workbench.registry import unknown_name

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector


class NewPass(OnePass, Protocol):
    """One pass that is compiled for a dtype before it is applied."""

    def prepare(self, dtype: np.dtype) -> None:
        """Compile for vectors of this dtype."""
        ...


class LinesDevice(ProgramDevice, Protocol):
    """A device whose programs run."""

    def overlap(self, a: DeviceVector, b: DeviceVector) -> bool:
        """True if two vectors share memory."""
        ...

    def new_pass(self, *given: Any) -> NewPass:
        """One pass that is not compiled yet, of the arguments of `one_pass`."""
        ...

    def one_pass(
        self,
        text: str,
        vectors: Sequence[str],
        dtype: np.dtype,
        *,
        operators: Mapping[str, Inlined] | None = None,
        numbers: Mapping[str, complex] | None = None,
    ) -> OnePass:
        """Compile paper lines of one pass as a function of vectors; see `one_pass.OnePass`."""
        made = self.new_pass(text, vectors, operators, numbers)
        made.prepare(np.dtype(dtype))
        return made


class Lines:
    """A program as a function of named arrays and numbers; what `device.lines(text)` returns.

    Arrays given are updated in place, numbers given are read, and the scalars and small matrices that the program sets
    are returned by name, matrices as arrays. Vectors assigned but not given are temporaries in registers. Calls from
    several threads run one at a time.
    """

    def __init__(
        self,
        device: LinesDevice,
        text: str,
        *,
        fuse: bool = True,
        operators: Mapping[str, DeviceOperator | Inlined] | None = None,
    ) -> None:
        self._device = device
        self._text = text
        self._fuse = fuse
        self._operators = dict(operators or {})
        self._lines = parse(text)
        self._known: dict[tuple[object, ...], tuple[Workspace, Compiled]] = {}
        self._one_at_a_time = WorkLock(
            "these lines were running in another thread when this process was forked; make the function again here"
        )

    def __call__(self, **values: DeviceVector | complex) -> dict[str, Any]:
        """Run once. Raises LinesError for unknown names, unequal shapes or dtypes, and overlapping arrays."""
        with self._one_at_a_time:
            workspace, compiled = self.compile(**values)
            for name in workspace.slots:
                if name in values:
                    workspace.set_scalar(name, values[name])
            arrays = {name: value for name, value in values.items() if _is_array(value)}
            # Binding arrays costs more than a small kernel takes, and most callers pass the same ones every time.
            if any(workspace.vectors[name] is not value for name, value in arrays.items()):
                workspace.rebind(arrays)
                compiled.bind()
            compiled()
            set_here = [line.target for line in self._lines if line.target in workspace.slots]
            return {name: workspace.scalar(name) for name in set_here}

    def compile(self, **values: Any) -> tuple[Workspace, Compiled]:
        """The program for arrays and numbers of these names, shapes and dtypes, ready to inspect or run."""
        vectors = {name: value for name, value in values.items() if _is_array(value)}
        if not vectors:
            raise LinesError("no vector was given; pass the arrays of the program by name, as in update(x=x, p=p)")
        self._check_given(values)
        self._check_written(vectors)
        first = next(iter(vectors.values()))
        _check_numbers({name: value for name, value in values.items() if name not in vectors}, first.dtype)
        shapes = tuple(sorted((name, value.shape) for name, value in vectors.items()))
        key = (first.shape, first.dtype, shapes, tuple(sorted(values)))
        if key not in self._known:
            workspace = Workspace(
                self._device,
                first.shape[0],
                first.dtype,
                vectors=vectors,
                operators=self._operators,
                scalars=[name for name in values if name not in vectors],
                fuse=self._fuse,
            )
            (compiled,) = workspace.lines(self._text)
            self._known[key] = workspace, compiled
        return self._known[key]

    def _check_given(self, values: Mapping[str, object]) -> None:
        used = {name for line in self._lines for name in (line.target, *line.reads)}
        for name in values:
            if name not in used:
                raise LinesError(f"{name} was given but no line uses it: {unknown_name('name', name, sorted(used))}")

    def _check_written(self, vectors: Mapping[str, DeviceVector]) -> None:
        written = {line.target for line in self._lines}
        for name in written.intersection(vectors):
            if not getattr(getattr(vectors[name], "flags", None), "writeable", True):
                raise LinesError(f"{name} is written, but the array is read-only; pass a copy")
            for other, vector in vectors.items():
                if other != name and self._device.overlap(vectors[name], vector):
                    raise LinesError(f"{name} is written and shares memory with {other}; pass a copy of one")


def _is_array(value: object) -> bool:
    return bool(getattr(value, "shape", ()))


def _check_numbers(values: Mapping[str, Any], dtype: np.dtype) -> None:
    for name, value in values.items():
        is_complex = np.iscomplexobj(value)
        if not isinstance(value, Number) and getattr(value, "shape", None) != ():
            raise LinesError(f"{name} is a {type(value).__name__}, neither an array nor a number")
        if is_complex and dtype.kind != "c":
            raise LinesError(f"{name} is the complex number {value}, but the vectors are {dtype}; make them complex")
