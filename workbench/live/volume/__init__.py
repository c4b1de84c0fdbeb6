"""The 3D view of a run: a cube of cells with slices, isosurfaces, phases and the deflation subdomains drawn apart."""

from workbench.live.volume.view import VolumeView

__all__ = ["VolumeView"]
