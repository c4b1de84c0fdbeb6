"""Kernels on the cores: functions of Python, compiled by another process, cached on disk, run by all cores."""
