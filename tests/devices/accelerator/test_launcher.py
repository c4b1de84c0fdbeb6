"""Dot products of an accelerator from several threads."""

from __future__ import annotations

import threading

import numpy as np

from workbench.devices.accelerator.device import Accelerator


def test_a_thread_does_not_read_the_sums_of_another(accelerator, monkeypatch):
    device = Accelerator(accelerator.runtime)
    ones, twos = (device.array(np.full(900, value), np.dtype(float)) for value in (1.0, 2.0))
    found = []
    other = threading.Thread(target=lambda: found.append(device.norm(twos)))
    read = device.to_host

    def late(vector):
        # The other thread has this long to overwrite the sums of this one.
        if threading.current_thread() is not other:
            other.start()
            other.join(0.3)
        return read(vector)

    monkeypatch.setattr(device, "to_host", late)
    assert device.norm(ones) == 30
    other.join()
    assert found == [60]
