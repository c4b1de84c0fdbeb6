"""Notebooks executed: the texts, tables and figures of their cells, and photographs of their widgets, light and dark.

Voila executes a notebook as `make app` does, and Chromium shows it; each picture is what was on the page once it
rested. What was made of a notebook is kept by its content and that of the library.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.site import exercises, kept
from scripts.site.figures import SCHEMES
from scripts.site.places import ROOT
from tests.browser import lab

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

AT_ONCE = 3
"""Notebooks that are executed at the same time: while one waits for its page to rest, others use the cores."""
WIDTH, HEIGHT = 1000, 2000
"""Of the window that notebooks are photographed in, in pixels; a picture has two for each. Nothing is drawn outside."""
USUAL = 900
"""The height of a window by which plots choose theirs."""
LONGEST = 600
"""Seconds that a notebook may take."""
QUIET, MOST_QUIET = 2.0, 60.0
"""Seconds without a change until a page rests, and after which it is photographed anyway."""
PLOTS = {"plot": 0.3, "plot-tall": 0.36, "plot-side": 0.46, "plot-wide": 0.62, "plot-square": 0.56}
"""Of the design tokens, the shares of the window's height."""
USUALLY = f"Object.defineProperty(window, 'innerHeight', {{ get: () => {USUAL} }})"
STYLE = f"""
  :root {{ {"".join(f"--wb-{name}: {USUAL * share:.0f}px !important; " for name, share in PLOTS.items())} }}
  .jp-InputArea, .jp-OutputPrompt, .jp-MarkdownCell {{ display: none !important; }}
  .jp-OutputArea-output {{ padding: 0 !important; }}
  @media (prefers-color-scheme: dark) {{ .jp-OutputArea-output {{ background: #141519 !important; }} }}
"""
"""Outputs alone, on the ground of the site."""
WATCH = """() => {
  window.lastChange = performance.now();
  new MutationObserver(() => { window.lastChange = performance.now(); })
    .observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""
RESTED = "() => performance.now() - window.lastChange"
SHOWN = """() => {
  const waiting = [...document.querySelectorAll("script[type='application/vnd.voila.cell-output+json']")];
  const panels = [...document.querySelectorAll(".lm-Panel.jp-OutputArea-output")];
  return waiting.every((output) => output.parentElement.querySelector(".jp-OutputArea-output"))
    && panels.every((panel) => panel.childElementCount);
}"""
"""True once every output of a cell has its element, and every widget its view."""
OUTPUTS = """() => [...document.querySelectorAll(".jp-CodeCell")].map((cell) =>
  [...cell.querySelectorAll(".jp-OutputArea-output")].map((output) => {
    const figures = [...output.querySelectorAll("img[data-scheme]")];
    if (figures.length) {
      const data = Object.fromEntries(figures.map((each) => [each.dataset.scheme, each.src]));
      return { kind: "figure", alt: figures[0].alt, data };
    }
    if (output.querySelector("canvas, svg, img, button, input, .jupyter-widgets")) return { kind: "picture" };
    const table = output.querySelector("table");
    return table ? { kind: "html", text: table.outerHTML } : { kind: "text", text: output.innerText };
  }))"""
IN_WORDS = """(output) => {
  const shown = (parts) => [...output.querySelectorAll(parts)].filter((each) => each.checkVisibility());
  const pictures = shown("canvas[aria-label], [role=img][aria-label], img[alt]");
  const words = pictures.map((each) => each.getAttribute("aria-label") ?? each.alt);
  const headings = shown("h1, h2, h3, h4, caption, legend").map((each) => each.innerText);
  const buttons = shown("button").map((each) => each.innerText.trim()).filter(Boolean);
  const others = [...headings, buttons.length ? `Buttons: ${buttons.join(", ")}` : ""];
  return [...new Set(words.filter(Boolean))].join(" ") || others.filter(Boolean).join(". ") || output.innerText;
}"""
"""What is seen in an output, as its parts say it to a screen reader: axes, curves and their numbers."""
FIGURES = """from scripts.site.figures import shown_twice

