"""Pages that are opened at once are made in their order."""

import asyncio

from workbench.extensions.classroom.server import opening as module
from workbench.extensions.classroom.server.opening import Opening


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
