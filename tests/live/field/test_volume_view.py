"""The 3D view: what is sent of a cube of cells, at rest and during a run, and sentences where there is none."""

import itertools
import math
import time

import numpy as np
import pytest
import traitlets
from scipy import ndimage

from tests.waiting import LIMIT
from workbench.live import VolumeView
from workbench.live.field.pictures import scene
from workbench.live.field.volume_still import Still, VolumeCut, boxes, smoothed
from workbench.live.field.volume_view import SHARE, ShareLimit
from workbench.plots.scenes.plane import Colormap
from workbench.records import load, save
from workbench.records.film import Film
from workbench.run import Quantity, Run, Session, State, configure, run_through
from workbench.run.results.filming import Camera

CUBE = {"problem": "bubbles-3d", "n": 72, "sides": "z-:dirichlet", "preconditioner": "jacobi"}


@pytest.fixture
def view(opened):
    return opened(VolumeView())


def cube(n=9, deflation="blocks:3", **choices):
    configuration = configure("bubbles-3d", n=n, deflation=deflation, **choices)
    system = configuration.problem.assemble()
    labels, _ = configuration.deflation.labels_and_boxes(n**3, system.grid, system.phase)
    return scene("cube", system).with_labels(labels)


def received(page):
    """The last message of a picture and its buffer."""
    return next((said for said in reversed(page.received) if said[0]["part"] == "values"), ({}, b""))


def shown(page, quantity, **said):
    """Whether the last message is a volume of a quantity, with these values."""
    last = received(page)[0]
    return last.get("quantity") == quantity and last["size"][0] and all(last[key] == said[key] for key in said)


def volume(page):
    """The last picture, bytes of shape (nz, ny, nx)."""
    message, buffer = received(page)
    earlier = sum(said["bytes"] for said in message["before"])
    size = tuple(message["size"])
    return np.frombuffer(buffer, np.uint8, int(np.prod(size)), earlier).reshape(size[::-1])


@pytest.mark.parametrize("grid", [(5, 9, 7), (130, 3, 1), (64, 64, 64)])
@pytest.mark.parametrize("most", [4, 64])
def test_blocks_and_their_reach_cover_the_cube(grid, most):
    cut = VolumeCut(grid, peaks=True, most=most)
    vector = np.random.default_rng(1).standard_normal(np.prod(grid))
    made = cut(vector)
    assert max(made.shape) <= most
    values = vector.reshape(grid)
    for place in itertools.islice(np.ndindex(made.shape), 0, None, 7):
        block = values[tuple(np.s_[cut.step * k : cut.step * (k + 1)] for k in place)]
        assert made[place] == block.ravel()[np.argmax(np.abs(block))]
    # A block begins at `step` cells times its number, in side lengths by way of the reach.
    for axis, reach in enumerate(reversed(cut.reach)):
        assert reach * made.shape[axis] * cut.step == pytest.approx(grid[axis])


def test_the_middle_cells_of_a_solution():
    vector = np.arange(5 * 5 * 5.0)
    made = VolumeCut((5, 5, 5), most=3)(vector)
    middles = [1, 3, 4]
    np.testing.assert_array_equal(made, vector.reshape(5, 5, 5)[np.ix_(middles, middles, middles)])


def test_surfaces_are_smoothed_with_binomial_weights():
    values = np.random.default_rng(0).random((5, 9, 7))
    line = np.array([1, 4, 6, 4, 1]) / 16
    weights = np.einsum("i,j,k->ijk", line, line, line)
    np.testing.assert_allclose(smoothed(values), ndimage.correlate(values, weights, mode="nearest"), rtol=1e-12)


def test_the_boxes_of_subdomains_on_an_odd_grid():
    labels = np.random.default_rng(0).integers(0, 5, (3, 4, 5))
    labels[labels == 2] = 4
    found = boxes(labels, VolumeCut((3, 4, 5)))
    assert found[:, 0].tolist() == [0, 1, 3, 4]
    for label, *corners in found:
        z, y, x = np.nonzero(labels == label)
        low, high = [x.min() / 5, y.min() / 4, z.min() / 3], [(x.max() + 1) / 5, (y.max() + 1) / 4, (z.max() + 1) / 3]
        np.testing.assert_allclose(corners, [*low, *high], rtol=1e-6)


def test_pieces_of_blocks_are_the_blocks_though_cells_are_reduced():
    found = Still.of(cube(n=66, deflation="blocks:2")).pieces
    assert len(found) == 8
    # The middle cell of the block of cells 32 and 33 is the latter, the first of the second half.
    np.testing.assert_allclose(np.unique(found[:, 1:]), [0, 32 / 66, 1], rtol=1e-6)


