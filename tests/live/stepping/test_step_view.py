"""The step view: where it stands, what it sends, and what a button or a key does."""

import time

import numpy as np
import pytest

from tests.live.conftest import page_says
from workbench.errors import InputError
from workbench.live import StepView
from workbench.run import configure
from workbench.words.numbers import number


@pytest.fixture
def view(opened):
    return opened(StepView("cg", "poisson5", 8, n=9, rhs="random"))


def said(view, **content):
    page_says(view, content)


def test_lines_and_iterations_forth_and_back(view):
    assert view.place == (0, 0)
    view.next_line()
    assert view.place == (0, 1)
    view.next_iteration()
    assert view.place == (0, 7)
    view.next_line()
    assert view.place == (1, 1)
    view.back()
    assert view.place == (0, 7)
    view.next_iteration()
    assert view.place == (1, 12)
    view.next_line()
    view.next_iteration()
    assert view.place == (2, 12)
    view.previous_iteration()
    assert view.place == (1, 12)
    view.go(3, 5)
    assert view.place == (3, 5)
    view.restart()
    view.back()
    assert view.place == (0, 0)
    view.go(view.walk.iterations)
    view.next_line()
    view.next_iteration()
    assert view.place == (view.walk.iterations, 12)


def test_the_page_gets_the_line_its_value_and_the_vectors(view, page, eventually):
    view.go(2, 5)
    eventually(lambda: page.messages and page.messages[-1]["place"] == 7 + 12 + 5)
    message, pixels = page.received[-1]
    norm = np.linalg.norm(view.values["r"])
    assert message["sentence"].startswith("Iteration 2, line 5 of 12: r = r − α\u202fs gives ‖r‖ = ")
    assert message["values"]["iterate"][4] == f"‖r‖ = {number(norm, 4)}"
    # What is still to run shows its value of the iteration before.
    assert message["values"]["iterate"][10] == f"‖x‖ = {number(np.linalg.norm(view.walk.after(1, 11)['x']), 4)}"
    assert [(shown["name"], shown["fresh"]) for shown in message["pictures"]] == [
        ("x", False),
        ("r", True),
        ("p", False),
    ]
    drawn = np.frombuffer(pixels, np.uint8).reshape(3, 9, 9)[1][::-1].astype(float)
    r = view.values["r"].reshape(9, 9)
    np.testing.assert_array_equal(drawn, 128 + np.rint(127 * r / np.abs(r).max()))


def test_a_page_that_comes_anew_gets_everything(view, page, eventually):
    view.next_line()
    eventually(lambda: page.messages and page.messages[-1]["place"] == 1)
    before = len(page.messages)
    page.reload()
    eventually(lambda: len(page.messages) > before)
    assert page.messages[-1]["place"] == 1


def test_what_the_page_asks_for_is_done_and_nothing_else(view):
    said(view, act="next_line")
    assert view.place == (0, 1)
    said(view, iteration=4)
    assert view.place == (4, 12)
    said(view, iteration=10**9)
    assert view.iteration == view.walk.iterations
    for nonsense in ({"act": "close"}, {"act": "__init__"}, {"act": None}, {"iteration": "3"}, {}):
        said(view, **nonsense)
    assert view.iteration == view.walk.iterations


def test_it_plays_until_it_is_paused(view, page_of, eventually):
    page = page_of(view)
    view.play()
    eventually(lambda: view.place >= (0, 2))
    view.pause()
    # A line that was just being run has then been shown.
    eventually(lambda: not page.messages[-1]["playing"])
    here = view.place
    time.sleep(0.7)
    assert view.place == here
    view.go(view.walk.iterations)
    view.play()
    assert not view.playing


def test_it_ends_where_the_tolerance_is_met(opened):
    made = opened(StepView("cg", "poisson5", 60, n=4, rhs="random"))
    assert made.walk.iterations < 60
    assert "below the tolerance of 10⁻⁶, verified by b − Ax" in made.ending


def test_a_configuration_can_be_given_and_cubes_are_not_drawn(page_of, eventually, opened):
    made = opened(StepView(configure("poisson7", n=4, solver="pipecg", rhs="random"), iterations=3))
    page = page_of(made)
    made.go(2)
    eventually(lambda: page.messages and page.messages[-1]["iteration"] == 2)
    assert page.messages[-1]["pictures"] == []
    assert not made.program["drawn"]
    assert made.program["title"].startswith("Pipelined CG")


def test_what_cannot_be_stepped_is_refused():
    with pytest.raises(InputError, match="solver hybrid has no lines to step through: it selects a schedule"):
        StepView("hybrid", "poisson5", n=4)
    with pytest.raises(InputError, match="up to 10000 unknowns, not 16384"):
        StepView("cg", "poisson5", n=128)
    with pytest.raises(InputError, match="iterations must be between 1 and 1000, got 0"):
        StepView("cg", "poisson5", 0, n=4)
    with pytest.raises(InputError, match="iteration must be between 0 and"):
        StepView("cg", "poisson5", 5, n=4).go(99)


