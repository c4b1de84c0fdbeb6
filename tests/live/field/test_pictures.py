"""Scenes and pictures: bytes, bounds, sections and boundaries."""

import numpy as np
import pytest
from scipy import sparse

from workbench.live.field.pictures import MOST_PIXELS, picture, scene
from workbench.operators import as_operator
from workbench.problems import LinearSystem
from workbench.run import configure


def split(message, buffer):
    pixels = message["width"] * message["height"]
    shape = (message["height"], message["width"])
    return np.frombuffer(buffer[:pixels], np.uint8).reshape(shape), np.frombuffer(buffer[pixels:], np.float32)


def system_of(name, **values):
    return configure(name, **values).problem.assemble()


def test_a_plane_field_has_its_first_row_at_the_bottom():
    system = system_of("two-layer", n=16)
    message, buffer = picture(scene("layers", system), "y", 0)
    pixels, segments = split(message, buffer)
    assert pixels.shape == (16, 16)
    assert (message["low"], message["high"], message["scale"]) == (pytest.approx(1e-3), 1.0, "log")
    assert np.all(pixels[:8] == 0)
    assert np.all(pixels[8:] == 255)
    assert segments.size == 0


def test_subdomains_are_drawn_and_told():
    system = system_of("two-layer", n=16)
    drawn = scene("layers", system).with_labels(
        configure("two-layer", deflation="blocks:4").deflation.labels(256, (16, 16))
    )
    message, buffer = picture(drawn, "y", 0)
    _, segments = split(message, buffer)
    assert message["segments"] == 6
    assert segments.size == 24
    assert set(segments.reshape(-1, 4)[:3, 1]) == {0.25, 0.5, 0.75}
    assert "16 deflation subdomains of 16 unknowns" in message["note"]


def test_too_many_boundaries_are_thinned_out_and_that_is_told():
    system = system_of("two-layer", n=128)
    drawn = scene("layers", system).with_labels(
        configure("two-layer", deflation="stripes").deflation.labels(128**2, (128,) * 2)
    )
    message, _ = picture(drawn, "y", 0)
    assert message["segments"] < 40
    assert "every 4th boundary drawn" in message["note"]


def test_a_large_field_is_thinned_to_what_a_page_can_show():
    n = 2 * MOST_PIXELS + 2
    operator, ones = as_operator(sparse.eye_array(n * n)), np.ones(n * n)
    system = LinearSystem(operator, ones, grid=(n, n), coefficients=ones)
    message, buffer = picture(scene("large", system), "y", 0)
    assert max(message["width"], message["height"]) <= MOST_PIXELS
    assert split(message, buffer)[0].max() == 0


def test_a_matrix_shows_where_its_entries_lie():
    matrix = sparse.diags_array([np.full(1000, 2.0), np.full(999, -1.0), np.full(999, -1.0)], offsets=[0, 1, -1])
    operator = as_operator(matrix)
    message, buffer = picture(scene("band", LinearSystem(operator, np.ones(1000))), "y", 0)
    pixels, _ = split(message, buffer)
    assert message["sparse"]
    assert message["down"]
    assert message["high"] >= 10
    assert np.all(np.diag(pixels) > 0)
    assert pixels[0, -1] == 0


def test_a_tiny_matrix_needs_no_more_pixels_than_rows():
    operator = as_operator(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    message, buffer = picture(scene("tiny", LinearSystem(operator, np.ones(2))), "y", 0)
    assert (message["width"], message["height"]) == (2, 2)
    assert np.all(split(message, buffer)[0] > 0)
