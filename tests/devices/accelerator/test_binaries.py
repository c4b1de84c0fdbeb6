"""Binaries of OpenCL programs on disk."""

from __future__ import annotations

import numpy as np
import pytest

from tests.conftest import UNOPTIMIZED
from workbench import devices
from workbench.devices.opencl import choose
from workbench.devices.opencl.runtime import built, key_of
from workbench.errors import InputError
from workbench.jit import store

cl = pytest.importorskip("pyopencl")
SOURCE = "__kernel void twice(__global float* a) { a[get_global_id(0)] *= 2; }"


@pytest.fixture
def device():
    try:
        return choose()
    except InputError as error:
        pytest.skip(str(error))


class Counting:
    """PyOpenCL with the number of arguments of each program that is made: 2 for a source, 3 for a binary."""

    def __init__(self):
        self.made = []

    def __getattr__(self, name):
        return getattr(cl, name)

    def Program(self, *arguments):
        self.made.append(len(arguments))
        return cl.Program(*arguments)


def doubled(counting, context, device, flags=()):
    program = built(counting, context, device, SOURCE, flags)
    queue = cl.CommandQueue(context)
    values = np.arange(8, dtype=np.float32)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=values)
    kernel = cl.Kernel(program, "twice")
    kernel.set_args(buffer)
    cl.enqueue_nd_range_kernel(queue, kernel, (8,), (1,))
    cl.enqueue_copy(queue, values, buffer)
    return values.tolist()


EXPECTED = (2.0 * np.arange(8)).tolist()


def test_a_program_is_compiled_once_and_then_read(device, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    for expected in ([2], [3]):
        counting = Counting()
        assert doubled(counting, cl.Context([device]), device) == EXPECTED
        assert counting.made == expected


def test_other_flags_are_another_program(device, monkeypatch, tmp_path):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    counting = Counting()
    context = cl.Context([device])
    doubled(counting, context, device)
    doubled(counting, context, device, ("-cl-mad-enable",))
    assert counting.made == [2, 2]


@pytest.mark.parametrize("content", [b"", b"no binary"])
def test_a_binary_that_the_driver_refuses_is_compiled_again(device, monkeypatch, tmp_path, content):
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    assert store.write(key_of(cl, device, SOURCE, ()), content)
    counting = Counting()
    assert doubled(counting, cl.Context([device]), device) == EXPECTED
    assert counting.made[-1] == 2


def test_kernels_are_tested_as_users_have_them(device):
    """Other folders have them compiled without optimization."""
    assert UNOPTIMIZED not in devices.device("opencl").runtime.flags
