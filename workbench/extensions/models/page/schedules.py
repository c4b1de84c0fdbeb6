"""Schedules on adjustable machines: sliders for a machine and a system, lanes and curves that follow."""

from __future__ import annotations

import dataclasses
import math

import ipywidgets as widgets
import numpy as np

from workbench.devices.dry_run import Sizes
from workbench.errors import InputError
from workbench.extensions.models.host_and_gpu import HOSTS, MachineParameters, curves, machine, unknowns_up_to
from workbench.extensions.models.schedules import METHODS, Expected, all_expected, fastest
from workbench.extensions.models.several_gpus import ON_SEVERAL, all_expected_on, scaling
from workbench.extensions.models.shared_rows import Fabric
from workbench.live.plots.chart import ChartView
from workbench.live.plots.timeline import TimelineView
from workbench.live.ui.controls import group, menu, row, slider
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.view import View
from workbench.machines.profile import profile
from workbench.plots.figures import draw
from workbench.plots.scenes.scaling import crossover_scene, scaling_scene
from workbench.records import hidden_fraction, slice_iterations
from workbench.registry import unknown_name
from workbench.words.numbers import count, duration, percent, rounded

GIGA, MICRO = 1e9, 1e-6
LARGEST, POINTS = 30_000_000, 11
ITERATIONS = (4, 5)
"""Iterations on the lanes: by then the schedule is periodic."""
POSITIONS = 81
"""Positions of a slider, in equal ratios, in addition to those of the machines that it can start from."""
SLIDERS = {
    "cores": ("cores, GB/s", 5, 1000, GIGA),
    "accelerator": ("accelerator, GB/s", 20, 8000, GIGA),
    "link": ("link each way, GB/s", 1, 1000, GIGA),
    "copy": ("latency of a copy, µs", 0.1, 100, MICRO),
    "launch": ("latency of a kernel, µs", 0.1, 100, MICRO),
    "memory": ("accelerator's memory, GB", 1, 200, GIGA),
}
"""Sliders by name in `MachineParameters`: label, lowest and highest value, unit in bytes, seconds or bytes a second."""
GPUS = {
    "link": ("in a node, GB/s", 1, 2000, GIGA),
    "link_latency": ("latency in a node, µs", 0.1, 100, MICRO),
    "network": ("between nodes, GB/s", 0.1, 500, GIGA),
    "network_latency": ("latency between nodes, µs", 0.1, 1000, MICRO),
}
"""Sliders by name in `Fabric`, in the same way; the name of a slider is `PEERS` followed by that name."""
PEERS = "gpus_"
COUNTS = [2**k for k in range(13)]
"""Numbers of GPUs. A node has one of the first `OF_A_NODE`."""
OF_A_NODE = 7


