"""Pages that are opened at once are made in their order, and end where their kernel does."""

import asyncio
import json

import pytest
from jinja2 import DictLoader, Environment, UndefinedError
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from voila import notebook_renderer
from voila.execute import VoilaExecutor
from voila.notebook_renderer import NotebookRenderer
from voila.paths import collect_template_paths

from tests.waiting import LIMIT
from workbench.extensions.classroom.server import opening as module
from workbench.extensions.classroom.server.opening import (
    ENDED,
    CompiledTemplates,
    Opening,
    PageExecutor,
    PageExporter,
    PageRenderer,
    compile_templates,
    failed,
)
from workbench.files.data_files import notebooks_folder


def test_pages_are_made_in_their_order_and_as_many_at_once_as_there_are_places():
    begun, most = [], 0

    async def make(k, places):
        nonlocal most
        async with Opening(places):
            begun.append(k)
            most = max(most, len(begun) - len(ended))
            await asyncio.sleep(0.01)
            ended.append(k)

    async def act():
        places = asyncio.Semaphore(2)
        await asyncio.gather(*(make(k, places) for k in range(6)))

    ended = []
    asyncio.run(act())
    assert (begun, most) == ([*range(6)], 2)


def test_a_page_that_takes_long_or_fails_keeps_no_other_waiting(monkeypatch):
    monkeypatch.setattr(module, "LONGEST", 0.05)

    async def fails(places):
        async with Opening(places):
            raise OSError

    async def act():
        places = asyncio.Semaphore(1)
        async with Opening(places), asyncio.timeout(LIMIT), Opening(places):
            pass
        # Its place is given back once.
        assert not places.locked()
        await asyncio.gather(fails(places), fails(places), return_exceptions=True)
        async with Opening(places):
            assert places.locked()

    asyncio.run(act())


def test_a_template_is_compiled_once_for_all_pages_and_again_when_its_text_has_changed(monkeypatch):
    compiled = []
    kept, texts = CompiledTemplates(), {"page": "n = {{ n }}"}
    compiling = Environment.compile
    monkeypatch.setattr(Environment, "compile", lambda *given: compiled.append(given[2]) or compiling(*given))

    def written():
        return Environment(loader=DictLoader(texts), bytecode_cache=kept).get_template("page").render(n=3)

    assert [written(), written(), compiled] == ["n = 3", "n = 3", ["page"]]
    texts["page"] = "{{ n }} is n"
    assert [written(), written(), compiled] == ["3 is n", "3 is n", ["page", "page"]]


def test_pages_share_the_code_of_their_templates():
    assert notebook_renderer.VoilaExporter is PageExporter
    one, other = (PageExporter(template_name="lab").environment for _ in range(2))
    assert one is not other
    assert one.bytecode_cache is other.bytecode_cache is PageExporter.compiled


def test_templates_that_are_compiled_before_the_first_page_are_not_compiled_for_it(monkeypatch):
    monkeypatch.setenv("JUPYTER_PATH", str(notebooks_folder() / "app" / "jupyter"))
    monkeypatch.setattr(PageExporter, "compiled", CompiledTemplates())
    compile_templates("lesson")
    known = len(PageExporter.compiled._compiled)
    # Its own, that of the workbench, and those of Voila and nbconvert below.
    assert known > 5
    monkeypatch.setattr(Environment, "compile", lambda *_: pytest.fail("a template is compiled again"))
    paths = collect_template_paths(["voila", "nbconvert"], "lesson")
    assert PageExporter(template_paths=paths, template_name="lesson").template


class Manager:
    """In place of the manager of a kernel."""

    def __init__(self, *, alive):
        self._alive = alive

    async def is_alive(self):
        return self._alive


def rendered(monkeypatch, *parts, alive=True):
    """What a page is made of, where Voila makes these parts; the last one is raised if it is an error. alive: its
    kernel is, then."""

    async def made(_renderer, _kernel, _future):
        for part in parts:
            if isinstance(part, Exception):
                raise part
            yield part, None

    monkeypatch.setattr(NotebookRenderer, "generate_content_generator", made)

    async def read():
        page = PageRenderer.__new__(PageRenderer)
        page.executor = PageExecutor(NotebookNode(), km=None)
        page.executor.ended = parts[-1] == "ended"
        return [part async for part, _ in page.generate_content_generator("1", Manager(alive=alive))]

    return asyncio.run(read())


def test_a_page_whose_kernel_ends_is_ended_and_says_so(monkeypatch):
    assert rendered(monkeypatch, "head", "cell") == ["head", "cell"]
    assert rendered(monkeypatch, "head", "ended") == ["head", "ended", ENDED]
    # Before it has answered at all.
    died = RuntimeError("Kernel died before replying to kernel_info")
    assert rendered(monkeypatch, "head", died, alive=False) == ["head", ENDED]


def test_a_page_that_could_not_be_made_names_the_failure(monkeypatch):
    head, said = rendered(monkeypatch, "head", UndefinedError("'dict object' has no attribute '</script><b>'"))
    sentence = "Making this page failed by a UndefinedError: 'dict object' has no attribute '</script><b>'"
    words = said.removeprefix("<script>workbenchEnded(").removesuffix(")</script>")
    assert (head, json.loads(words)) == ("head", sentence)
    # The text ends no script.
    assert "<" not in words
    assert len(failed(ValueError("x" * 10_000))) < 400


def test_no_cell_is_run_after_the_end_of_its_kernel(monkeypatch):
    asked = []

    async def dies(_executor, cell, _resources, _index, _history):
        asked.append(cell)
        raise DeadKernelError("Kernel died")

    monkeypatch.setattr(VoilaExecutor, "execute_cell", dies)
    made = PageExecutor(NotebookNode(), km=None)
    assert [asyncio.run(made.execute_cell(cell, None, 0)) for cell in ("one", "two")] == ["one", "two"]
    assert (asked, made.ended) == (["one"], True)
