"""How many iterations a recorded graph of CUDA has, and how often an iteration is recorded; no GPU needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from workbench.devices.cuda.repeated import MOST_LAUNCHES
from workbench.devices.cuda.runtime import Cuda


class Counted(Cuda):
    """Recorded work is counted: iterations in each graph, and iterations made by graphs."""

    def __init__(self, launches):
        self.persist, self._cooperates, self._launches = False, True, launches
        self.graphs, self.collected, self.made, self._thread = [], 0, 0, SimpleNamespace()

    def _collect(self, work):
        self.collected += 1
        # Not kernels alone, so that the work itself is recorded.
        return [SimpleNamespace(function=None)] * self._launches, False

    def record(self, work):
        self.graphs.append(0)
        place = len(self.graphs) - 1
        work()

        def repeat():
            self.made += self.graphs[place]

        return repeat

    def _compile_all(self):
        """Nothing is compiled."""

    def work(self):
        self.graphs[-1] += 1


@pytest.mark.parametrize(
    ("launches", "graphs"),
    [(1, {1, 16}), (MOST_LAUNCHES // 3, {1, 3}), (MOST_LAUNCHES // 2, {1}), (9 * MOST_LAUNCHES, {1})],
)
@pytest.mark.parametrize("times", [1, 15, 16, 37])
def test_an_iteration_of_many_launches_is_recorded_once(launches, graphs, times):
    runtime = Counted(launches)
    repeat = runtime.repeated(runtime.work, 16, SimpleNamespace(nbytes=8))
    assert sorted(runtime.graphs) == sorted(graphs)
    assert runtime.collected == 1
    repeat(times)
    assert runtime.made == times
