"""What a race says of itself: the winner in a sentence, and a row of numbers for each lane."""

from __future__ import annotations

import html

from workbench.figures import CurveStyle
from workbench.live.kit.finished_runs import SHORT, swatch
from workbench.live.kit.form_fields import as_text
from workbench.live.kit.number_text import amount, duration, relative
from workbench.run import RaceEntry, Reason, State
from workbench.run.ranking import Finish, Ranking, held_up_seconds

HEADINGS = ("", "lane", "state", "iterations", "setup", "iterating", "bytes", "‖r‖\u2009/\u2009‖b‖", "to tolerance")
NOTABLE = 0.1
"""A lane that was held up for a larger share of its time is named."""


def heading() -> str:
    """The heads of the columns, as HTML."""
    return _cells("wb-cells wb-head", HEADINGS)


def row(lane: RaceEntry, style: CurveStyle, finish: Finish | None, measure: str) -> str:
    """One lane as HTML: how it is drawn, how it goes, what it has spent, and what it took to the tolerance."""
    name = html.escape(lane.label)
    if lane.error:
        why = f'<span class="wb-why">{html.escape(lane.error)}</span>'
        return f'<div class="wb-cells"><span></span><span>{name}</span>{why}</div>'
    run = lane.run
    count = run.history.count if run is not None else 0
    if run is None or not count:
        return _cells("wb-cells", (swatch(style), name, _state(lane), *[""] * 6))
    spent = lane.iteration_bytes
    return _cells(
        "wb-cells",
        (
            swatch(style),
            name,
            _state(lane),
            f"{count - 1:,}",
            duration(run.setup_seconds),
            duration(run.iteration_seconds),
            "not counted" if spent is None else amount((count - 1) * spent),
            relative(run.relative(float(run.history["residual"][count - 1]))),
            _amount(finish, measure) if finish else "–",
        ),
    )


def sentence(found: Ranking, aim: float) -> str:
    """The winner at the tolerance and by how much it leads, or why there is none. aim: where the lanes stop."""
    at = f"At a relative residual of {found.tolerance:.3g}"
    if not found.finished:
        return " ".join([_why_nobody(found, at, aim), *_left_out(found)])
    first = found.finished[0]
    parts = [] if found.measure == "iterations" else [f"{first.iterations:,} iterations"]
    parts += [f"setup {duration(first.setup)}"] if first.setup else []
    counted = f" ({', '.join(parts)})" if parts else ""
    by = found.measure
    by += (" with setup" if found.with_setup else " without setup") if by == "seconds" else ""
    names = " and ".join(_name(finish.entry) for finish in found.winners)
    verb = "wins" if len(found.winners) == 1 else "win together"
    so_far = " so far" if found.open else ""
    parts = [f"{at} {names} {verb} by {by}{so_far}: {_amount(first, found.measure)}{counted}"]
    rest = found.finished[len(found.winners) :]
    if rest:
        parts.append(f"next is {_name(rest[0].entry)} with {_amount(rest[0], found.measure)}{_times(rest[0], first)}")
    return " ".join(["; ".join(parts) + ".", *_left_out(found)])


def finer(tolerance: float, aim: float) -> bool:
    """Whether lanes that stop at `aim` need not reach a tolerance."""
    return tolerance < aim * (1 - 1e-9)


def _why_nobody(found: Ranking, at: str, aim: float) -> str:
    if not finer(found.tolerance, aim):
        return f"{at} there is no winner yet." if found.open else f"{at} there is no winner: no lane reached it."
    then = "" if found.open else f"; run them again to {found.tolerance:.3g}"
    return f"{at} there is no winner, since the lanes stop at {as_text(aim)}{then}."


def _disturbed(found: Ranking) -> list[RaceEntry]:
    """Where seconds decide, the lanes whose clocks ran while others had the cores for more than a tenth of the time."""
    if found.measure != "seconds":
        return []
    clocks = [(finish.entry, finish.entry.run.history["seconds"]) for finish in found.finished if finish.entry.run]
    return [lane for lane, clock in clocks if held_up_seconds(clock) > NOTABLE * clock[-1]]


def _name(lane: RaceEntry) -> str:
    return f"lane {lane.number} ({lane.method})"


def _times(later: Finish, first: Finish) -> str:
    return f", {later.amount / first.amount:.3g} times as much" if first.amount > 0 else ""


def _left_out(found: Ranking) -> list[str]:
    """Lanes that are not in the order, and why."""
    reasons = (
        (found.open, "may still come in before it" if found.finished else "may still reach it"),
        (found.residual_gap, "its residual gap opened before, so not counted"),
        (_disturbed(found), "held up by other work on this machine, so its seconds are too many"),
        (found.uncounted, "left out, since bytes cannot be counted"),
    )
    told = [f"{', '.join(_name(lane) for lane in lanes)}: {why}." for lanes, why in reasons if lanes]
    return [text[0].upper() + text[1:] for text in told]


def _amount(finish: Finish, measure: str) -> str:
    match measure:
        case "iterations":
            return f"{finish.iterations:,}" + (" iterations" if finish.iterations != 1 else " iteration")
        case "seconds":
            return duration(finish.amount)
    return amount(finish.amount)


def _state(lane: RaceEntry) -> str:
    if lane.state is State.DONE and lane.result is not None:
        reason = lane.result.reason
        title = html.escape(lane.result.summary["reason"], quote=True)
        return f'<span title="{title}">{html.escape(SHORT.get(reason, reason.sentence.partition(";")[0]))}</span>'
    if lane.state is State.DONE:
        return SHORT[Reason.CANCELLED]
    return "waiting" if lane.state is State.IDLE else lane.state.value


def _cells(name: str, texts: tuple[str, ...]) -> str:
    cells = [f"<span{' class=wb-number' if place > 2 else ''}>{text}</span>" for place, text in enumerate(texts)]
    return f'<div class="{name}">{"".join(cells)}</div>'
