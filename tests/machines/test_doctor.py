"""The doctor's report as JSON and as text."""

from __future__ import annotations

import dataclasses
import json

import pytest

from workbench.devices.discovery import Accelerator, Found, NvidiaDriver
from workbench.devices.host.triad import Triad
from workbench.machines import doctor
from workbench.machines.extension_reports import ExtensionReport


@pytest.fixture(scope="module")
def report():
    return doctor.examine(measure=False)


def line(text: str, name: str) -> str:
    (found,) = [line for line in text.splitlines() if line.startswith(f"  {name} ")]
    return found


def test_the_json_is_plain_and_holds_everything(report):
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["machine"]["cpu"] == report.machine["cpu"]
    assert plain["triad"] is None
    assert plain["threads"]["count"] >= 1
    assert plain["versions"]["base"]["numpy"]
    assert isinstance(plain["missing"], list)
    assert {"library", "mpiexec", "problem"} == set(plain["mpi"])
    assert {"version", "scalar", "integer", "external", "problem"} == set(plain["petsc"])
    (dask,) = (each for each in plain["extensions"] if each["name"] == "dask")
    assert dask["title"].startswith("Boxes of Schwarz methods")


def test_the_text_has_every_part_in_order_and_is_aligned(report):
    text = report.text()
    heads = [line for line in text.splitlines() if not line.startswith(" ")]
    assert heads == ["Machine", "OpenCL", "CUDA", "Extensions", "MPI", "PETSc", "Packages", "Missing"]
    assert "not measured" in line(text, "bandwidth")
    facts = {"processor": report.machine["cpu"], "bandwidth": "not measured"}
    assert len({line(text, name).index(fact) for name, fact in facts.items()}) == 1


def test_the_installed_pocl_is_found(report):
    assert not report.opencl.problem
    assert any(device.kind == "CPU" and device.fp64 and device.memory > 0 for device in report.opencl.devices)


def test_a_measured_bandwidth_says_how_it_was_counted(report):
    triad = Triad(median=41.96e9, best=43.5e9, repeats=52, array_bytes=128 << 20, threads=2)
    machine = {**report.machine, "last_level_cache_bytes": 32 << 20}
    shown = line(dataclasses.replace(report, triad=triad, machine=machine).text(), "bandwidth")
    assert "42.0 GB/s median, 43.5 best of 52" in shown
    assert "24 bytes per element, counted without write-allocate" in shown
    assert "overestimated" not in shown


def test_arrays_too_small_for_the_cache_are_reported(report):
    triad = Triad(median=1e9, best=1e9, repeats=5, array_bytes=64 << 20, threads=2)
    machine = {**report.machine, "last_level_cache_bytes": 256 << 20}
    assert "overestimated" in line(dataclasses.replace(report, triad=triad, machine=machine).text(), "bandwidth")


def test_a_gpu_is_shown_with_its_driver(report):
    gpu = Accelerator("CUDA", "NVIDIA H200", "GPU", 141 << 30, True, "compute capability 9.0")
    driver = NvidiaDriver("570.1", (12, 8), ("NVIDIA H200",))
    text = dataclasses.replace(report, cuda=Found((gpu,)), driver=driver).text()
    assert "570.1, supports CUDA up to 12.8; NVIDIA H200" in line(text, "driver")
    assert "NVIDIA H200: GPU, 141.0 GiB, fp64; CUDA, compute capability 9.0" in text


def test_commands_are_on_separate_lines(report):
    lack = doctor.advice.Missing("a thing", "something needs it", ("get it", "build it"))
    text = dataclasses.replace(report, missing=(lack,)).text()
    assert text.endswith("Missing\n  a thing: something needs it\n      get it\n      build it")
    assert dataclasses.replace(report, missing=()).text().endswith("Missing\n  nothing")


def test_extensions_are_shown_with_what_they_find_lack_and_break(report):
    found = (
        ExtensionReport("mpi", "Ranks", heading="MPI", lines=("MPICH 5.0.2", "no mpiexec")),
        ExtensionReport("clouds", "Weather", lacks=("rain", "hail")),
        ExtensionReport("toy", problem="extension toy is broken"),
    )
    text = dataclasses.replace(report, extensions=found).text()
    assert (
        "Extensions\n  mpi     Ranks\n  clouds  Weather; without rain, hail\n  toy     extension toy is broken\n"
        "MPI\n  MPICH 5.0.2\n  no mpiexec\nPackages\n"
    ) in text


def test_the_triads_arrays_are_larger_than_the_cache_and_smaller_than_the_memory():
    gib = 1 << 30
    assert doctor.triad_array_bytes(32 << 20, 64 * gib) == 128 << 20
    assert doctor.triad_array_bytes(None, 64 * gib) == 128 << 20
    assert doctor.triad_array_bytes(256 << 20, 64 * gib) == gib
    assert doctor.triad_array_bytes(256 << 20, 3 * gib) * 3 * 8 <= 3 * gib
