"""The 3D view in real JupyterLab, drawn by the cores: what its pixels show, its handles, a live run, and no WebGL."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from tests.browser import lab
from tests.browser.bench import unchanging, until
from tests.browser.conftest import KeptPage, keep

pytestmark = pytest.mark.browser

VIEW = ".wb-volume"
CUBE = ".wb-cube canvas[tabindex]"
HANDLES = ".wb-cut"
ACROSS, MARGIN = 1.6, 40
"""As in static/field/volumeroom.js: side lengths that the smaller side of the canvas shows, less a margin in pixels."""
BALL = """\
from workbench.live import VolumeView
from workbench.run import Session, Stopping, configure
chosen = dict(layout="list", bubbles="0.3,0.5,0.6,0.2", deflation="blocks:2", sides="z-:dirichlet")
endless = Stopping(rtol=1e-300, stagnation=10**9, maxiter=10**9)
session = Session(configure("bubbles-3d", n=48, stopping=endless, **chosen))
session.start()
view = VolumeView(slices=False, subdomains=False, height=420)
view.follow(session)
view"""
SHORT = """
session.stop()
session = Session(configure("bubbles-3d", n=48, stopping=Stopping(rtol=1e-300, maxiter=200), **chosen))
session.start()
view.follow(session)
"""
COUNT_DRAWS = """
window.draws = 0;
for (const name of ["drawArrays", "drawArraysInstanced"]) {
  const draw = WebGL2RenderingContext.prototype[name];
  WebGL2RenderingContext.prototype[name] = function (...said) { window.draws += 1; return draw.apply(this, said); };
}
"""
NO_WEBGL = """
const context = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function (kind, ...said) {
  return kind === "webgl2" ? null : context.call(this, kind, ...said);
};
"""
EXECUTE = "code => { window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestExecute({code}); }"


@pytest.fixture(scope="module")
def drawing(chromium):
    """A page of a browser with WebGL2, which counts what is drawn."""
    browser = chromium.browser_type.launch(executable_path=lab.browser_path(), args=lab.WEBGL_ARGS)
    with KeptPage(browser, COUNT_DRAWS) as kept:
        yield kept
    browser.close()


@pytest.fixture
def cube_page(drawing, request):
    with drawing.lent(request.node) as page:
        yield page


class Cube:
    """The view in a page."""

    def __init__(self, page):
        self.page = page
        page.wait_for_selector(CUBE)
        page.eval_on_selector(VIEW, "view => view.scrollIntoView()")

    def until(self, condition):
        self.page.wait_for_function(f"at => (({{dataset}}) => {condition})(document.querySelector(at))", arg=CUBE)

    @property
    def said(self):
        return self.page.eval_on_selector(CUBE, "canvas => ({...canvas.dataset})")

    def set(self, arrived, **traits):
        """Set traits of the view in the kernel, in this order, and wait until the last has arrived and all is drawn."""
        self.page.evaluate(EXECUTE, "; ".join(f"view.{name} = {value!r}" for name, value in traits.items()))
        until(self.page, arrived)
        self.rest()

    def rest(self):
        """Wait until the picture is as fine as it gets and no other is drawn."""
        until(self.page, lambda: float(unchanging(self.page, self.drawn)[-1]) >= 1)

    def drawn(self):
        """How often was drawn, how often that came to the page, and how fine it is."""
        return self.page.evaluate("() => window.draws"), self.said["paints"], self.said["quality"]

    def pixels(self):
        """Red, green and blue of the cube's own canvas, over the colour of the page."""
        clip = self.page.eval_on_selector(".wb-cube canvas:nth-of-type(2)", CLIP)
        return np.asarray(Image.open(io.BytesIO(self.page.screenshot(clip=clip))).convert("RGB")).astype(int)

    def seen(self, place):
        """The pixel (row, column) of a place of the cube, and pixels per side length."""
        rows, columns = self.pixels().shape[:2]
        azimuth, elevation = (np.radians(float(self.said[name])) for name in ("azimuth", "elevation"))
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0])
        up = np.array([-np.sin(elevation) * np.cos(azimuth), -np.sin(elevation) * np.sin(azimuth), np.cos(elevation)])
        scale = (min(rows, columns) - MARGIN) / ACROSS
        away = np.array(place) - 0.5
        return (rows / 2 - away @ up * scale, columns / 2 + away @ right * scale), scale

    def positions(self):
        return [float(handle.get_attribute("aria-valuenow")) for handle in self.page.locator(HANDLES).all()]


CLIP = "canvas => { const {x, y, width, height} = canvas.getBoundingClientRect(); return {x, y, width, height}; }"


def opened(page, url, folder, name):
    page.set_viewport_size({"width": 1280, "height": 900})
    lab.open_cells(page, url, folder, name, BALL)
    lab.run_all(page)
    return Cube(page)


def yellow(pixels):
    """Pixels of the greater coefficient, lit or in shade: blue is far below red and green."""
    return (pixels[..., 0] - pixels[..., 2] > 40) & (pixels[..., 1] - pixels[..., 2] > 30)


