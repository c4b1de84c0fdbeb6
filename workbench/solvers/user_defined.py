"""User-defined solvers: two texts of paper lines, checked on construction."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, ClassVar

from workbench.errors import InputError
from workbench.registry import known, lookup, parameter, register_unlisted
from workbench.solvers.base import Solver
from workbench.solvers.user_text import check, tidied

NAME = re.compile(r"[A-Za-z][\w.+-]{0,39}", re.ASCII)


@register_unlisted
@dataclasses.dataclass(frozen=True)
class UserSolver(Solver):
    """A solver from user-written lines, which are parsed, not executed.

    `start` runs once, `iterate` in every iteration.

    The vectors b and x and the operators A and M are predefined. The lines must change x and set the scalars in
    `user_text.WATCHED`: delta in the iteration, the others in both texts.

    Cost: that of the lines; checking takes milliseconds.

    Raises InputError (`UserLinesError`, with the line number) with one sentence for the first error in the texts.
    """

    title: ClassVar[str] = "a user-defined method"
    has_user_lines: ClassVar[bool] = True

    # Class variables in the base class, fields of each instance here.
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
        """Plain data with the texts, so that a saved run can be reproduced."""
        return {**super().to_dict(), "name": type(self).name}


def user_solver(name: str, start: str | None = None, iteration: str | None = None, *, like: str = "cg") -> UserSolver:
    """A user-defined solver for `configure(solver=...)` and `solve(..., solver=...)`, on every device.

    start, iteration: paper lines as in the solvers' files; by default those of the method `like`.

    Raises InputError for invalid lines, and for the name of a built-in method.

    Examples:
        >>> import numpy as np
        >>> from workbench.run import solve, user_solver
        >>> lines = user_solver("copy").iterate.replace("u + beta*p", "u + 0.9*beta*p")
        >>> solve(np.diag([1.0, 2.0, 4.0]), np.ones(3), solver=user_solver("damped", iteration=lines)).converged
        True
    """
    if known("solver", name):
        raise InputError(f"the workbench has a method named {name} already; take another name, such as my-{name}")
    original = lookup("solver", like)
    assert issubclass(original, Solver)
    if not (original.start and original.iterate):
        raise InputError(f"{like} is not written as paper lines; take another one, such as cg")
    start, iteration = original.start if start is None else start, original.iterate if iteration is None else iteration
    return UserSolver(name, start, iteration)
