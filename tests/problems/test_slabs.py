"""Three slabs in a cube."""

import numpy as np
import pytest

from tests.conftest import refusal
from workbench.problems.slabs import Slabs


@pytest.mark.parametrize(
    ("n", "thickness", "row"),
    [
        (8, 0.5, [0, 0, 1, 1, 1, 1, 0, 0]),
        (5, 0.5, [0, 1, 1, 1, 0]),
        (5, 0.1, [0, 0, 1, 0, 0]),
        (4, 0.6, [0, 1, 1, 0]),
    ],
)
def test_the_middle_slab_lies_across_x(n, thickness, row):
    system = Slabs(n=n, thickness=thickness).assemble()
    phase = system.phase.reshape(n, n, n)
    assert (phase == np.array(row)).all(), "every row along x is the same"
    assert system.grid == (n, n, n)


def test_the_light_slab_has_density_one_and_the_others_a_thousand():
    system = Slabs(n=6).assemble()
    assert (system.coefficient == np.where(system.phase == 1, 1.0, 1e-3)).all()
    middle = 2 + 6 * (2 + 6 * 2)
    heavy_face, light_face = 2e-3 / 1.001, 1.0
    assert system.operator.to_csr()[middle, middle - 1] == pytest.approx(-36 * heavy_face, rel=1e-14)
    assert system.operator.to_csr()[middle, middle + 1] == pytest.approx(-36 * light_face, rel=1e-14)


@pytest.mark.parametrize(
    ("thickness", "sentence"),
    [
        (0.0, "a slab of thickness 0 contains no cell centre of 8 cells per side; use a thickness above 0.125"),
        (0.1, "a slab of thickness 0.1 contains no cell centre of 8 cells per side; use a thickness above 0.125"),
        (1.0, "a slab of thickness 1 fills the cube of 8 cells per side; use a thickness of at most 0.875"),
    ],
)
def test_slabs_that_are_too_thin_or_too_thick_are_refused(thickness, sentence):
    assert refusal(Slabs(n=8, thickness=thickness).assemble).startswith(sentence)
