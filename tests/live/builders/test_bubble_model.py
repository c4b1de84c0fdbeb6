"""Bubbles on the canvas without a canvas: every edit is valid or changes nothing, and undo leads back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import InputError
from workbench.live.builders.bubble_editor import Refused, perform, refused_row
from workbench.live.builders.bubble_model import BubbleModel, Drawing, presets
from workbench.live.builders.sides_field import sides_text
from workbench.problems.bubble_geometry import Geometry
from workbench.problems.bubbles import Bubbles2D, Bubbles3D
from workbench.problems.sides import parse_sides

SQUARE = Bubbles2D(n=32)
CUBE = Bubbles3D(n=24)


@pytest.fixture
def model():
    return BubbleModel(Drawing(SQUARE))


@pytest.fixture
def cube():
    return BubbleModel(Drawing(CUBE))


def test_an_untouched_layout_stays_what_it_is(model):
    perform(model, {"act": "select", "index": 2})
    perform(model, {"act": "place", "index": 2, "row": model.drawing.rows[2], "stroke": "a"})
    assert model.drawing.problem == SQUARE
    assert not model.history.can_undo


def test_a_bubble_that_is_moved_makes_a_list_and_keeps_the_rest():
    given = BubbleModel(Drawing(Bubbles2D(n=32, density_ratio=0.5, sides="dirichlet")))
    perform(given, {"act": "place", "index": 0, "row": [0.3, 0.25, 0.1]})
    problem = given.drawing.problem
    assert (problem.layout, problem.n, problem.density_ratio, problem.sides) == ("list", 32, 0.5, "dirichlet")
    assert problem.geometry().centres[0].tolist() == [0.3, 0.25]
    assert problem.geometry().centres[1].tolist() == [0.75, 0.25]


def test_a_further_bubble_is_as_large_as_there_is_room(model):
    model.add((0.5, 0.5))
    assert model.drawing.rows[4] == (0.5, 0.5, 0.1)
    model.add((0.5, 0.05))
    assert model.drawing.rows[5] == (0.5, 0.05, 0.05)
    assert model.selected == 5


def test_the_place_with_the_most_room(model, cube):
    model.add(model.free_place())
    assert model.drawing.rows[4][:2] == (0.5, 0.5)
    cube.add(cube.free_place())
    assert cube.drawing.rows[8][:3] == (0.5, 0.5, 0.5)


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ({"act": "place", "index": 0, "row": [0.05, 0.25, 0.1]}, "bubble 1 at (0.05, 0.25) with radius 0.1 extends"),
        ({"act": "place", "index": 0, "row": [0.7, 0.25, 0.1]}, "bubbles 1 and 2 overlap"),
        ({"act": "place", "index": 0, "row": [0.25, 0.25, 0]}, "bubble 1 has radius 0; a radius must be above 0"),
        (
            {"act": "place", "index": 0, "row": [0.25, 0.25, 0.001]},
            "bubble 1 with radius 0.001 contains no cell",
        ),
        ({"act": "place", "index": 0, "row": ["a", 0.25, 0.1]}, "x of bubble 1 must be a number in side lengths"),
        ({"act": "place", "index": 0, "row": ["", 0.25, 0.1]}, "x of bubble 1 must be a number in side lengths"),
        ({"act": "place", "index": 0, "row": ["nan", 0.25, 0.1]}, "x of bubble 1 must be a number in side lengths"),
        ({"act": "place", "index": 0, "row": [0.25, 0.1]}, "bubble 1 needs 3 numbers (x, y, r), got 2"),
        ({"act": "place", "index": 9, "row": [0.25, 0.25, 0.1]}, "there is no bubble 10; there are 4"),
        ({"act": "add", "centre": [0.5, 0.5], "radius": 0.4}, "bubbles 1 and 5 overlap"),
        ({"act": "add", "centre": [0.5, 1.5]}, "bubble 5 at (0.5, 1.5)"),
        ({"act": "delete"}, "no bubble is selected"),
        ({"act": "change", "values": {"n": 4}}, "n must be between 8 and 46340, got 4"),
        ({"act": "change", "values": {"density_ratio": "thick"}}, "density_ratio must be a number, got 'thick'"),
        ({"act": "change", "values": {"layout": "random", "count": 300}}, "only "),
        ({"act": "side", "side": "z-", "to": "dirichlet"}, "unknown side 'z-'; known: x-, x+, y-, y+"),
        ({"act": "side", "side": "x-", "to": "robin"}, "unknown boundary condition 'robin'"),
        ({"act": "preset", "name": "hexagons"}, "unknown preset 'hexagons'; known: one bubble"),
        ({"act": "show", "dimensions": 4}, "bubbles are in 2 or 3 dimensions, got 4"),
        ({"act": "fly"}, "unknown act 'fly'"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence_and_changes_nothing(model, message, sentence):
    if message["act"] == "change" and "count" in message["values"]:
        message = {"act": "change", "values": {**message["values"], "radius": 0.1}}
    with pytest.raises(InputError) as caught:
        perform(model, message)
    assert sentence in str(caught.value)
    assert model.drawing.problem == SQUARE
    assert not model.history.can_undo


def test_what_is_refused_is_drawn_where_it_has_a_place(model):
    place = {"act": "place", "index": 0, "row": ["0.7", 0.25, 0.1]}
    assert refused_row(model, place) == Refused(0, (0.7, 0.25, 0.1))
    assert refused_row(model, {**place, "row": ["far", 0.25, 0.1]}) is None
    assert refused_row(model, {"act": "add", "centre": [0.5, 0.5], "radius": 0.4}) == Refused(4, (0.5, 0.5, 0.4))
    assert refused_row(model, {"act": "clear"}) is None


def test_an_empty_canvas_is_no_problem_but_keeps_its_parameters(model):
    model.change({"n": 64})
    model.clear()
    with pytest.raises(InputError, match="there is no bubble on the canvas; click on free space"):
        _ = model.drawing.problem
    model.change({"density_ratio": 0.01})
    assert model.drawing.rows == ()
    model.add((0.5, 0.5), 0.3)
    assert model.drawing.problem == Bubbles2D.from_arrays([[0.5, 0.5]], [0.3], n=64, density_ratio=0.01)


def test_after_the_last_bubble_comes_the_empty_canvas(model):
    perform(model, {"act": "select", "index": 3})
    for left in (3, 2, 1, 0):
        perform(model, {"act": "delete"})
        assert len(model.drawing.rows) == left
        assert model.selected == left - 1
    assert model.drawing.empty
    model.undo()
    assert len(model.drawing.rows) == 1


def test_cells_that_miss_a_bubble_are_refused(model):
    model.place(0, (0.25, 0.25, 0.025))
    with pytest.raises(InputError, match="bubble 1 with radius 0.025 contains no cell centre of 8 cells per side"):
        model.change({"n": 8})
    assert model.drawing.problem.n == 32


def test_two_and_three_dimensions_have_a_drawing_each(model):
    model.add((0.5, 0.5))
    before = model.drawing
    model.change({"density_ratio": 0.5})
    model.show(3)
    assert model.selected == -1
    assert (model.drawing.problem.name, model.drawing.problem.density_ratio) == ("bubbles-3d", 0.5)
    assert not model.history.can_undo
    model.add((0.5, 0.5, 0.5))
    assert len(model.drawing.rows) == 9
    model.show(2)
    model.undo()
    assert model.drawing == before


def test_a_problem_is_loaded_and_undo_leads_back(model):
    model.load(CUBE)
    assert model.drawing.problem == CUBE
    model.show(2)
    model.load(Bubbles2D(n=16))
    model.undo()
    assert model.drawing.problem == SQUARE


@pytest.mark.parametrize("dimensions", [2, 3])
def test_every_preset_can_be_painted(dimensions):
    model = BubbleModel(Drawing({2: SQUARE, 3: CUBE}[dimensions]))
    for name in presets(dimensions):
        model.preset(name)
        assert model.drawing.problem.geometry().paint(model.drawing.problem.n).max() == len(model.drawing.rows)
    untouched = {"layout": "list", "bubbles": model.drawing.problem.bubbles, "n": model.drawing.problem.n}
    assert model.drawing.problem == type(model.drawing.problem).create(untouched)
    model.preset("one bubble")
    assert (model.drawing.problem.layout, len(model.drawing.rows)) == ("grid", 1)


@given(st.lists(st.sampled_from(["neumann", "dirichlet"]), min_size=6, max_size=6))
def test_sides_read_as_they_are_written(conditions):
    sides = dict(zip(("x-", "x+", "y-", "y+", "z-", "z+"), conditions, strict=True))
    assert parse_sides(sides_text(sides), 3) == sides


PLACE = st.floats(-0.1, 1.1, allow_nan=False)
INDEX = st.integers(-1, 6)
ACTS = st.one_of(
    st.builds(lambda x, y: {"act": "add", "centre": [x, y]}, PLACE, PLACE),
    st.builds(
        lambda k, x, y, r, s: {"act": "place", "index": k, "row": [x, y, r], "stroke": s},
        INDEX,
        PLACE,
        PLACE,
        st.floats(-0.1, 0.6),
        st.sampled_from([None, "a", "b"]),
    ),
    st.builds(lambda k: {"act": "delete", "index": k}, INDEX),
    st.builds(lambda k: {"act": "select", "index": k}, INDEX),
    st.builds(lambda n: {"act": "change", "values": {"n": n}}, st.sampled_from([4, 8, 16, 32])),
    st.builds(
        lambda side, to: {"act": "side", "side": side, "to": to}, st.sampled_from(["x-", "y+"]), st.just("dirichlet")
    ),
    st.builds(lambda name: {"act": "preset", "name": name}, st.sampled_from(["2 x 2", "staggered"])),
    st.sampled_from([{"act": name} for name in ("undo", "redo", "clear")]),
)


@settings(max_examples=80)
@given(st.lists(ACTS, max_size=14))
def test_whatever_is_done_the_drawing_is_valid_and_undo_leads_back(messages):
    model = BubbleModel(Drawing(SQUARE))
    for message in messages:
        before, selected = model.drawing, model.selected
        try:
            perform(model, message)
        except InputError:
            assert model.drawing is before
            assert model.selected == selected
        check(model.drawing)
        assert -1 <= model.selected < max(1, len(model.drawing.rows))
    last = model.drawing
    steps = 0
    while model.history.can_undo:
        before = model.drawing
        model.undo()
        assert model.drawing != before
        check(model.drawing)
        steps += 1
    assert model.drawing.problem == SQUARE
    for _ in range(steps):
        model.redo()
    assert model.drawing == last


def check(drawing: Drawing) -> None:
    if drawing.empty:
        assert drawing.rows == ()
        return
    geometry = drawing.problem.geometry()
    Geometry(geometry.centres, geometry.radii).check_cells(drawing.problem.n)
    assert len(drawing.rows) == geometry.radii.size
