"""Curves that grow in a film: fixed axes, few frames, few bytes."""

import io
import itertools

import numpy as np
import pytest
from PIL import Image, ImageChops

from workbench.errors import InputError
from workbench.plots.figures import film
from workbench.plots.figures.film import MOST_BYTES, gif, growing
from workbench.plots.figures.style import new_figure
from workbench.plots.scenes.scene import Axis, CurveOf, LineAt, Scene

X, Y = Axis("seconds", "s"), Axis("residual", log=True)


def scene_of(*curves):
    layers = [CurveOf(f"method {place}", *curve, place) for place, curve in enumerate(curves)]
    return Scene("race", X, Y, [*layers, LineAt(1e-6, "tolerance {}", fitted=True)])


def test_curves_grow_to_the_right_and_the_rest_stands_still():
    x = np.linspace(0, 2, 200)
    film = Image.open(io.BytesIO(growing(scene_of((x, 10.0 ** (-3 * x)), (x / 2, 10.0 ** (-2 * x))), frames=10)))
    frames = []
    for place in range(film.n_frames):
        film.seek(place)
        frames.append(film.convert("RGB"))
    assert len(frames) <= 16
    changed = [ImageChops.difference(one, other).getbbox() for one, other in itertools.pairwise(frames)]
    rights = [box[2] for box in changed if box]
    assert rights == sorted(rights)
    assert len(rights) >= 8
    # Names and ticks are the same in the first and in the last.
    width, height = frames[0].size
    legend = (0, int(0.9 * height), width, height)
    assert ImageChops.difference(frames[0].crop(legend), frames[-1].crop(legend)).getbbox() is None


def test_a_film_that_is_too_large_has_half_the_frames():
    random = np.random.default_rng(1)
    x = np.linspace(0, 2, 3000)
    scene = scene_of(*((x, 10.0 ** (-3 * x + random.normal(size=x.size))) for _ in range(3)))
    whole = growing(scene, frames=16)
    assert len(whole) <= MOST_BYTES
    assert len(growing(scene, frames=16, most=len(whole) - 1)) < len(whole)


def test_a_film_needs_a_curve():
    with pytest.raises(InputError, match="no curve yet"):
        growing(scene_of())


def test_a_film_that_is_too_large_loses_every_second_frame_and_lasts_as_long(monkeypatch):
    figures = []
    for k in range(32):
        figure = new_figure(1.0, 1.0)
        figure.add_subplot().plot([0, k])
        figures.append(figure)
    whole = Image.open(io.BytesIO(gif(figures)))
    monkeypatch.setattr(film, "LARGEST", len(gif(figures)) - 1)
    less = Image.open(io.BytesIO(gif(figures)))
    assert (whole.n_frames, less.n_frames) == (32, 16)
    assert less.info["duration"] == 2 * whole.info["duration"]
