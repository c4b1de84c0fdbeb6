"""Record the page as it is used: draw a bubble, solve, race, look inside.

    recording.py OUTPUT.webm                 at most 60 s and 3 MB, and its poster, OUTPUT.png
    recording.py --pictures docs/images      the pictures of the documentation

Made in Chromium from a page of `make app`. Where the page rests, the rest is shortened; only if that is not enough, as
on a machine with other work, the film is played faster than the page was, and the printed line says how much.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser import lab  # noqa: E402 - a script finds the tests by the path above
from tests.browser.bench import BUBBLES, solved  # noqa: E402

SIZE = {"width": 1280, "height": 800}
PER_SECOND = 15
"""Frames of the film per second; the page is drawn as often as it changes."""
RESTS = (2.5, 2.0, 1.5, 1.0, 0.7, 0.5, 0.35, 0.25, 0.15)
"""Seconds for which the film shows a page that does not change: the longest that keeps it short enough."""
QUALITIES = ("30", "36", "42", "48")
"""Of VP9, the best first; the first is taken that makes the file small enough."""
MOST_SECONDS, MOST_BYTES = 60, 3_000_000
Point = tuple[float, float]
"""In side lengths of the square."""
BAND, LEFT, TOP, RIGHT, BOTTOM = 9, 34, 24, 8, 42
"""Pixels around the square in which bubbles are drawn."""
# Headless Chromium draws no pointer, and nothing says what is being done.
POINTER = """() => {
  const at = (css, inner) => {
    const box = document.createElement("div");
    box.style.cssText = `position: fixed; z-index: 99999; pointer-events: none; ${css}`;
    box.innerHTML = inner;
    document.body.append(box);
    return box;
  };
  const pointer = at("left: -30px; top: 0", `<svg width="20" height="26"><path d="M1 1 L1 20 L6 16 L9.5 24 L13 22.5
    L9.5 15 L16 15 Z" fill="#111" stroke="#fff" stroke-width="1.5"/></svg>`);
  window.caption = at(`left: 50%; bottom: 28px; transform: translateX(-50%); padding: 10px 22px; border-radius: 22px;
    background: #111d; color: #fff; font: 600 21px sans-serif; opacity: 0; transition: opacity .3s`, "");
  addEventListener("mousemove", ({ clientX, clientY }) => {
    Object.assign(pointer.style, { left: `${clientX}px`, top: `${clientY}px` });
  }, true);
}"""
SAY = "text => { caption.style.opacity = text ? 1 : 0; if (text) caption.textContent = text; }"


class Film:
    """What Chromium paints of a page: PNG files in a folder, and when each was painted, in seconds."""

    def __init__(self, page: Any, folder: Path) -> None:
        self._folder = folder
        self._painted: list[float] = []
        self._ended = False
        self._devtools = page.context.new_cdp_session(page)
        self._devtools.on("Page.screencastFrame", self._keep)
        self._devtools.send("Page.startScreencast", {"format": "png", "everyNthFrame": 2})

    def _keep(self, frame: dict[str, Any]) -> None:
        if self._ended:
            return
        self._file(len(self._painted)).write_bytes(base64.b64decode(frame["data"]))
        self._painted.append(frame["metadata"]["timestamp"])
        self._devtools.send("Page.screencastFrameAck", {"sessionId": frame["sessionId"]})

    def _file(self, number: int) -> Path:
        return self._folder / f"{number:05}.png"

    def end(self) -> None:
        """Take no further frame."""
        self._ended = True
        self._devtools.send("Page.stopScreencast")

    def save(self, path: Path) -> str:
        """Encode what was painted as VP9 in WebM; returns what it has become."""
        import imageio_ffmpeg

        # Frames that were painted close to each other may arrive in another order.
        order = sorted(range(len(self._painted)), key=self._painted.__getitem__)
        gaps = [self._painted[later] - self._painted[at] for at, later in itertools.pairwise(order)]
        choices = ([*(min(gap, rest) for gap in gaps), rest] for rest in RESTS)
        for shown in choices:
            if sum(shown) <= MOST_SECONDS:
                break
        speed = max(1.0, sum(shown) / MOST_SECONDS)
        shown = [seconds / speed for seconds in shown]
        frames = zip(order, shown, strict=True)
        entries = [f"file '{self._file(number)}'\nduration {seconds:.4f}\n" for number, seconds in frames]
        # ffmpeg takes the last duration for that between the last two files.
        entries.append(f"file '{self._file(order[-1])}'\n")
        listed = self._folder / "frames.txt"
        listed.write_text("".join(entries))
        # What is meant for shared screens takes a seventh of the time of the default, for the same size.
        effort = ["-deadline", "realtime", "-cpu-used", "6", "-tune-content", "screen"]
        source = ["-f", "concat", "-safe", "0", "-i", listed, "-vf", f"fps={PER_SECOND}"]
        program = imageio_ffmpeg.get_ffmpeg_exe()
        for quality in QUALITIES:
            coder = ["-c:v", "libvpx-vp9", "-crf", quality, "-b:v", "0", "-pix_fmt", "yuv420p", *effort]
            subprocess.run([program, "-y", "-loglevel", "error", *source, *coder, path], check=True)
            if path.stat().st_size <= MOST_BYTES:
                break
        faster = f", played {speed:.1f} times as fast" if speed > 1 else ""
        return f"{sum(shown):.0f} s{faster}, {path.stat().st_size / 1e6:.2f} MB"


class Walk:
    """A page of the workbench, and what a user does there, at the pace of a hand. pictures: a folder for stills."""

    def __init__(self, page: Any, pictures: Path | None) -> None:
        self.page = page
        self._pictures = pictures
        self._at = (640.0, 400.0)

    def say(self, text: str) -> None:
        if not self._pictures:
            self.page.evaluate(SAY, text)
            self.page.wait_for_timeout(300)

    def still(self, name: str, *, held: bool = False) -> None:
        """A picture for the documentation. held: the pointer drags something, and stays."""
        if self._pictures:
            if not held:
                self.page.mouse.move(0, 0)
            self.page.wait_for_timeout(1500)
            self.page.screenshot(path=self._pictures / f"{name}.png")

    def move(self, x: float, y: float, seconds: float = 0.6) -> None:
        (x0, y0), steps = self._at, max(2, round(30 * seconds))
        for step in range(1, steps + 1):
            part = (3 - 2 * step / steps) * (step / steps) ** 2
            self.page.mouse.move(x0 + part * (x - x0), y0 + part * (y - y0))
            self.page.wait_for_timeout(1000 * seconds / steps)
        self._at = x, y

    def press(self, element: Any) -> None:
        element.scroll_into_view_if_needed()
        box = element.bounding_box()
        self.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.wait_for_timeout(80)
        self.page.mouse.up()

    def drag(self, start: Point, *ends: Point, seconds: float = 0.8, until: str = "") -> None:
        """Drag on the square of bubbles from a point to others. until: hold there until the solve says this."""
        box = self.page.locator(BUBBLES).bounding_box()
        size = min(box["width"] - LEFT - RIGHT, box["height"] - TOP - BOTTOM) - 2 * BAND
        left, top = box["x"] + LEFT + BAND, box["y"] + TOP + BAND
        points = [(left + x * size, top + (1 - y) * size) for x, y in (start, *ends)]
        self.move(*points[0])
        self.page.mouse.down()
        for point in points[1:]:
            self.move(*point, seconds=seconds)
        if until:
            self.page.locator(".wb-livesolve", has_text=until).first.wait_for()
            self.still("build", held=True)
        self.page.mouse.up()

    def scroll(self, pixels: float) -> None:
        for _ in range(20):
            self.page.mouse.wheel(0, pixels / 20)
            self.page.wait_for_timeout(35)

    def rest(self, seconds: float = 1.0) -> None:
        self.page.wait_for_timeout(1000 * seconds)

    def tab(self, name: str) -> None:
        self.press(self.page.get_by_role("tab", name=name, exact=True))


def build(walk: Walk) -> None:
    """Draw a bubble and drag it, while the problem is solved at every pause."""
    walk.say("Draw a bubble")
    walk.drag((0.5, 0.5), (0.57, 0.5))
    walk.page.locator(".wb-livesolve canvas").locator("visible=true").first.wait_for()
    walk.rest(1.5)
    walk.say("It is solved again at every pause")
    walk.drag((0.5, 0.5), (0.5, 0.3), seconds=1.2, until="Converged")
    walk.rest(1.5)


def solve(walk: Walk) -> None:
    """Solve what was built."""
    walk.say("Solve, with two levels of preconditioning")
    walk.press(lab.button(walk.page, "Solve this"))
    walk.page.locator('.wb-solving [data-act="run"]').locator("visible=true").wait_for()
    walk.page.locator(".wb-solving .wb-runlist tbody tr", has_text="converged").first.wait_for()
    walk.rest(2)
    walk.still("solve")


def race(walk: Walk) -> None:
    """Race it with the three other methods that are there."""
    page, form = walk.page, walk.page.locator(".wb-race:not(.wb-sweep)")
    walk.say("Race it with other methods")
    walk.tab("Compare")
    page.locator("[role=status]", has_text="4 entries: press Start").wait_for()
    walk.rest(1)
    walk.press(form.locator('[data-act="run"]'))
    # Short runs are timed again after that.
    page.locator("[role=status]", has_text=re.compile("4 entries: all have ended$")).wait_for()
    walk.say("")
    walk.move(700, 500)
    walk.rest(3)
    walk.still("race")


def look_inside(walk: Walk) -> None:
    """Look into a run: its kernels in time, its convergence, solution, spectrum and roofline."""
    page = walk.page
    walk.say("Look inside a run: every kernel in time")
    walk.tab("Inspect")
    walk.press(lab.button(page, "Run again with timings").locator("visible=true").first)
    timeline = page.locator(".wb-timeline canvas, canvas.wb-timeline").locator("visible=true").first
    page.locator("text=/^measured/").locator("visible=true").first.wait_for()
    walk.rest(2)
    box = timeline.bounding_box()
    walk.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for _ in range(3):
        walk.press(lab.button(page, "Zoom in").locator("visible=true").first)
        walk.rest(0.7)
    walk.still("inspect")
    walk.move(700, 600)
    walk.say("Convergence, solution, spectrum and roofline")
    for _ in range(3):
        walk.scroll(480)
        walk.rest(1.5)
    walk.say("")


def volume(walk: Walk) -> None:
    """A further picture: the solution of a cube in 3D, in the dark theme."""
    page = walk.page
    page.emulate_media(color_scheme="dark")
    lab.turn_to(page, "Solve")
    lab.pick(page.locator(".wb-solving"), "problem", "bubbles-3d")
    n = page.locator('.wb-solving [data-field$=".n"] input')
    n.fill("48")
    n.press("Enter")
    page.locator(".wb-top", has_text="48³").wait_for()
    solved(page)
    page.locator(".wb-solving").get_by_text("3D", exact=True).locator("visible=true").click()
    page.locator(".wb-solving").get_by_label("field", exact=True).locator("visible=true").select_option("solution")
    walk.rest(8)
    walk.still("volume")


def step(walk: Walk) -> None:
    """Another one: two methods line by line."""
    page = walk.page
    page.emulate_media(color_scheme="dark")
    lab.turn_to(page, "Step")
    steps = page.locator(".wb-steppage")
    steps.locator('[data-field="second"] select').select_option("pipecg")
    steps.locator(".wb-stepper canvas").first.wait_for()
    handle = steps.locator(".noUi-handle").first
    for _ in range(4):
        handle.press("ArrowRight")
    walk.rest(3)
    walk.still("step")


def main() -> None:
    """Walk through the page and write what was asked for. Raises SystemExit with a sentence."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("output", nargs="?", type=Path)
    options.add_argument("--pictures", type=Path, metavar="FOLDER")
    given = options.parse_args()
    if (given.output is None) == (given.pictures is None):
        sys.exit("recording.py makes a film or pictures: give it a path ending in .webm, or --pictures and a folder")
    target = (given.output.parent if given.output else given.pictures).absolute()
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        frames = Path(folder, "frames")
        frames.mkdir()
        with lab.voila_server(Path(folder)) as url, lab.browser(lab.WEBGL_ARGS) as chromium:
            page = lab.context(chromium).new_page()
            page.set_viewport_size(SIZE)
            page.goto(f"{url}/?view=build.build")
            page.wait_for_selector(BUBBLES)
            walk = Walk(page, given.pictures)
            walk.rest(2)
            if given.pictures:
                for act in (build, solve, race, look_inside, volume, step):
                    act(walk)
                return
            page.evaluate(POINTER)
            film = Film(page, frames)
            for act in (build, solve, race):
                act(walk)
            page.screenshot(path=given.output.with_suffix(".png"))
            look_inside(walk)
            film.end()
        print(f"{given.output}: {film.save(given.output)}")
    if given.output.stat().st_size > MOST_BYTES:
        sys.exit(f"the recording may take {MOST_BYTES / 1e6:.0f} MB; show less")


if __name__ == "__main__":
    main()
