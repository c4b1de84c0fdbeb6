"""The bubble builder: what the browser sends becomes a problem, refusals are reported, fields and canvas agree."""

import json

import numpy as np
import pytest

from tests.live.builders.forms import choose, press, say, state, wrong
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.live import BubbleBuilder
from workbench.live.builders.bubble_editor import PictureRequest, picture
from workbench.live.builders.bubble_model import Drawing
from workbench.problems.bubbles import Bubbles2D, Bubbles3D
from workbench.problems.poisson import Poisson5
from workbench.run import configure

SQUARE = Bubbles2D(n=32)
CUBE = Bubbles3D(n=16)
NONE = configure(SQUARE).deflation


@pytest.fixture
def builder(opened):
    return opened(BubbleBuilder(SQUARE, "levelset:0"))


def test_what_was_given_stands_there(builder):
    assert builder.problem == SQUARE
    assert builder.deflation.spec == "levelset:0"
    assert state(builder, "n") == 32
    assert builder.status.text == "4 bubbles"


def test_the_fields_are_those_of_the_bubbles_and_random_ones_are_folded_away(builder):
    schema = builder.form.box.schema
    assert schema["main"] == ["dimensions", "n", "density_ratio", "sides"]
    assert schema["advanced"] == ["count", "radius", "geometry_seed", "place"]
    assert schema["blocks"] == {}


def test_the_subdomains_of_the_page_are_drawn_as_its_method_changes(opened, page_of, eventually):
    chosen = [configure(SQUARE, deflation="levelset:0")]
    made = opened(BubbleBuilder(SQUARE, configuration=lambda: chosen[-1]))
    page = page_of(made.canvas)
    assert made.deflation.spec == "levelset:0"
    chosen.append(configure(SQUARE, deflation="blocks:2"))
    made.hide(False)
    assert made.wait(LIMIT)
    assert made.deflation.spec == "blocks:2"
    eventually(lambda: page.messages[-1]["note"] == "4 deflation subdomains")


def test_the_state_is_json_and_numbered(builder):
    say(builder, act="add", centre=[0.5, 0.5], seq=17)
    state = json.loads(json.dumps(builder.canvas.state))
    assert state["bubbles"][4] == [0.5, 0.5, 0.1]
    assert (state["selected"], state["heard"], state["accepted"], state["refused"]) == (4, 17, True, None)
    assert state["sides"] == dict.fromkeys(["x-", "x+", "y-", "y+"], "neumann")
    assert "state" in builder.canvas.keys


def test_a_drag_onto_another_bubble_is_refused_and_the_last_valid_place_stays(builder):
    for x in (0.3, 0.4, 0.5):
        say(builder, act="place", index=0, row=[x, 0.25, 0.175], stroke="a")
    assert builder.status.text == "bubbles 1 and 2 overlap; move them apart or make one smaller"
    assert builder.status.tone == "bad"
    assert builder.canvas.state["refused"] == {"index": 0, "row": [0.5, 0.25, 0.175]}
    assert builder.canvas.state["bubbles"][0] == [0.4, 0.25, 0.175]
    say(builder, act="place", index=0, row=[0.5, 0.25, 0.175], stroke="a", done=True)
    assert builder.canvas.state["refused"] is None
    # It lies where it fits, so nothing is wrong.
    assert builder.status.text == "Bubble 1 went back to where it fits: bubbles 1 and 2 overlap."
    assert builder.status.tone == "plain"
    say(builder, act="select", index=1)
    assert builder.status.text.startswith("bubble 2 at ")
    assert builder.problem.geometry().centres[0].tolist() == [0.4, 0.25]
    say(builder, act="undo")
    assert builder.problem == SQUARE
    assert builder.status.tone == "plain"


