"""One JupyterLab, one Voila and one Chromium for all browser tests; a page, a kernel and a screenshot for each."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import bench, lab
from tests.waiting import LONGEST

SCREENSHOTS = Path(__file__).parent / "screenshots"
STATUS = "[role=status]"
CURVES = ".wb-convergence canvas.wb-canvas"
FIELD = ".wb-field canvas.wb-canvas"
PICTURE_MS = 20_000
"""Milliseconds that a picture of a page may take."""
PAGE = pytest.StashKey[Any]()
"""The page of a test."""
CONSOLE = pytest.StashKey[list[str]]()
"""What was written to the console of the page of a test."""
MOST_LINES = 40
"""Lines of a console that are reported."""


class ExplorerPage:
    """The explorer in a page, by what a user sees of it."""

    def __init__(self, page: Any, folder: Path, place: str = "lab") -> None:
        self.page = page
        self.folder = folder
        self.place = place

    def settle(self) -> None:
        """Wait until everything stands on the page."""
        self.page.wait_for_selector(FIELD)
        self.page.eval_on_selector(".wb-explorer", "box => box.scrollIntoView()")
        self.page.wait_for_selector(".wb-form [data-field]")
        self.until(lambda: self.status and "curves" in self.seen())

    def button(self, name: str) -> Any:
        return lab.button(self.page, name)

    def click(self, name: str) -> None:
        self.button(name).click()

    def enabled(self, name: str) -> bool:
        return self.button(name).is_enabled()

    def field(self, name: str) -> Any:
        """The field of the form with this name in code, with what is folded away unfolded."""
        self.page.locator(".wb-form .wb-advanced").evaluate("details => { details.open = true; }")
        return self.page.locator(f'.wb-form :is([data-field="{name}"], [data-field$=".{name}"])').first

    def choose(self, name: str, option: str) -> None:
        """Choose a block or a value in the form, by its name in code, or in a menu with this label elsewhere."""
        if not self.page.locator(f'.wb-form [data-field="{name}"]').count():
            self.page.get_by_label(name, exact=True).select_option(option)
            return
        field = self.field(name)
        if field.locator("select").count():
            field.locator("select").select_option(option)
            return
        field.locator(".wb-pick").click()
        field.locator(f'.wb-option[data-value="{option}"]').click()
        # The answer may bring other fields, and a menu that is opened before is gone then.
        field.locator(f'.wb-pick[data-value="{option}"]').wait_for()

    def fill(self, name: str, text: str) -> None:
        box = self.field(name).locator("input")
        box.fill(text)
        box.press("Enter")

    def tick(self, name: str) -> None:
        bench.tick(self.page, self.field(name).locator("input"))

    @property
    def status(self) -> str:
        return self.page.locator(STATUS).first.inner_text()

    @property
    def state(self) -> str:
        return self.page.locator(STATUS).first.get_attribute("data-state")

    def seen(self, canvas: str = CURVES) -> dict[str, str]:
        """What a canvas says it shows: its data-* attributes."""
        return self.page.locator(canvas).first.evaluate("canvas => ({...canvas.dataset})")

    @property
    def count(self) -> int:
        """Samples of the latest curve that are painted."""
        return int(self.seen()["count"])

    def until(self, condition: Callable[[], Any]) -> Any:
        return bench.until(self.page, condition)

    def unchanging(self, read: Callable[[], Any], reads: int = 8) -> Any:
        return bench.unchanging(self.page, read, reads)

    def held(self) -> int:
        """Wait until a run that was paused rests, with all its samples on the page; returns how many they are."""
        paused = re.compile(r"paused, iteration ([\d\u202f]+)")
        self.until(lambda: self.state == "paused")
        self.until(
            lambda: (found := paused.search(self.status)) and self.count == 1 + int(found[1].replace("\u202f", ""))
        )
        return self.count

    def run(self) -> int:
        return bench.solved(self.page, "")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests here wait for a server, a kernel and a browser. Those in JupyterLab come first, so that of two processes
    hardly more than one starts it."""
    places = {item: _place(item) for item in items if item.path.parent == Path(__file__).parent}
    for item in places:
        item.add_marker(pytest.mark.timeout(LONGEST))
    items.sort(key=lambda item: ("", "lab", "voila").index(places.get(item, "")))


def _place(item: Any) -> str:
    """Where the page of a test is, lab or voila; tests may parametrize it, also by a fixture of that name."""
    chosen = item.callspec.params.get("place") if hasattr(item, "callspec") else None
    return chosen or ("lab" if {"explorer", "lab_url"} & set(item.fixturenames) else "voila")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure is reported with the page's console and status lines, and its view is kept as a picture."""
    report = yield
    # The page is the test's own, or one of the tests of its file.
    owner = next((node for node in reversed(item.listchain()) if PAGE in node.stash), None)
    if report.failed and owner is not None:
        page = owner.stash[PAGE]
        for log in lab.LOGS:
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            report.sections.append((f"end of {log.parent.name}/{log.name}", "\n".join(lines[-MOST_LINES:])))
        report.sections.append(("console of the page", "\n".join(owner.stash[CONSOLE][-MOST_LINES:])))
        # A page that is gone or hangs has no view.
        with contextlib.suppress(Exception):
            report.sections.append(("all status lines, also hidden ones", lab.said(page, also_hidden=True)))
            report.sections.append(("status lines of the page", lab.said(page)))
            report.sections.append(("picture of the page", str(keep(page, f"failed {report.when} {item.name}"))))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Why tests failed that were then run again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"run again: {report.nodeid} ({report.when})", "_")
        terminalreporter.line(report.longreprtext)
        for title, text in report.sections:
            terminalreporter.section(title, "-")
            terminalreporter.line(text)


