"""One configuration on the cores and on an accelerator, each run with kernel timings."""

from __future__ import annotations

import dataclasses

from workbench import devices
from workbench.devices.default_accelerator import default_accelerator
from workbench.errors import InputError
from workbench.records.film import Film
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.conflicts import conflicts
from workbench.run.jobs.run_queue import MACHINE, RunQueue
from workbench.run.jobs.session import Session
from workbench.run.results.filming import Camera

AT_ONCE = "The accelerator has its own cores: both run at the same time, each with a thread of the host."
ONE_BY_ONE = "The accelerator is the processor itself: they run one after the other."


@dataclasses.dataclass(frozen=True)
class BothDevices:
    """Two runs of the same problem, on the cores and on the accelerator. sentence: whether they run at once or one
    after the other, and why.

    Examples:
        >>> from workbench.run import BothDevices, Session, configure
        >>> configuration = configure("two-layer", n=8)
        >>> both = BothDevices((Session(configuration), Session(configuration)), "In turns.")
        >>> both.start()
        >>> [run.wait().converged for run in both.runs]
        [True, True]
    """

    runs: tuple[Session, Session]
    sentence: str

    def start(self) -> None:
        """Start both, or queue them."""
        for run in self.runs:
            run.start()


def on_both(configuration: Configuration, *, filmed: bool = False, queue: RunQueue | None = MACHINE) -> BothDevices:
    """Two traced sessions, not started yet: on the cores and on the accelerator, that of the configuration or the
    default one of this machine.

    On a GPU they hold the machine together; where the accelerator is the processor itself, one after the other. filmed:
    with a film, see `Camera`. queue: as of a `Session`. Cost: creating the device, up to seconds the first time. Raises
    InputError without an accelerator, and for choices that one of the devices rules out.

    Examples:
        >>> from workbench.run import configure, on_both
        >>> both = on_both(configure("two-layer", n=16))
        >>> both.start()
        >>> [run.wait().converged for run in both.runs]
        [True, True]
    """
    named, why = configuration.device, ""
    if named.partition(":")[0] not in ("opencl", "cuda"):
        named, why = default_accelerator()
    if not named:
        raise InputError(f"{why}; install PoCL for OpenCL on the cores, or a driver and CuPy for CUDA")
    from workbench.devices.accelerator.device import as_accelerator

    accelerator = as_accelerator(devices.device(named))
    chosen = [dataclasses.replace(configuration, device=name) for name in ("cpu", named)]
    for each in chosen:
        if found := conflicts(each):
            raise InputError(found[0].sentence)
    at_once = not accelerator.layout.chunked
    cameras = [Camera(Film()) if filmed else None for _ in chosen]
    cores = Session(chosen[0], trace=True, queue=queue, camera=cameras[0])
    other = Session(chosen[1], trace=True, queue=queue, camera=cameras[1], together=cores if at_once else None)
    return BothDevices((cores, other), AT_ONCE if at_once else ONE_BY_ONE)
