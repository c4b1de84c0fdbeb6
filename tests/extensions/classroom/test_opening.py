"""Pages that are opened at once are made in their order."""

import asyncio

from jinja2 import DictLoader, Environment
from voila import notebook_renderer

from workbench.extensions.classroom.server import opening as module
from workbench.extensions.classroom.server.opening import CompiledTemplates, Opening, PageExporter


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
        async with Opening(places), asyncio.timeout(5), Opening(places):
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
