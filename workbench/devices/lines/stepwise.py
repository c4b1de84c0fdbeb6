"""How a device runs a program step by step: each pass and each application by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from workbench.devices.lines import plan

DOT_PLACES = {"xy": 0, "yy": 1, "xx": 2}


class StepByStep:
    """For devices whose kernels evaluate scalar lines themselves: `compile_pass` and `bind_pass` do the rest."""

    compile_pass: Callable[..., Any]
    bind_pass: Callable[..., Callable[[], None]]

    def bind_steps(
        self,
        steps: Sequence[plan.Step],
        workspace: Any,
        vectors: Collection[str],
        kernels: dict[int, Any],
    ) -> list[Callable[[], None]]:
        """What to call for each step to run the program on the arrays that the workspace holds now.

        kernels: those compiled before, by place; new ones are added.
        """
        runs = []
        for place, step in enumerate(steps):
            if isinstance(step, plan.Apply):
                targets = [(workspace.slots[name], DOT_PLACES[which]) for name, which in step.dots]
                x, out = workspace.vector(step.argument), workspace.vector(step.target)
                runs.append(_application(workspace.operators[step.operator], x, out, workspace.scalars, targets))
                continue
            if place not in kernels:
                kernels[place] = self.compile_pass(step, vectors, workspace.slots, workspace.dtype)
            arrays = [workspace.vector(name) for name in dict.fromkeys([*step.loads, *step.stores])]
            runs.append(self.bind_pass(kernels[place], step, arrays, workspace.scalars))
        return runs

    def together(self, runs: list[Callable[[], None]], workspace: Any) -> list[Callable[[], None]]:
        """The same calls, or fewer that do the same; here nothing is gained by that."""
        return runs


def _application(operator: Any, x: Any, out: Any, scalars: Any, targets: list[tuple[int, int]]) -> Callable[[], None]:
    def apply() -> None:
        dots = operator.apply(x, out)
        for slot, which in targets:
            scalars[slot] = dots[which]

    return apply
