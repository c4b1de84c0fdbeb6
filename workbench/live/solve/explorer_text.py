"""What the explorer says of its present run."""

from __future__ import annotations

from workbench.live.kit.frontend import FORGETS, in_voila
from workbench.live.kit.number_text import relative, seconds
from workbench.live.solve.active_runs import Going
from workbench.run import State
from workbench.run.machine_use import sharing

STOPPING = "stopping"
"""The word for a run whose end is wished for and pending."""


def sentence(shown: Going | None, state: State) -> tuple[str, str]:
    """What the status line says of the present run, and its tone."""
    if shown is None:
        return "Choose a problem and its blocks, then press Run." + FORGETS * in_voila(), "plain"
    session, name = shown.session, f"run {shown.number}"
    if session.ending:
        return f"{name}: {STOPPING}", "busy"
    if state is State.QUEUED:
        return f"{name}: queued behind {session.ahead}", "busy"
    if state is State.SETUP:
        phase = session.phases.present
        return f"{name}: setting up{f', {phase}' if phase else ''}", "busy"
    if state is State.FAILED:
        return f"{name}: {session.error}", "bad"
    if state is State.DONE and session.result is not None:
        result = session.result
        took = f"setup {seconds(result.setup_seconds)} s, iterating {seconds(result.iteration_seconds)} s"
        true = f"true relative residual {relative(result.true_relative_residual)}"
        parts = [f"{name} {result.summary['reason']}", true, took]
        parts += [shared] if (shared := sharing(result.summary["runs_at_once"] or 1)) else []
        return "; ".join(parts), "good" if result.converged else "plain"
    if state is State.DONE:
        background = "; what was under way cannot be interrupted and ends in the background"
        said = session.error or "stopped by the user"
        return f"{name}: {said}{background if session.lingering else ''}", "plain"
    # Before the last row: of a run that rests it is then the final one.
    doing = "pausing after this iteration" if session.pausing else state.value
    last = shown.curve.last
    if last is None or session.run is None:
        return f"{name}: {state.value}", "busy"
    spent = f"{seconds(session.run.iteration_seconds)} s"
    shared = sharing(session.run.runs_at_once)
    text = f"{name}: {doing}, iteration {last[0]:,}, relative residual {relative(last[1])}, {spent}"
    return f"{text}; {shared}" if shared else text, "busy"
