"""Sessions: one run in a worker thread, with start, pause, resume, step, stop and wait."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workbench.errors import InputError
from workbench.problems import LinearSystem
from workbench.run.cancellation import GRACE
from workbench.run.choices.configuration import Configuration
from workbench.run.jobs.job import State
from workbench.run.jobs.pausable_job import PausableJob
from workbench.run.jobs.run_queue import MACHINE, QueueSlot, RunQueue
from workbench.run.loop.result import Result
from workbench.run.results.filming import Camera


class Session(PausableJob):
    """One run in a worker thread, so that widgets stay responsive while kernels run without Python's lock.

    Every method but `wait` and `join` returns at once; calls that do not apply to the present state do nothing. `run`
    is None until the setup is done, `result` until the end. on_end: see `ThreadJob`. x0, trace, camera: see `Run`.

    Sessions of one process use the machine one at a time, in the order in which they were started. A session holds its
    slot in the run queue during setup and iterations, and releases it while it is paused. queue: None for a queue of
    its own, so that it runs concurrently with all other jobs. together: a session that has its slot in common with this
    one, so that both run at the same time.

    `stop` sets the state to DONE within `GRACE` seconds; a lingering session keeps its slot, see `Job`.

    Examples:
        >>> from workbench.run import Session, configure
        >>> session = Session(configure("two-layer", n=16))
        >>> session.start()
        >>> session.wait().converged, session.state.name
        (True, 'DONE')
    """

    def __init__(
        self,
        configuration: Configuration,
        system: LinearSystem | None = None,
        x0: np.ndarray | None = None,
        *,
        trace: bool = False,
        on_end: Callable[[Session], object] | None = None,
        queue: RunQueue | None = MACHINE,
        camera: Camera | None = None,
        together: Session | None = None,
    ) -> None:
        slot = QueueSlot(queue if queue is not None else RunQueue(), together.slot if together else None)
        super().__init__(self._set_up_and_iterate, "workbench-solve", slot, on_end)
        self.configuration = configuration
        self.result: Result | None = None
        self._system, self._x0 = system, x0
        self.traced, self._camera = trace, camera

    def wait(self, timeout: float | None = None) -> Result:
        """Start unless started, wait for the end and return the result. Interrupting the wait stops the run.

        Raises InputError with the sentence of a run that failed or was stopped before its first iteration, TimeoutError
        if it takes longer than `timeout` seconds.
        """
        if self._state is State.IDLE:
            self.start()
        try:
            self.join(timeout)
        except KeyboardInterrupt:
            self.stop()
            self.join()
        if self.result is not None:
            return self.result
        if self.error:
            raise InputError(self.error)
        raise TimeoutError(f"the run is still {self.state.value} after {timeout} s; stop() ends it")

    def stop(self) -> None:
        super().stop()
        if self.run is not None:
            self.run.wake()

    def join(self, timeout: float | None = None) -> None:
        """Wait until the thread has ended; a cancelled setup leaves nothing to wait for."""
        super().join(GRACE if self.stopping and self.run is None else timeout)

    def _set_up_and_iterate(self) -> None:
        self._wait_until(lambda: self._may_set_up)
        with self._entering(State.SETUP):
            pass
        run = self._new_run(self.configuration, self._system, self._x0, trace=self.traced, camera=self._camera)
        with self._entering(State.RUNNING):
            self.run = run
        active = True
        while active:
            # This thread serves the snapshots of a held run too.
            self._wait_until(self._go.is_set, meanwhile=run.serve_snapshots)
            if self.stopping:
                run.cancel()
                break
            active = run.step(1 if self._single.is_set() else None)
            self._stepped()
        self.result = run.result()
