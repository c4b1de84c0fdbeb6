"""Iterations by recorded graphs: how many are in a graph, and any number of them by two graphs."""

from __future__ import annotations

from collections.abc import Callable

MOST_LAUNCHES = 64
"""Launches of a recorded graph, unless one iteration has more: such a graph keeps the device busy for several times as
long as the host takes to launch it, and recording a longer one takes milliseconds."""


def iterations_of_graph(most: int, launches: int) -> int:
    """The number of iterations in a graph, at most `most`, for iterations of `launches` launches."""
    # Recording takes the host as long as launching; long programs gain nothing from many in one graph.
    unit = min(most, MOST_LAUNCHES // max(1, launches))
    # Two iterations in a graph save less than recording them takes.
    return unit if unit > 2 else 1


def in_units(one: Callable[[], None], many: Callable[[], None], unit: int) -> Callable[[int], None]:
    """A function that makes a number of iterations by graphs of one and of `unit` iterations."""

    def repeat(times: int) -> None:
        for _ in range(times // unit):
            many()
        for _ in range(times % unit):
            one()

    return repeat
