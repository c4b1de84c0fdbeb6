"""From rounds to figures: medians with bootstrap intervals, compared with the requirements."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np

SAMPLES = 4000
LEVEL = 95
FEWEST = 6
"""Rounds below which the interval of the median is not reported."""
PROMPT_MS = 33
"""Two frames of a screen: the largest delay that is not visible as stutter."""
STOPPING = "stopping"
"""The state of a run whose end is pending, as the status line says it."""
SHARES = ("on_a_core", "waiting_for_a_core", "asleep")


def costs(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The slowdown by showing a run: ratios of each round's two windows, and CPU time of the kernel's threads."""
    slower = [100 * (one["alone"]["rate"] / one["watched"]["rate"] - 1) for one in rounds]
    told: dict[str, Any] = {
        "rounds": len(rounds),
        "iterations_per_second": {
            name: statistics.median(one[name]["rate"] for one in rounds) for name in ("watched", "alone")
        },
        "slowdown_percent": interval(slower),
        "slowdown_of_each_round_percent": [round(value, 1) for value in slower],
    }
    if all(one[name]["browser"] is not None for one in rounds for name in ("watched", "alone")):
        told["browser_ms_per_s"] = {
            name: interval([1000 * one[name]["browser"] for one in rounds]) for name in ("watched", "alone")
        }
        more = [one["watched"]["browser"] - one["alone"]["browser"] for one in rounds]
        told["browser_more_ms_per_s"] = interval([1000 * value for value in more])
    if all(one[name]["solver"] for one in rounds for name in ("watched", "alone")):
        more = [one["watched"]["others"] - one["alone"]["others"] for one in rounds]
        told["other_python_threads_more_ms_per_s"] = interval([1000 * value for value in more])
        for share in SHARES:
            more = [one["watched"]["solver"][share] - one["alone"]["solver"][share] for one in rounds]
            told[f"solver_more_{share}_ms_per_s"] = interval([1000 * value for value in more])
    return told


