"""The kernel that downsamples a 3D grid to the resolution of a picture; see `devices/volume_slice.py`."""

from workbench.devices.kernels.source import read

VOLUME = read("volume_slice")
