"""Every device has what the protocol says, and only accelerators pass for one."""

from __future__ import annotations

import numpy as np
import pytest

from workbench import devices
from workbench.devices.accelerator.device import as_accelerator
from workbench.devices.protocol import Device
from workbench.errors import InputError


def members(protocol):
    return {name for base in protocol.__mro__ for name in vars(base) if not name.startswith("_")}


def test_the_cpu_and_accelerators_have_all_members_of_the_protocol(accelerator):
    wanted = members(Device)
    assert {"array", "norm", "workspace", "stencil", "coarse_level", "clock"} <= wanted
    for device in (devices.device("cpu"), accelerator):
        assert not [name for name in wanted if not hasattr(device, name)]


def test_a_device_that_is_no_accelerator_is_refused(accelerator):
    assert as_accelerator(accelerator) is accelerator
    with pytest.raises(InputError, match="an accelerator is needed, got device cpu; use device opencl or cuda"):
        as_accelerator(devices.device("cpu"))


def test_every_device_can_be_waited_for(accelerator):
    for device in (devices.device("cpu"), accelerator):
        vector = device.zeros(3, np.dtype(np.float64))
        device.synchronize()
        assert device.norm(vector) == 0
