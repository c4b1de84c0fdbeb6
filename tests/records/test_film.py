"""Films: evenly spaced frames in bounded memory, kept in run files."""

from __future__ import annotations

import math

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.records import load, save
from workbench.records.film import FEWEST, Film, Frame
from workbench.run import Run, configure, run_through
from workbench.run.results.filming import Camera, film_cut
from workbench.run.results.snapshots import Quantity


def frame(iteration, cells=25):
    return Frame(iteration, {"solution": np.full(cells, iteration, np.float32)})


def filmed(memory=1 << 20, n=24, **choices):
    run = Run(configure("two-layer", n=n, **choices), camera=Camera(Film(memory), share=math.inf))
    return run_through(run), run


def test_frames_are_thinned_out_evenly_within_the_memory():
    film = Film(memory=1000)
    for iteration in range(101):
        if film.wants(iteration):
            film.add(frame(iteration))
        assert film.bytes <= film.memory
    assert film.iterations == [0, 16, 32, 48, 64, 80, 96]
    film.add(frame(100), last=True)
    assert film.over
    assert film.iterations[-1] == 100


def test_a_file_holds_fewer_frames_of_a_large_film(monkeypatch):
    """Pages receive files in one message of bounded size."""
    film = Film()
    for iteration in range(10):
        film.add(frame(iteration), last=iteration == 9)
    assert Film.from_arrays(film.to_arrays()).iterations == list(range(10))
    for most, iterations in ((400, [0, 4, 8, 9]), (200, [0, 9]), (99, [9])):
        monkeypatch.setattr("workbench.records.film.IN_FILE", most)
        assert Film.from_arrays(film.to_arrays()).iterations == iterations


def test_a_frame_that_is_too_large_makes_no_film():
    film = Film(memory=1000)
    assert film.fits(1000 // FEWEST)
    assert not film.fits(1000 // FEWEST + 1)
    result, run = filmed(memory=1000)
    assert run.film.frames == ()
    assert result.record(with_solution=True).film.to_arrays() == {}


def test_a_run_is_filmed_and_its_iterations_are_as_without():
    result, run = filmed(rhs="ones-scaled")
    plain = run_through(Run(configure("two-layer", n=24, rhs="ones-scaled")))
    assert plain.film is None
    np.testing.assert_array_equal(result.history["residual"], plain.history["residual"])
    np.testing.assert_array_equal(result.x, plain.x)
    film = result.film
    assert film is run.film
    assert film.iterations == list(range(result.iterations + 1))
    last = film.frames[-1].vectors
    np.testing.assert_allclose(last["solution"].ravel(), result.x, rtol=1e-6)
    assert np.linalg.norm(last["residual"]) == pytest.approx(result.history["residual"][-1], rel=1e-4)
    np.testing.assert_allclose(last["error"].ravel(), 1 / 24 - result.x, atol=1e-9)


def test_a_film_is_kept_with_a_saved_run(tmp_path):
    result, _ = filmed()
    loaded = load(save(result.record(with_solution=True), tmp_path / "a.run.npz"))
    assert loaded.film.over
    assert loaded.film.iterations == result.film.iterations
    for one, other in zip(loaded.film.frames, result.film.frames, strict=True):
        np.testing.assert_array_equal(one.vectors["residual"], other.vectors["residual"])
    assert load(save(result.record(), tmp_path / "b.run.npz")).film is None


def test_a_damaged_film_is_refused():
    arrays = filmed()[0].film.to_arrays()
    for broken in (
        {**arrays, "film_iterations": arrays["film_iterations"][:-1]},
        {**arrays, "film_iterations": arrays["film_iterations"][::-1]},
        {**arrays, "film_residual": arrays["film_residual"].astype(np.float64)},
        {"film_iterations": arrays["film_iterations"]},
    ):
        with pytest.raises(InputError, match="film"):
            Film.from_arrays(broken)


def test_a_cube_is_filmed_in_blocks():
    run = Run(configure("poisson7", n=66), camera=Camera(Film()))
    run.step()
    assert run.film.frames[0].vectors["solution"].shape == (33, 33, 33)


@pytest.mark.parametrize("solver", ["block-cg", "pseudo-block-cg"])
def test_every_column_of_several_right_hand_sides_is_filmed(solver, tmp_path):
    run = Run(configure("poisson5", n=9, rhs="random:3", solver=solver), camera=Camera(Film(), share=math.inf))
    result = run_through(run)
    film = load(save(result.record(with_solution=True), tmp_path / "a.run.npz")).film
    assert film.iterations == list(range(result.iterations + 1))
    last = film.frames[-1].vectors
    assert last["solution"].shape == (3, 9, 9)
    np.testing.assert_allclose(last["solution"].reshape(3, -1).T, result.x, rtol=1e-6)
    # A frame of many columns is no larger than one of a single column.
    assert film_cut(512**2, (512, 512), Quantity.SOLUTION, 4).shape == (4, 256, 256)
    assert math.prod(film_cut(100**3, (100,) * 3, Quantity.RESIDUAL, 8).shape) <= 64**3