def test_the_coefficient_with_its_surfaces_and_labels_is_sent_and_sent_again_after_a_reload(view, page, eventually):
    drawn = cube()
    view.show(drawn)
    eventually(lambda: shown(page, "coefficient"))
    low, high = drawn.values.min(), drawn.values.max()
    np.testing.assert_array_equal(volume(page), np.where(drawn.values == high, 255, 0))
    assert (received(page)[0]["low"], received(page)[0]["high"]) == (low, high)
    said, buffer = next(said for said in page.received if said[0]["part"] == "still")
    assert (said["size"], said["labelled"], said["pieces"], said["phases"]) == (
        (9, 9, 9),
        (9, 9, 9),
        27,
        True,
    )
    # The bubbles, of the greater coefficient, take less than half of the room.
    assert said["inside"] == (np.count_nonzero(drawn.values == high) < drawn.values.size / 2)
    labels = np.frombuffer(buffer, np.uint16, 729, 28 * 27).reshape(9, 9, 9)
    np.testing.assert_array_equal(labels, drawn.labels)
    surfaces = np.frombuffer(buffer, np.uint8, 729, 28 * 27 + 2 * 729).reshape(9, 9, 9)
    assert ((surfaces > 127) == (smoothed((drawn.values == high).astype(float)) > 0.499)).all()
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) >= before + 2)
    assert {message["part"] for message in page.messages[before:]} == {"still", "values"}


def test_the_residual_of_a_session_follows_the_run_and_is_whole_at_rest(view, page, eventually, run_in):
    view.quantity = "residual"
    eventually(lambda: "as soon as a run has begun" in received(page)[0].get("note", ""))
    session = run_in("idle", **CUBE)
    view.follow(session)
    eventually(lambda: "has not begun" in received(page)[0].get("note", ""))
    session.start()
    eventually(lambda: shown(page, "residual", live=True))
    message = received(page)[0]
    assert (message["size"], message["cells"], message["scale"]) == ((36, 36, 36), (72, 72, 72), "symlog")
    assert "the largest magnitude of 2 × 2 × 2 cells" in message["note"]
    # How many come together depends on what a snapshot costs on this machine.
    eventually(lambda: received(page)[0]["iteration"] > message["iteration"])
    last = received(page)[0]
    said = [picture["iteration"] for picture in (*last["before"], last)]
    # Never backwards; an iteration may be seen twice.
    assert sorted(said) == said
    assert len(said) <= 2 * len(set(said))
    session.pause()
    eventually(lambda: session.state is State.PAUSED)
    eventually(lambda: shown(page, "residual", size=(72, 72, 72), iteration=session.run.iterations, live=False))
    r = session.run.workspace.vectors["r"].reshape(72, 72, 72)
    np.testing.assert_array_equal(volume(page), Colormap.of(r, logarithmic=True).to_bytes(r))


def test_snapshots_keep_to_the_rate_of_the_page(view, page, eventually, run_in):
    view.quantity, view.rate = "residual", 3.0
    session = run_in("running", view, **CUBE)
    eventually(lambda: shown(page, "residual", live=True))
    begun, before = time.monotonic(), session.run.snapshots.count
    eventually(lambda: session.run.snapshots.count >= before + 4)
    taken, spent = session.run.snapshots.count - before, time.monotonic() - begun
    session.stop()
    session.wait(LIMIT)
    assert taken <= 3.4 * spent + 2


class Requests:
    """Counts and seconds as a run keeps them."""

    count, seconds = 0, 0.0


def test_costly_snapshots_are_taken_less_often():
    pace, requests = ShareLimit(), Requests()
    pace.keep(10, requests)
    assert pace.period == pytest.approx(0.095)
    requests.count, requests.seconds = 2, 0.02
    pace.keep(10, requests)
    assert pace.period == pytest.approx(0.01 / SHARE)
    requests.count, requests.seconds = 3, 60.0
    pace.keep(10, requests)
    assert pace.period == pytest.approx(2.0)
    requests.count, requests.seconds = 4, 60.0001
    pace.keep(3, requests)
    assert pace.period == pytest.approx(0.95 / 3)


