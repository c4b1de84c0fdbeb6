"""User-defined methods: a solver made of two texts of paper lines, checked when it is made."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, ClassVar

from workbench.errors import InputError
from workbench.registry import lookup, parameter, register_unlisted, registered
from workbench.solvers.base import Solver
from workbench.solvers.user_text import check, tidied

NAME = re.compile(r"[A-Za-z][\w.+-]{0,39}", re.ASCII)


@register_unlisted
@dataclasses.dataclass(frozen=True)
class UserSolver(Solver):
    """A user-defined method: `start` runs once, `iterate` in every iteration. The texts are parsed, never executed.

    The lines may use the vectors b and x and the operators A and M. They must change x and set what `user_text.WATCHED`
    names: delta in the iteration, the others in both texts. Cost: that of the lines; checking takes milliseconds.
    Raises InputError (`UserLinesError`, with the line's number): one sentence for what is wrong.
    """

    title: ClassVar[str] = "a method of one's own"
    own_lines: ClassVar[bool] = True

    # On the class they describe the kind of block, on an object the method.
    name: str = parameter("own", "what legends call it")  # pyright: ignore[reportIncompatibleVariableOverride]
    start: str = parameter("", "paper lines before the loop")  # pyright: ignore[reportIncompatibleVariableOverride]
    iterate: str = parameter("", "paper lines of one iteration")  # pyright: ignore[reportIncompatibleVariableOverride]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not NAME.fullmatch(self.name):
            raise InputError(
                f"a method's name is a letter and up to 39 letters, digits or . + - _ behind it, got {self.name!r}"
            )
        for field in ("start", "iterate"):
            object.__setattr__(self, field, tidied(getattr(self, field)))
        check(self.start, self.iterate)

    @property
    def spec(self) -> str:
        return self.name

    def to_dict(self) -> dict[str, Any]:
        """Plain data that holds the texts, so that a saved run can be made again."""
        return {**super().to_dict(), "name": type(self).name}


def user_solver(name: str, start: str | None = None, iteration: str | None = None, *, like: str = "cg") -> UserSolver:
    """A user-defined method, for `configure(solver=...)` and `solve(..., solver=...)` on every device.

    start, iteration: paper lines as in the solvers' files; one that is left out is that of the method `like`. Raises
    InputError for wrong lines, and for a name that a method of the workbench has.
    """
    if name in registered("solver"):
        raise InputError(f"the workbench has a method named {name} already; take another name, such as my-{name}")
    original = lookup("solver", like)
    assert issubclass(original, Solver)
    if not (original.start and original.iterate):
        raise InputError(f"{like} is not written as paper lines; take another one, such as cg")
    start, iteration = original.start if start is None else start, original.iterate if iteration is None else iteration
    return UserSolver(name, start, iteration)