@pytest.fixture(scope="session")
def lab_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="session")
def lab_url(lab_folder: Path) -> Iterator[str]:
    # A forked kernel is there at once, where another one imports for seconds.
    with lab.lab_server(
        lab_folder, "--ServerApp.kernel_manager_class=workbench.extensions.classroom.server.PageKernels"
    ) as url:
        yield url


@pytest.fixture(scope="session")
def voila_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("voila")


@pytest.fixture(scope="session")
def voila_url(voila_folder: Path) -> Iterator[str]:
    """The explorer's notebook as a page."""
    with lab.voila_server(voila_folder, "--PageServer.lessons=", notebook="01_two_level_explorer.ipynb") as url:
        yield url


@pytest.fixture(scope="session")
def app_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app")


@pytest.fixture(scope="session")
def app_url(app_folder: Path) -> Iterator[str]:
    """The workbench as `make app` serves it."""
    with lab.voila_server(app_folder) as url:
        yield url


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with lab.browser() as browser:
        yield browser


@pytest.fixture
def shoot(page: Any) -> Callable[[str], object]:
    """Keeps the page as a picture of that name."""
    return lambda name: keep(page, name)


def keep(page: Any, name: str) -> Path:
    """A picture of a page, to be looked at; returns its path."""
    SCREENSHOTS.mkdir(exist_ok=True)
    path = SCREENSHOTS / f"{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_')}.png"
    page.screenshot(path=path, timeout=PICTURE_MS)
    return path


class KeptPage(contextlib.AbstractContextManager["KeptPage"]):
    """A page with a profile of its own, for one test after another. script: runs in it before anything else."""

    def __init__(self, browser: Any, script: str = "") -> None:
        self.browser, self.script = browser, script
        self.context: Any = None

    @contextlib.contextmanager
    def lent(self, node: Any) -> Iterator[Any]:
        """The page for a test or a file of tests, without anything of what was before; its last view is kept."""
        if self.context is None:
            self.context = lab.context(self.browser)
            self.context.new_page().add_init_script(self.script)
        page = self.context.pages[0]
        try:
            with watched(page, node):
                yield page
                keep(page, node.name)
                lab.clear(page)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.context is not None:
            self.context.close()
            self.context = None

    def __exit__(self, *failure: object) -> None:
        self.close()


@pytest.fixture(scope="session")
def lab_page(chromium: Any) -> Iterator[KeptPage]:
    """Where tests open their notebooks one after another, since loading JupyterLab takes seconds."""
    with KeptPage(chromium) as kept:
        yield kept


@pytest.fixture(scope="session")
def voila_page(chromium: Any) -> Iterator[KeptPage]:
    """The same for pages of Voila: their scripts, once compiled, are loaded in half the time."""
    with KeptPage(chromium) as kept:
        yield kept


@contextlib.contextmanager
def watched(page: Any, node: Any) -> Iterator[None]:
    """An uncaught script error of the page fails the test; the console is noted for the report of a failure."""
    errors: list[str] = []
    node.stash[PAGE], node.stash[CONSOLE] = page, []

    def note(error: Any) -> None:
        if not any(words in str(error) for words in lab.OF_OTHERS):
            errors.append(str(error))

    def hear(message: Any) -> None:
        node.stash[CONSOLE].append(f"{message.type}: {message.text}")

    page.on("pageerror", note)
    page.on("console", hear)
    try:
        yield
    finally:
        page.remove_listener("pageerror", note)
        page.remove_listener("console", hear)
    assert not errors


@pytest.fixture
def page(request: pytest.FixtureRequest, chromium: Any, place: str, page_script: str) -> Iterator[Any]:
    """A page; an uncaught script error fails the test, and the last view is kept as a picture.

    Tests in one place share a page, unless they have a script of their own for it.
    """
    with contextlib.ExitStack() as stack:
        own = KeptPage(chromium, page_script) if page_script else request.getfixturevalue(f"{place}_page")
        kept = stack.enter_context(own) if page_script else own
        yield stack.enter_context(kept.lent(request.node))


@pytest.fixture
def page_script() -> str:
    """A script for the page to run before anything else; tests may parametrize it."""
    return ""


@pytest.fixture
def place(request: pytest.FixtureRequest) -> str:
    """Where the page of a test is; tests may parametrize it."""
    return _place(request.node)


@pytest.fixture
def explorer(page: Any, request: pytest.FixtureRequest, place: str) -> ExplorerPage:
    """The explorer in a notebook that was opened and run, or in a Voila page; its kernel ends with the test."""
    url, folder = request.getfixturevalue(f"{place}_url"), request.getfixturevalue(f"{place}_folder")
    if place == "voila":
        page.goto(url)
    else:
        lab.open_notebook(page, url, "01_two_level_explorer.ipynb")
        lab.run_all(page)
    made = ExplorerPage(page, folder / "notebooks", place)
    made.settle()
    return made
