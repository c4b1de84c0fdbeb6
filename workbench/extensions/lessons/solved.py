"""Solves that exercises compare: iterations, and the bytes that they read and write."""

from __future__ import annotations

import dataclasses
import functools

from workbench.extensions.lessons.check_turn import computed
from workbench.run import Configuration, Result, Run, run_through
from workbench.run.loop.traffic import iteration_bytes
from workbench.words.numbers import amount


@dataclasses.dataclass(frozen=True)
class Solved:
    """result: of the run. moved: bytes of all its iterations, counted from the lines that run; the setup is not in it.
    vectors: of deflation."""

    result: Result
    moved: int
    vectors: int

    @property
    def iterations(self) -> int:
        return self.result.iterations

    @property
    def words(self) -> str:
        """The bytes as a product: 85 × 692 kB = 58.8 MB."""
        return f"{self.iterations} × {amount(self.moved / max(1, self.iterations))} = {amount(self.moved)}"


@functools.lru_cache(maxsize=64)
@computed
def solved(configuration: Configuration) -> Solved:
    """Solve by a method whose iterations move the same bytes, such as cg; once for equal configurations."""
    run = Run(configuration)
    each = iteration_bytes(run.setup)
    assert each is not None, f"iterations of {configuration.label} differ"
    result = run_through(run)
    return Solved(result, result.iterations * each, run.setup.deflation_vectors)
