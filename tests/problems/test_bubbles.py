"""Bubbles: positions, cells, assembled systems and errors."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import refusal
from workbench.errors import InputError
from workbench.problems.bubble_geometry import Geometry, at_random, default_radius, from_text, on_grid, to_text
from workbench.problems.bubbles import Bubbles2D, Bubbles3D
from workbench.problems.slabs import Slabs
from workbench.registry import from_dict


def phase_grid(system):
    return system.phase.reshape(system.grid)


def test_a_single_bubble_by_hand():
    phase = from_text("0.5,0.5,0.3", 2).paint(4)
    assert phase.tolist() == [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]


def test_x_runs_fastest():
    phase = from_text("0.75,0.25,0.1; 0.25,0.75,0.2", 2).paint(8)
    assert phase[1, 5] == phase[2, 6] == 1
    assert phase[6, 2] == 2
    assert from_text("0.9,0.5,0.2,0.1", 3).paint(10)[1, 5, 9] == 1, "(z, y, x)"


def test_a_cell_centre_on_the_boundary_belongs_to_the_bubble():
    phase = from_text("0.5,0.5,0.2", 2).paint(5)
    assert phase.tolist()[2] == [0, 1, 1, 1, 0]
    assert phase.sum() == 5


@pytest.mark.parametrize(("count", "radius"), [(1, 0.35), (4, 0.175), (9, 0.35 / 3), (16, 0.0875)])
def test_area_and_symmetry_of_a_grid_in_2d(count, radius):
    n = 240
    phase = phase_grid(Bubbles2D(n=n, count=count).assemble())
    for k in range(1, count + 1):
        assert (phase == k).sum() / n**2 == pytest.approx(np.pi * radius**2, rel=0.01)
    light = phase > 0
    np.testing.assert_array_equal(light, light[::-1])
    np.testing.assert_array_equal(light, light[:, ::-1])
    np.testing.assert_array_equal(light, light.T)


@pytest.mark.parametrize(("count", "radius"), [(1, 0.35), (8, 0.175), (27, 0.35 / 3)])
def test_volume_and_symmetry_of_a_grid_in_3d(count, radius):
    n = 60
    phase = phase_grid(Bubbles3D(n=n, count=count).assemble())
    assert np.unique(phase).tolist() == list(range(count + 1))
    assert (phase > 0).mean() == pytest.approx(count * 4 / 3 * np.pi * radius**3, rel=0.03)
    for axis in range(3):
        np.testing.assert_array_equal(phase > 0, np.flip(phase, axis) > 0)


def test_bubbles_are_numbered_from_the_corner_with_x_fastest():
    centres = on_grid(8, 0.1, 3).centres
    assert centres[:3].tolist() == [[0.25, 0.25, 0.25], [0.75, 0.25, 0.25], [0.25, 0.75, 0.25]]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 20), dimensions=st.sampled_from([2, 3]))
def test_random_bubbles_are_reproducible_and_disjoint(seed, count, dimensions):
    radius = 0.7 * default_radius(count, dimensions)
    geometry = at_random(count, radius, dimensions, seed)
    again = at_random(count, radius, dimensions, seed)
    np.testing.assert_array_equal(geometry.centres, again.centres)
    assert geometry.centres.shape == (count, dimensions)
    assert (geometry.centres >= radius).all()
    assert (geometry.centres <= 1 - radius).all()
    for k in range(count):
        distance = np.linalg.norm(np.delete(geometry.centres, k, axis=0) - geometry.centres[k], axis=1)
        assert (distance > 2 * radius).all()


def test_the_geometry_seed_moves_the_bubbles_and_the_grid_does_not():
    first, second = (Bubbles2D(layout="random", count=5, geometry_seed=seed).geometry().centres for seed in (1, 2))
    finer = Bubbles2D(n=512, layout="random", count=5, geometry_seed=1).geometry().centres
    assert not np.allclose(first, second)
    np.testing.assert_array_equal(first, finer)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 6), dimensions=st.sampled_from([2, 3]))
def test_the_text_form_is_lossless(seed, count, dimensions):
    geometry = at_random(count, 0.05, dimensions, seed)
    back = from_text(to_text(geometry), dimensions)
    np.testing.assert_array_equal(back.centres, geometry.centres)
    np.testing.assert_array_equal(back.radii, geometry.radii)


def test_from_arrays_equals_the_list():
    built = Bubbles3D.from_arrays([[0.3, 0.3, 0.3], [0.7, 0.6, 0.5]], [0.2, 0.1], n=16)
    assert built == Bubbles3D(n=16, layout="list", bubbles="0.3,0.3,0.3,0.2; 0.7,0.6,0.5,0.1")
    assert Bubbles2D.from_arrays([[0.5, 0.5]], 0.25).geometry().radii.tolist() == [0.25]
    assert from_dict(built.to_dict()) == built


def test_the_light_phase_has_coefficient_one_and_the_heavy_one_the_density_ratio():
    system = Bubbles2D(n=16, count=1, density_ratio=0.01).assemble()
    assert (system.coefficient == np.where(system.phase > 0, 1.0, 0.01)).all()
    dense = np.asarray(system.operator.to_csr().toarray())
    middle = 8 + 16 * 8
    assert dense[middle, middle] == 4 * 16**2
    assert dense[0, 0] == pytest.approx(2 * 0.01 * 16**2, rel=1e-14)


@pytest.mark.parametrize("problem", [Bubbles2D(n=17), Bubbles3D(n=9), Slabs(n=6)])
def test_all_neumann_is_singular_and_consistent(problem):
    system = problem.assemble(seed=1)
    csr = system.operator.to_csr()
    assert system.null_space is not None
    assert system.random_start
    np.testing.assert_allclose(csr @ np.ones(system.operator.shape[0]), 0, atol=1e-12 * csr.diagonal().max())
    assert abs(system.b.sum()) < 1e-12
    np.testing.assert_array_equal(csr.toarray(), csr.toarray().T)
    assert np.linalg.eigvalsh(csr.toarray())[1] > 0, "nothing but the constant is in the nullspace"


def test_with_a_dirichlet_side_a_is_regular_and_b_keeps_its_mean():
    system = Bubbles2D(n=12, sides="y+:dirichlet").assemble()
    dense = system.operator.to_csr().toarray()
    assert system.null_space is None
    assert system.b.min() >= 0
    assert system.b.mean() == pytest.approx(0.5, abs=0.1)
    heavy = 1e-3 * 12**2
    assert dense[-1, -1] == pytest.approx(heavy * (1 + 1 + 2), rel=1e-13), "the wall lies half a cell away"


def test_the_seed_affects_b_only():
    problem = Bubbles2D(n=16, layout="random", sides="dirichlet")
    first, again, other = problem.assemble(5), problem.assemble(5), problem.assemble(6)
    np.testing.assert_array_equal(first.b, again.b)
    np.testing.assert_array_equal(first.phase, other.phase)
    assert not np.allclose(first.b, other.b)
    assert not np.allclose(first.b, np.random.default_rng(5).random(256)), "x0 of the same seed would equal b"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"count": 5}, "a grid of bubbles needs a count of 1, 4, 9, 16, ..., got 5; use one, or layout random"),
        ({"radius": 0.3}, "4 bubbles on a grid need a radius of at most 0.25, got 0.3"),
        ({"radius": 0.6}, "bubbles-2d: radius must be between 0 and 0.5, got 0.6"),
        ({"radius": -0.1}, "bubbles-2d: radius must be between 0 and 0.5, got -0.1"),
        ({"layout": "gird"}, "bubbles-2d: unknown layout 'gird'; did you mean grid?"),
        ({"layout": "list"}, "layout list needs bubbles written x,y,r; x,y,r; ..., got none"),
        ({"layout": "list", "bubbles": "0.5,0.5"}, "bubble 1 must be written x,y,r, got '0.5,0.5'"),
        ({"layout": "list", "bubbles": "0.5,0.5,.1; a,b,c"}, "bubble 2 must be written x,y,r, got 'a,b,c'"),
        ({"layout": "list", "bubbles": "0.5,0.5,0"}, "bubble 1 has radius 0; a radius must be above 0 and at most 0.5"),
        ({"layout": "list", "bubbles": "0.5,0.5,nan"}, "bubble 1 has radius nan; a radius must be above 0"),
        (
            {"layout": "list", "bubbles": "0.5,0.5,0.1; 0.9,0.5,0.2"},
            "bubble 2 at (0.9, 0.5) with radius 0.2 extends beyond the unit box; move it inwards or make it smaller",
        ),
        ({"layout": "list", "bubbles": "nan,0.5,0.1"}, "bubble 1 at (nan, 0.5) with radius 0.1 extends beyond"),
        (
            {"layout": "list", "bubbles": "0.2,0.2,0.1; 0.8,0.8,0.1; 0.3,0.3,0.1"},
            "bubbles 1 and 3 overlap; move them apart or make one smaller",
        ),
        ({"sides": "z-:dirichlet"}, "unknown side 'z-'; did you mean"),
        ({"geometry_seed": -1}, "bubbles-2d: geometry_seed must be between 0 and 2.14748e+09, got -1"),
    ],
)
def test_invalid_bubbles_are_refused(values, sentence):
    assert refusal(Bubbles2D.create, values).startswith(sentence)


def test_a_grid_in_3d_needs_a_cube_of_bubbles():
    with pytest.raises(InputError, match=r"needs a count of 1, 8, 27, 64, \.\.\., got 9"):
        Bubbles3D(count=9)


def test_the_error_states_how_many_bubbles_were_placed():
    words = refusal(Bubbles2D, layout="random", count=50, radius=0.2, geometry_seed=7).split()
    assert words[0] == "only"
    assert 1 <= int(words[1]) <= 6, "at most six bubbles of radius 0.2 can fit"
    assert " ".join(words[2:]) == (
        "of 50 bubbles with radius 0.2 could be placed (layout seed 7); use fewer or smaller bubbles, or another seed"
    )


def test_a_bubble_between_the_cell_centres_is_refused():
    problem = Bubbles2D(n=10, layout="list", bubbles="0.5,0.5,0.04")
    assert refusal(problem.assemble) == (
        "bubble 1 with radius 0.04 contains no cell centre of 10 cells per side; "
        "use a radius of at least 0.0707 or more cells"
    )
    larger = Bubbles2D(n=10, layout="list", bubbles="0.5,0.5,0.0708")
    assert phase_grid(larger.assemble()).sum() == 4, "the radius that the sentence names is enough"


@settings(max_examples=60)
@given(
    st.floats(0.1, 0.9),
    st.floats(0.1, 0.9),
    st.floats(0.1, 0.9),
    st.floats(1e-3, 0.1),
    st.integers(8, 40),
    st.booleans(),
)
def test_holds_cells_agrees_with_a_search_of_all_centres(x, y, z, radius, n, flat):
    centre = np.array([x, y] if flat else [x, y, z])
    middles = (np.arange(n) + 0.5) / n
    places = np.stack(np.meshgrid(*(middles,) * centre.size, indexing="ij"), axis=-1)
    nearest = np.linalg.norm(places - centre, axis=-1).min()
    # Too close to call by another way of rounding.
    if abs(nearest - radius) > 1e-9:
        assert Geometry(centre[None], np.array([radius])).holds_cells(n).tolist() == [nearest < radius]


@pytest.mark.parametrize(
    ("centres", "radii"),
    [([[0.5, 0.5]], [0.1, 0.2]), ([0.5, 0.5], [0.1]), ([], []), ([[0.5], [0.5, 0.5]], 0.1), ([["a", "b"]], 0.1)],
)
def test_mismatched_arrays_are_refused(centres, radii):
    with pytest.raises(InputError, match=r"^bubbles need "):
        Bubbles2D.from_arrays(centres, radii)  # type: ignore[arg-type]


def test_centres_of_another_dimension_are_refused():
    with pytest.raises(InputError, match=r"bubble 1 must be written x,y,r, got '0\.5,0\.5,0\.5,0\.1'"):
        Bubbles2D.from_arrays([[0.5, 0.5, 0.5]], 0.1)


def test_touching_bubbles_are_allowed():
    assert Geometry(np.array([[0.25, 0.5], [0.75, 0.5]]), np.array([0.25, 0.25])).radii.size == 2


def test_labels_are_unique_and_deterministic():
    made = [
        Bubbles3D(n=64),
        Bubbles3D(n=64, count=27),
        Bubbles3D(n=64, layout="random", count=20, geometry_seed=3),
        Bubbles3D(n=64, layout="list", bubbles="0.5,0.5,0.5,0.25"),
        Bubbles3D(n=64, layout="list", bubbles="0.5,0.5,0.5,0.26"),
        Bubbles3D(n=64, layout="list", bubbles="0.5,0.5,0.5,0.25", density_ratio=1e-6),
    ]
    assert [problem.label for problem in made] == [
        "8 bubbles in a cube, 64³",
        "27 bubbles in a cube, 64³",
        "20 random bubbles in a cube, 64³, layout seed 3",
        "1 bubble in a cube, 64³, layout #fd90c1",
        "1 bubble in a cube, 64³, layout #97c5db",
        "1 bubble in a cube, 64³, layout #fd90c1, density ratio 10⁻⁶",
    ]


def test_labels_omit_parameters_that_the_layout_does_not_use():
    assert Bubbles2D(geometry_seed=7).label == "4 bubbles in a square, 256²"
    listed = {"layout": "list", "bubbles": "0.5,0.5,0.25"}
    # Written otherwise it is the same geometry.
    assert Bubbles2D(**listed, count=9).label == Bubbles2D(layout="list", bubbles="0.50, 0.5, 0.250").label