def test_a_wrong_field_keeps_its_text_and_its_sentence_until_it_is_right(builder):
    choose(builder, "density_ratio", "thick")
    sentence = "Density ratio, inside/outside must be a number, got 'thick'"
    assert wrong(builder) == {"density_ratio": sentence}
    assert (builder.status.text, builder.status.tone) == ("4 bubbles", "plain")
    say(builder, act="add", centre=[0.5, 0.5])
    assert state(builder, "density_ratio") == "thick"
    assert wrong(builder) == {"density_ratio": sentence}
    choose(builder, "density_ratio", "0")
    assert wrong(builder) == {"density_ratio": "Density ratio, inside/outside must be between 10⁻⁹ and 10⁹, got 0"}
    choose(builder, "density_ratio", "2")
    assert builder.problem.density_ratio == 2
    assert wrong(builder) == {}
    assert builder.status.tone == "plain"


def test_undo_takes_a_wrong_text_back_first_and_then_the_change_before_it(builder):
    choose(builder, "n", "64")
    choose(builder, "n", "4")
    assert wrong(builder) == {"n": "Cells per side must be between 8 and 46340, got 4"}
    assert state(builder, "n") == 4
    for n in (64, 32):
        press(builder, "undo")
        assert (state(builder, "n"), builder.status.text, wrong(builder)) == (n, "4 bubbles", {})
    # A wrong text alone can be taken back too.
    assert not builder.form.box.state["canUndo"]
    choose(builder, "density_ratio", "thick")
    assert builder.form.box.state["canUndo"]
    press(builder, "undo")
    assert (state(builder, "density_ratio"), builder.form.box.state["canUndo"]) == ("0.001", False)


def test_what_no_field_is_wrong_with_by_itself_is_reported_at_the_field_that_was_changed(builder):
    builder.load(Bubbles2D(n=64, layout="list", bubbles="0.5,0.5,0.02"))
    choose(builder, "n", "8")
    assert "contains no cell centre of 8 cells" in wrong(builder)["n"]
    assert builder.problem.n == 64


def test_sides_are_ticked_and_undone(builder):
    for held in (["x-"], ["x-", "x+"], ["x-", "x+", "y-"], ["x-", "x+", "y-", "y+"]):
        choose(builder, "sides", held)
    assert builder.problem.sides == "dirichlet"
    for left in (3, 2, 1, 0):
        press(builder, "undo")
        assert len(state(builder, "sides")) == left
    assert builder.problem == SQUARE
    assert builder.form.box.state["canRedo"]


def test_buttons_act_where_they_can(builder):
    buttons = builder.buttons
    enabled = {name for name, control in buttons.items() if not control.disabled}
    assert enabled == {"add", "clear"}
    for name, left in (("add", 5), ("delete", 4), ("undo", 5), ("redo", 4), ("clear", 0)):
        press(builder, name) if name not in buttons else buttons[name].click()
        assert builder.wait(LIMIT)
        assert len(builder.canvas.state["bubbles"]) == left
    assert {name for name, control in buttons.items() if not control.disabled} == {"add"}
    assert builder.form.box.state["canUndo"]
    with pytest.raises(InputError, match="there is no bubble on the canvas"):
        _ = builder.problem


def test_reset_shows_what_was_there_at_first_and_can_be_undone(builder):
    say(builder, act="delete", index=0)
    press(builder, "reset")
    assert builder.problem == SQUARE
    press(builder, "undo")
    assert len(builder.problem.geometry().radii) == state(builder, "count") == 3


def test_presets_and_random_bubbles_come_from_the_form(builder):
    assert "staggered" in builder.form.box.state["examples"]
    press(builder, "example", "staggered")
    assert builder.problem.layout == "list"
    # The number of random bubbles is that of those on the canvas.
    assert state(builder, "count") == len(builder.problem.geometry().radii)
    for name, value in {"count": "6", "radius": "0.08", "geometry_seed": "3"}.items():
        choose(builder, name, value)
    choose(builder, "place", True)
    assert builder.problem == Bubbles2D(n=32, layout="random", count=6, radius=0.08, geometry_seed=3)
    choose(builder, "radius", "0.4")
    choose(builder, "place", True)
    assert "bubbles with radius 0.4 could be placed" in wrong(builder)["place"]
    assert builder.problem.radius == 0.08
    choose(builder, "radius", "0.3")
    assert wrong(builder) == {}
    assert builder.status.text == "6 bubbles"
    choose(builder, "radius", "0.6")
    assert wrong(builder) == {"radius": "Radius must be between 0 and 0.5, got 0.6"}


