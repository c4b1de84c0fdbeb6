"""Step-by-step execution of a program: one call per pass and per operator application."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.devices.programs.program import Storage
from workbench.lines.schedule import Apply, Step
from workbench.lines.types import Shapes

if TYPE_CHECKING:
    from workbench.devices.operator_protocols import DeviceOperator, DeviceVector


class StepByStep:
    """For devices whose kernels evaluate scalar lines themselves; they define `compile_pass` and `bind_pass`."""

    compile_pass: Callable[..., Any]
    bind_pass: Callable[..., Callable[[], None]]

    def bind_steps(
        self,
        steps: Sequence[Step],
        workspace: Storage,
        shapes: Shapes,
        kernels: dict[Any, Any],
    ) -> list[Callable[[], None]]:
        """One callable per step, on the arrays that the workspace holds now.

        kernels: those compiled before, by the step's index; new ones are added.
        """
        runs = []
        for place, step in enumerate(steps):
            if isinstance(step, Apply):
                targets = [(workspace.slots[name], which.place) for name, which in step.dots]
                x, out = workspace.vector(step.argument), workspace.vector(step.target)
                runs.append(_application(workspace.operator(step), x, out, step.wanted, workspace.scalars, targets))
                continue
            arrays = {name: workspace.vector(name) for name in step.arrays}
            if place not in kernels:
                stored = {name: array.dtype for name, array in arrays.items()}
                kernels[place] = self.compile_pass(step, shapes, workspace.slots, workspace.dtype, stored)
            runs.append(self.bind_pass(kernels[place], step, list(arrays.values()), workspace.scalars))
        return runs

    def batched(self, runs: list[Callable[[], None]], workspace: Storage) -> list[Callable[[], None]]:
        """The calls as they are: merging them gains nothing here."""
        return runs


def _application(
    operator: DeviceOperator,
    x: DeviceVector,
    out: DeviceVector,
    wanted: tuple[str, ...],
    scalars: DeviceVector,
    targets: list[tuple[int, int]],
) -> Callable[[], None]:
    def apply() -> None:
        dots = operator.apply(x, out, *wanted)
        for slot, which in targets:
            scalars[slot] = dots[which]

    return apply
