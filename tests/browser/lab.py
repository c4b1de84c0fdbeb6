"""A JupyterLab and a Voila server of our own, and pages in them."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from tests.waiting import LIMIT, NOT_YET
from workbench.problems.suitesparse import cache_folder

REPOSITORY = Path(__file__).parents[2]
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_ARGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WORKBENCH = "?view=build.build"
"""What leads from the address of `make app` to the workbench, past the start page."""
VIEWPORT = {"width": 1280, "height": 800}
WEBGL_ARGS = [
    *(arg for arg in BROWSER_ARGS if arg != "--disable-gpu"),
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]
"""WebGL2 drawn by the cores, also where there is a GPU, so that pictures are the same everywhere."""
OF_OTHERS = ("Canceled future for", "[anywidget] Failed to initialize model")
"""What JupyterLab throws where a kernel ends before it has answered, and anywidget where a module takes longer than two
seconds to load: its widget gets no more messages, so that a test which needs them fails by itself."""
TO_END = 60
"""Seconds that a server takes at most to end its kernels and itself."""
OF_KERNELS = re.compile(r"ipykernel_launcher|workbench\.extensions\.classroom\.server\.fork_server")
KERNEL_STATUS = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
BROKEN_CHAINS = """() => [...document.querySelectorAll(".jupyter-widgets-disconnected")]
  .filter((at) => !["none", "normal"].includes(getComputedStyle(at, "::before").content)).length"""
"""How many icons of a broken chain there are, by which ipywidgets mark what has lost its kernel."""
COLUMN = """(table, heading) => {
  const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/[▲▼ ]+$/, "").toLowerCase());
  if (!names.includes(heading)) throw new Error(`no column is called ${heading}: ${names}`);
  const rows = [...table.tBodies[0].rows].filter((row) => !row.matches(".wb-grouprow"));
  return rows.map((row) => row.cells[names.indexOf(heading)].textContent);
}"""
TEXTS = """(pane) => {
  const found = [];
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.parentElement;
    if (!node.data.trim() || at.closest("style, script, textarea, .wb-heard")) continue;
    const seen = { visibilityProperty: true, opacityProperty: true };
    if (!at.closest("select, :not(option)").checkVisibility(seen)) continue;
    if (at.localName === "option" && !at.selected) continue;
    if (at.localName !== "option") {
      const range = document.createRange();
      range.selectNodeContents(node);
      const { width, height } = range.getBoundingClientRect();
      if (width < 2 || height < 2) continue;
    }
    found.push(node.data.trim());
  }
  return found;
}"""
"""The texts that are seen in an element: its text nodes with a size, of a menu the choice that is made."""
COLLAPSE = "() => window.jupyterapp.shell.collapseLeft()"
IS_OPEN = "() => Boolean(window.jupyterapp)"
NO_MODEL = "Error displaying widget: model not found"
RELOADS = 4
"""How many times a page of JupyterLab is loaded again at most, where it says so."""
LOGS: list[Path] = []
"""Files in which servers that run write, and their kernels."""
BLANK = "about:blank"
CLEAR = """async () => {
  const { commands, serviceManager, shell } = window.jupyterapp;
  for (const widget of [...shell.widgets("main")]) widget.dispose();
  await serviceManager.sessions.shutdownAll();
  localStorage.clear();
  if (document.body.dataset.jpThemeLight === "false") {
    await commands.execute("apputils:change-theme", { theme: "JupyterLab Light" });
  }
}"""


@contextlib.contextmanager
def lab_server(folder: Path, *options: str) -> Iterator[str]:
    """Serve a copy of the notebooks, with further options; what Jupyter writes stays in `folder`. Yields the URL."""
    notebooks, env = _prepared(folder)
    overrides = folder / "jupyter_config_dir" / "labconfig"
    overrides.mkdir(parents=True)
    settings = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (overrides / "default_setting_overrides.json").write_text(json.dumps(settings), encoding="utf-8")
    options = (
        "--allow-root",
        "--expose-app-in-browser",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={notebooks}",
        "--ServerApp.kernel_websocket_connection_class=workbench.extensions.classroom.server.NoDelayConnection",
        *options,
    )
    with serving([sys.executable, "-m", "jupyterlab", *options], folder, env) as url:
        yield url


@contextlib.contextmanager
def voila_server(
    folder: Path, *options: str, notebook: str = "app/workbench.ipynb", port: int | None = None
) -> Iterator[str]:
    """Serve a copy of the app as `make app` does, or of another notebook, with further options. port: a free one by
    default. Yields the URL."""
    notebooks, env = _prepared(folder)
    options = (str(notebooks / notebook), f"--Voila.config_file_paths={notebooks / 'app'}", *options)
    with serving(
        [sys.executable, "-m", "workbench.extensions.classroom.server.page_server", *options], folder, env, port
    ) as url:
        yield url


def _prepared(folder: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the notebooks, and an environment in which Jupyter reads and writes nothing of the user's."""
    notebooks = folder / "notebooks"
    shutil.copytree(REPOSITORY / "notebooks", notebooks, ignore=shutil.ignore_patterns(".*", "exports"))
    env = dict(os.environ)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        env[name] = str(folder / name.lower())
        os.makedirs(env[name], exist_ok=True)
    env["WORKBENCH_CACHE"] = str(_cache(folder))
    env["WORKBENCH_STATE"] = str(folder / "state")
    env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *filter(None, [env.get("PYTHONPATH")])])
    return notebooks, env


