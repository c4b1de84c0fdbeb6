"""The connections of GPUs or ranks: nodes, and seconds of messages within and between them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from workbench.machines.profile import Profile


@dataclasses.dataclass(frozen=True)
class Fabric:
    """Connections of GPUs, or of ranks. per_node: the number in a node. link, network: bytes per second from one to
    others of its node, and to those of other nodes, in each direction; link_latency, network_latency: seconds of a
    message.

    noise: seconds by which each is late at a sum, in the mean. Delays are independent and exponential, so that the last
    of P is late by noise (1 + 1/2 + ... + 1/P), as in Morgan, Knepley, Sanan, Scott, 'A stochastic performance model
    for pipelined Krylov methods' (2016).
    """

    per_node: int
    link: float
    link_latency: float
    network: float
    network_latency: float
    noise: float = 0.0

    @classmethod
    def of(cls, found: Profile) -> Fabric:
        """The connections in a profile. Raises InputError where it lacks a number."""
        names = ("peer_bandwidth", "peer_latency", "network_bandwidth", "network_latency")
        per_node = found.ranks_per_node or found.required("gpus_per_node")
        return cls(round(per_node.value), *(found.required(name).value for name in names))

    def all_reduce(self, gpus: int, nbytes: int) -> float:
        """Seconds of the sum of `nbytes` of each on all of them: by recursive doubling, one message for every doubling,
        first in the nodes, then between them; and the delay of the last."""
        inside = _doublings(min(gpus, self.per_node))
        between = _doublings(math.ceil(gpus / self.per_node))
        in_node, on_network = self.link_latency + nbytes / self.link, self.network_latency + nbytes / self.network
        late = self.noise * sum(1 / k for k in range(1, gpus + 1)) if self.noise and gpus > 1 else 0.0
        return inside * in_node + between * on_network + late

    def exchange(self, place: int, others: Sequence[int], nbytes: Sequence[int]) -> float:
        """Seconds in which a GPU receives messages of these sizes from others: those of its node through the link and
        the others through the network, both at once; on each the latency of a message from both sides is paid once."""
        seconds = {True: 0.0, False: 0.0}
        latencies = {True: self.link_latency, False: self.network_latency}
        sides: dict[tuple[bool, bool], int] = {}
        for other, size in zip(others, nbytes, strict=True):
            here = place // self.per_node == other // self.per_node
            seconds[here] += size / (self.link if here else self.network)
            side = here, other > place
            sides[side] = sides.get(side, 0) + 1
        for here in (True, False):
            seconds[here] += latencies[here] * max(sides.get((here, later), 0) for later in (True, False))
        return max(seconds.values())

    def exchange_of_boxes(self, gpus: int, dimensions: int, face: float) -> float:
        """Seconds in which boxes receive their faces of `face` bytes: one after another along each dimension.

        The boxes of a node form a cube, whose surface shares the network of the node.
        """
        if gpus == 1:
            return 0.0
        inside = dimensions * (self.link_latency + 2 * face / self.link)
        if gpus <= self.per_node:
            return inside
        surface = self.per_node ** ((dimensions - 1) / dimensions) * face
        return max(inside, dimensions * (self.network_latency + 2 * surface / self.network))


def _doublings(count: int) -> int:
    """Messages one after another in which `count` add up by recursive doubling."""
    return math.ceil(math.log2(count))
