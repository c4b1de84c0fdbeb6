"""Kernels for the scalars of a workspace: setting one, and the watch that keeps a row of them per iteration; and one
that fills a vector with a number.

A row is kept only while the run has not stopped. It stops where the square of the norm that decides is not above the
limit or is above the most that it may be, or where a scalar that must be positive is not; NaN stops it too. From then
on passes and scalar lines do nothing, so that vectors stay those of that iteration, however many more are launched
before the host reads.
"""

from workbench.devices.kernels.source import read

SET, FILL, ARM, KEEP = (read(name) for name in ("set_scalar", "fill", "arm", "keep"))
