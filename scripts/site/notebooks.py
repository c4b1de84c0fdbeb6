"""Executed notebooks as pages: what their cells print as text, and photographs of their widgets, light and dark.

Voila executes a notebook as `make app` does, and Chromium shows it; each picture is what was on the page once it
rested. What was made of a notebook is kept by its content and that of the library.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scripts.site.places import CACHE, LESSON, ROOT, SOURCE, digest, library, on_site, put, relinked
from tests.browser import lab

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
OUTPUTS = """() => [...document.querySelectorAll(".jp-CodeCell")].map((cell) =>
  [...cell.querySelectorAll(".jp-OutputArea-output")].map((output) => {
    if (output.querySelector("canvas, svg, img, button, input, .jupyter-widgets")) return { kind: "picture" };
    const table = output.querySelector("table");
    return table ? { kind: "html", text: table.outerHTML } : { kind: "text", text: output.innerText };
  }))"""


def notebooks() -> list[Path]:
    """Those that are shown: all but the app and the solutions of exercises."""
    return [
        *sorted((ROOT / "notebooks").glob("*.ipynb"), key=_number),
        *sorted((ROOT / LESSON).glob("*.ipynb"), key=_number),
    ]


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


def pages() -> dict[str, list[str]]:
    """Execute what is not kept, two at a time, and write the pages; returns those of notebooks and of lessons."""
    missing = [path for path in notebooks() if not (_kept(path) / "outputs.json").exists()]
    if missing:
        execute(missing)
    found: dict[str, list[str]] = {"notebooks": [], "lessons": []}
    for path in notebooks():
        name = str(path.relative_to(ROOT))
        place = on_site(name)
        assert place is not None
        put(place, page(path, name))
        found["lessons" if name.startswith(LESSON) else "notebooks"].append(place)
    return found


def page(path: Path, name: str) -> str:
    """A notebook as Markdown; its pictures are put next to it."""
    kept = _kept(path)
    outputs = iter(json.loads((kept / "outputs.json").read_text(encoding="utf-8")))
    folder = SOURCE / Path(name).with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(relinked(text, name))
            continue
        parts.append(f"```python\n{text}\n```")
        for output in next(outputs):
            if output["kind"] == "picture":
                for scheme in ("light", "dark"):
                    file = f"{output['file']}.{scheme}.png"
                    shutil.copyfile(kept / file, folder / file)
                    picture = f"{folder.name}/{file}"
                    parts.append(f"[![What the cell shows]({picture}#only-{scheme}){{ .shot }}]({picture})")
            elif output["kind"] == "html":
                parts.append(
                    f'<div class="md-typeset__scrollwrap"><div class="md-typeset__table">{output["text"]}</div></div>'
                )
            elif output["text"].strip():
                parts.append(f"```text\n{output['text'].rstrip()}\n```")
    return "\n\n".join([*parts[:1], NOTE, *parts[1:]]) + "\n"


NOTE = '!!! note ""\n    Executed when this site was made; pictures are still. `make lab` opens it live.'


def execute(paths: Sequence[Path]) -> None:
    """Execute notebooks in one Voila server and photograph their outputs into the cache. Raises RuntimeError where a
    cell fails."""
    with (
        tempfile.TemporaryDirectory() as made,
        _served(Path(made)) as url,
        ThreadPoolExecutor(min(2, os.cpu_count() or 1)) as pool,
    ):
        for _ in pool.map(lambda path: _photograph(url, path), paths):
            pass


@contextlib.contextmanager
def _served(folder: Path) -> Any:
    options = ("--VoilaConfiguration.strip_sources=False", "--VoilaConfiguration.show_tracebacks=True")
    with lab.voila_server(folder, *options, f"--VoilaExecutor.timeout={LONGEST}", notebook="") as url:
        yield f"{url}/voila/render"


def _photograph(url: str, path: Path) -> None:
    """Execute one notebook and keep its outputs; the record is written last."""
    kept, start = _kept(path), time.monotonic()
    kept.mkdir(parents=True, exist_ok=True)
    with lab.browser() as browser:
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, device_scale_factor=2)
        view.set_default_timeout(1000 * LONGEST)
        view.add_init_script(USUALLY)
        view.goto(f"{url}/{path.relative_to(ROOT / 'notebooks')}")
        failed = view.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'], .jp-mod-error")
        if failed.count():
            raise RuntimeError(f"{path.name} fails: {failed.first.inner_text()}")
        view.add_style_tag(content=STYLE)
        view.evaluate(WATCH)
        _rest(view)
        outputs = view.evaluate(OUTPUTS)
        for scheme in ("light", "dark"):
            view.emulate_media(color_scheme=scheme)
            _rest(view, 0.5)
            for number, cell in enumerate(outputs):
                shown = view.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea-output")
                for place, output in enumerate(cell):
                    if output["kind"] == "picture":
                        output["file"] = f"{number}-{place}"
                        _shoot(view, shown.nth(place), kept / f"{number}-{place}.{scheme}.png")
    (kept / "outputs.json").write_text(json.dumps(outputs), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: {time.monotonic() - start:.0f} s", flush=True)


def _shoot(view: Any, shown: Any, path: Path) -> None:
    """A picture of an output, once it is drawn where it is now in the window."""
    shown.evaluate("output => output.scrollIntoView()")
    _rest(view, 0.5)
    view.screenshot(path=path, clip=shown.bounding_box())


def _rest(view: Any, quiet: float = QUIET) -> None:
    """Wait until nothing has changed for so many seconds."""
    end = time.monotonic() + MOST_QUIET
    while view.evaluate(RESTED) < 1000 * quiet and time.monotonic() < end:
        view.wait_for_timeout(200)


@functools.cache
def _kept(path: Path) -> Path:
    name = hashlib.sha256(f"{library()} {digest(path, Path(__file__))}".encode()).hexdigest()[:16]
    return CACHE / "notebooks" / f"{path.stem}-{name}"
