"""A JupyterLab server of its own, and a page in it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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
KERNEL_STATUS = "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status"
COLLAPSE = "() => window.jupyterapp.shell.collapseLeft()"


@contextlib.contextmanager
def lab_server(folder: Path) -> Iterator[str]:
    """Serve a copy of the notebooks; all that Jupyter writes stays in `folder`. Yields the URL."""
    shutil.copytree(REPOSITORY / "notebooks", folder / "notebooks", ignore=shutil.ignore_patterns(".*", "exports"))
    env = dict(os.environ)
    for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        env[name] = str(folder / name.lower())
        os.makedirs(env[name], exist_ok=True)
    env["PYTHONPATH"] = os.pathsep.join([str(REPOSITORY), *filter(None, [env.get("PYTHONPATH")])])
    overrides = folder / "jupyter_config_dir" / "labconfig"
    overrides.mkdir(parents=True)
    settings = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (overrides / "default_setting_overrides.json").write_text(json.dumps(settings), encoding="utf-8")
    port = _free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser", "--allow-root"]
    options = [
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder / 'notebooks'}",
    ]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen([*command, *options], cwd=folder, env=env, stdout=log, stderr=log)
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_for(url, server, folder / "server.log")
            yield url
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Chromium: the one that WORKBENCH_CHROMIUM names, one on the PATH, or Playwright's own."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("WORKBENCH_CHROMIUM") or next(filter(None, map(shutil.which, BROWSER_NAMES)), None)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS)
        try:
            yield chromium
        finally:
            chromium.close()


def open_notebook(page: Any, url: str, name: str) -> None:
    """Open a notebook in a fresh workspace and wait for its kernel."""
    page.goto(f"{url}/lab/tree/{name}?reset", timeout=60_000)
    page.wait_for_function(f"() => ({KERNEL_STATUS})() === 'idle'", timeout=60_000)
    page.evaluate(COLLAPSE)


def run_all(page: Any) -> None:
    """Run all cells."""
    page.evaluate("() => window.jupyterapp.commands.execute('notebook:run-all-cells')")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api", timeout=2):
            return
        time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8', errors='replace')[-2000:]}")
