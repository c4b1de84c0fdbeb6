"""The curves of a flow: iterations and seconds of its methods, measured values, and the parts of a step."""

from __future__ import annotations

from typing import Any

from workbench.extensions.flow.page.flow_text import until
from workbench.extensions.flow.reference import band, case_of, references
from workbench.extensions.flow.scenes import band_scene, curves, error_scene, measure_scene
from workbench.live.plots.chart import ChartView
from workbench.live.transport.publisher import Publisher
from workbench.plots.scenes.scene import Scene
from workbench.sequences.sequence import Sequence

MEASURES = {
    "centre": "height of the centre (widths)",
    "rise_velocity": "rise velocity (widths/time)",
    "circularity": "circularity",
    "heat": "heat in the box",
    "hottest": "highest temperature",
    "coldest": "lowest temperature",
}


class FlowCurves:
    """methods: the two charts of methods. measures: charts of up to three measured values. parts: the parts of a step.
    error: the error that its solve leaves."""

    def __init__(self, publisher: Publisher) -> None:
        self.charts = tuple(ChartView(publisher) for _ in range(7))
        """All, in the order of their scenes."""
        self.methods, self.measures, (self.parts, self.error) = self.charts[:2], self.charts[2:5], self.charts[5:]
        self._shown: tuple[Any, ...] = ()

    def show(self, sequence: Sequence, at: int, *, live: bool, words: str = "") -> bool:
        """Draw a sequence with a mark at a step, 0 for none; True if anything was new. words: before the first step."""
        note = "" if sequence.steps else words
        wanted = (sequence, sequence.steps, [method.marks for method in sequence.methods], at, note)
        if wanted == self._shown:
            return False
        self._shown = wanted
        for chart, scene in zip(self.charts, _scenes(sequence, at, note, len(self.measures)), strict=True):
            chart.layout.display = None if scene is not None else "none"
            if scene is not None:
                chart.show(scene, live=live)
        return True

    @property
    def scenes(self) -> dict[str, Scene]:
        """The scenes that are shown, by name."""
        return {chart.scene.name: chart.scene for chart in self.charts if chart.layout.display is None}


def _scenes(sequence: Sequence, at: int, note: str, most: int) -> list[Scene | None]:
    """The scenes of all charts; None where a sequence measures less. most: of measured values."""
    steps, series = sequence.steps, {name: list(values) for name, values in sequence.series.items()}
    end, case = until(sequence.problem), case_of(sequence.problem)
    known = references(case) if case else {}
    measured = [
        measure_scene(title, series["time"][:steps], series[name][:steps], end, known.get(name), band(case, name))
        for name, title in MEASURES.items()
        if name in series
    ][:most]
    errors, tolerance = series["volume_error"][:steps], sequence.problem.tolerance
    below = [band_scene(sequence.seconds[:steps], note), error_scene(errors, tolerance) if tolerance else None]
    return [*curves(sequence, at, note), *measured, *[None] * (most - len(measured)), *below]