class Schedules(View):
    """Times of an iteration of each method on an adjustable machine, by bytes, bandwidths and latencies.

    Nothing is solved: schedules come from dry runs of the solvers, and times from the sliders. Display it, or `box`.
    `like` and `method` are dropdowns, `turn` moves the sliders; `seconds` is by method, None where the system does not
    fit the accelerator. With more than one GPU, CG and pipelined CG on them are modelled (`several_gpus`), and
    the curves are those of strong scaling. Raises InputError for an unknown machine or method.

    Examples:
        >>> from workbench.live import Schedules
        >>> view = Schedules("k20m", "pipecg gpu")
        >>> view.seconds["pipecg gpu"] < view.seconds["pipecg cpu"]
        True
    """

    names_problem = False

    def __init__(self, like: str = "k20m", method: str = "hybrid3") -> None:
        for kind, name, known in (("machine", like, HOSTS), ("method", method, METHODS)):
            if name not in known:
                raise InputError(f"a {kind} is one of {', '.join(known)}, got {name!r}")
        titled = [(profile(name).title, name) for name in HOSTS]
        self.like = menu("start from", titled, value=like)
        labels = [(each.label, name) for name, each in METHODS.items()]
        self.method = menu("lanes of", labels, value=method)
        machines = [dataclasses.asdict(MachineParameters.of(machine(name))) for name in HOSTS]
        self.sliders = {
            name: positions(text, low, high, [numbers[name] / unit for numbers in machines])
            for name, (text, low, high, unit) in SLIDERS.items()
        }
        fabrics = [dataclasses.asdict(Fabric.of(profile(name))) for name in HOSTS]
        self.sliders["gpus"] = slider("GPUs", [(count(value), value) for value in COUNTS])
        self.sliders["gpus_per_node"] = slider("GPUs per node", [(str(value), value) for value in COUNTS[:OF_A_NODE]])
        for name, (text, low, high, unit) in GPUS.items():
            known = [numbers[name] / unit for numbers in fabrics]
            self.sliders[PEERS + name] = positions(text, low, high, known)
        self.sliders["unknowns"] = positions("unknowns N", 1000, LARGEST, [1e6])
        self.sliders["entries"] = positions("entries per row, nnz/N", 3, 300, [7, 50, 125])
        self.message = widgets.HTML()
        self.lanes = TimelineView(height=190)
        self.plot = ChartView(self.lanes.publisher)
        self.seconds: dict[str, float | None] = {}
        self._quiet = False
        self._start_from(like, unknowns=1e6, entries=50)
        for control in (*self.sliders.values(), self.method):
            control.observe(lambda _change: self.show(), "value")
        self.like.observe(lambda change: self._start_from(change["new"]), "value")
        machine_sliders, problem_sliders = [self.sliders[name] for name in SLIDERS], list(self.sliders.values())[-2:]
        several = [each for name, each in self.sliders.items() if name.startswith("gpus")]
        self.several = widgets.Accordion([widgets.VBox(several)], titles=("Several GPUs",)).add_class("wb-turngroup")
        """Folded: one GPU is what most look at."""
        groups = [
            group("Machine", self.like, *machine_sliders),
            self.several,
            group("Problem", *problem_sliders),
            group("Method", self.method),
        ]
        results = widgets.VBox([self.message, self.plot, self.lanes]).add_class("wb-turned")
        turning = row("wb-turning", widgets.VBox(groups).add_class("wb-turners"), results)
        self.save_bar = SaveBar(
            lambda: {self.plot.scene.name: draw(self.plot.scene, title=self._title), **self.lanes.scenes(ITERATIONS)},
            provenance=lambda: {"modelled": {name: slider.value for name, slider in self.sliders.items()}},
            about=lambda: f"{self.like.value} {self.method.value}",
        )
        self.box = widgets.VBox([turning, self.save_bar.box])
        self.box.add_class("wb-explorer").add_class("wb-schedules")

    @property
    def numbers(self) -> MachineParameters:
        """The machine that the sliders describe; a loop on the cores costs its bytes alone."""
        return MachineParameters(loop=0.0, **{name: self.sliders[name].value * SLIDERS[name][3] for name in SLIDERS})

    @property
    def fabric(self) -> Fabric:
        """The links between the GPUs, by the sliders."""
        per_node = int(self.sliders["gpus_per_node"].value)
        return Fabric(per_node, **{name: self.sliders[PEERS + name].value * GPUS[name][3] for name in GPUS})

    def turn(self, **values: float) -> None:
        """Move sliders by name to the positions nearest to these values, in the units that they show, all at once.

        Raises InputError for a name that is no slider, and for values that are not positive.
        """
        for name, value in values.items():
            if name not in self.sliders:
                raise InputError(unknown_name("slider", name, self.sliders))
            if not value > 0:
                raise InputError(f"slider {name} needs a positive value, got {value}")
        self._quiet = True
        for name, value in values.items():
            turned = self.sliders[name]
            turned.value = min(
                (option for _, option in turned.options), key=lambda option: abs(math.log(option / value))
            )
        self._quiet = False
        self.show()

    def unfolded(self) -> Schedules:
        """The view with the sliders of several GPUs unfolded."""
        self.several.selected_index = 0
        return self

    def show(self) -> None:
        """Model everything again, unless several sliders are being turned."""
        if self._quiet:
            return
        chosen, rate = self.numbers.machine(), self.sliders["entries"].value
        size = round(self.sliders["unknowns"].value)
        sizes, gpus = Sizes(size, round(rate * size)), int(self.sliders["gpus"].value)
        found = all_expected(sizes, chosen) if gpus == 1 else all_expected_on(sizes, chosen, self.fabric, gpus)
        self.seconds = {name: each.seconds for name, each in found.items()}
        name = str(self.method.value)
        mine = found[name]
        self.message.value = _sentence(name, found, gpus)
        if mine.trace is not None:
            self.lanes.show(slice_iterations(mine.trace, *ITERATIONS), METHODS[name].label)
        else:
            self.lanes.clear()
        self._title = f"modelled, {rounded(rate)} entries per row"
        if gpus > 1:
            times = {METHODS[name].label: scaling(name, sizes, chosen, self.fabric, COUNTS) for name in ON_SEVERAL}
            self.plot.show(scaling_scene(COUNTS, times, at=gpus))
            self._title += f", {count(size)} unknowns"
            return
        unknowns = unknowns_up_to(LARGEST, POINTS)
        times = {METHODS[name].label: each for name, each in curves(chosen, rate, unknowns).items()}
        self.plot.show(crossover_scene(unknowns, times, at=size))

    def _start_from(self, name: str, **more: float) -> None:
        numbers, fabric = MachineParameters.of(machine(name)), Fabric.of(profile(name))
        of_machine, of_fabric = dataclasses.asdict(numbers), dataclasses.asdict(fabric)
        own = {key: of_machine[key] / unit for key, (_text, _low, _high, unit) in SLIDERS.items()}
        own |= {PEERS + key: of_fabric[key] / unit for key, (_text, _low, _high, unit) in GPUS.items()}
        self.turn(gpus_per_node=fabric.per_node, **own, **more)


def schedules_view(_page: View) -> Schedules:
    """The view of the page; it shares nothing with the others."""
    return Schedules()


def positions(text: str, low: float, high: float, others: list[float]) -> widgets.SelectionSlider:
    """A slider over values from low to high in equal ratios, and a few others."""
    values = [float(f"{value:.3g}") for value in np.geomspace(low, high, POSITIONS)]
    options = {count(round(value)) if value >= 1000 else rounded(value): value for value in sorted({*values, *others})}
    return slider(text, list(options.items()))


def _sentence(name: str, found: dict[str, Expected], gpus: int) -> str:
    """The time of the method and the fastest one, in a sentence."""
    on = f" on {gpus} GPUs" if gpus > 1 else ""
    mine = found[name]
    if all(each.seconds is None for each in found.values()):
        return f"Modelled{on}: no method can run: {found[ON_SEVERAL[0]].why}."
    quickest = fastest(found)
    other = found[quickest].seconds or 0.0
    named, first = METHODS[name].label, METHODS[quickest].label
    ahead = f"the fastest is <b>{first}</b> with {duration(other)}" if quickest != name else "the fastest"
    if mine.seconds is None:
        return f"Modelled{on}: <b>{named}</b> cannot run: {mine.why}; {ahead}."
    hidden = hidden_fraction(mine.trace) if mine.trace is not None else None
    copies = "" if hidden is None else f"; {percent(hidden)} of its copies are hidden behind computing"
    return f"Modelled{on}: <b>{named}</b> takes {duration(mine.seconds)} per iteration, {ahead}{copies}."
