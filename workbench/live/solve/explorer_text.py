"""Texts of the explorer on its present run: its state, its result, and the phases of its setup."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from workbench.live.plots.curve import Curve
from workbench.live.solve.controller import STOPPING
from workbench.live.ui.run_handle import RunHandle
from workbench.live.ui.words import shown
from workbench.plots.html_table import html_table
from workbench.records import Record
from workbench.run import Reason, Session, State
from workbench.run.machine_use import sharing
from workbench.words.names import name_of, sentence_case, with_names
from workbench.words.numbers import amount, compiling, count, counted, duration, number, queued, seconds, waited

EMPTY = "No run yet. The curve of ‖r‖/‖b‖, the field and where the time went appear here."
SIGNS = {"good": "✓", "bad": "✕", "plain": "!"}
EXPLAINED = ("E is singular", "A maps")
"""Beginnings of notes that explain a result; the others are in the list below the phases of the setup."""
STOPPED = "Stopped by the user"
BACKGROUND = "; the present step ends in the background"
TRUE = "‖b − Ax‖/‖b‖"
_BEST = re.compile(r"x is (that of iteration [\d\u202f]+|[^,;]+), whose true residual")
HEADINGS = ("phase of the setup", "time, s", "share", "memory")
COUNTED = 1000
"""Bytes: fewer are within the accuracy of the count."""


def sentence(
    session: Session | None, number_of_run: int, curve: Curve | None, state: State, progress: str = ""
) -> tuple[str, str]:
    """The state of a run in words, and its tone. progress: its iterations and those left, in words."""
    if session is None:
        return "Choose a problem and its blocks, then press Run.", "plain"
    name = f"Run {number_of_run}"
    if session.ending:
        return f"{name}: {STOPPING}", "busy"
    if state is State.QUEUED:
        return f"{name}: {queued(session.ahead)}", "busy"
    if state is State.SETUP:
        return f"{name}: {RunHandle(session).waiting or state.value}", "busy"
    if state is State.FAILED:
        return f"{name}: {with_names(session.error)}", "bad"
    if state is State.DONE and session.result is not None:
        return f"{name}: {ending(session.result.summary)}", "good" if session.result.converged else "plain"
    if state is State.DONE:
        return f"{name}: {session.error or STOPPED}{BACKGROUND * session.lingering}", "plain"
    # Before the last row: of a run that rests it is then the final one.
    doing = "pausing after this iteration" if session.pausing else state.value
    last = curve.last if curve else None
    if last is None or session.run is None:
        return f"{name}: {state.value}", "busy"
    done = progress or f"iteration {count(last[0])}"
    text = f"{name}: {doing}, {done}, ‖r‖/‖b‖ = {number(last[1])}"
    shared = sharing(session.run.runs_at_once)
    return f"{text}; {shared}" if shared else text, "busy"


def ending(summary: Mapping[str, Any]) -> str:
    """How a run ended in one line, with its true residual."""
    if summary["converged"]:
        done = counted(summary["iterations"], "iteration")
        true = f"{TRUE} = {number(summary['true_relative_residual'])}"
        if Reason.CONSISTENT.begins(summary["reason"]):
            return f"Converged in {done} for the part of b in the range of A (verified); for the given b, {true}."
        return f"Converged in {done}: {true} (residual verified)."
    at = _BEST.search(summary["reason"])
    best = f"Best x: {number(summary['true_relative_residual'])} at {_place(summary, at[1] if at else '')}."
    return shown(f"{_cause(summary)}. {best}")


def needs_plain_cg(summary: Mapping[str, Any]) -> bool:
    """True if rounding ended a run whose method is less accurate than plain CG."""
    return _ended_by(summary, Reason.ROUNDING) and "solver cg may be" in summary["reason"]


def _ended_by(summary: Mapping[str, Any], *reasons: Reason) -> bool:
    return str(summary["reason"]).startswith(tuple(reason.sentence for reason in reasons))


def _cause(summary: Mapping[str, Any]) -> str:
    """Why a run did not converge, in one clause."""
    if _ended_by(summary, Reason.ROUNDING):
        return f"Broke down: rounding errors dominate {name_of('solver', summary['solver'])} here"
    cause, _, details = _parts(summary["reason"])
    # What failed is known from the error alone.
    if _ended_by(summary, Reason.FAILED, Reason.DEVICE_LOST):
        cause = details.partition("; ")[0] or cause
    return sentence_case(cause)


def _place(summary: Mapping[str, Any], best: str) -> str:
    """The iteration of x; best: the words of the reason where it is not the last one."""
    found = re.search(r"[\d\u202f,]+", best)
    return best.removeprefix("that of ") if found or best else f"iteration {count(summary['iterations'])}"


def _parts(reason: str) -> tuple[str, str, str]:
    """Cause, remedy and details of a reason; the last two may be empty."""
    outline, _, details = reason.partition(" (")
    cause, _, remedy = outline.partition("; ")
    return cause, remedy, details.removesuffix(")")


def result_html(
    number_of_run: int,
    summary: Mapping[str, Any] | None,
    words: str,
    tone: str,
    notes: Sequence[str],
    queue_seconds: float = 0.0,
) -> str:
    """The result as it stands above the plot: sentence, times, and the notes of the run. summary: None for a run that
    has not made its first iteration. queue_seconds: those in the run queue, which are in no other time."""
    took = "no iteration was made."
    if summary is not None:
        setup, iterating = summary["setup_seconds"], summary["iteration_seconds"]
        each = f"; {duration(iterating / summary['iterations'])} per iteration" if summary["iterations"] else ""
        more = "".join(
            f"; {clause}" for clause in (waited(queue_seconds), compiling(summary.get("compile_seconds"))) if clause
        )
        took = f"<b>{duration(setup + iterating)}</b>, of which setup {duration(setup)}{each}{more}."
    else:
        summary, words = {}, f"{words[0].upper()}{words[1:].rstrip('.')}."
    reported = [note for note in notes if note.startswith(EXPLAINED)]
    reported += [shared] if (shared := sharing(summary.get("runs_at_once") or 1)) else []
    folded = ""
    if summary and tone != "good":
        _, remedy, details = _parts(summary["reason"])
        reported += [remedy] if remedy and not needs_plain_cg(summary) else []
        listed = "".join(f"<li>{_sentence(clause)}</li>" for clause in details.split("; "))
        folded = f"<details><summary>Details</summary><ul>{listed}</ul></details>" if details else ""
    said = " ".join(map(_sentence, reported))
    return (
        f'<div class="wb-result wb-{tone}"><span class="wb-mark">{SIGNS[tone]}</span><div class="wb-said">'
        f'<span>{_bold(words)}</span><span class="wb-note">Run {number_of_run}: {took} {said}</span>'
        f"{folded}</div></div>"
    )


def _sentence(clause: str) -> str:
    """A clause as a sentence, as HTML."""
    return escape(shown(with_names(clause[:1].upper() + clause[1:].rstrip(".") + ".")))


def _bold(words: str) -> str:
    """The sentence as HTML, with the number of iterations and the residual in bold."""
    return re.sub(r"(\d[\d\u202f]* iterations?\b|(?<= = )[^ ]*[^ .]|(?<=Best x: )[^ ]+)", r"<b>\1</b>", escape(words))


def setup_line(name: str, record: Record) -> str:
    """HTML that unfolds: a table of the phases of the setup, and all notes. The result says how long all of it took."""
    summary, notes = record.summary, record.provenance["notes"]
    took, phases = summary["setup_seconds"], summary.get("setup_phases") or []
    solver = summary.get("coarse_solver")
    chosen = f"; coarse solver {escape(name_of('coarse', solver))}" if solver else ""
    head = f"Phases of the setup of {escape(name)}{chosen}"
    table = (
        html_table(HEADINGS, [_row(phase, took) for phase in phases], numbers=(1, 2, 3), classes="wb-kernels")
        if phases
        else ""
    )
    said = filter(None, (compiling(summary.get("compile_seconds")), *notes))
    listed = "".join(f"<li>{escape(shown(note))}</li>" for note in said)
    more = f"<ul>{listed}</ul>" if listed else ""
    return f"<details class='wb-setup'><summary>{head}</summary>{table}{more}</details>"


def _row(phase: Mapping[str, Any], took: float) -> tuple[str, ...]:
    share = phase["seconds"] / took if took > 0 else 0.0
    memory = amount(phase["nbytes"]) if abs(phase["nbytes"]) >= COUNTED else ""
    return phase["name"], seconds(phase["seconds"]), f"{share:.0%}", memory