def _cache(folder: Path) -> Path:
    """A cache folder for what is uploaded, with the machine code of the user's, which takes minutes to make."""
    user = cache_folder() / "machine-code"
    user.mkdir(parents=True, exist_ok=True)
    cache = folder / "cache"
    cache.mkdir()
    (cache / "machine-code").symlink_to(user, target_is_directory=True)
    return cache


@contextlib.contextmanager
def serving(command: Sequence[str], folder: Path, env: dict[str, str], port: int | None = None) -> Iterator[str]:
    """A server as a process of its own, which runs in a folder and is ended with the block. Yields its URL."""
    port = port or _free_port()
    command = [*command, "--no-browser", f"--port={port}"]
    written = folder / "server.log"
    with written.open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        LOGS.append(written)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, server, written)
            yield url
        finally:
            LOGS.remove(written)
            server.terminate()
            try:
                server.wait(TO_END)
            except subprocess.TimeoutExpired:
                warnings.warn(f"{command[:3]} did not end within {TO_END} s and was killed", stacklevel=2)
                server.kill()
                server.wait()


@contextlib.contextmanager
def browser(args: Sequence[str] = BROWSER_ARGS) -> Iterator[Any]:
    """Chromium with these options: the one that WORKBENCH_CHROMIUM names, one on the PATH, or Playwright's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=args)
        try:
            yield chromium
        finally:
            chromium.close()


def context(chromium: Any, **options: Any) -> Any:
    """A fresh profile of the browser, as another user has. options: of Playwright for it."""
    made = chromium.new_context(**{"viewport": VIEWPORT} | options)
    made.set_default_timeout(1000 * LIMIT)
    return made


def browser_path() -> str | None:
    """The Chromium that WORKBENCH_CHROMIUM names, or one on the PATH."""
    return os.environ.get("WORKBENCH_CHROMIUM") or next(filter(None, map(shutil.which, BROWSER_NAMES)), None)


def kernel_processes() -> list[psutil.Process]:
    """All kernels that these tests have started, and the processes that fork kernels."""
    found = []
    for process in psutil.Process().children(recursive=True):
        # It may end meanwhile.
        with contextlib.suppress(psutil.Error):
            if OF_KERNELS.search(" ".join(process.cmdline())):
                found.append(process)
    return found


def of_server(folder: Path) -> list[psutil.Process]:
    """The processes of all kernels of a server that runs in a folder, and those that fork them."""
    return [process for process in kernel_processes() if _runs_in(process, str(folder))]


def _runs_in(process: psutil.Process, folder: str) -> bool:
    with contextlib.suppress(psutil.Error):
        return any(folder in part for parent in (process, *process.parents()) for part in parent.cmdline())
    return False


def kernels(folder: Path | None = None) -> set[int]:
    """The processes of all kernels, without those that fork them. folder: only of the server that runs there."""
    processes = kernel_processes() if folder is None else of_server(folder)
    known, found = {process.pid for process in processes}, set()
    for process in processes:
        with contextlib.suppress(psutil.Error):
            # A forked kernel has the command of the process that forked it.
            if process.ppid() in known or "ipykernel_launcher" in process.cmdline():
                found.add(process.pid)
    return found


def open_notebook(page: Any, url: str, name: str) -> None:
    """Open a notebook and wait for its kernel: in the JupyterLab of the page, or else in a fresh workspace."""
    if page.evaluate(IS_OPEN):
        page.evaluate("path => window.jupyterapp.commands.execute('docmanager:open', { path })", name)
    else:
        page.goto(f"{url}/lab/tree/{name}?reset")
    page.wait_for_function(f"() => ({KERNEL_STATUS})() === 'idle'")
    page.evaluate(COLLAPSE)


def save_and_reload(page: Any, shown: str) -> None:
    """Save the notebook in front and load the page again, whose kernel stays; waits for an element of the view.

    ipywidgets 8.1.9 looks for the model of an output for two seconds, and not once more after its last wait. If that
    wait is long and all widgets are restored in it, as on a busy machine, the output says for good that there is none
    (jupyter-widgets/ipywidgets#4026). Then the page is loaded again, as its user would.
    """
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    view = page.locator(shown).first
    for _ in range(RELOADS):
        page.reload()
        view.or_(page.get_by_text(NO_MODEL)).first.wait_for()
        if view.is_visible():
            return
    raise AssertionError(f"JupyterLab says {RELOADS} times: {NO_MODEL}")


def open_cells(page: Any, url: str, folder: Path, name: str, *codes: str) -> None:
    """Write a notebook of these cells into the server's folder, and open it."""
    common = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    cells = [{**common, "id": f"cell-{place}", "source": code} for place, code in enumerate(codes)]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (folder / "notebooks" / name).write_text(json.dumps(notebook), encoding="utf-8")
    open_notebook(page, url, name)


def download(page: Any, act: Callable[[], object]) -> tuple[str, Path]:
    """The file that the browser saves after this act: its name, and where it lies."""
    with page.expect_download() as waiting:
        act()
    return waiting.value.suggested_filename, Path(waiting.value.path())


PARTS = {
    "Race": "Compare", "Sweep": "Compare", "Suggest": "Compare", "Storage": "Inspect",
    "Look inside": "Inspect", "Open a run": "Inspect",
    "Step": "Learn", "Your method": "Learn", "Schedules": "Learn",
}  # fmt: skip
"""Pages that share a view of the rail with others."""


def button(page: Any, name: str) -> Any:
    """The button of this name; headings of tables, which sort by a press, are none of it."""
    return page.get_by_role("button", name=name, exact=True).and_(page.locator("button:not(th button)"))


def said(page: Any, *, also_hidden: bool = False) -> str:
    """The texts of all visible status lines, or also of those on pages that are not in front."""
    lines = page.locator("[role=status]")
    texts = lines.all_text_contents() if also_hidden else lines.locator("visible=true").all_inner_texts()
    return " | ".join(filter(None, texts))


def until(page: Any, condition: Callable[[], Any], what: str = "it did not happen in time") -> Any:
    """Wait until something is true of a page, and return it. what: what is wrong otherwise."""
    end = time.monotonic() + LIMIT
    while True:
        missing = ""
        try:
            if value := condition():
                return value
        # An attribute that a plot sets with its first picture, or a text that is not there yet.
        except (*NOT_YET, TypeError, ValueError) as error:
            missing = f"; missing: {error!r}"
        assert time.monotonic() < end, f"{what} ({_line_of_test()}){missing}; the page says: {said(page)}"
        page.wait_for_timeout(30)


def verdict(page: Any, exercise: Any, answer: str) -> str:
    """Give another answer to an exercise; the verdict on it.

    That on the answer before goes when the field changes: until then it could be taken for this one, and what lies
    around it moves below a press.
    """
    field = exercise.locator("input, select, textarea").first
    field.scroll_into_view_if_needed()
    field.select_option(answer) if field.evaluate("at => at.tagName") == "SELECT" else field.fill(answer)
    status = exercise.locator("[role=status]")
    until(page, lambda: not status.inner_text())
    exercise.get_by_role("button", name="Check").click()
    return until(page, lambda: re.match("Right|Not yet", said := status.inner_text()) and said)


def _line_of_test() -> str:
    """Where a test waits, for the one line of the summary."""
    return next(
        (f"{at.name}:{each.lineno}" for each in inspect.stack() if (at := Path(each.filename)).match("test_*.py")), ""
    )


def unchanging(page: Any, read: Callable[[], Any], reads: int = 8) -> Any:
    """Wait until something reads the same that many times in a row, a seventh of a second apart; returns it.

    Plots report what they show once a second, which eight reads outlast.
    """
    seen: list[Any] = []

    def rests() -> bool:
        seen.append(read())
        page.wait_for_timeout(150)
        return len(seen) >= reads and all(value == seen[-1] for value in seen[-reads:])

    until(page, rests, "it still changes")
    return seen[-1]


def column(table: Any, heading: str) -> list[str]:
    """The texts of the cells of a column."""
    return table.evaluate(COLUMN, heading)


def pick(place: Any, kind: str, name: str) -> None:
    """Choose a block in the form at a place of the page, by its names in code."""
    field = place.locator(f'[data-field="{kind}"]').locator("visible=true")
    field.locator(".wb-pick").click()
    field.locator(f'.wb-option[data-value="{name}"]').click()
    # The answer may bring other fields, and what is pressed before is gone then.
    field.locator(f'.wb-pick[data-value="{name}"]').wait_for()


def texts(page: Any) -> list[str]:
    """The texts that are seen in the view in front of the workbench, without rail and header."""
    return page.locator(".wb-pane").locator("visible=true").first.evaluate(TEXTS)


def turn_to(page: Any, title: str) -> None:
    """Turn to a page of the whole workbench, by the rail and the switch in the header."""
    page.get_by_role("tab", name=PARTS.get(title, title), exact=True).click()
    if title in PARTS:
        page.locator(".wb-top").get_by_role("radio", name=title, exact=True).click()


def clear(page: Any) -> None:
    """Close what is open in the page, which ends its kernels, and take back what a test may change."""
    for other in page.context.pages[1:]:
        other.close()
    if "/lab/" in page.url and page.evaluate(IS_OPEN):
        page.evaluate(CLEAR)
    elif page.url != BLANK:
        origin = page.evaluate("() => { sessionStorage.clear(); return location.origin; }")
        page.goto(BLANK)
        kept = {"origin": origin, "storageTypes": "local_storage,indexeddb"}
        devtools = page.context.new_cdp_session(page)
        devtools.send("Storage.clearDataForOrigin", kept)
        devtools.detach()
    page.context.clear_permissions()
    page.emulate_media(color_scheme="light", media="null")
    page.set_viewport_size(VIEWPORT)
    page.mouse.move(0, 0)


def run_all(page: Any) -> None:
    """Run all cells."""
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"{url}/api", timeout=10).close()
        except urllib.error.HTTPError:
            # Voila answers, though it has nothing there.
            return
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError(f"the server did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
