"""Methods on the ranks of an adjustable cluster: sliders, curves that follow, lanes of a number of ranks."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import ipywidgets as widgets

from workbench.errors import InputError
from workbench.extensions.models.one_rank import SHAPES, expected_on_ranks, one_rank
from workbench.extensions.models.page.schedules import ITERATIONS, positions
from workbench.extensions.models.ranks_model import COUNTS, RanksModel, clusters, model_ranks
from workbench.extensions.models.shared_rows import Fabric
from workbench.live.plots.chart import ChartView
from workbench.live.plots.timeline import TimelineView
from workbench.live.ui.controls import group, menu, row, slider
from workbench.live.ui.save_bar import SaveBar
from workbench.live.ui.view import View
from workbench.machines.profile import Number, Profile
from workbench.plots.figures import draw
from workbench.plots.scenes.scaling import scaling_scene
from workbench.records import slice_iterations
from workbench.registry import unknown_name
from workbench.run import Configuration, configure
from workbench.words.numbers import count

GIGA, MICRO = 1e9, 1e-6
NODE = {
    "bandwidth": ("memory of a node, GB/s", "bandwidth_nominal", 20, 8000, GIGA),
    "link_latency": ("latency in a node, µs", "peer_latency", 0.1, 100, MICRO),
    "network": ("network of a node, GB/s", "network_bandwidth", 0.1, 500, GIGA),
    "network_latency": ("latency between nodes, µs", "network_latency", 0.1, 1000, MICRO),
}
"""Sliders: label, name in the profile, lowest and highest value, unit in bytes, seconds or bytes per second."""
NOISES = (0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Choices of the noise, in microseconds."""
SIDES = tuple(2**k for k in range(5, 12))
PER_NODE = (1, 2, 4, 8, 14, 16, 28, 32, 48, 64, 96, 128, 192)


class ClusterView(View):
    """Modelled times of an iteration on 4 to 4,096 ranks of an adjustable cluster.

    configurations: by default CG, pipelined CG and Gropp's CG for a Poisson problem; each is traced on one rank here.
    like: the cluster whose numbers the sliders show. `turn` moves sliders, and `model` has the numbers of the curves.
    Raises InputError for an unknown cluster and for what does not run on ranks.

    Examples:
        >>> from workbench.live import ClusterView
        >>> view = ClusterView()
        >>> view.turn(n=128, ranks=1024)
        >>> view.model.crossings["Pipelined CG"]
        2048
    """

    def __init__(self, configurations: Sequence[Configuration] = (), like: str = "archer2") -> None:
        known = clusters()
        if like not in known:
            raise InputError(unknown_name("cluster", like, known))
        solvers = ("cg", "pipecg", "gropp")
        chosen = configurations or [configure("poisson7", n=32, solver=solver) for solver in solvers]
        self._ones = [one_rank(each) for each in chosen]
        self.like = menu("start from", [(found.title, name) for name, found in known.items()], value=like)
        self.shape = menu("rows of a rank", [(shape, shape) for shape in SHAPES], value="boxes")
        self.method = menu("lanes of", [(one.title, one.title) for one in self._ones])
        self.sliders = {
            name: positions(text, low, high, [found.required(field).value / unit for found in known.values()])
            for name, (text, field, low, high, unit) in NODE.items()
        }
        self.sliders["per_node"] = slider("ranks per node", [(str(value), value) for value in PER_NODE])
        self.sliders["noise"] = slider("mean delay at a sum, µs", [(f"{value:g}", value) for value in NOISES])
        self.sliders["n"] = slider("planes n", [(count(value), value) for value in SIDES], value=256)
        self.sliders["ranks"] = slider("ranks of the lanes", [(count(value), value) for value in COUNTS], value=1024)
        self.message = widgets.HTML()
        self.lanes = TimelineView(height=190)
        self.plot = ChartView(self.lanes.publisher)
        self.model: RanksModel
        self._quiet = False
        self._start_from(like)
        for control in (*self.sliders.values(), self.shape, self.method):
            control.observe(lambda _change: self.show(), "value")
        self.like.observe(lambda change: self._start_from(change["new"]), "value")
        of_cluster = [each for name, each in self.sliders.items() if name not in ("n", "ranks")]
        groups = [
            group("Cluster", self.like, *of_cluster),
            group("Problem", self.sliders["n"], self.shape),
            group("Lanes", self.method, self.sliders["ranks"]),
        ]
        results = widgets.VBox([self.message, self.plot, self.lanes]).add_class("wb-turned")
        turning = row("wb-turning", widgets.VBox(groups).add_class("wb-turners"), results)
        self.save_bar = SaveBar(
            lambda: {
                self.plot.scene.name: draw(self.plot.scene, title=self.model.title),
                **self.lanes.scenes(ITERATIONS),
            },
            provenance=lambda: {"modelled": {name: each.value for name, each in self.sliders.items()}},
            about=lambda: f"{self.like.value} ranks",
        )
        self.box = widgets.VBox([turning, self.save_bar.box])
        self.box.add_class("wb-explorer").add_class("wb-schedules")

    @property
    def machine(self) -> Profile:
        """The cluster that the sliders describe."""
        numbers = {field: self.sliders[name].value * unit for name, (_, field, _, _, unit) in NODE.items()}
        numbers["ranks_per_node"] = self.sliders["per_node"].value
        made = {name: Number(value, "assumed", "a slider") for name, value in numbers.items()}
        return dataclasses.replace(clusters()[str(self.like.value)], **made)

    def turn(self, **values: float) -> None:
        """Move sliders by name to the positions nearest to these values, in the units that they show, all at once.

        Raises InputError for a name that is no slider.
        """
        for name in values:
            if name not in self.sliders:
                raise InputError(unknown_name("slider", name, self.sliders))
        self._quiet = True
        for name, value in values.items():
            options = [option for _, option in self.sliders[name].options]
            self.sliders[name].value = min(options, key=lambda option: abs(option - value))
        self._quiet = False
        self.show()

    def show(self) -> None:
        """Model everything again, unless several sliders are being turned."""
        if self._quiet:
            return
        machine, n, shape = self.machine, int(self.sliders["n"].value), str(self.shape.value)
        noise, ranks = self.sliders["noise"].value * MICRO, int(self.sliders["ranks"].value)
        self.model = model_ranks(self._ones, machine, n=n, shape=shape, noise=noise)
        self.plot.show(scaling_scene(COUNTS, self.model.seconds, at=ranks, of="rank", crossings=self.model.crossings))
        self.message.value = "<br>".join(f"{sentence}." for sentence in self.model.sentences)
        fabric = dataclasses.replace(Fabric.of(machine), noise=noise)
        one = next(one for one in self._ones if one.title == self.method.value)
        found = expected_on_ranks(one, machine, ranks, n=n, shape=shape, fabric=fabric)
        if found.trace is None:
            self.lanes.clear()
        else:
            title = f"{one.title} on {count(ranks)} ranks, two iterations"
            self.lanes.show(slice_iterations(found.trace, *ITERATIONS), title)

    def _start_from(self, name: str) -> None:
        found = clusters()[name]
        own = {key: found.required(field).value / unit for key, (_, field, _, _, unit) in NODE.items()}
        self.turn(per_node=found.required("ranks_per_node").value, **own)
