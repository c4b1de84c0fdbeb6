"""Pages that are opened at once are made one after another, so that the first is there early and no cell times out.
Their templates are compiled once for all. One whose kernel ends meanwhile, or that fails otherwise, says so."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import AsyncGenerator, Awaitable
from types import CodeType

from jinja2 import BytecodeCache, Environment, meta
from jinja2.bccache import Bucket
from jupyter_client.manager import KernelManager
from jupyter_core.utils import ensure_async
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from voila import handler, notebook_renderer
from voila.execute import VoilaExecutor
from voila.exporter import VoilaExporter
from voila.notebook_renderer import NotebookRenderer
from voila.paths import collect_template_paths
from voila.tornado.handler import TornadoVoilaHandler

from workbench.errors import error_message

AT_ONCE = len(os.sched_getaffinity(0)) + 1 if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1) + 1
"""Pages that are made at the same time: one for each core, and one while a kernel starts."""
LONGEST = 15.0
"""Seconds after which a page that is still being made keeps the next one waiting no longer."""


ENDED = "<script>workbenchEnded()</script>"
"""The last part of a page whose kernel has ended; the function is that of the template."""
LONGEST_FAILURE = 300
"""Characters of the sentence on another failure; the log of the server has all of it."""
_log = logging.getLogger(__name__)


class Opening:
    """A place among the pages that are made; also an asynchronous context."""

    def __init__(self, places: asyncio.Semaphore) -> None:
        self._places = places
        self._timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> None:
        await self._places.acquire()
        self._timer = asyncio.get_running_loop().call_later(LONGEST, self._free)

    async def __aexit__(self, *_: object) -> None:
        self._free()

    def _free(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._places.release()


class CompiledTemplates(BytecodeCache):
    """Code of templates in memory, by template; one whose text has changed is compiled again."""

    def __init__(self) -> None:
        self._compiled: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with the code of its template, where that has been compiled."""
        checksum, code = self._compiled.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template."""
        if bucket.code is not None:
            self._compiled[bucket.key] = (bucket.checksum, bucket.code)


class PageExporter(VoilaExporter):
    """Voila's writer of a page. Voila makes one for each page, which compiled all its templates: 0.2 s of a core."""

    compiled = CompiledTemplates()

    @property
    def environment(self) -> Environment:
        """The environment of the templates, which finds their code."""
        made = super().environment
        made.bytecode_cache = self.compiled
        return made


class PageExecutor(VoilaExecutor):
    """Runs the cells of a page. ended: its kernel has, and the cells that follow are not run."""

    ended = False

    async def execute_cell(
        self, cell: NotebookNode, resources: object, cell_index: int, store_history: bool = True
    ) -> NotebookNode:
        """Run a cell; returns it with what it shows."""
        if not self.ended:
            try:
                return await super().execute_cell(cell, resources, cell_index, store_history)
            except DeadKernelError:
                self.ended = True
        return cell


class PageRenderer(NotebookRenderer):
    """Writes a page, also where that fails: Voila's own waits for ever for the rest of such a page."""

    async def generate_content_generator(
        self, kernel_id: str | None = None, kernel_future: KernelManager | Awaitable[KernelManager] | None = None
    ) -> AsyncGenerator[tuple[str, object]]:
        """The parts of the page; the last one says if its kernel has ended, or why else it could not be made."""
        try:
            async for part in super().generate_content_generator(kernel_id, kernel_future):
                yield part
            last = ENDED if isinstance(self.executor, PageExecutor) and self.executor.ended else ""
        # Whatever it is, no further part comes.
        except Exception as error:
            _log.exception("The page of kernel %s could not be made", kernel_id)
            last = failed(error) if await _is_alive(kernel_future) else ENDED
        if last:
            yield last, None


def failed(error: Exception) -> str:
    """The last part of a page that could not be made though its kernel is there."""
    sentence = error_message(error, "making this page")
    if len(sentence) > LONGEST_FAILURE:
        sentence = f"{sentence[:LONGEST_FAILURE]}..."
    # No text of an error ends the script.
    said = json.dumps(f"{sentence[0].upper()}{sentence[1:]}").replace("<", "\\u003c")
    return f"<script>workbenchEnded({said})</script>"


async def _is_alive(kernel: KernelManager | Awaitable[KernelManager] | None) -> bool:
    """True if the process of a kernel runs."""
    return kernel is not None and await ensure_async((await ensure_async(kernel)).is_alive())


def compile_templates(name: str) -> None:
    """Compile a template of pages, and those that it needs, before the first page does."""
    paths = collect_template_paths(["voila", "nbconvert"], name)
    environment = PageExporter(template_paths=paths, template_name=name).environment
    assert environment.loader is not None
    # Voila names these for each page anew.
    for later in ("highlight_code", "trusted"):
        environment.filters.setdefault(later, str)
    waiting, known = ["index.html.j2"], set[str]()
    while waiting:
        if (part := waiting.pop()) not in known:
            known.add(part)
            environment.get_template(part)
            source, *_ = environment.loader.get_source(environment, part)
            waiting += filter(None, meta.find_referenced_templates(environment.parse(source)))


# Voila has no options for them.
notebook_renderer.VoilaExporter = PageExporter
notebook_renderer.VoilaExecutor = PageExecutor
handler.NotebookRenderer = PageRenderer


class Page(TornadoVoilaHandler):
    """Voila's page with a kernel of its own, made in its order."""

    places = asyncio.Semaphore(AT_ONCE)

    async def get_generator(self, path: str | None = None) -> AsyncGenerator[str, None]:
        """The parts of the page, as soon as it is its turn."""
        async with Opening(self.places):
            async for part in super().get_generator(path):
                yield part