def interval(values: list[float]) -> dict[str, float]:
    """The median, its 95% interval by the bootstrap (percentiles of resampled medians), smallest and largest."""
    array = np.asarray(values)
    picks = np.random.default_rng(0).integers(0, array.size, (SAMPLES, array.size))
    low, high = np.percentile(np.median(array[picks], axis=1), [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    told = {"median": np.median(array), "low": low, "high": high, "least": array.min(), "most": array.max()}
    return {name: float(value) for name, value in told.items()}


def requirements(
    watched: dict[str, dict[str, Any]],
    timeline: dict[str, Any],
    plot: dict[str, Any],
    dragged: dict[str, dict[str, float]],
    places: dict[str, list[dict[str, Any]]],
    bare: list[dict[str, Any]],
    films: list[dict[str, dict[str, float]]],
) -> list[dict[str, Any]]:
    """A row for each requirement: measured value, sample size, scatter, and whether it is met.

    watched: response times, curves and field, by the solver's device; dragged: what `dragging` returns; places: rounds
    by devices of solver and page; bare: rounds with a page that only paints; films: what `filmed` returns.
    """
    found = []
    for where, told in watched.items():
        found += [_answers(told["answers"], where), _ends(told["answers"], where)]
        found += [_paints(f"convergence{where}", 20, told["curves"])]
        found += [_paints(f"field (residual){where}", 10, told["field"])]
    events = f"timeline, {timeline['events']:,} events"
    found += [_gesture(f"{events}: {kind}", timeline[kind]) for kind in ("zoom", "pan")]
    curves = f"plot, {plot['curves']} curves of {plot['samples']:,} samples"
    found += [_gesture(f"{curves}: {kind}", plot[kind]) for kind in ("zoom", "select")]
    found += [_drag(n, told) for n, told in dragged.items()]
    for where, rounds in places.items():
        found += _slowdown(where, costs(rounds))
    return found + _least(costs(bare)) + _films(films)


def table(rows: list[dict[str, Any]]) -> str:
    """The requirements as text, one line each."""
    names = ("requirement", "measured", "of", "scatter", "met")
    cells = [names, *([str(row[name]) for name in names] for row in rows)]
    wide = [max(len(row[place]) for row in cells) for place in range(len(names))]
    lines = [" | ".join(text.ljust(width) for text, width in zip(row, wide, strict=True)).rstrip() for row in cells]
    return "\n".join([lines[0], "-|-".join("-" * width for width in wide), *lines[1:]])


def _row(requirement: str, measured: str, of: str, scatter: str, met: str) -> dict[str, Any]:
    return {"requirement": requirement, "measured": measured, "of": of, "scatter": scatter, "met": met}


def _answers(answers: list[dict[str, Any]], where: str = "") -> dict[str, Any]:
    spent = [answer["painted_ms"] for answer in answers if answer["from"] != STOPPING]
    return _within(f"a button answers within 100 ms, click to painted state{where}", 100, spent)


def _ends(answers: list[dict[str, Any]], where: str = "") -> dict[str, Any]:
    spent = [answer["painted_ms"] for answer in answers if answer["name"] == "Stop" and answer["to"] != STOPPING]
    return _within(f"Stop has ended the run within 200 ms, click to painted state{where}", 200, spent)


def _within(requirement: str, most: int, spent: list[float]) -> dict[str, Any]:
    spent = sorted(spent)
    late = sum(ms > most for ms in spent)
    return _row(
        requirement,
        f"median {statistics.median(spent):.0f} ms",
        f"{len(spent)} clicks",
        f"{spent[0]:.0f} to {spent[-1]:.0f} ms, {late} above {most}",
        _met(not late),
    )


def _paints(name: str, least: int, rates: list[float]) -> dict[str, Any]:
    what = f"{name}: at least {least} paints a second"
    if not rates:
        return _row(what, "not measured: no paint was reported", "0 runs", "", "")
    told = f"{len(rates)} runs"
    middle = statistics.median(rates)
    return _row(what, f"{middle:.1f} /s", told, f"{min(rates):.1f} to {max(rates):.1f} /s", _met(middle >= least))


def _gesture(what: str, told: dict[str, Any]) -> dict[str, Any]:
    what += f" is drawn within {PROMPT_MS} ms, 95 times in 100"
    if not told.get("draws"):
        return _row(what, "not measured: nothing was drawn", "0 draws", "", "")
    draw, wait, apart = told["draw_ms"], told["asked_to_drawn_ms"], told["between_draws_ms"]
    scatter = (
        f"p95 {draw['p95']:.1f} ms, most {draw['most']:.1f} ms; {told['draws_per_second']:.0f} draws/s, "
        f"asked to drawn p95 {wait['p95']:.0f} ms, longest gap {apart.get('most', 0):.0f} ms"
    )
    of = f"{told['draws']} draws of {told['asked']} asked for, {told['unanswered']} never answered"
    prompt = bool(wait) and wait["p95"] <= PROMPT_MS and told["unanswered"] <= 0.05 * told["asked"]
    return _row(what, f"{draw['median']:.1f} ms per draw", of, scatter, _met(prompt))


def _drag(n: str, told: dict[str, float]) -> dict[str, Any]:
    what = f"while a bubble is dragged, {n}^2: from a pause to the curve of the solve within 100 ms"
    scatter = f"p95 {told['p95']:.0f} ms, most {told['most']:.0f} ms"
    of = f"{told['count']:.0f} pauses"
    return _row(what, f"median {told['median']:.0f} ms", of, scatter, _met(told["median"] <= 100))


def _slowdown(where: str, told: dict[str, Any]) -> list[dict[str, Any]]:
    what = f"a solve is slower by at most 5% ({where})"
    return [_slower(what, told["slowdown_percent"], told["rounds"]), *_shares(told)]


def _slower(what: str, found: dict[str, float], count: int) -> dict[str, Any]:
    """A row of a slowdown of at most 5%."""
    decided = "yes" if found["high"] <= 5 else "no" if found["low"] > 5 else "undecided"
    return _interval(what, found, "%", f"{count} rounds", "too few rounds" if count < FEWEST else decided)


def _films(films: list[dict[str, dict[str, float]]]) -> list[dict[str, Any]]:
    """What a film costs a run by the clock, of the cores, and of the time that counts as iterations."""

    def slower(time: str) -> dict[str, float]:
        return interval([100 * (one["with"][time] / one["without"][time] - 1) for one in films])

    frames = statistics.median(one["with"]["frames"] for one in films)
    what = f"a run is slower by at most 5% with a film of its fields ({frames:.0f} frames)"
    names = {"cores": "- CPU time of the process", "iterating": "- time that counts as iterations"}
    of = f"{len(films)} rounds"
    return [
        _slower(what, slower("clock"), len(films)),
        *(_interval(text, slower(time), "%", of, "") for time, text in names.items()),
    ]


def _least(told: dict[str, Any]) -> list[dict[str, Any]]:
    """For comparison, not a requirement: the cost of drawing alone."""
    what = "for comparison, a solve is slower with a bare page that paints two canvases as often"
    return [_interval(what, told["slowdown_percent"], "%", f"{told['rounds']} rounds", ""), *_shares(told)]


def _shares(told: dict[str, Any]) -> list[dict[str, Any]]:
    """CPU time by thread."""
    names = {
        "browser_more_ms_per_s": "Chromium runs more",
        "other_python_threads_more_ms_per_s": "Python's other threads run more, and may hold the GIL meanwhile",
        "solver_more_asleep_ms_per_s": "the solver sleeps more: for the GIL and for its other cores",
        "solver_more_waiting_for_a_core_ms_per_s": "the solver waits more for a core",
    }
    of = f"{told['rounds']} rounds"
    return [_interval(f"- {text}", told[name], "ms/s", of, "") for name, text in names.items() if name in told]


def _interval(what: str, found: dict[str, float], unit: str, of: str, met: str) -> dict[str, Any]:
    scatter = (
        f"95% interval {found['low']:.1f} to {found['high']:.1f}, rounds {found['least']:.1f} to {found['most']:.1f}"
    )
    return _row(what, f"{found['median']:.1f} {unit}", of, scatter, met)


def _met(yes: bool) -> str:
    return "yes" if yes else "no"