def test_three_dimensions_and_back(builder):
    choose(builder, "dimensions", "3")
    assert builder.problem == Bubbles3D(n=64)
    assert not builder.live.check.disabled
    assert state(builder, "sides") == []
    assert "3 x 3 x 3" in builder.form.box.state["examples"]
    choose(builder, "sides", ["z+"])
    assert builder.problem.sides == "z+:dirichlet"
    choose(builder, "n", "2000")
    assert wrong(builder) == {"n": "Cells per side must be between 8 and 1290, got 2000"}
    choose(builder, "dimensions", "2")
    assert builder.problem == SQUARE


def test_the_plane_goes_to_the_bubble_that_is_selected(opened):
    made = opened(BubbleBuilder(CUBE))
    say(made, act="select", index=7)
    assert made.canvas.position == 0.75
    made.canvas.position = 0.7
    say(made, act="select", index=6)
    assert made.canvas.position == 0.7
    say(made, act="select", index=6, reveal=True)
    assert made.canvas.position == 0.75
    made.canvas.normal = "x"
    say(made, act="add", centre=[0.5, 0.5, 0.5])
    assert made.canvas.position == 0.5


def test_listeners_hear_of_changes_and_not_of_selections(builder):
    heard = []
    forget = builder.on_change(lambda reported: heard.append(len(reported.problem.geometry().radii)))
    builder.on_change(lambda reported: 1 / 0)
    say(builder, act="select", index=1)
    assert heard == []
    say(builder, act="delete")
    say(builder, act="clear")
    assert heard == [3]
    say(builder, act="undo")
    assert heard == [3, 3]
    forget()
    say(builder, act="delete")
    assert heard == [3, 3]


def test_a_bubble_that_is_drawn_larger_than_its_room_is_made_to_fit(builder):
    say(builder, act="add", centre=[0.5, 0.5], radius=0.4, done=True)
    *_, radius = builder.canvas.state["bubbles"][4]
    assert radius == pytest.approx(np.hypot(0.25, 0.25) - 0.175, abs=1e-3)
    assert (builder.status.tone, wrong(builder)) == ("plain", {})


def test_a_bubble_that_fits_nowhere_near_is_not_added_and_the_sentence_ends_with_the_next_act(builder):
    say(builder, act="add", centre=[0.25, 0.25], radius=0.1, done=True)
    assert builder.status.text.startswith("No bubble was added: ")
    assert (builder.status.tone, len(builder.canvas.state["bubbles"])) == ("plain", 4)
    say(builder, act="select", index=-1)
    assert builder.status.text == "4 bubbles"


def test_the_fields_of_random_bubbles_show_what_a_loaded_problem_was_placed_by(builder):
    given = Bubbles2D(n=64, layout="random", count=20, radius=0.03, geometry_seed=3)
    builder.load(given)
    assert [state(builder, name) for name in ("count", "radius", "geometry_seed")] == [20, "0.03", 3]
    # So the same button makes the same bubbles, here and in a form that comes back by Undo.
    choose(builder, "place", True)
    assert builder.problem == given
    choose(builder, "count", "5")
    choose(builder, "place", True)
    assert builder.problem.count == 5
    press(builder, "undo")
    assert state(builder, "count") == 20


def test_a_problem_is_loaded_with_its_deflation(builder):
    heard = []
    builder.on_change(lambda reported: heard.append((reported.problem, reported.deflation.spec)))
    choose(builder, "density_ratio", "thick")
    builder.load(CUBE, "blocks:2")
    assert (state(builder, "density_ratio"), wrong(builder)) == ("0.001", {})
    assert heard == [(CUBE, "blocks:2")]
    assert state(builder, "dimensions") == 3
    assert builder.wait(LIMIT)
    assert builder.problem == CUBE


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((Poisson5(),), "the canvas is for the problems bubbles-2d and bubbles-3d, got poisson5"),
        ((SQUARE, "levels"), "unknown deflation 'levels'"),
        ((SQUARE, SQUARE), "deflation must be a block or its name"),
        ((Bubbles2D(n=8, layout="list", bubbles="0.5,0.5,0.01"),), "contains no cell centre of 8 cells"),
    ],
)
def test_what_cannot_be_built_is_told(builder, given, sentence):
    with pytest.raises(InputError, match=sentence):
        BubbleBuilder(*given)
    with pytest.raises(InputError, match=sentence):
        builder.load(*given)
    assert builder.problem == SQUARE


