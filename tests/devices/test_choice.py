"""Which device a name stands for, and the sentences for what is not there."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from workbench import devices
from workbench.devices.opencl import OpenCL, choose
from workbench.errors import InputError
from workbench.run import solve

cl = pytest.importorskip("pyopencl")


def platform(name, *names):
    made = SimpleNamespace(name=name)
    made.get_devices = lambda: [SimpleNamespace(name=device, platform=made) for device in names]
    return made


@pytest.fixture
def two_platforms(monkeypatch):
    found = [platform("Intel(R) OpenCL", "Xeon"), platform("Portable Computing Language", "cpu-Xeon", "cpu-other")]
    monkeypatch.setattr(cl, "get_platforms", lambda: found)


@pytest.mark.parametrize(
    ("wanted", "name"), [("", "cpu-Xeon"), ("0", "Xeon"), ("intel", "Xeon"), ("other", "cpu-other")]
)
def test_a_device_is_chosen_by_number_or_by_a_part_of_its_name(two_platforms, wanted, name):
    assert choose(wanted).name == name


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [("7", "there is no OpenCL device 7"), ("amd", "no OpenCL device fits 'amd'"), ("cpu-", "several OpenCL devices")],
)
def test_a_choice_that_fits_none_or_several_names_all(two_platforms, wanted, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        choose(wanted)
    assert "0 = Intel(R) OpenCL: Xeon" in str(caught.value)


def test_without_a_platform_pocl_is_named(monkeypatch):
    monkeypatch.setattr(cl, "get_platforms", list)
    with pytest.raises(InputError, match=r"no OpenCL device was found; pip install"):
        choose()


def test_without_pyopencl_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyopencl", None)
    with pytest.raises(InputError, match="device opencl needs PyOpenCL"):
        choose()


def test_without_cupy_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    monkeypatch.setattr(devices, "made", {})
    with pytest.raises(InputError, match="pip install"):
        devices.device("cuda")


@pytest.mark.parametrize("name", ["gpu", "cpu:1", "opncl", ""])
def test_unknown_devices(name):
    with pytest.raises(InputError, match="unknown device"):
        devices.device(name)


def test_cuda_devices_are_numbers():
    with pytest.raises(InputError, match="chosen by number"):
        devices.device("cuda:h200")


def test_a_device_is_made_once():
    assert devices.device("cpu") is devices.device("cpu")


@pytest.fixture
def opencl():
    try:
        return devices.device("opencl")
    except InputError as error:
        pytest.skip(str(error))


def test_a_device_that_was_chosen_has_the_name_of_its_choice(opencl, monkeypatch):
    monkeypatch.setattr(devices, "made", {})
    assert opencl.name == "opencl"
    assert devices.device("opencl:0").name == "opencl:0"
    with pytest.raises(InputError, match="device opencl:0 .* holds arrays of at most"):
        devices.device("opencl:0").zeros(1 << 50, np.dtype(float))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("MEM_OBJECT_ALLOCATION_FAILURE", "out of memory; take a smaller problem"),
        ("OUT_OF_RESOURCES", "out of memory"),
        ("BUILD_PROGRAM_FAILURE", "cannot compile kernels"),
        ("DEVICE_NOT_AVAILABLE", "does not answer"),
    ],
)
def test_what_the_driver_says_becomes_a_sentence(opencl, said, sentence):
    class Failing(cl.Error):
        def __str__(self):
            return f"clSomething failed: {said}"

    with pytest.raises(InputError, match=sentence), opencl.runtime._errors():
        raise Failing


def test_an_array_too_large_for_the_device(opencl):
    with pytest.raises(InputError, match="holds arrays of at most"):
        opencl.zeros(1 << 50, np.dtype(float))


def test_a_device_without_double_precision(opencl, monkeypatch):
    import dataclasses

    from workbench.devices.accelerator.device import Accelerator

    single = Accelerator(OpenCL(choose(), dataclasses.replace(opencl.layout, double=False)))
    monkeypatch.setitem(devices.made, "opencl:single", single)
    matrix = np.diag(np.arange(1.0, 40)) + 0.1
    b = np.ones(39)
    with pytest.raises(InputError, match="double precision; give A and b as float32"):
        solve(matrix, b, device="opencl:single")
    found = solve(matrix.astype(np.float32), b.astype(np.float32), device="opencl:single", rtol=1e-4)
    assert found.converged
    np.testing.assert_allclose(matrix @ found.x, b, atol=1e-3)