def test_a_bubble_is_where_it_is_and_slices_and_subdomains_follow_their_handles(cube_page, lab_url, lab_folder):
    cube = opened(cube_page, lab_url, lab_folder, "volume.ipynb")
    cube.until("dataset.quantity === 'coefficient' && dataset.cells === '48 48 48' && Number(dataset.pieces) === 8")
    assert cube.said["mode"] == "cube"
    cube.rest()
    keep(cube_page, "volume_bubble")
    ball = yellow(cube.pixels())
    (row, column), scale = cube.seen((0.3, 0.5, 0.6))
    found = np.argwhere(ball)
    np.testing.assert_allclose(found.mean(axis=0), [row, column], atol=0.02 * scale)
    # A sphere of radius 0.2 is a disc of this many pixels from everywhere.
    assert len(found) == pytest.approx(np.pi * (0.2 * scale) ** 2, rel=0.06)

    # It turns with the cube.
    cube.page.focus(CUBE)
    cube.page.keyboard.press("ArrowLeft")
    cube.until("dataset.azimuth === '-45.0'")
    cube.rest()
    (row, column), _ = cube.seen((0.3, 0.5, 0.6))
    np.testing.assert_allclose(np.argwhere(yellow(cube.pixels())).mean(axis=0), [row, column], atol=0.02 * scale)
    # Nothing is drawn while nothing changes.
    draws = cube.page.evaluate("() => window.draws")
    cube.page.wait_for_timeout(500)
    assert cube.page.evaluate("() => window.draws") == draws

    cube.page.get_by_label("slices").check()
    cube.page.get_by_label("isosurface", exact=True).uncheck()
    cube.rest()
    assert cube.positions() == [0.25, 0.75, 0.25]
    before = cube.pixels()
    box = cube.page.locator(HANDLES).nth(2).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    cube.page.mouse.move(x, y)
    cube.page.mouse.down()
    # z is upright: its handle rises by the projection of a side length, cos(24°), per side length.
    cube.page.mouse.move(x + 30, y - 0.35 * scale * np.cos(np.radians(24)), steps=4)
    cube.page.mouse.up()
    until(cube.page, lambda: cube.positions()[2] == pytest.approx(0.6, abs=0.02))
    cube.rest()
    assert (cube.pixels() != before).any(axis=-1).mean() > 0.02
    keep(cube_page, "volume_slices")
    # The slice at the height of its middle cuts the bubble in a disc of its radius, seen at 24 degrees.
    cube.set(lambda: cube.positions() == [0.0, 1.0, 0.6], position=[0.0, 1.0, 0.6])
    disc = yellow(cube.pixels()).sum()
    assert disc == pytest.approx(np.pi * (0.2 * scale) ** 2 * np.sin(np.radians(24)), rel=0.1)
    handle = cube.page.locator(HANDLES).first
    handle.focus()
    cube.page.keyboard.press("ArrowRight")
    until(cube.page, lambda: cube.positions()[0] == pytest.approx(0.01))
    until(cube.page, lambda: handle.get_attribute("aria-valuetext") == "x = 0.010")
    until(cube.page, lambda: "x = 0.010" in cube.page.get_attribute(CUBE, "aria-label"))

    cube.set(cube.page.get_by_label("subdomains", exact=True).is_checked, apart=0.001, subdomains=True)
    together = (cube.pixels().sum(axis=-1) < 600).sum()
    cube.set(lambda: cube.page.get_by_label("subdomains drawn apart", exact=True).input_value() == "1", apart=1.0)
    apart = (cube.pixels().sum(axis=-1) < 600).sum()
    keep(cube_page, "volume_apart")
    # Boxes at twice the distance in the same room are half as wide, and eight of them cover less of the page.
    assert 0.2 * together < apart < 0.85 * together


@pytest.mark.slow
def test_a_run_is_followed_live(cube_page, lab_url, lab_folder):
    cube = opened(cube_page, lab_url, lab_folder, "volume_live.ipynb")
    cube.until("Number(dataset.pieces) === 8")
    cube.page.get_by_label("field", exact=True).select_option("residual")
    cube.until("dataset.quantity === 'residual' && Number(dataset.iteration) > 5")
    seen = cube.said
    cube.until(f"Number(dataset.iteration) > {seen['iteration']} && Number(dataset.paints) > {seen['paints']} + 3")
    assert "residual after iteration" in cube.page.get_attribute(CUBE, "aria-label")
    cube.page.get_by_label("level of the isosurface").fill("0.8")
    # A run that ends before the rounding errors, where the endless one may be by now.
    cube.page.evaluate(EXECUTE, SHORT)
    cube.until("dataset.quantity === 'residual' && Number(dataset.iteration) === 200")
    cube.rest()
    keep(cube_page, "volume_live")
    pixels = cube.pixels()
    # Both signs of the residual are seen.
    assert (pixels[..., 0] - pixels[..., 2] > 60).sum() > 50
    assert (pixels[..., 2] - pixels[..., 0] > 60).sum() > 50


@pytest.mark.parametrize("page_script", [NO_WEBGL])
def test_without_webgl_the_slices_are_pictures(page, lab_url, lab_folder):
    cube = opened(page, lab_url, lab_folder, "volume_flat.ipynb")
    cube.until("dataset.mode === 'flat' && dataset.cells === '48 48 48'")
    assert "no WebGL2" in page.inner_text(VIEW)
    cube.page.get_by_label("slices").check()
    page.evaluate(EXECUTE, "view.position = [0.3, 0.5, 0.6]")
    page.wait_for_function("at => document.querySelector(at).textContent === 'x = 0.300'", arg=HANDLES)
    clip = unchanging(page, lambda: page.eval_on_selector(CUBE, CLIP))
    keep(page, "volume_flat")
    pixels = np.asarray(Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")).astype(int)
    found = yellow(pixels)
    # Each slice cuts the bubble in the middle, a disc of the same size.
    columns = np.flatnonzero(found[:, : int(0.8 * found.shape[1])].any(axis=0))
    assert len(np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1)) == 3
