"""A forwarder between a browser and a server, which can stop passing bytes: a network that is cut without a word."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator

from tests.waiting import LIMIT

CHUNK = 1 << 16


class Forwarder:
    """port: of the server. It listens at `address` in a thread of its own; both ends stay open while bytes rest."""

    def __init__(self, port: int) -> None:
        self._port, self.address = port, ""
        self.loop = asyncio.new_event_loop()
        self._passing = asyncio.Event()
        self._passing.set()

    def stop(self) -> None:
        """Pass nothing, in either direction, also of connections that come."""
        self.loop.call_soon_threadsafe(self._passing.clear)

    def go_on(self) -> None:
        """Pass what has come meanwhile, and all further bytes."""
        self.loop.call_soon_threadsafe(self._passing.set)

    async def listen(self) -> asyncio.Server:
        made = await asyncio.start_server(self._connect, "127.0.0.1", 0)
        self.address = f"http://127.0.0.1:{made.sockets[0].getsockname()[1]}"
        return made

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            answers, server = await asyncio.open_connection("127.0.0.1", self._port)
            await asyncio.gather(self._pass(reader, server), self._pass(answers, writer))

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(CHUNK):
                await self._passing.wait()
                target.write(data)
                await target.drain()
        await self._passing.wait()
        target.close()


@contextlib.contextmanager
def forwarding(url: str) -> Iterator[Forwarder]:
    """A forwarder to the server at a URL, for a while."""
    made = Forwarder(int(url.rpartition(":")[2]))
    loop = made.loop
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(made.listen(), loop).result(LIMIT)
        yield made
    finally:

        def end() -> None:
            for each in asyncio.all_tasks(loop):
                each.cancel()
            loop.call_later(0.1, loop.stop)

        loop.call_soon_threadsafe(end)
        thread.join(LIMIT)
        loop.close()
