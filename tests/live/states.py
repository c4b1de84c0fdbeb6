"""Views in a state that has a name: how each is opened, and brought there by its buttons, is written here once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.waiting import LIMIT, until
from workbench.live import RaceView, Suggest, SweepView, explore, flow
from workbench.run import Session, State, Stopping, configure

ENDLESS = Stopping(rtol=1e-300, maxiter=10**9, stagnation=10**9)
"""Of runs that end when they are stopped."""
PLAIN = {"preconditioner": "none", "deflation": "none", "stopping": ENDLESS}
"""A solve that never ends, with short iterations."""


class ViewIn(Protocol):
    """Opens a view, brings it into a state, and closes it with the test.

    given, choices: as the view takes them. A run that is to be at work when the test begins needs a rule by which it
    does not end: solves and sweeps have one unless they are given another. measure: of a race, set before its start.

    | kind    | states                                      |
    |---------|---------------------------------------------|
    | solve   | fresh, solving, paused, ended               |
    | race    | fresh, racing, ended                        |
    | sweep   | fresh, stopped, ended                       |
    | suggest | fresh, ended                                |
    | flow    | fresh, begun (one step, then paused), ended |
    """

    def __call__(self, kind: str, *given: Any, state: str = "fresh", **choices: Any) -> Any: ...


def _solving(view: Any) -> None:
    session = view.run()
    until(lambda: session.state is State.RUNNING and session.run.iterations > 3)


def _paused_solve(view: Any) -> None:
    _solving(view)
    view.pause()
    until(lambda: view.session.state is State.PAUSED and not view.session.pausing)


def _solved(view: Any) -> None:
    before = view.result.value
    view.run().join(LIMIT)
    # The page says the end of the run before this one until it has been brought up to date.
    until(lambda: view.result.value != before and view.status.state in ("done", "failed"))
    until(lambda: view.status.shown_elsewhere)


def _racing(view: Any) -> None:
    view.start()
    until(lambda: all(entry.run is not None and entry.run.iterations > 5 for entry in view.race.entries))


def _raced(view: Any) -> None:
    view.start()
    view.race.wait(LIMIT)
    # The bar says the end before the verdict is that of the whole race.
    until(lambda: view.status.state == "done" and view.winner.text == view.present.verdict)


def _stopped_sweep(view: Any) -> None:
    view.run()
    until(lambda: not view.status.stop.disabled)
    view.stop()
    view.wait(LIMIT)
    until(lambda: view.status.state == "done" and not view.status.run.disabled)


def _swept(view: Any) -> None:
    view.wait(LIMIT)


def _suggested(view: Any) -> None:
    view.find().join(LIMIT)
    # The bar says the end before the rows have the times of the last measurements.
    until(lambda: "searched for" in view.status.text and _seconds_shown(view) == _seconds_known(view))


def _seconds_shown(view: Suggest) -> list[float]:
    place = list(view.table.columns).index("Together") if view.table.rows else 0
    return [cells[place]["key"] for cells in view.table.rows]


def _seconds_known(view: Suggest) -> list[float]:
    return [each.seconds for each in view.estimates[: len(view.table.rows)]]


def _begun_flow(view: Any) -> None:
    view.step()
    until(lambda: view.sequence.steps == 1 and view.player.state is State.PAUSED)


def _played(view: Any) -> None:
    view.play()
    view.wait(LIMIT)


REACHED: dict[str, dict[str, Callable[[Any], None]]] = {
    "solve": {"solving": _solving, "paused": _paused_solve, "ended": _solved},
    "race": {"racing": _racing, "ended": _raced},
    "sweep": {"stopped": _stopped_sweep, "ended": _swept},
    "suggest": {"ended": _suggested},
    "flow": {"begun": _begun_flow, "ended": _played},
}
"""How a view comes into a state, by its kind."""
GO_ON = ("solving", "paused", "stopped")
"""States that a solve or sweep does not reach if it ends by itself."""


def _made(kind: str, given: tuple[Any, ...], folder: Path, endless: bool, choices: dict[str, Any]) -> Any:
    match kind:
        case "solve":
            return explore(*given, folder=folder, **(PLAIN if endless else {}) | choices)
        case "race":
            return RaceView(*given, folder=folder, **choices)
        case "sweep":
            return SweepView(*given, folder=folder, **({"stopping": ENDLESS} if endless else {}) | choices)
        case "suggest":
            return Suggest(*given, **choices)
    return flow(*given, **choices)


KINDS = {"Explorer": "solve", "RaceView": "race", "SweepView": "sweep", "Suggest": "suggest", "FlowView": "flow"}


def bring(view: Any, state: str) -> Any:
    """Bring an open view into a state, as `ViewIn` names it; returns the view."""
    REACHED[KINDS[type(view).__name__]][state](view)
    return view


@pytest.fixture
def view_in(opened: Callable[[Any], Any], tmp_path: Path) -> ViewIn:
    """Views in a named state, see `ViewIn`."""

    def make(kind: str, *given: Any, state: str = "fresh", measure: str = "", **choices: Any) -> Any:
        view = opened(_made(kind, given, choices.pop("folder", tmp_path / "exports"), state in GO_ON, choices))
        if measure:
            view.look.set("measure", measure)
        return view if state == "fresh" else bring(view, state)

    return make


class RunIn(Protocol):
    """A run in a state, which ends with the test. views: those that follow it from before its start.

    state: `idle`, `running`, `paused` or `ended`. One that is not to end needs a stopping rule to end by itself.
    """

    def __call__(self, state: str, *views: Any, problem: str = "two-layer", **choices: Any) -> Session: ...


def follow(view: Any, session: Session) -> None:
    """Let a view of runs show this one."""
    of_views = (getattr(view, name, None) for name in ("follow", "watch", "show"))
    next(filter(None, of_views))(session)


@pytest.fixture
def run_in() -> Iterator[RunIn]:
    """Runs in a named state, see `RunIn`."""
    sessions: list[Session] = []

    def make(state: str, *views: Any, problem: str = "two-layer", trace: bool = False, **choices: Any) -> Session:
        session = Session(
            configure(problem, **({} if state == "ended" else {"stopping": ENDLESS}) | choices), trace=trace
        )
        sessions.append(session)
        for view in views:
            follow(view, session)
        if state != "idle":
            session.start()
        if state == "ended":
            session.wait(LIMIT)
        if state in ("running", "paused"):
            until(lambda: session.state is State.RUNNING and session.run.iterations > 3)
        if state == "paused":
            session.pause()
            until(lambda: session.state is State.PAUSED and not session.pausing)
        return session

    yield make
    for session in sessions:
        session.stop()
        session.join(LIMIT)
