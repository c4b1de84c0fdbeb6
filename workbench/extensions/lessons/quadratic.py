"""A quadratic form of two unknowns, whose contour lines are ellipses, and the paths of methods to its minimum."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from workbench.errors import InputError
from workbench.run import Run, solve
from workbench.words.numbers import number

SHORTEST, LONGEST = 0.25, 4.0
"""Half axes: condition numbers up to 256."""
MOST_STEPS = 60
REDUCTION = 0.01
"""The reduction of the A-norm of the error at which a path ends."""
TINY = 1e-15
"""A tolerance so small that the A-norm of the error alone ends a path."""
SOLUTION = np.ones(2)
"""The solution of A x = b. Any would do: paths are seen from it."""


@dataclasses.dataclass(frozen=True)
class QuadraticForm:
    """(e, A e)/2 of the error e, with the contour line (e, A e) = 1 given by its half axes.

    angle: of the first half axis, in degrees from the axis of e_1. lengths: of both, from 0.25 to 4. The eigenvalues of
    A are 1/length^2. Raises InputError for others.
    """

    angle: float = 30.0
    lengths: tuple[float, float] = (3.0, 1.0)

    def __post_init__(self) -> None:
        if not math.isfinite(self.angle):
            raise InputError(f"the angle of the axes must be a finite number of degrees, got {self.angle}")
        for length in self.lengths:
            if not SHORTEST <= length <= LONGEST:
                raise InputError(f"a half axis is between {SHORTEST:g} and {LONGEST:g} long, got {number(length)}")

    @property
    def axes(self) -> np.ndarray:
        """The half axes as columns, shape (2, 2)."""
        turn = math.radians(self.angle)
        return np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]) * self.lengths

    @property
    def matrix(self) -> np.ndarray:
        """A, shape (2, 2)."""
        scaled = self.axes / np.square(self.lengths)
        return scaled @ scaled.T

    @property
    def jacobi_root(self) -> np.ndarray:
        """D^(1/2) of the diagonal D of A, shape (2, 2)."""
        return np.diag(np.sqrt(np.diag(self.matrix)))

    def condition(self, *, jacobi: bool = False) -> float:
        """The condition number of A, or of D^(-1/2) A D^(-1/2)."""
        return float(np.linalg.cond(self._seen(jacobi)))

    def stretch(self, *, jacobi: bool = False) -> np.ndarray:
        """The matrix T, shape (2, 2), of T e whose length is the A-norm of e: conjugate is orthogonal there.

        It is A^(1/2), or with Jacobi that root of D^(-1/2) A D^(-1/2), behind D^(1/2).
        """
        values, vectors = np.linalg.eigh(self._seen(jacobi))
        root = (vectors * np.sqrt(values)) @ vectors.T
        return root @ self.jacobi_root if jacobi else root

    def path(self, solver: str, start: np.ndarray, *, jacobi: bool = False, steps: int = MOST_STEPS) -> np.ndarray:
        """The errors of the iterates of a method of the workbench, from the error `start`, at most (steps + 1, 2).

        It ends after 60 steps or as many as given, or where the A-norm of the error is a hundredth of that at the
        start. Cost: a solve.
        """
        A = self.matrix
        errors = [np.array(start, float)]
        least = REDUCTION * energy_norm(A, errors[0])

        def follow(run: Run) -> bool:
            errors.append(np.array(run.x) - SOLUTION)
            return len(errors) > steps or energy_norm(A, errors[-1]) <= least

        if least > 0:
            solve(
                A, A @ SOLUTION, errors[0] + SOLUTION, rtol=TINY, maxiter=MOST_STEPS, solver=solver,
                M="jacobi" if jacobi else None, callback=follow,
            )  # fmt: skip
        return np.array(errors)

    def _seen(self, jacobi: bool) -> np.ndarray:
        root = np.diag(1 / np.diag(self.jacobi_root))
        return root @ self.matrix @ root if jacobi else self.matrix


def energy_norm(A: np.ndarray, e: np.ndarray) -> float:
    """The A-norm of a vector, (e, A e)^(1/2)."""
    return math.sqrt(max(float(e @ A @ e), 0.0))


def angle_between(one: np.ndarray, other: np.ndarray) -> float:
    """The angle between the lines of two vectors, from 0 to 90 degrees; NaN if one is zero."""
    size = float(np.linalg.norm(one) * np.linalg.norm(other))
    return math.degrees(math.acos(min(1.0, abs(float(one @ other)) / size))) if size > 0 else math.nan
