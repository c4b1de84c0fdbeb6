"""The kernel that downsamples a plane of cells to the resolution of a picture; see `devices/plane_slice.py`."""

from workbench.devices.kernels.source import read

PLANE = read("plane_slice")
