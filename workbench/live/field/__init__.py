"""Vectors on the grid: snapshots, slices, colormaps and the field view."""