@pytest.fixture
def on_levels(opened):
    coarse = {"deflation": "levelset:8", "coarse": "multilevel:bottom=100", "preconditioner": "neumann:1"}
    return opened(StepView("cg", "bubbles-3d", 6, n=16, rhs="random", sides="z-:dirichlet", **coarse))


def test_what_each_level_removes_is_computed_only_when_it_is_shown(on_levels, page_of, eventually, monkeypatch):
    computed = []
    removal = on_levels.walk.removal
    monkeypatch.setattr(on_levels.walk, "removal", lambda x: computed.append(x) or removal(x))
    page = page_of(on_levels)
    on_levels.go(2)
    eventually(lambda: page.messages and page.messages[-1]["iteration"] == 2)
    assert page.messages[-1]["removal"] is None
    assert not computed
    said(on_levels, act="toggle_levels")
    eventually(lambda: page.messages[-1]["removal"])
    reported = page.messages[-1]["removal"]
    found = removal(on_levels.values["x"])
    assert reported["stages"] == [[stage.by, stage.left] for stage in found.stages]
    assert reported["exact"] == found.exact
    removers = [remover["by"] for remover in on_levels.program["removers"]]
    assert set(reported["removed"]) < set(removers)
    assert removers[:3] == ["before", "M", "level 0"]
    # x changes once in an iteration.
    on_levels.go(3, 1)
    eventually(lambda: page.messages[-1]["lines"] == 1)
    assert len(computed) == 1
    on_levels.go(3)
    eventually(lambda: page.messages[-1]["lines"] > 1)
    assert len(computed) == 2
    assert page.messages[-1]["removal"] != reported
    said(on_levels, act="toggle_levels")
    eventually(lambda: page.messages[-1]["removal"] is None)


def test_there_is_nothing_to_remove_without_levels(view, page_of, eventually):
    assert view.program["removers"] == []
    page = page_of(view)
    said(view, act="toggle_levels")
    eventually(lambda: page.messages)
    assert page.messages[-1]["removal"] is None


def test_an_iteration_may_have_other_lines():
    """Where a residual is replaced, further lines run, and the page gets the listing of that iteration."""
    view = StepView("pipecg-rr", "two-layer:16", iterations=90)
    try:
        lengths = [len(view.walk.lines(each)) for each in range(view.walk.iterations + 1)]
        replaced = lengths.index(max(lengths[1:]), 1)
        assert lengths[replaced] > lengths[1]
        view.go(replaced - 1)
        before = view._message()[0]
        view.next_iteration()
        assert view.place == (replaced, lengths[replaced])
        after = view._message()[0]
        assert before["listing"] != after["listing"]
        listing = view.program["listings"][after["listing"]]
        assert listing["texts"][-1] == "replacements = replacements + 1"
        assert len(after["values"]["iterate"]) == len(listing["texts"])
        view.next_line()
        view.back()
        assert view.place == (replaced, lengths[replaced])
    finally:
        view.close()


def read(view, iteration):
    """The values of an iteration by line, of the last where a line comes twice."""
    view.go(iteration)
    message, _ = view._message()
    part, listing = ("iterate", message["listing"]) if iteration else ("start", 0)
    texts = view.program["listings"][listing]["texts"]
    return dict(zip(texts, message["values"][part], strict=True)), message


def test_a_block_method_shows_columns_and_small_matrices(opened):
    view = opened(StepView("block-cg", "poisson5", 40, n=9, rhs="random:3"))
    found, message = read(view, 2)
    values = view.values
    norms = np.linalg.norm(values["X"], axis=0)
    assert found["X = X + P@step"] == f"‖Xⱼ‖ = {number(norms.min(), 3)} … {number(norms.max(), 3)}"
    assert found["rank = columns ≠ 0"] == "rank = 3"
    assert view.program["completed"] == view.walk.iterations
    # What was computed in Python is what the lines before imply.
    np.testing.assert_allclose(values["inverse"] @ values["delta"], np.eye(3), atol=1e-12)
    A = view.walk.setup.operator.to_csr()
    B = values["B"]
    np.testing.assert_allclose(values["Q"] @ values["C"], B - A @ values["X"], atol=1e-12)
    labels = [shown["label"] for shown in message["pictures"]]
    assert labels[:3] == ["X₁", "X₂", "X₃"]
    assert ("C", 3, 3) in [(shown["name"], shown["width"], shown["height"]) for shown in message["pictures"]]
    assert np.shape(message["curve"]["recurrence"]) == (3, view.walk.iterations + 1)
    assert view.ending.startswith("every residual is below the tolerance")


def test_products_of_columns_are_typeset_with_their_index(opened):
    view = opened(StepView("block-cg-oleary", "poisson5", 3, n=9, rhs="random:2"))
    found, _ = read(view, 0)
    squares = np.linalg.norm(view.values["R"], axis=0) ** 2
    spread = f"{number(squares.min(), 3)} … {number(squares.max(), 3)}"
    assert found["rr = dots(R, R)"] == f"‖rⱼ‖² = {spread}"
    place = list(found).index("rr = dots(R, R)") + 1
    view.go(0, place)
    assert view._message()[0]["sentence"].endswith(f"‖r‖² = (Rⱼ, Rⱼ) gives ‖rⱼ‖² = {spread}.")
    assert "The index j counts columns" in view.program["meaning"]


