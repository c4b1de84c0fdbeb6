"""The way to pyamgx, for `workbench doctor`."""

from __future__ import annotations

from workbench.devices import discovery
from workbench.machines import packages
from workbench.machines.advice import Missing, python
from workbench.machines.extension_reports import Examined

PYAMGX_STEPS = (
    "git clone --recursive https://github.com/NVIDIA/AMGX && cd AMGX",
    "cmake -B build -DCMAKE_NO_MPI=True -DCMAKE_CUDA_ARCHITECTURES=native && cmake --build build -j",
    "export AMGX_DIR=$PWD AMGX_BUILD_DIR=$PWD/build && cd ..",
    "git clone https://github.com/shwina/pyamgx",
    "{python} -m pip install setuptools Cython numpy",
    "{python} -m pip install --no-build-isolation --no-deps ./pyamgx",
)
"""Build steps for one shell, since pyamgx finds AmgX by the variables AMGX_DIR and AMGX_BUILD_DIR.

Neither package is on an index. AmgX needs CMake 3.18 or newer, a C++ compiler and the CUDA toolkit. The setup of
pyamgx imports NumPy and Cython, which pip's isolated build environment lacks."""


def examine() -> Examined:
    """The steps that build pyamgx, on a machine with an NVIDIA driver. Cost: that of asking for the driver."""
    return Examined(missing=missing() if discovery.nvidia_driver() else ())


def missing() -> tuple[Missing, ...]:
    """pyamgx with the steps that build it, where it is not installed."""
    if packages.version("pyamgx"):
        return ()
    steps = tuple(step.format(python=python()) for step in PYAMGX_STEPS)
    return (Missing("pyamgx", "required by comparisons with AmgX; built from source", steps),)
