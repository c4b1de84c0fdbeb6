"""Copies through two page-locked buffers: on a simulated stream that transfers as late as it may, and on a GPU."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import devices
from workbench.devices.cuda import copies
from workbench.errors import InputError

TO_DEVICE, TO_HOST = 1, 2


class LateStream:
    """Transfers happen when an event behind them is waited for."""

    ptr = 7

    def __init__(self):
        self.waiting = []

    def memcpyAsync(self, target, source, nbytes, kind, stream):
        assert kind in (TO_DEVICE, TO_HOST)
        assert stream == self.ptr
        self.waiting.append((target, source, nbytes))

    def synchronize(self, until=None):
        for place in range(len(self.waiting) if until is None else until):
            if self.waiting[place]:
                ctypes.memmove(*self.waiting[place])
                self.waiting[place] = None

    def event(self, disable_timing):
        until = [0]

        def record(stream):
            until[0] = len(stream.waiting)

        return SimpleNamespace(record=record, synchronize=lambda: self.synchronize(until[0]))


@pytest.fixture
def late(monkeypatch):
    monkeypatch.setattr(copies, "CHUNK", 4096)
    stream = LateStream()
    runtime = SimpleNamespace(memcpyAsync=stream.memcpyAsync, memcpyHostToDevice=TO_DEVICE, memcpyDeviceToHost=TO_HOST)
    cuda = SimpleNamespace(runtime=runtime, alloc_pinned_memory=bytearray, Event=stream.event)
    return copies.Staging(SimpleNamespace(cuda=cuda), stream), stream


@pytest.mark.parametrize("size", [1, 511, 512, 513, 1024, 5000])
def test_no_buffer_is_used_before_its_transfer_is_done(late, size):
    copies, stream = late
    values = np.random.default_rng(size).random((size, 1))
    given, memory, found = values.copy(), np.zeros((2, size)), np.empty((size, 1))
    for row in memory:
        copies.upload(row.ctypes.data, given)
        # The array may be changed as soon as it was copied.
        given[...] *= 2
    copies.download(memory[0].ctypes.data, found)
    assert np.array_equal(found, values)
    stream.synchronize()
    assert np.array_equal(memory, [values[:, 0], 2 * values[:, 0]])
    values.flags.writeable = False
    copies.upload(memory[1].ctypes.data, values)
    stream.synchronize()
    assert np.array_equal(memory[1], values[:, 0])


@pytest.mark.parametrize("nbytes", [copies.LEAST, copies.CHUNK, 3 * copies.CHUNK + 8])
def test_a_large_array_and_its_copy_on_a_device(nbytes):
    try:
        device = devices.device("cuda")
    except InputError as sentence:
        pytest.skip(str(sentence))
    values = np.random.default_rng(1).random(nbytes // 8)
    vector = device.array(values, np.float64)
    # The array may be changed as soon as it was copied.
    before = values.copy()
    values[:] = 0
    assert np.array_equal(device.to_host(vector), before)
    # Kernels on the copy, and the copy of what they wrote.
    doubled = device.array(before, np.float64)
    device.subtract_from(vector, doubled)
    assert not device.to_host(doubled).any()
