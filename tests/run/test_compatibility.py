"""What blocks declare of what they have and need is what their systems have and their labels ask for."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.deflation import Deflation
from workbench.errors import InputError
from workbench.problems import Problem
from workbench.registry import registered
from workbench.run.choices.compatibility import unmet


def small_system(name, tmp_path):
    cls = registered("problem")[name]
    if name in ("matrix-file", "suitesparse"):
        from workbench.problems.files import matrix_system
        from workbench.problems.matrix_market import read_matrix

        path = tmp_path / "a.mtx"
        path.write_text("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1.0\n2 2 2.0\n", encoding="utf-8")
        return matrix_system(read_matrix(path)[0])
    if name == "recorded":
        from workbench.extensions.flow import records
        from workbench.sequences import sequence

        recorded = sequence.Sequence("heat-steps", n=16, keep=True)
        recorded.step()
        return cls(path=str(records.save(recorded, tmp_path / "a"))).assemble()
    given = {declared.name for declared in cls.parameters()}
    return cls.create({"n": 16} if "n" in given else {}).assemble()


@pytest.mark.parametrize("name", registered("problem"))
def test_a_problem_has_what_it_declares(name, tmp_path):
    cls = registered("problem")[name]
    assert issubclass(cls, Problem)
    system = small_system(name, tmp_path)
    assert cls.has_grid == (system.grid is not None)
    assert cls.has_phases == (system.phase is not None)


@pytest.mark.parametrize("name", registered("deflation"))
def test_a_deflation_needs_what_it_declares(name):
    cls = registered("deflation")[name]
    assert issubclass(cls, Deflation)
    phase = np.arange(256, dtype=np.int32) % 2
    for grid, phases, lacks in ((None, phase, cls.needs_grid), ((16, 16), None, cls.needs_phases)):
        if lacks:
            with pytest.raises(InputError, match="needs a"):
                cls().labels(256, grid, phases)
        else:
            cls().labels(256, grid, phases)


def test_what_is_missing_is_told_by_name():
    problems, deflations = registered("problem"), registered("deflation")
    assert unmet(problems["bubbles-2d"], deflations["levelset"]) == ""
    assert unmet(problems["poisson5"], deflations["levelset"]).endswith("needs phases, which poisson5 does not have")
    assert unmet(problems["matrix-file"], deflations["planes"]).endswith(
        "needs a grid, which matrix-file does not have"
    )