def test_terms_and_directions_of_a_multipreconditioned_method(opened):
    view = opened(StepView("mpcg", "poisson5", 6, n=9, rhs="random", preconditioner="schwarz:2x2"))
    A = view.walk.setup.operator.to_csr()
    directions = []
    for iteration in range(1, view.walk.iterations + 1):
        _, message = read(view, iteration)
        values = view.values
        directions.append(values["P"])
        every = np.hstack(directions)
        assert values["Z^T A Z"].shape == (4 * iteration, 4 * iteration)
        newest = values["Z"].T @ (A @ values["Z"])
        np.testing.assert_allclose(values["Z^T A Z"][-4:, -4:], newest, atol=1e-12 * np.abs(newest).max())
        np.testing.assert_allclose(values["P^T A P"], every.T @ (A @ every), atol=1e-10)
        assert int(values["dropped"]) == 4 - values["P"].shape[1]
        assert any(shown["label"] == "Pᵀ A\u202fP" for shown in message["pictures"])
    assert view.values["P^T A P"].shape[0] == sum(block.shape[1] for block in directions)


@pytest.mark.parametrize("name", ["hybrid1", "hybrid2", "hybrid3"])
def test_a_schedule_names_the_side_of_each_line_and_what_it_copies(opened, name):
    view = opened(StepView(name, "poisson5", 4, n=9, rhs="random"))
    found, _ = read(view, 3)
    listing = view.program["listings"][view._message()[0]["listing"]]
    moved = [
        (text, found[text])
        for text, side in zip(listing["texts"], listing["sides"], strict=True)
        if side == "link" and "alpha" not in text and "sums" not in text
    ]
    # 3 N, N and N words, as the paper says.
    assert (
        moved
        == {
            "hybrid1": [("w, r, u to the cores", "243 words")],
            "hybrid2": [("n to the cores", "81 words")],
            "hybrid3": [("m to the cores", "41 words"), ("m to the accelerator", "40 words")],
        }[name]
    )
    assert dict(zip(listing["texts"], listing["sides"], strict=True))["delta = omega - beta*gamma/alpha"] == "cores"
    plain = opened(StepView("pipecg", "poisson5", 4, n=9, rhs="random"))
    plain.go(3)
    if name == "hybrid3":
        # One row of cells, and the rest of the row that is split, in place of half a vector.
        fewer = opened(StepView("hybrid3:halves=no", "poisson5", 4, n=9, rhs="random"))
        assert read(fewer, 3)[0]["m to the cores"] == "9 words"
        np.testing.assert_allclose(fewer.values["x"], plain.values["x"], rtol=1e-10)
    np.testing.assert_allclose(view.values["x"], plain.values["x"], rtol=1e-10)
    assert "Both sides run on the cores here" in view.program["meaning"]


@pytest.fixture
def dependent(tmp_path):
    """Three right-hand sides, the last of which is the sum of the others."""
    b, c = np.random.default_rng(1).standard_normal((2, 81))
    np.save(tmp_path / "B.npy", np.stack([b, c, b + c], axis=1))
    return str(tmp_path / "B.npy")


def test_a_breakdown_is_said(opened, dependent):
    view = opened(StepView("block-cg-oleary", "poisson5", 5, n=9, rhs=dependent))
    found, message = read(view, 1)
    said = message["sentence"]
    assert said.startswith("Iteration 1, line 4 of 4: α = δ⁻¹ γ cannot run.")
    assert said.endswith("dependent on one another; take block-cg, which continues there.")
    assert "This is the end: the method has broken down: the residuals" in said
    assert [*found.items()][-1] == ("alpha = delta^-1 gamma", "cannot run")
    # The iteration has not ended, so the curve has the start alone.
    assert message["curve"]["shown"] == view.program["completed"] == 0
    assert [len(column) for column in message["curve"]["recurrence"]] == [1, 1, 1]
    assert message["last"]


def test_a_rank_that_falls_is_a_line_and_brings_its_own(opened, dependent):
    view = opened(StepView("block-cg", "poisson5", 5, n=9, rhs=dependent))
    found, _ = read(view, 0)
    assert found["rank = columns ≠ 0"] == "rank = 2"
    assert np.count_nonzero(np.linalg.norm(view.values["Q"], axis=0)) == 2
    # What is left of the third column after a projection on the complement of the others.
    assert "H = (W, V)" in found
    np.testing.assert_allclose(view.values["Q"] @ view.values["C"], view.values["B"], atol=1e-12)


def test_complex_scalars_have_both_parts():
    view = StepView("cocg", "stand-in:helm_fem,scale=0.05", iterations=2)
    try:
        view.go(1)
        message, _ = view._message()
        targets = view.program["listings"][message["listing"]]["targets"]
        values = dict(zip(targets, message["values"]["iterate"], strict=True))
        assert values["alpha"].endswith("i")
        assert not values["rr"].endswith("i")
    finally:
        view.close()