@pytest.mark.parametrize("quantity", list(Quantity))
def test_a_run_that_has_ended_and_one_from_a_file(view, page, eventually, tmp_path, quantity):
    result = run_through(Run(configure("bubbles-3d", n=9, rhs="ones-scaled", sides="z-:dirichlet")))
    file = save(result.record(with_solution=True), tmp_path / "run.npz")
    view.quantity = quantity.value
    view.follow(result)
    eventually(lambda: shown(page, quantity.value))
    seen = volume(page)
    view.follow(load(file or tmp_path / "run.npz"))
    before = len(page.messages)
    eventually(lambda: len(page.messages) > before and shown(page, quantity.value))
    np.testing.assert_array_equal(volume(page), seen)
    if quantity is Quantity.SOLUTION:
        x = result.x.reshape(9, 9, 9)
        np.testing.assert_array_equal(seen, Colormap.of(x, logarithmic=False).to_bytes(x))


def test_a_problem_without_a_third_dimension_gets_a_sentence(view, page, eventually):
    view.show(scene("layers", configure("two-layer", n=8).problem.assemble()))
    eventually(lambda: "three dimensions" in received(page)[0].get("note", ""))
    view.quantity = "residual"
    view.follow(Run(configure("two-layer", n=8)))
    eventually(lambda: received(page)[0]["quantity"] == "residual")
    eventually(lambda: "three dimensions" in received(page)[0]["note"])
    assert received(page)[0]["size"] == [0, 0, 0]


def test_an_unknown_error_gets_the_reason(view, page, eventually):
    view.quantity = "error"
    view.follow(Run(configure("bubbles-3d", n=8, rhs="random", sides="z-:dirichlet")))
    eventually(lambda: "exact solution is unknown" in received(page)[0].get("note", ""))


def test_more_subdomains_than_labels_are_told_in_words():
    drawn = scene("cells", configure("poisson7", n=41).problem.assemble())
    still = Still.of(drawn.with_labels(np.arange(41**3)))
    assert still.labels is None
    assert "68\u202f921 subdomains are not drawn" in still.coefficient_message()[0]["note"]
    # One coefficient everywhere has no surfaces.
    assert not still.message()[0]["phases"]


@pytest.mark.parametrize(("trait", "value"), [("level", 1.5), ("apart", -0.1), ("position", [0.5]), ("quantity", "x")])
def test_a_wrong_value_is_refused(view, trait, value):
    with pytest.raises(traitlets.TraitError):
        setattr(view, trait, value)


def test_a_run_that_fails_in_its_setup_is_told_in_place_of_the_cube(view, page, eventually):
    view.quantity = "residual"
    session = Session(configure("bubbles-3d", n=9, deflation="file"))
    view.follow(session)
    eventually(lambda: page.messages and page.messages[-1].get("note") == "the run has not begun.")
    session.start()
    session.join(LIMIT)
    eventually(lambda: "deflation file needs the path" in page.messages[-1].get("note", ""))


@pytest.mark.parametrize("from_file", [False, True])
def test_the_film_of_a_run_is_shown_in_the_cube(view, page_of, eventually, tmp_path, from_file):
    page = page_of(view)
    view.quantity = "residual"
    run = Run(configure("poisson7", n=12), camera=Camera(Film(), share=math.inf))
    result = run_through(run)
    record = result.record(with_solution=True)
    view.follow(load(save(record, tmp_path / "a.run.npz")) if from_file else result)
    eventually(lambda: shown(page, "residual", iteration=result.iterations))
    assert received(page)[0]["film"]["iterations"] == list(range(result.iterations + 1))
    for place in (3, 0):
        view.frame = place
        eventually(lambda at=place: shown(page, "residual", iteration=at))
        values = run.film.frames[place].vectors["residual"].astype(float)
        colours = Colormap.of(values, logarithmic=True)
        assert np.abs(volume(page).astype(int) - colours.to_bytes(values)).max() <= 1
    # The end again, in full.
    view.frame = -1
    eventually(lambda: shown(page, "residual", iteration=result.iterations))
    view.frame = 3
    view.follow(run_through(Run(configure("poisson7", n=8))))
    assert view.frame == -1
    eventually(lambda: received(page)[0]["cells"] == (8, 8, 8) and received(page)[0]["film"]["iterations"] == [])


def test_an_error_that_is_not_known_is_compared_with_the_final_x(view, page_of, eventually):
    page = page_of(view)
    view.quantity = "error"
    run = Run(configure("poisson7", n=12), camera=Camera(Film(), share=math.inf))
    result = run_through(run)
    view.follow(result)
    eventually(lambda: shown(page, "error", iteration=0))
    assert received(page)[0]["bar"] == "final x − x"
    first = run.film.frames[0].vectors["solution"].astype(float)
    error = run.film.frames[-1].vectors["solution"].astype(float) - first
    colours = Colormap.of(error, logarithmic=True)
    assert np.abs(volume(page).astype(int) - colours.to_bytes(error)).max() <= 1