def test_cells_and_subdomains_reach_the_page_again_after_a_reload_and_follow_a_bubble(builder, page_of, eventually):
    page = page_of(builder.canvas)
    eventually(lambda: page.messages and page.messages[-1]["segments"])
    assert page.messages[-1]["note"] == "5 deflation subdomains"
    pixels = np.frombuffer(page.buffers[-1][: 32 * 32], np.uint8).reshape(32, 32)
    assert np.array_equal(pixels, SQUARE.geometry().paint(32) > 0)
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) > before)
    assert page.messages[-1]["segments"]
    say(builder, act="delete", index=0)
    eventually(lambda: page.messages[-1]["note"] == "4 deflation subdomains")
    say(builder, act="clear")
    eventually(lambda: page.messages[-1]["segments"] == 0)


def test_a_section_of_a_cube():
    drawing = Drawing(CUBE)
    message, buffer = picture(PictureRequest(drawing, configure(CUBE, deflation="levelset:0").deflation, "x", 0.25), 16)
    assert (message["across"], message["up"], message["note"]) == ("y", "z", "9 deflation subdomains")
    pixels = np.frombuffer(buffer[:256], np.uint8).reshape(16, 16)
    assert np.array_equal(pixels, CUBE.geometry().paint(16)[:, :, 4] > 0)
    assert len(buffer) == 256 + 16 * message["segments"]


def test_a_large_problem_is_drawn_with_fewer_cells_and_that_is_told():
    request = PictureRequest(Drawing(Bubbles2D(n=4096)), configure(SQUARE, deflation="stripes").deflation)
    assert request.sides == (128, 512)
    note = picture(request, 128)[0]["note"]
    assert note == "drawn with 128 cells a side instead of 4096; deflation subdomains, every 4th boundary drawn"
    assert PictureRequest(Drawing(SQUARE), NONE).sides == (32,)


def test_bubbles_too_small_for_fewer_cells_are_counted():
    tiny = Bubbles2D.from_arrays([[0.2, 0.2], [0.7, 0.7]], [0.001, 0.1], n=4096)
    message, buffer = picture(PictureRequest(Drawing(tiny), NONE), 128)
    assert "without 1 bubble too small for that" in message["note"]
    assert np.count_nonzero(np.frombuffer(buffer, np.uint8)) == np.count_nonzero(
        Bubbles2D.from_arrays([[0.7, 0.7]], [0.1]).geometry().paint(128)
    )


def test_parts_follow_the_matrix_of_all_cells():
    deflation = configure(SQUARE, deflation="parts:100").deflation
    request = PictureRequest(Drawing(SQUARE), deflation)
    message, _ = picture(request, 32)
    count = deflation.labels_of(SQUARE.assemble().operator, None).max() + 1
    assert message["note"] == f"{count} deflation subdomains"
    assert message["segments"] > 10
    assert "drawn with all cells of the problem alone" in picture(request, 16)[0]["note"]


@pytest.mark.parametrize(
    ("deflation", "note"),
    [
        ("none", ""),
        ("eigenvectors", "deflation eigenvectors has vectors instead of subdomains, so none are drawn"),
        ("blocks:100", "blocks: 100 parts per side need as many cells, but a side has 32"),
    ],
)
def test_deflation_without_subdomains_says_so(deflation, note):
    message, _ = picture(PictureRequest(Drawing(SQUARE), configure(SQUARE, deflation=deflation).deflation), 32)
    assert note in message["note"]
    assert message["segments"] == 0