get_ipython().display_formatter.formatters["text/html"].for_type_by_name(
    "workbench.plots.figures.style", "NotebookFigure", shown_twice
)
"""
"""What kernels run first, so that a figure comes on a light and on a dark ground."""


def execute(paths: Sequence[Path]) -> None:
    """Execute notebooks in one Voila server and photograph their outputs in one Chromium into the cache.

    Raises RuntimeError where a cell fails.
    """
    with tempfile.TemporaryDirectory() as made, _served(Path(made)) as url:
        asyncio.run(_photographed(url, paths))


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    startup = folder / "ipythondir" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "figures.py").write_text(FIGURES, encoding="utf-8")
    options = ("--VoilaConfiguration.strip_sources=False", "--VoilaConfiguration.show_tracebacks=True")
    with lab.voila_server(folder, *options, f"--VoilaExecutor.timeout={LONGEST}", notebook="") as url:
        yield f"{url}/voila/render"


async def _photographed(url: str, paths: Sequence[Path]) -> None:
    from playwright.async_api import async_playwright

    gate = asyncio.Semaphore(AT_ONCE)
    async with async_playwright() as playwright:
        chromium = await playwright.chromium.launch(executable_path=lab.browser_path(), args=lab.BROWSER_ARGS)

        async def one(path: Path) -> None:
            async with gate:
                await _photograph(chromium, url, path)

        await asyncio.gather(*map(one, paths))


async def _photograph(chromium: Browser, url: str, path: Path) -> None:
    """Execute one notebook and keep its outputs."""
    start = time.monotonic()
    view = await chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
    view.set_default_timeout(1000 * LONGEST)
    await view.add_init_script(USUALLY)
    await view.goto(f"{url}/{path.relative_to(ROOT / 'notebooks')}")
    executed = time.monotonic()
    failed = view.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error")
    await view.wait_for_function(SHOWN)
    if await failed.count():
        raise RuntimeError(f"{path.name} fails: {await failed.first.inner_text()}")
    await view.add_style_tag(content=STYLE)
    await view.evaluate(WATCH)
    await _rest(view)
    sources = [
        "".join(cell["source"])
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    outputs = await view.evaluate(OUTPUTS)
    with kept.filled(entry_of(path)) as folder:
        for number, (cell, source) in enumerate(zip(outputs, sources, strict=True)):
            for place, output in enumerate(cell):
                output["file"] = f"{number}-{place}"
                for scheme, data in output.pop("data", {}).items():
                    png = base64.b64decode(data.partition(",")[2])
                    (folder / f"{number}-{place}.{scheme}.png").write_bytes(png)
            if exercises.ASKED.fullmatch(source.strip()):
                cell.clear()
        for scheme in SCHEMES:
            await view.emulate_media(color_scheme=scheme)
            await _rest(view, 0.5)
            for number, cell in enumerate(outputs):
                shown = view.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea-output")
                for place, output in enumerate(cell):
                    if output["kind"] == "picture":
                        output["alt"] = await _shoot(view, shown.nth(place), folder / f"{output['file']}.{scheme}.png")
        await view.close()
        (folder / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")
    end = time.monotonic()
    name = path.relative_to(ROOT)
    print(f"{name}: {executed - start:.0f} s to execute, {end - executed:.0f} s for its pictures", flush=True)


async def _shoot(view: Page, shown: Locator, path: Path) -> str:
    """A picture of an output, once it is drawn where it is now in the window; returns what is seen, in words."""
    await shown.evaluate("output => output.scrollIntoView()")
    await _rest(view, 0.5)
    clip = await shown.bounding_box()
    assert clip is not None
    await view.screenshot(path=path, clip=clip)
    return await shown.evaluate(IN_WORDS)


async def _rest(view: Page, quiet: float = QUIET) -> None:
    """Wait until nothing has changed for so many seconds."""
    end = time.monotonic() + MOST_QUIET
    while await view.evaluate(RESTED) < 1000 * quiet and time.monotonic() < end:
        await view.wait_for_timeout(100)


@functools.cache
def entry_of(path: Path) -> Path:
    """The folder in the cache of what was made of a notebook."""
    here = Path(__file__)
    return kept.entry(f"notebooks/{path.stem}", path, here, here.with_name("figures.py"))
