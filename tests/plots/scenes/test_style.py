"""Looks of kernels: soft colours by kind, an operator looks the same everywhere, and black can be read on all."""

import pytest

from tests.plots.figures.test_contrast import contrast
from workbench.plots.scenes.style import KINDS, kernel_looks, kind_of
from workbench.records.trace import Kernel


def looks_of(*names):
    return kernel_looks([Kernel(name, "cpu") for name in names])


def test_an_operator_looks_the_same_whatever_came_before_it():
    first = looks_of("A", "M", "x = x + alpha*p")
    later = looks_of("r = b - s", "p = u", "M r", "A p")
    assert [first[name] for name in ("A", "M")] == [later[name] for name in ("A p", "M r")]


@pytest.mark.parametrize(
    ("kind", "names"),
    {
        "A": ("A p", "A m, Z^T", "b - A x", "A1 m", "A2 v"),
        "M": ("M", "M r", "m = M(w)", "smooth, finest grid", "box solves"),
        "vectors": ("r = b - s", "r = b - s; u = M(r); gamma = (r, u)", "dot products", "alpha, beta"),
        "coarse": ("Z^T", "Z^T r", "Z", "E^-1", "AZ", "coarse solve", "smooth, level 1", "coarsest level"),
        "copies": ("transfer",),
        "waiting": ("waiting",),
    }.items(),
)
def test_kernels_are_of_a_kind(kind, names):
    assert {kind_of(name) for name in names} == {kind}


def test_what_runs_on_a_lane_of_copies_is_a_copy():
    assert kind_of("m", "copy to host") == "copies"
    assert kind_of("m", "cpu") == "vectors"


def test_the_kernels_of_a_kind_take_its_shades_in_turn():
    found = looks_of("r = b - s", "p = u", "A p", "x = x + alpha*p", "s = w")
    assert [found[name] for name in ("r = b - s", "p = u", "x = x + alpha*p")] == list(KINDS["vectors"])
    assert found["s = w"] == found["r = b - s"]


def test_what_deflation_adds_has_one_colour_in_every_picture():
    """AZ was pale in one timeline and deep where two runs were compared."""
    alone, behind = looks_of("AZ", "A p"), looks_of("Z^T r", "E^-1", "smooth, level 1", "AZ", "A p")
    assert alone["AZ"] == behind["AZ"]
    assert len({behind[name] for name in ("Z^T r", "E^-1", "AZ")}) == 3


def test_all_kernels_of_a_level_look_the_same():
    looks = looks_of("smooth, level 1", "A", "residual, level 1", "smooth, level 2")
    assert looks["smooth, level 1"] == looks["residual, level 1"] != looks["smooth, level 2"]


def test_black_can_be_read_on_every_colour():
    assert min(contrast("#000000", colour) for shades in KINDS.values() for colour in shades) >= 4.5
